"""A compiled run is the same run."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

REPOSITORY = Path(__file__).parents[3]


@pytest.mark.slow
def test_a_compiled_run_gives_what_it_gives_without() -> None:
    script = Path(__file__).with_name("compiled_run.py")
    ran = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True, cwd=REPOSITORY)
    plain, compiled = json.loads(ran.stdout.splitlines()[-1])
    for before, after in zip(plain["epochs"], compiled["epochs"], strict=True):
        assert after == pytest.approx(before, rel=1e-5)
    np.testing.assert_allclose(compiled["forecast"], plain["forecast"], rtol=1e-5)
    assert plain["graphs"] == 0
    assert compiled["graphs"] == 2  # one for all layers of the encoder, one for that of the decoder
    assert not compiled["is_compiled"], "the model that comes back runs as it is written"
