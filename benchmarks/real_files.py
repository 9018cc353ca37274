"""Real files through `longcast inspect` and `longcast train`, beside counts of what the report must find."""

import json
import lzma
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import polars as pl

from benchmarks.shown import Shown, holds, report

QUICK = os.environ.get("QUICK") == "1"
QUICK_FILES = ("hourly_traffic_volume", "hourly_parking", "demo_multi_series")
"""What QUICK=1 shows: duplicates and gaps, irregular stamps, a second table."""

KINDS = ("duplicates", "gaps", "missing", "irregular", "clock_change", "covariate_missing", "unused_covariates")
"""Findings whose counts are compared; none of a kind is a count of 0."""

SIZES = ("rows", "series", "steps")
"""What the first line of a report says."""

HOUR, HALF_HOUR, FIVE_MINUTES, DAY, WEEK = 3600, 1800, 300, 86_400, 604_800
CONFIGS = Path(__file__).parents[1] / "configs" / "datasets"

Counts = dict[str, int]


@dataclass(frozen=True)
class RealFile:
    """A file of the data folder with its configuration."""

    name: str
    """Of the configuration."""

    count: Callable[[Path], Counts]
    """Counts what the report must say, from the data folder, with nothing but polars."""


def show_real_files() -> Iterator[Shown]:
    """Show one line a file; with QUICK=1 three of them."""
    data = os.environ.get("LONGCAST_DATA_DIR")
    for file in FILES:
        name = f"inspect and train {file.name}"
        if data is None:
            yield holds(name, "LONGCAST_DATA_DIR is not set", "reads the folder that it names", met=None)
        elif QUICK and file.name not in QUICK_FILES:
            yield holds(name, "left out by QUICK=1", "reads the file", met=None)
        else:
            yield _show(file, name, Path(data))


def _show(file: RealFile, name: str, data: Path) -> Shown:
    expected = file.count(data)
    with tempfile.TemporaryDirectory() as folder:
        page, config = Path(folder) / "page.html", str(CONFIGS / f"{file.name}.yaml")
        inspected = _longcast("inspect", config, "--output", str(page))
        trained = _longcast("train", config, "--set", "trainer.max_steps=20", "--set", f"output={folder}/runs")
        failed = [ran for ran in (inspected, trained) if ran.returncode]
        if failed:
            return holds(name, failed[0].stderr.strip()[-300:], _told(expected), met=False)
        (logged,) = Path(folder).rglob("data_report.json")
        found = _found(json.loads(logged.read_text(encoding="utf-8")), page.read_text(encoding="utf-8"))
    first_line = inspected.stdout.partition("\n")[0]
    is_said_twice = first_line in trained.stdout  # by both commands
    met = is_said_twice and all(found[what] == expected.get(what, 0) for what in found)
    findings = {what: number for what, number in found.items() if what not in SIZES}
    return holds(name, f"{first_line}: {_told(findings) or 'nothing to tell'}", _told(expected), met=met)


