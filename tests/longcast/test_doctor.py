"""Doctor goes through everything a run needs, and says of each whether it is in order and what to do if not."""

from pathlib import Path

import pytest

from forecast.errors import LongcastError
from longcast import doctor
from longcast.cli import main
from tests.tiny_model import tiny_history
from tests.tiny_run import NAME, TinyChampion, tiny_config, write_config

Printed = pytest.CaptureFixture[str]


def test_a_configuration_in_order_passes_every_check(champion: TinyChampion, capsys: Printed) -> None:
    assert main(["doctor", str(champion.file)]) == 0
    printed = capsys.readouterr().out
    starts = [line.partition(":")[0] for line in printed.splitlines() if line.startswith(("ok", "failed"))]
    assert starts == [
        f"ok      {check}"
        for check in ("installation", "package names", "attention", "configuration", "data", "tracking")
    ]
    assert "auto runs " in printed
    assert "10,000 rows, 1 series, 10,000 steps of 1" in printed
    assert "349 windows to train on, 25 to validate on, 100 to test on" in printed
    assert NAME in printed.splitlines()[-1]


def test_a_store_that_training_will_make_is_in_order(tmp_path: Path, capsys: Printed) -> None:
    doctor.examine(tiny_config(f"output={tmp_path / 'runs'}"), name="run.yaml")
    assert "ok      tracking: no store at " in capsys.readouterr().out
    assert not list(tmp_path.iterdir())


def test_a_store_that_cannot_be_made_is_not(tmp_path: Path, capsys: Printed) -> None:
    (tmp_path / "runs").write_text("a file")
    with pytest.raises(LongcastError, match="not in order: tracking"):
        doctor.examine(tiny_config(f"output={tmp_path / 'runs'}"), name="run.yaml")
    assert "failed  tracking: there is no store at " in capsys.readouterr().out


def test_a_file_that_is_no_store_is_not(tmp_path: Path, capsys: Printed) -> None:
    (tmp_path / "mlflow.db").write_text("not SQLite")
    with pytest.raises(LongcastError, match="tracking"):
        doctor.examine(tiny_config(f"output={tmp_path}"), name="run.yaml")
    assert "is not an SQLite file" in capsys.readouterr().out


def test_each_fault_is_found_and_the_verdict_names_all(tmp_path: Path, capsys: Printed) -> None:
    history = tiny_history(ids=("a",))
    history.vstack(history.head(1)).write_csv(tmp_path / "twice.csv")
    (tmp_path / "runs").write_text("a file")
    file = write_config(
        tmp_path / "run.yaml",
        f"output={tmp_path / 'runs'}",
        f"data={{kind: files, paths: {tmp_path / 'twice.csv'}}}",
    )
    assert main(["doctor", str(file)]) == 1
    printed = capsys.readouterr()
    assert "failed  data: series 'a'" in printed.out
    assert "ok      attention" in printed.out
    assert printed.err == "longcast doctor: not in order: data, tracking; each is explained above\n"


@pytest.mark.parametrize(
    ("split", "told"),
    [
        ("split={kind: fraction, train: 0.9, validation: 0.1}", "there is no test window"),
        ("split={kind: steps, train: 1, validation: 0, test: 8}", "train"),
    ],
)
def test_a_split_that_leaves_no_windows_is_found_before_training(
    split: str, told: str, tmp_path: Path, capsys: Printed
) -> None:
    with pytest.raises(LongcastError, match="not in order: data"):
        doctor.examine(tiny_config(f"output={tmp_path}", split), name="run.yaml")
    (line,) = [line for line in capsys.readouterr().out.splitlines() if line.startswith("failed")]
    assert told in line


def test_a_stranger_that_owns_our_package_names_is_found(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: Printed
) -> None:
    monkeypatch.setattr(doctor, "packages_distributions", lambda: {"api": ["longcast", "some-api"]})
    with pytest.raises(LongcastError, match="not in order: package names"):
        doctor.examine(tiny_config(f"output={tmp_path}"), name="run.yaml")
    assert "some-api" in capsys.readouterr().out
