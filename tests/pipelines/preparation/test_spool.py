"""Rows on disk: series are numbered by their sorted ids, whatever order they come in, and keep their rows' order."""

import random
from collections.abc import Iterator, Sequence
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forecast.frames.columns import Columns
from pipelines.preparation import spool
from pipelines.preparation.spool import Part, Spool, fill_spool

Ids = Sequence[str] | Sequence[int]


@pytest.fixture(autouse=True)
def small_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs and groups of few rows, so that a small frame has many."""
    monkeypatch.setattr(spool, "RUN_ROWS", 4)
    monkeypatch.setattr(spool, "GROUP_ROWS", 2)


def rows_of(ids: Ids) -> pl.DataFrame:
    """A row for each id; the target is the row's place."""
    return pl.DataFrame({"unique_id": ids, "ds": [0] * len(ids), "y": [float(place) for place in range(len(ids))]})


def spooled(ids: Ids, folder: Path, *, beside: pl.DataFrame | None = None) -> Spool:
    return fill_spool(rows_of(ids).iter_slices(3), columns=Columns(), folder=folder, beside=beside)


def alone(rows: Spool) -> Iterator[pl.DataFrame]:
    """The rows of each series, one after the other."""
    return (rows.read(Part(number, number + 1)) for number in range(len(rows.num_rows)))


UNSORTED = {
    "reversed": list("zzyyxxwwvvuu"),
    "the first id last": list("bcdefghbcdefgha"),
    "in turn": list("badc" * 5),
    "one run": list("cba"),
    "numbers": [10, 9, -1, 10, 9, -1, 2**40, 10, 8],
    "numbers as text": ["10", "9", "1", "10", "9", "1", "8", "10"],
    "beyond ASCII": ["\U0001f30a", "\uff5e", "\xe9", "z", "\U0001f30a", "\xe9", "Z"],
}


@pytest.mark.parametrize("case", UNSORTED)
def test_series_that_come_in_any_order_are_numbered_by_their_ids(tmp_path: Path, case: str) -> None:
    ids = UNSORTED[case]
    frame, rows = rows_of(ids), spooled(ids, tmp_path / "rows")

    parts = list(alone(rows))

    assert rows.num_rows.tolist() == [len(part) for part in parts]
    for name, part in zip(sorted(set(ids)), parts, strict=True):
        assert part.equals(frame.filter(pl.col("unique_id") == name))


@given(st.lists(st.text("abcXY", max_size=2), min_size=1, max_size=40), st.integers(1, 5))
def test_parts_of_any_rows_hold_them_all_series_by_series(
    tmp_path_factory: pytest.TempPathFactory, ids: list[str], count: int
) -> None:
    rows = spooled(ids, tmp_path_factory.mktemp("any") / "rows")

    read = pl.concat(rows.read(part) for part in rows.parts(count)).sort("unique_id", maintain_order=True)

    assert read.equals(rows_of(ids).sort("unique_id", maintain_order=True))
    assert pl.concat(alone(rows)).equals(read)


def test_each_run_is_sorted_so_that_a_part_reads_little_beside_its_own_rows(tmp_path: Path) -> None:
    rows = spooled(list("dcbadcbadcba"), tmp_path / "rows")

    assert len(rows.runs) > 1
    for run in rows.runs:
        numbers = pl.read_parquet(run)[spool.RANK].to_list()
        assert numbers == sorted(numbers)


@pytest.mark.parametrize(("ids", "is_written_again"), [(list("aabbaaccbbdd"), False), (list("ddccbbaaccdd"), True)])
def test_runs_are_written_again_only_where_ids_did_not_come_sorted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ids: list[str], is_written_again: bool
) -> None:
    written: list[str] = []
    write = pl.DataFrame.write_parquet

    def counted(frame: pl.DataFrame, file: Path, **asked: int) -> None:
        written.append(file.name)
        write(frame, file, **asked)

    monkeypatch.setattr(pl.DataFrame, "write_parquet", counted)
    rows = spooled(ids, tmp_path / "rows")

    assert len(written) == len(rows.runs) * (1 + is_written_again)
    assert sorted(file.name for file in rows.folder.iterdir()) == [run.name for run in rows.runs]


def test_one_run_is_held_at_a_time_when_they_are_written_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    held: list[int] = []
    read = pl.read_parquet

    def counted(file: Path, **asked: bool) -> pl.DataFrame:
        held.append(len(frame := read(file, **asked)))
        return frame

    monkeypatch.setattr(pl, "read_parquet", counted)
    rows = spooled(list("fedcba" * 4), tmp_path / "rows")

    assert len(held) == len(rows.runs)
    assert max(held) < 4 + 3  # a run ends with the chunk that fills it


@pytest.mark.parametrize("ids", [list("dcbadcba"), list("abcdabcd")])
def test_the_second_table_is_shared_out_by_the_same_numbers(tmp_path: Path, ids: list[str]) -> None:
    mixed = random.Random(1).sample([*"aabbccdd", "stranger"], 9)
    beside = pl.DataFrame({"unique_id": mixed, "ds": range(9)})

    rows = spooled(ids, tmp_path / "rows", beside=beside)

    for number, name in enumerate("abcd"):
        found = rows.read_beside(Part(number, number + 1))
        assert found is not None
        # Rows about a series that is not here go to the first part, which reports them.
        assert found.equals(beside.filter(pl.col("unique_id").is_in([name, *["stranger"] * (number == 0)])))


def test_a_folder_with_wildcards_in_its_name_is_read_as_it_is_called(tmp_path: Path) -> None:
    rows = spooled(list("cbacba"), tmp_path / "[a-z]*=1")

    assert [part["unique_id"][0] for part in alone(rows)] == ["a", "b", "c"]