def _longcast(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "longcast.cli", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def _found(plain: dict, page: str) -> Counts:
    """Give the counts of a report, and the longest gap that the page tells of."""
    counts = Counter[str]()
    for finding in plain["findings"]:
        counts[finding["kind"]] += finding["count"]
    longest = re.search(r"the longest stretch is ([\d,]+) step", page)
    return {
        **{what: plain[f"num_{what}"] for what in SIZES},
        **{kind: counts[kind] for kind in KINDS},
        "longest gap": int(longest[1].replace(",", "")) if longest else 0,
    }


def _told(counts: Counts) -> str:
    return ", ".join(f"{what} {number:,}" for what, number in counts.items() if number)


# ---- What must be found, by polars alone


def _traffic(data: Path) -> Counts:
    """Local hours of Chicago: of the hour that comes twice in autumn, a second row is the second pass."""
    rows = pl.read_csv(data / "open" / "hourly_traffic_volume.csv")
    local = rows["date_time"].str.to_datetime("%Y-%m-%d %H:%M:%S")
    hours = local.to_frame("hour").group_by("hour").len("rows").sort("hour")
    clock = pl.datetime_range(hours["hour"][0], hours["hour"][-1], interval="1h", eager=True)
    twice = clock.filter(_passes(clock, "earliest") != _passes(clock, "latest"))
    in_twice = hours.filter(pl.col("hour").is_in(twice.implode()))["rows"]
    second_passes = int((in_twice > 1).sum())
    absent_passes = len(twice) - second_passes
    instants = _passes(hours["hour"], "earliest").dt.convert_time_zone("UTC")
    steps = _steps(instants, every=HOUR)
    return {
        "rows": len(rows),
        "series": 1,
        "steps": steps,
        "duplicates": len(rows) - len(hours) - second_passes,
        "gaps": steps - len(hours) - second_passes - absent_passes,
        "clock_change": int((in_twice - 1).sum()) + absent_passes,
        "longest gap": _longest_gap(instants, every=HOUR),
    }


def _passes(local: pl.Series, which: Literal["earliest", "latest"]) -> pl.Series:
    """Give the instants of local hours, null where the clock skips them."""
    return local.dt.replace_time_zone("America/Chicago", ambiguous=which, non_existent="null")


def _river(data: Path) -> Counts:
    """Stamps with offsets are instants; counted in UTC, the change of the clocks is nothing."""
    stamps = pl.read_csv(data / "open" / "river_water-flow.csv")["Time"].str.to_datetime("%Y-%m-%dT%H:%M:%S%:z")
    return _one_series(stamps, every=HOUR)


def _beijing(data: Path) -> Counts:
    rows = pl.read_csv(data / "open" / "hourly_beijing_pm.csv", infer_schema=False)
    known = rows["pm2.5"] != "NA"
    longest = known.rle().struct.unnest().filter(~pl.col("value"))["len"].max()
    counts = {"rows": len(rows), "series": 1, "steps": len(rows)}
    return {**counts, "missing": int((~known).sum()), "longest gap": _whole(longest)}


def _parking(data: Path) -> Counts:
    """Stamps go to the nearest half hour."""
    rows = pl.read_csv(data / "open" / "hourly_parking.csv").select(
        pl.col("SystemCodeNumber").alias("id"),
        pl.col("LastUpdated").str.to_datetime("%Y-%m-%d %H:%M:%S").alias("stamp"),
    )
    nearest = rows.with_columns(pl.col("stamp").dt.offset_by("15m").dt.truncate("30m"))
    moved = int((nearest["stamp"] != rows["stamp"]).sum())
    taken = nearest.unique().sort("id", "stamp")
    return {
        "rows": len(rows),
        "irregular": moved,
        "duplicates": len(rows) - len(taken),
        **_spans(taken, every=HALF_HOUR),
    }


def _flights(data: Path) -> Counts:
    stamps = pl.read_csv(data / "open" / "uk_daily_flights.csv")["Date"].str.to_datetime("%d/%m/%Y")
    return _one_series(stamps, every=DAY)


def _yosemite(data: Path) -> Counts:
    rows = pl.read_csv(lzma.decompress((data / "open" / "minute_yosemite_temps.csv.xz").read_bytes()))
    known = rows["y"].is_not_null() & rows["y"].is_not_nan()
    longest = known.rle().struct.unnest().filter(~pl.col("value"))["len"].max()
    counts = _one_series(rows["ds"].str.to_datetime("%Y-%m-%d %H:%M:%S"), every=FIVE_MINUTES)
    return {**counts, "missing": int((~known).sum()), "longest gap": _whole(longest)}


def _m4_hourly(data: Path) -> Counts:
    rows = pl.read_parquet(data / "open" / "m4_hourly.parquet")
    keys = rows.select(pl.col("series_id").alias("id"), pl.col("timestamp").alias("stamp"))
    return {"rows": len(rows), **_spans(keys.sort("id", "stamp"), every=HOUR)}


def _m4_weekly(data: Path) -> Counts:
    cells = pl.read_csv(data / "unclear" / "M4_Weekly-train.csv", infer_schema=False).drop("V1")
    points = int(cells.select(pl.sum_horizontal(pl.all().is_not_null().sum())).item())
    return {"rows": points, "series": len(cells), "steps": points}


def _demo(data: Path) -> Counts:
    """The second table begins before some of the series do."""
    rows, beside = (
        pl.read_csv(data / "open" / f"demo_multi_series{name}.csv").select(
            pl.col("series_id").alias("id"), pl.col("timestamp").str.to_datetime("%Y-%m-%d").alias("stamp")
        )
        for name in ("", "_exog")
    )
    starts = rows.group_by("id").agg(pl.col("stamp").min().alias("start"))
    early = beside.join(starts, on="id").filter(pl.col("stamp") < pl.col("start"))
    return {"rows": len(rows), **_spans(rows.sort("id", "stamp"), every=DAY), "unused_covariates": len(early)}


def _m5(data: Path) -> Counts:
    rows = pl.read_csv(data / "unclear" / "m5_sales_exog_small.csv")
    keys = rows.select(pl.col("unique_id").alias("id"), pl.col("ds").str.to_datetime("%Y-%m-%d").alias("stamp"))
    priceless = rows["sell_price"].is_null() | rows["sell_price"].is_nan()
    return {
        "rows": len(rows),
        **_spans(keys.sort("id", "stamp"), every=DAY),
        "covariate_missing": int(priceless.fill_null(True).sum()),
    }


def _illness(data: Path) -> Counts:
    rows = pl.read_csv(data / "open" / "national_illness.csv")
    weeks, series = _steps(rows["date"].str.to_datetime("%Y-%m-%d %H:%M:%S"), every=WEEK), rows.width - 1
    return {"rows": len(rows) * series, "series": series, "steps": weeks * series}


def _one_series(stamps: pl.Series, *, every: int) -> Counts:
    keys = pl.DataFrame({"id": "series", "stamp": stamps}).sort("stamp")
    return {"rows": len(stamps), **_spans(keys, every=every)}


def _spans(keys: pl.DataFrame, *, every: int) -> Counts:
    """Count series, steps from first to last stamp, and those that are absent; `keys` are sorted, each there once."""
    groups = [group["stamp"] for _, group in keys.group_by("id", maintain_order=True)]
    steps = sum(_steps(stamps, every=every) for stamps in groups)
    longest = max(_longest_gap(stamps, every=every) for stamps in groups)
    return {"series": len(groups), "steps": steps, "gaps": steps - len(keys), "longest gap": longest}


def _steps(stamps: pl.Series, *, every: int) -> int:
    seconds = stamps.dt.epoch("s")
    return _whole(seconds.max()) // every - _whole(seconds.min()) // every + 1


def _longest_gap(stamps: pl.Series, *, every: int) -> int:
    jumps = stamps.unique().sort().dt.epoch("s").diff().drop_nulls()
    return _whole(jumps.max()) // every - 1 if len(jumps) else 0


def _whole(number: object) -> int:
    assert isinstance(number, int)
    return number


FILES = (
    RealFile("hourly_traffic_volume", _traffic),
    RealFile("river_water-flow", _river),
    RealFile("hourly_beijing_pm", _beijing),
    RealFile("hourly_parking", _parking),
    RealFile("uk_daily_flights", _flights),
    RealFile("minute_yosemite_temps", _yosemite),
    RealFile("m4_hourly", _m4_hourly),
    RealFile("M4_Weekly-train", _m4_weekly),
    RealFile("demo_multi_series", _demo),
    RealFile("m5_sales_exog_small", _m5),
    RealFile("national_illness", _illness),
)


if __name__ == "__main__":
    sys.exit(0 if report([show_real_files]) else 1)
