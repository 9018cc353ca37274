"""Show that a Ray cluster on this machine leaves the store and the forecasts of one process, bit for bit."""

import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

import numpy as np
import polars as pl
import torch

from benchmarks.shown import Shown, holds
from forecast.artifact import Artifact, save_artifact
from forecast.card import describe
from forecast.config import build_config
from forecast.frames.contract import DataContract, prepare
from forecast.frames.digest import panel_digest
from forecast.frames.panel_store import stored_digest
from forecast.model.transformer import ForecastModel, ModelConfig
from pipelines.flows.predict_in_parts import predict_in_parts
from pipelines.preparation import InStore, OnRay, prepare_source
from pipelines.sources import FilesSource

T = TypeVar("T")

NUM_SERIES, NUM_STEPS, PARTS = 500, 400, 8
MODEL = {
    "context_length": 96,
    "horizon": 24,
    "patch_length": 8,
    "num_encoder_layers": 1,
    "layer": {"d_model": 16, "num_heads": 2},
    "decoder": {"kind": "autoregressive", "patch_length": 8},
}


def show_ray() -> Iterator[Shown]:
    """Show the digests of the stores, and the forecasts of an untrained model of random weights."""
    with tempfile.TemporaryDirectory(prefix="longcast-") as folder:
        place = Path(folder)
        rows = _rows()
        rows.write_parquet(place / "rows.parquet")
        source = FilesSource(paths=str(place / "rows.parquet"))
        here = InStore(folder=place / "here", num_partitions=PARTS)
        there = OnRay(folder=place / "there", num_partitions=PARTS)
        for way in (here, there):
            prepare_source(source, DataContract(), way)
        digests = {way.folder.name: stored_digest(way.folder) for way in (here, there)}
        whole = panel_digest(prepare(rows).panel)
        yield holds(
            f"Ray store of {rows.height:,} rows, {PARTS} parts",
            f"digest {digests['there']}",
            f"{digests['here']} of one process in parts, {whole} of one process in memory",
            met=digests["there"] == digests["here"] == whole,
        )
        save_artifact(_artifact(rows), place / "artifact")
        alone, seconds = _timed(lambda: predict_in_parts(source, place / "artifact", here))
        together, on_ray = _timed(lambda: predict_in_parts(source, place / "artifact", there))
        yield holds(
            f"Ray forecasts of {NUM_SERIES} series",
            f"{together.height:,} rows in {on_ray:.0f} s, start of the cluster included",
            f"equal to the bit to one process, {seconds:.0f} s",
            met=together.equals(alone),
        )


def _rows() -> pl.DataFrame:
    """Hourly series of unequal length, their rows in order of time, so that every series comes in every piece."""
    random = np.random.default_rng(0)
    frames = []
    for number in range(NUM_SERIES):
        steps = np.arange(NUM_STEPS - number % 100)
        values = np.sin(steps / 24 * 2 * np.pi) * (1 + number % 7) + random.normal(0, 0.3, len(steps))
        stamps = pl.Series(steps).cast(pl.Duration("us")) * 3_600_000_000 + pl.datetime(2024, 1, 1)
        frames.append(pl.select(unique_id=pl.lit(f"s{number}"), ds=stamps, y=pl.Series(values)))
    return pl.concat(frames).sort("ds", maintain_order=True)


def _artifact(rows: pl.DataFrame) -> Artifact:
    torch.manual_seed(0)
    model, prepared = ForecastModel(build_config(ModelConfig, MODEL)), prepare(rows)
    card = describe(model, prepared, name="random", contract=DataContract(), ends=prepared.panel.lengths, backtest={})
    return Artifact(model, card)


def _timed(work: Callable[[], T]) -> tuple[T, float]:
    started = time.monotonic()
    return work(), time.monotonic() - started
