"""What to type next can be typed as it stands."""

import sys
from pathlib import Path

import pytest

from longcast.hints import compare_runs, program


def test_a_program_below_the_current_folder_is_named_from_there(monkeypatch: pytest.MonkeyPatch) -> None:
    folder = Path(sys.executable).parent
    monkeypatch.chdir(folder.parent)
    assert program("mlflow") == f"{folder.name}/mlflow"


def test_elsewhere_a_program_is_named_in_full(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    assert Path(program("mlflow")) == Path(sys.executable).with_name("mlflow")


def test_runs_in_a_file_are_compared_by_a_command() -> None:
    assert (
        compare_runs("sqlite:////tmp/a.db")
        == f"compare runs: {program('mlflow')} ui --backend-store-uri sqlite:////tmp/a.db"
    )


def test_runs_on_a_server_are_compared_there_and_its_password_is_not_shown() -> None:
    assert compare_runs("https://ada:secret@mlflow.example") == "compare runs: https://***@mlflow.example"
