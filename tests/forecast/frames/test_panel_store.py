"""A stored panel comes back as it was, whole or not at all, and is read no further than it is used."""

import json
import pickle
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.utils.data import DataLoader, Dataset

from forecast.batch import Batch, cut_windows
from forecast.errors import DataError, SourceError
from forecast.frames import growing
from forecast.frames.column_type import ColumnType
from forecast.frames.concat import concat_panels
from forecast.frames.digest import panel_digest
from forecast.frames.panel import Panel
from forecast.frames.panel_store import check_panel, open_panel, stored_digest, write_panel
from forecast.frames.panel_writer import PanelWriter
from tests.forecast.frames.panels import BUILDS, STAMPS, Build, panel_from, spelt

SEEDS = st.lists(st.integers(0, 10**6), min_size=1, max_size=4)
ASKED = {"context_length": 5, "horizon": 2}


@pytest.fixture
def panel() -> Panel:
    return panel_from(Build(), seed=7, num_entities=6)


@pytest.fixture
def folder(panel, tmp_path) -> Path:
    return write_panel(panel, tmp_path / "store")


@pytest.fixture(scope="module")
def free_folder(tmp_path_factory) -> Callable[[], Path]:
    """Names a folder that is not there yet."""
    return lambda: tmp_path_factory.mktemp("stores") / "store"


def content(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def assert_same(one: Panel, other: Panel) -> None:
    assert (one.ids, one.channels, one.id_type) == (other.ids, other.channels, other.id_type)
    assert one.axis.frequency == other.axis.frequency
    assert one.axis.stamp_type == other.axis.stamp_type
    assert panel_digest(one) == panel_digest(other)
    assert (one.weights is None) == (other.weights is None)
    if one.covariates is not None:
        assert one.covariates.schema == other.covariates.schema
        assert spelt(one.covariates) == spelt(other.covariates)


@given(build=BUILDS, seed=st.integers(0, 10**6))
def test_what_was_written_is_what_is_opened(free_folder, build, seed):
    panel = panel_from(build, seed=seed)
    place = free_folder()
    assert write_panel(panel, place) == place
    opened = open_panel(place)
    assert_same(opened, panel)
    for name in ("values", "observed", "offsets", "weights"):
        np.testing.assert_array_equal(getattr(opened, name), getattr(panel, name), strict=True)
    assert check_panel(place) == stored_digest(place) == panel_digest(panel)


@given(build=BUILDS, seeds=SEEDS, chunk=st.integers(1, 8))
def test_panels_written_one_by_one_leave_the_bytes_of_all_of_them_joined(free_folder, build, seeds, chunk):
    parts = [panel_from(build, seed=seed, prefix=f"{number}-") for number, seed in enumerate(seeds)]
    one, other = free_folder(), free_folder()
    write_panel(concat_panels(parts), one)
    with pytest.MonkeyPatch.context() as patch, PanelWriter(other) as writer:
        patch.setattr(growing, "CHUNK", chunk)
        for part in parts:
            writer.append(part)
    assert content(one) == content(other)


def test_arrays_are_files_that_numpy_itself_would_write(panel, folder, tmp_path):
    np.save(tmp_path / "expected.npy", panel.values)
    assert (folder / "values.npy").read_bytes() == (tmp_path / "expected.npy").read_bytes()


@pytest.mark.parametrize("stamps", list(STAMPS))
def test_stamps_come_back_as_the_caller_writes_them(stamps, tmp_path):
    panel = panel_from(Build(stamps=stamps), seed=5, num_entities=3)
    opened = open_panel(write_panel(panel, tmp_path / "store"))
    expected = panel.axis.stamps(2, first=0, count=3)
    found = opened.axis.stamps(2, first=0, count=3)
    assert (found.dtype, found.to_list()) == (expected.dtype, expected.to_list())


@pytest.mark.parametrize("ids", [("a", "b"), (7, 8), ("7", "8"), ("ü", "\n"), (2**63, 1)])
def test_ids_keep_their_type(ids, tmp_path):
    panel = replace(panel_from(Build(id_type=None), seed=5, num_entities=2), ids=ids)
    assert open_panel(write_panel(panel, tmp_path / "store")).ids == ids


@pytest.mark.parametrize(
    "dtype", [pl.Int16(), pl.UInt64(), pl.String(), pl.Categorical(), pl.Enum(["0", "1", "x"])], ids=str
)
def test_the_type_of_the_id_column_comes_back_as_polars_own(dtype, tmp_path):
    panel = replace(panel_from(Build(), seed=5), id_type=ColumnType(dtype, pandas="object"))
    assert open_panel(write_panel(panel, tmp_path / "store")).id_type == ColumnType(dtype)


def test_windows_of_a_stored_panel_are_those_of_the_panel(panel, folder):
    series, origins = np.array([0, 3, 5, 1]), np.array([1, 2, 0, 4])
    one, other = (cut_windows(each, series=series, origins=origins, **ASKED) for each in (panel, open_panel(folder)))
    for name, tensor in one.tensors().items():
        assert torch.equal(tensor, other.tensors()[name]), name


def test_nothing_writes_through_an_opened_panel(folder):
    panel = open_panel(folder)
    for array in (panel.values, panel.observed, panel.covariates.values[0], panel.axis.origins.places):
        with pytest.raises(ValueError, match="read-only"):
            array[:1] = 0


def test_an_opened_panel_is_pickled_as_the_place_of_its_files(tmp_path):
    big = replace(panel_from(Build(roles="none", weights=False), seed=1, num_entities=1), ids=("a",))
    values = np.arange(100_000.0)
    long = replace(big, values=values, observed=values > 3, offsets=np.array([0, len(values)]))
    shipped = pickle.dumps(open_panel(write_panel(long, tmp_path / "store")))
    assert len(shipped) < 4_000
    np.testing.assert_array_equal(pickle.loads(shipped).values, values)


def test_a_part_of_an_opened_panel_is_pickled_as_what_it_holds(folder, panel):
    opened = open_panel(folder)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(opened.values[3:7])), panel.values[3:7])
    assert_same(pickle.loads(pickle.dumps(opened.select([4, 1]))), panel.select([4, 1]))


