"""A local Ray cluster gives the store and forecasts of one process, bit for bit, and leaves nothing running."""

from pathlib import Path

import polars as pl
import psutil
import pytest

from forecast.artifact import save_artifact
from forecast.errors import MissingValues
from forecast.frames.contract import DataContract, prepare
from forecast.frames.digest import panel_digest
from forecast.predictor import SeriesLeftOut
from pipelines.flows.predict_in_parts import predict_in_parts
from pipelines.preparation import InStore, OnRay, prepare_source
from pipelines.sources import FilesSource
from tests.tiny_model import tiny_artifact, tiny_history

pytestmark = pytest.mark.slow


@pytest.fixture
def source(tmp_path: Path) -> FilesSource:
    """Twenty series of unequal length, one of them with a gap, one with a duplicate."""
    frames = [tiny_history(num_steps=40 + k, ids=(f"s{k}",)).with_columns(pl.col("y") * (1 + k / 7)) for k in range(20)]
    frames[3] = frames[3].filter(pl.int_range(pl.len()) != 7)
    frames[5] = pl.concat([frames[5], frames[5].head(1)])
    pl.concat(frames).write_parquet(tmp_path / "rows.parquet")
    return FilesSource(paths=str(tmp_path / "rows.parquet"))


def everything(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in sorted(folder.iterdir())}


def ray_processes() -> set[int]:
    children = psutil.Process().children(recursive=True)
    return {process.pid for process in children if "ray" in " ".join(process.cmdline())}


def test_the_store_is_the_same_and_nothing_is_left_running(tmp_path, source, capfd):
    here = InStore(folder=tmp_path / "here", num_partitions=6)
    there = OnRay(folder=tmp_path / "there", num_partitions=6)
    alone, together = (prepare_source(source, DataContract(), way, on_bad_series="leave_out") for way in (here, there))
    assert everything(tmp_path / "there") == everything(tmp_path / "here")
    assert together.report == alone.report
    assert {name: str(error) for name, error in together.left_out.items()} == {
        name: str(error) for name, error in alone.left_out.items()
    }
    whole = prepare(source.read(), on_bad_series="leave_out")
    assert panel_digest(together.panel) == panel_digest(whole.panel)
    assert not ray_processes()
    said = capfd.readouterr()
    assert said.out + said.err == ""


def test_the_forecasts_are_the_same(tmp_path, source):
    save_artifact(tiny_artifact(), tmp_path / "artifact")
    ways = (
        InStore(folder=tmp_path / "work", num_partitions=6),
        OnRay(folder=tmp_path / "work", num_partitions=6),
    )
    found = []
    for way in ways:
        with pytest.warns(SeriesLeftOut, match=r"1 series have no forecast: .*'s5'"):
            found.append(predict_in_parts(source, tmp_path / "artifact", way, level=80))
    alone, together = found
    assert together.equals(alone)
    assert alone["unique_id"].n_unique() == 19
    assert not (tmp_path / "work").exists()


def test_what_fails_on_the_cluster_fails_as_here(tmp_path, source):
    broken = source.read().with_columns(y=pl.lit(float("inf")))
    broken.write_parquet(tmp_path / "rows.parquet")
    with pytest.raises(MissingValues, match="infinite values"):
        prepare_source(source, DataContract(), OnRay(folder=tmp_path / "there", num_partitions=3))
    assert not (tmp_path / "there").exists()
    assert not ray_processes()
