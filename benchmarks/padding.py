"""Show how much of the batches of short and long series is padding, without length buckets and with them."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import polars as pl

from benchmarks.shown import Shown, at_most, holds, report
from forecast.frames.contract import prepare
from forecast.frames.panel import Panel
from pipelines.buckets import make_buckets, padding_share
from pipelines.split import FractionSplit
from pipelines.windows import training_windows

WEEKLY = "M4_Weekly-train.csv"
HORIZON, BATCH_SIZE = 13, 64
BUCKETS = {512: (64, 128, 256, 384), 1_024: (64, 128, 256, 512)}
"""Bounds below each context length."""


def show_padding() -> Iterator[Shown]:
    """Show one line a context length, on the weekly series of M4: 359 of 80 to 2,597 points."""
    data = os.environ.get("LONGCAST_DATA_DIR")
    file = next(Path(data).rglob(WEEKLY), None) if data else None
    if file is None:
        yield holds("padding", f"no {WEEKLY} in the folder that LONGCAST_DATA_DIR names", "half of it", met=None)
        return
    panel = weekly_panel(file)
    for context_length, bounds in BUCKETS.items():
        before, after = (padding_of(panel, context_length=context_length, bounds=some) for some in ((), bounds))
        name = f"share of padding at a context of {context_length:,}, {len(bounds) + 1} buckets (one: {before:.1%})"
        yield at_most(name, after, before / 2, digits=2)


def padding_of(panel: Panel, *, context_length: int, bounds: tuple[int, ...]) -> float:
    """Give the share of the steps in the batches of all training windows that is padding."""
    parts = FractionSplit(train=1, validation=0).cut(panel)
    index = training_windows(panel, parts, context_length=context_length, horizon=HORIZON)
    buckets = make_buckets(index, bounds=bounds, context_length=context_length, horizon=HORIZON, batch_size=BATCH_SIZE)
    return padding_share(buckets, horizon=HORIZON)


def weekly_panel(file: Path) -> Panel:
    """Read the file, which holds a series a row, as series of numbered weeks."""
    wide = pl.read_csv(file, infer_schema_length=None)
    name, *weeks = wide.columns
    long = wide.unpivot(on=weeks, index=name, variable_name="ds", value_name="y").drop_nulls()
    return prepare(long.with_columns(pl.col("ds").str.slice(1).cast(pl.Int64)).rename({name: "unique_id"})).panel


if __name__ == "__main__":
    sys.exit(0 if report([show_padding]) else 1)