class Windows(Dataset[Batch]):
    def __init__(self, panel: Panel):
        self.panel = panel

    def __len__(self) -> int:
        return len(self.panel)

    def __getitem__(self, number: int) -> Batch:
        return cut_windows(self.panel, series=np.array([number]), origins=self.panel.lengths[[number]], **ASKED)


def test_worker_processes_cut_the_same_windows(folder, panel):
    loader = DataLoader(Windows(open_panel(folder)), batch_size=None, num_workers=2)
    batches = list(loader)
    assert len(batches) == len(panel)
    for batch, expected in zip(batches, map(Windows(panel).__getitem__, range(len(panel))), strict=True):
        for name, tensor in expected.tensors().items():
            assert torch.equal(batch.tensors()[name], tensor), name


# ---- Whole or not at all


def test_a_store_is_replaced_and_one_that_is_open_goes_on(panel, folder):
    opened = open_panel(folder)
    write_panel(panel_from(Build(roles="none"), seed=8, num_entities=2), folder)
    assert len(open_panel(folder)) == 2
    assert panel_digest(opened) == panel_digest(panel)
    assert sorted(folder.parent.iterdir()) == [folder]


def test_an_empty_folder_is_filled(panel, tmp_path):
    (tmp_path / "empty").mkdir()
    assert_same(open_panel(write_panel(panel, tmp_path / "empty")), panel)


@pytest.mark.parametrize(
    "make", [lambda place: place.write_text("mine"), lambda place: (place / "mine").mkdir(parents=True)]
)
def test_what_is_no_store_is_never_overwritten(make, panel, tmp_path):
    make(tmp_path / "mine")
    with pytest.raises(SourceError, match="is no stored panel"):
        write_panel(panel, tmp_path / "mine")
    assert (tmp_path / "mine").exists()


