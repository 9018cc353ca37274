"""What a device can train in is said before a run begins."""

import re

import pytest
import torch

from forecast.errors import BackendUnavailable
from forecast.training import precision
from forecast.training.precision import TrainingWarning, check_precision
from tests.forecast.training.tiny_run import run, tiny

CPU = torch.device("cpu")


def has_instructions(monkeypatch: pytest.MonkeyPatch, *, avx512: bool = False, amx: bool = False) -> None:
    monkeypatch.setattr(precision.platform, "machine", lambda: "x86_64")
    monkeypatch.setattr(torch.cpu, "_is_avx512_bf16_supported", lambda: avx512)
    monkeypatch.setattr(torch.cpu, "_is_amx_tile_supported", lambda: amx)


def test_bf16_on_a_cpu_without_its_instructions_warns(monkeypatch, tmp_path) -> None:
    has_instructions(monkeypatch)
    with pytest.warns(TrainingWarning, match=r"no bf16 instructions.*slower than with 32-true"):
        fit = run(tiny(), tmp_path, precision="bf16-mixed", max_epochs=1)
    assert fit.epochs[0]["validation_loss"] < 10


@pytest.mark.parametrize("instructions", [{"avx512": True}, {"amx": True}])
def test_bf16_on_a_cpu_with_them_does_not(monkeypatch, instructions) -> None:
    has_instructions(monkeypatch, **instructions)
    check_precision("bf16-mixed", device=CPU)


def test_fp32_says_nothing(monkeypatch) -> None:
    has_instructions(monkeypatch)
    check_precision("32-true", device=CPU)


def test_fp16_is_for_cuda_alone(tmp_path) -> None:
    with pytest.raises(BackendUnavailable, match=re.escape("trainer.precision 16-mixed needs a CUDA device")):
        run(tiny(), tmp_path, precision="16-mixed")
    check_precision("16-mixed", device=torch.device("cuda"))


def test_a_run_in_bf16_learns_what_one_in_fp32_does(monkeypatch, tmp_path) -> None:
    has_instructions(monkeypatch, avx512=True)
    losses = {
        name: run(tiny(), tmp_path / name, precision=name, max_epochs=3).epochs[-1]["validation_loss"]
        for name in ("32-true", "bf16-mixed")
    }
    assert losses["bf16-mixed"] != losses["32-true"]
    assert losses["bf16-mixed"] == pytest.approx(losses["32-true"], rel=0.02)
