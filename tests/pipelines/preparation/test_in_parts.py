"""A stored panel appears whole or not at all, whatever becomes of the run; and the ways are chosen by configuration."""

import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from filelock import FileLock

from forecast.config import build_config, config, to_plain
from forecast.errors import BackendUnavailable, ConfigError, DuplicateSteps, SourceError
from forecast.frames.contract import DataContract, prepare
from forecast.frames.digest import panel_digest
from forecast.frames.panel_store import check_panel, open_panel
from pipelines.preparation import InMemory, InStore, OnRay, Preparation, prepare_source
from pipelines.sources import EmbeddedSource, PublicSource, SineSource

SLOW = """
import sys, time
from pathlib import Path
from forecast.frames.contract import DataContract
from pipelines.preparation import Order
from pipelines.preparation.in_parts import prepare_in_parts
from pipelines.sources import EmbeddedSource

class Slow(EmbeddedSource):
    def chunks(self):
        rows = self.read()
        names = [rows.with_columns(unique_id=rows["unique_id"] + str(number)) for number in range(8)]
        for piece in names:
            yield piece
            time.sleep({chunk_s})

def run(work, tasks):
    for task in tasks:
        yield work(task)
        time.sleep({part_s})

order = Order(Slow(), DataContract(on_duplicate="first"))
prepare_in_parts(order, folder=Path({folder!r}), num_partitions=4, run=lambda work, tasks: list(run(work, tasks)))
"""


@config
class Run:
    preparation: Preparation = InMemory()


def start(folder: Path, repository: Path, *, chunk_s: float = 0, part_s: float = 0) -> subprocess.Popen:
    script = SLOW.format(folder=str(folder), chunk_s=chunk_s, part_s=part_s)
    # Runs of few rows: each piece of the source is written as it comes.
    return subprocess.Popen(
        [sys.executable, "-c", f"import pipelines.preparation.spool as s; s.RUN_ROWS = 1\n{script}"], cwd=repository
    )


def wait_for(condition: Callable[[], bool], process: subprocess.Popen) -> None:
    for _ in range(1200):
        if condition():
            return
        assert process.poll() is None, "the run ended before it could be killed"
        time.sleep(0.05)
    pytest.fail("the run did not get there within a minute")


def everything(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in sorted(folder.iterdir())}


@pytest.mark.slow
@pytest.mark.parametrize("stage", ["while rows are read", "while parts are prepared"])
def test_a_run_that_is_killed_and_started_again_leaves_the_same_store(tmp_path, repository, stage):
    unbroken, folder = tmp_path / "unbroken" / "store", tmp_path / "broken" / "store"
    assert start(unbroken, repository).wait() == 0
    work = folder.with_name(".store.work")
    if stage == "while rows are read":
        process = start(folder, repository, chunk_s=0.5)
        wait_for(lambda: len(list(work.glob("rows/*.parquet"))) >= 2, process)
    else:
        process = start(folder, repository, part_s=0.5)
        wait_for(lambda: len(list(work.glob("parts/*/head.json")) or list(work.glob("parts/*/*.npy"))) >= 2, process)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert work.is_dir()
    assert not folder.exists()
    assert start(folder, repository).wait() == 0
    assert everything(folder) == everything(unbroken)
    assert [path.name for path in folder.parent.iterdir() if path.is_dir()] == ["store"]


def test_a_run_replaces_the_store_of_the_run_before(tmp_path):
    way = InStore(folder=tmp_path / "store")
    prepare_source(SineSource(), DataContract(), way)
    prepared = prepare_source(EmbeddedSource(), DataContract(on_duplicate="first"), way)
    assert open_panel(tmp_path / "store").ids == prepared.panel.ids == ("sea_surface_temperature",)


def test_a_run_that_fails_leaves_the_store_of_the_run_before(tmp_path):
    way = InStore(folder=tmp_path / "store")
    prepare_source(SineSource(), DataContract(), way)
    before = everything(tmp_path / "store")
    with pytest.raises(DuplicateSteps, match="has one already"):
        prepare_source(EmbeddedSource(), DataContract(), way)
    assert everything(tmp_path / "store") == before


def test_a_folder_that_holds_something_else_is_left_alone(tmp_path):
    (tmp_path / "store").mkdir()
    (tmp_path / "store" / "letters.txt").write_text("dear")
    with pytest.raises(SourceError, match="is no stored panel"):
        prepare_source(SineSource(), DataContract(), InStore(folder=tmp_path / "store"))
    assert [path.name for path in tmp_path.rglob("*")] == ["store", "letters.txt"]


def test_two_runs_do_not_write_to_one_folder(tmp_path):
    with FileLock(tmp_path / ".store.lock"), pytest.raises(SourceError, match="another process is preparing"):
        prepare_source(SineSource(), DataContract(), InStore(folder=tmp_path / "store"))


def test_a_relative_folder_is_where_the_process_stands(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    prepare_source(SineSource(), DataContract(), InStore(folder=Path("deep/er/store")))
    assert (tmp_path / "deep" / "er" / "store").is_dir()


def test_the_panel_is_mapped_from_the_disk_and_outlives_the_folder(tmp_path):
    prepared = prepare_source(SineSource(), DataContract(), InStore(folder=tmp_path / "store"))
    shutil.rmtree(tmp_path / "store")
    assert panel_digest(prepared.panel) == panel_digest(prepare(SineSource().read()).panel)


def test_a_public_set_is_prepared_in_parts_as_in_memory(tmp_path, data_dir):
    way = InStore(folder=tmp_path / "store", num_partitions=3)
    stored = prepare_source(PublicSource(name="ETTh1"), DataContract(), way)
    whole = prepare_source(PublicSource(name="ETTh1"), DataContract(), InMemory())
    assert check_panel(tmp_path / "store") == panel_digest(whole.panel)
    assert str(stored.report) == str(whole.report)


@pytest.mark.parametrize(
    ("plain", "expected"),
    [
        ({"kind": "memory"}, InMemory()),
        ({"kind": "store", "folder": "s"}, InStore(folder=Path("s"), num_partitions=16)),
        ({"kind": "store", "folder": "s", "num_partitions": 3}, InStore(folder=Path("s"), num_partitions=3)),
        ({"kind": "ray", "folder": "s"}, OnRay(folder=Path("s"))),
    ],
)
def test_one_line_of_the_configuration_chooses_the_way(plain, expected):
    chosen = build_config(Run, {"preparation": plain}).preparation
    assert chosen == expected
    assert build_config(Run, {"preparation": to_plain(chosen)}).preparation == expected


@pytest.mark.parametrize(
    ("plain", "match"),
    [
        ({"kind": "spark"}, "unknown kind 'spark'"),
        ({"kind": "store"}, r"preparation\.folder: is needed"),
        ({"kind": "store", "folder": "s", "num_partitions": 0}, "greater than 0"),
        ({"kind": "memory", "folder": "s"}, "unknown key"),
    ],
)
def test_a_way_that_is_not_said_whole_is_refused(plain, match):
    with pytest.raises(ConfigError, match=match):
        build_config(Run, {"preparation": plain})


def test_without_ray_the_line_to_type_is_given(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(BackendUnavailable, match=r"pip install 'longcast\[scale\]'"):
        prepare_source(SineSource(), DataContract(), OnRay(folder=tmp_path / "store"))


def test_preparing_imports_no_ray_and_no_torch(repository):
    asked = "import sys, pipelines.preparation; print(sorted({'ray', 'torch', 'lightning'} & set(sys.modules)))"
    ran = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True, cwd=repository)
    assert ran.stdout.strip() == "[]"