def test_an_error_on_the_way_leaves_the_old_store_and_nothing_else(panel, folder):
    before = content(folder)
    with pytest.raises(DataError, match="stands in two"), PanelWriter(folder) as writer:  # noqa: PT012
        writer.append(panel_from(Build(), seed=9, num_entities=2))
        writer.append(panel)
    assert content(folder) == before
    assert sorted(folder.parent.iterdir()) == [folder]


def test_a_writer_without_a_panel_leaves_nothing(tmp_path):
    with pytest.raises(DataError, match="no panel was written"), PanelWriter(tmp_path / "store"):
        pass
    assert not list(tmp_path.iterdir())


def test_a_panel_that_does_not_fit_the_first_is_refused(tmp_path):
    with pytest.raises(DataError, match="frequency"), PanelWriter(tmp_path / "store") as writer:  # noqa: PT012
        writer.append(panel_from(Build(), seed=1, prefix="a"))
        writer.append(panel_from(Build(stamps="dates"), seed=1, prefix="b"))


# ---- Damage


def cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-2])


def shift(file: Path) -> None:
    """Keep the size and break the header."""
    file.write_bytes(b"\0" + file.read_bytes()[:-1])


def retype(file: Path) -> None:
    """Keep the size and change what the header says of the type."""
    file.write_bytes(file.read_bytes().replace(b"<f8", b"<i8"))


@pytest.mark.parametrize(
    ("name", "damage", "said"),
    [
        ("values.npy", Path.unlink, "lacks values.npy"),
        ("covariate_1.npy", Path.unlink, "lacks covariate_1.npy"),
        ("names.json", Path.unlink, "lacks names.json"),
        ("panel.json", Path.unlink, "no stored panel"),
        ("observed.npy", cut, "cut short"),
        ("names.json", cut, "cut short"),
        ("values.npy", shift, "is not a .npy file"),
        ("values.npy", retype, "promises <f8"),
        ("panel.json", cut, "is not JSON"),
    ],
)
def test_a_damaged_store_is_refused_by_the_name_of_its_file(folder, name, damage, said):
    damage(folder / name)
    with pytest.raises(SourceError, match=re.escape(said)) as refused:
        open_panel(folder)
    assert str(folder) in str(refused.value)


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("format_version", 99, "is of format 99"),
        ("frequency", None, "does not describe a panel"),
        ("arrays", {}, "does not list values.npy"),
        ("id_type", {"name": "Unheard"}, "no type of polars"),
    ],
)
def test_a_head_that_was_changed_is_refused(folder, key, value, said):
    head = json.loads((folder / "panel.json").read_text(encoding="utf-8"))
    (folder / "panel.json").write_text(json.dumps({**head, key: value}), encoding="utf-8")
    with pytest.raises(SourceError, match=said):
        open_panel(folder)


@pytest.mark.parametrize("name", ["values", "observed", "offsets", "places", "covariate_2", "weights", "static"])
def test_altered_content_is_found_where_it_is_looked_for(folder, name):
    array = np.load(folder / f"{name}.npy", mmap_mode="r+")
    array[-1] = ~array[-1] if array.dtype == bool else array[-1] + 1
    array.flush()
    open_panel(folder)
    with pytest.raises(SourceError, match="altered"):
        check_panel(folder)


def test_altered_names_are_found_where_they_are_looked_for(folder):
    names = (folder / "names.json").read_text(encoding="utf-8")
    (folder / "names.json").write_text(names.replace('"0"', '"9"'), encoding="utf-8")
    with pytest.raises(SourceError, match="altered"):
        check_panel(folder)


def test_a_place_without_a_store_is_refused(tmp_path):
    with pytest.raises(SourceError, match="no stored panel"):
        open_panel(tmp_path)


def test_a_store_may_be_moved_to_another_place(folder, panel, tmp_path):
    moved = shutil.move(folder, tmp_path / "elsewhere")
    assert_same(open_panel(moved), panel)
