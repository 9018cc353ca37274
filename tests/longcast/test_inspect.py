"""`longcast inspect` prints the report of any data and leaves one page, also where some series are at fault."""

from pathlib import Path

import polars as pl
import pytest

from forecast.config import load_config
from longcast.cli import main
from pipelines.config import RunConfig
from pipelines.flows.inspect import look_at, write_page
from tests.tiny_model import tiny_history
from tests.tiny_run import write_config

Printed = pytest.CaptureFixture[str]
LIGHT = 500_000  # bytes of a page
DATASETS = sorted((Path(__file__).parents[2] / "configs" / "datasets").glob("*.yaml"))


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, into which pages go by default."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def history(folder: Path) -> Path:
    """Two hourly series of 60 steps, of which one lacks a row."""
    file = folder / "history.csv"
    tiny_history().with_row_index().filter(pl.col("index") != 5).drop("index").write_csv(file)
    return file


def inspect(*arguments: object) -> int:
    return main(["inspect", *map(str, arguments)])


def test_a_file_is_reported_and_drawn_on_a_page_of_its_name(history: Path, capsys: Printed) -> None:
    assert inspect(history) == 0
    printed = capsys.readouterr()
    first, gaps, page = printed.out.splitlines()
    assert first.startswith("119 rows, 2 series, 120 steps of h, ")
    assert gaps.startswith("  gaps: series 'a': ")
    assert page == "page: history.html"
    assert printed.err == ""
    assert Path("history.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


def test_a_run_configuration_names_its_data_and_its_contract(folder: Path, capsys: Printed) -> None:
    file = write_config(folder / "run.yaml", f"output={folder / 'runs'}")
    assert inspect(file, "--output", folder / "new" / "look.html") == 0
    assert capsys.readouterr().out.startswith("10,000 rows, 1 series, 10,000 steps of 1, 0 to 9999\n")
    assert (folder / "new" / "look.html").is_file()
    assert not (folder / "runs").exists()


def test_columns_frequency_and_zone_are_said_by_options(history: Path, capsys: Printed) -> None:
    renamed = pl.read_csv(history).rename({"unique_id": "pump: 1", "ds": "no", "y": "flow, l/s"})
    renamed.write_csv(history)
    options = ["--id", "pump: 1", "--time", "no", "--target", "flow, l/s", "--frequency", "1h", "--zone", "Asia/Tokyo"]
    assert inspect(history, *options) == 0
    assert "2 series, 120 steps of h in Asia/Tokyo" in capsys.readouterr().out


def test_several_targets_are_several_series(history: Path, capsys: Printed) -> None:
    pl.read_csv(history).with_columns(z=2 * pl.col("y")).write_csv(history)
    assert inspect(history, "--target", "y", "--target", "z") == 0
    assert ", 4 series, 240 steps of h" in capsys.readouterr().out


def test_any_other_setting_is_changed_by_set(folder: Path, capsys: Printed) -> None:
    pl.DataFrame({"when": [1, 2, 3], "a": [1.0, 2.0, 3.0], "b": [4.0, None, 6.0]}).write_csv(folder / "wide.csv")
    assert inspect("wide.csv", "--set", "data.wide.time=when", "--set", "contract.min_length=5") == 0
    printed = capsys.readouterr().out
    assert printed.startswith("6 rows, 2 series, 6 steps of 1, 1 to 3\n")
    assert "  short: series 'a': " in printed


def test_covariates_of_a_second_file_are_on_the_page(history: Path) -> None:
    known = tiny_history().select("unique_id", "ds", price=pl.int_range(pl.len()))
    known.write_csv("prices.csv")
    changes = ["covariates={kind: files, paths: prices.csv}", "contract.covariates.future=[price]"]
    assert inspect(history, "--set", changes[0], "--set", changes[1]) == 0
    assert "0 to 119, mean 59.5" in Path("history.html").read_text(encoding="utf-8")


def test_series_at_fault_are_left_out_with_their_reason_and_the_others_are_shown(
    history: Path, capsys: Printed
) -> None:
    frame = pl.read_csv(history)
    pl.concat([frame, frame.filter(pl.col("unique_id") == "b").head(1)]).write_csv(history)
    assert inspect(history) == 0
    printed = capsys.readouterr().out
    assert ", 1 series, 60 steps of h" in printed
    assert "  left_out: series 'b': " in printed
    assert "on_duplicate" in printed
    assert "Left out: 1 series" in Path("history.html").read_text(encoding="utf-8")


def test_where_nothing_is_usable_the_reason_is_told_and_no_page_is_left(history: Path, capsys: Printed) -> None:
    frame = pl.read_csv(history)
    pl.concat([frame, frame]).write_csv(history)
    assert inspect(history) == 1
    printed = capsys.readouterr()
    assert printed.err.startswith("longcast inspect: series 'a': ")
    assert "on_duplicate" in printed.err
    assert printed.out == ""
    assert not Path("history.html").exists()


@pytest.mark.parametrize(
    ("data", "told"),
    [
        ("absent.csv", "absent.csv"),
        ("absent.yaml", "no configuration at 'absent.yaml'"),
        ("history.txt", "history.txt"),
    ],
)
def test_data_that_are_not_there_are_named(data: str, told: str, capsys: Printed) -> None:
    assert inspect(data) == 1
    assert told in capsys.readouterr().err


def test_a_file_that_is_no_page_of_ours_is_not_overwritten(history: Path, capsys: Printed) -> None:
    Path("history.html").write_text("<p>mine</p>", encoding="utf-8")
    assert inspect(history) == 1
    assert "--output" in capsys.readouterr().err
    assert Path("history.html").read_text(encoding="utf-8") == "<p>mine</p>"


def test_a_page_of_ours_is_made_anew(history: Path) -> None:
    assert inspect(history) == 0
    before = Path("history.html").read_text(encoding="utf-8")
    pl.read_csv(history).head(40).write_csv(history)
    assert inspect(history) == 0
    assert Path("history.html").read_text(encoding="utf-8") != before


def test_a_pattern_gives_its_page_a_name_that_a_file_may_have(history: Path, capsys: Printed) -> None:
    assert inspect("*.csv") == 0
    assert capsys.readouterr().out.endswith("page: data.html\n")
    assert Path("data.html").is_file()


# ---- The data sets that the project has configurations for


@pytest.mark.parametrize("file", DATASETS, ids=lambda file: file.stem)
def test_every_data_set_has_a_complete_run_of_its_name(file: Path) -> None:
    assert load_config(RunConfig, file).name == file.stem
    assert file.read_text(encoding="utf-8").startswith("# ")


@pytest.mark.parametrize("file", DATASETS, ids=lambda file: file.stem)
def test_every_data_set_can_be_used_whole(file: Path, data_dir: Path) -> None:
    look = look_at(str(file))
    assert look.prepared.left_out == {}
    assert write_page(look).stat().st_size < LIGHT
