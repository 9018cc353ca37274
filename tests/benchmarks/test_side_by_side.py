"""What the benchmarks measure with: times in turns, memory in processes of their own, growth over sizes."""

import json
import subprocess
import sys
import time

import numpy as np
import pytest
import torch

from benchmarks import side_by_side
from benchmarks.side_by_side import Timing, growth, peak_mb, race, table, threads, write

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="the peak of resident memory is read from /proc")
WORKER = """
import sys
import numpy as np
from benchmarks.side_by_side import rise
assert sys.argv[1] == "ones"
print("a line before")
print(rise(lambda: np.ones(int(sys.argv[2]) * 2**20, dtype=np.uint8)))
"""


def test_variants_run_in_turns_and_the_first_round_does_not_count():
    order = []

    def slow_at_first(name: str):
        if name not in order:
            time.sleep(0.2)
        order.append(name)

    timings = race({name: lambda name=name: slow_at_first(name) for name in ("one", "other")}, rounds=2)
    assert order == ["one", "other"] * 3
    assert all(timing.wall_s < 0.1 for timing in timings.values())


def test_waiting_is_wall_clock_and_no_cpu_time():
    timing = race({"wait": lambda: time.sleep(0.05)}, rounds=1)["wait"]
    assert timing.wall_s >= 0.05
    assert timing.cpu_s < 0.04


def test_best_is_kept_of_wall_and_cpu_each_on_its_own(monkeypatch):
    tries = iter([(9.0, 9.0), (2.0, 1.0), (1.0, 2.0)])
    monkeypatch.setattr(side_by_side, "_time", lambda variant: next(tries))
    assert race({"any": lambda: None}, rounds=2) == {"any": Timing(wall_s=1.0, cpu_s=1.0)}


def test_a_race_runs_on_two_threads_and_leaves_the_number_as_it_was():
    with threads(1):
        seen = []
        race({"any": lambda: seen.append(torch.get_num_threads())}, rounds=1)
        assert seen == [2, 2]
        assert torch.get_num_threads() == 1


@LINUX
def test_rise_of_the_peak_is_what_the_call_allocates(tmp_path, monkeypatch):
    (tmp_path / "worker_of_this_test.py").write_text(WORKER)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    assert peak_mb("worker_of_this_test", "ones", 64) == pytest.approx(64, abs=4)


@LINUX
def test_an_earlier_peak_does_not_hide_the_rise():
    script = (
        "import numpy as np; from benchmarks.side_by_side import rise; "
        "np.ones(2**28, dtype=np.uint8); print(rise(lambda: np.ones(2**26, dtype=np.uint8)))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=side_by_side.ROOT
    )
    assert float(ran.stdout) == pytest.approx(64, abs=4)


def test_a_worker_that_fails_says_why(tmp_path, monkeypatch):
    (tmp_path / "worker_of_this_test.py").write_text("raise SystemExit('no such variant')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with pytest.raises(RuntimeError, match="no such variant"):
        peak_mb("worker_of_this_test", "ones")


def test_growth_is_the_exponent():
    sizes = (256, 512, 2048, 8192)
    assert growth({size: 3.0 * size**2 for size in sizes}) == pytest.approx(2)
    assert growth({size: 0.1 * size for size in sizes}) == pytest.approx(1)
    noisy = {size: 5.0 * size + float(np.sin(size)) for size in sizes}
    assert growth(noisy) == pytest.approx(np.polyfit(np.log(sizes), np.log(list(noisy.values())), 1)[0])


def test_table_is_aligned():
    assert table([("variant", "ratio"), ("a", 12.3456)]) == "variant  ratio\n      a   12.3"


def test_written_figures_can_be_read(tmp_path, monkeypatch):
    monkeypatch.setattr(side_by_side, "RESULTS", tmp_path / "results")
    assert json.loads(write("some", {"ratio": 2.5}).read_text()) == {"ratio": 2.5}
