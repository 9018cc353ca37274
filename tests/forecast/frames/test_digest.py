"""A digest is of the content: equal for equal data in any frame, another for any change."""

import hashlib
import json
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from forecast.frames import digest as digests
from forecast.frames.contract import DataContract, prepare
from forecast.frames.digest import panel_digest
from forecast.frames.panel import Panel
from tests.forecast.frames.panels import Build, panel_from
from tests.tiny_model import tiny_history

FULL = Build(num_channels=2, masks=True)


def digest(frame: object, **contract: str) -> str:
    return panel_digest(prepare(frame, DataContract(**contract)).panel)


@pytest.mark.parametrize(
    "change",
    [
        pl.DataFrame.to_pandas,
        pl.DataFrame.to_arrow,
        lambda history: history.select("y", "ds", "unique_id"),
        lambda history: history.with_columns(pl.col("ds").cast(pl.Datetime("ms"))),
        lambda history: history.rename({"unique_id": "item_id", "ds": "timestamp"}),
        lambda history: history.sample(fraction=1, shuffle=True, seed=1),
    ],
)
def test_the_same_data_in_another_frame_has_the_same_digest(change: Callable[[pl.DataFrame], object]) -> None:
    assert digest(change(tiny_history())) == digest(tiny_history())


@pytest.mark.parametrize(
    "change",
    [
        lambda history: history.with_columns(pl.col("ds") + pl.duration(hours=1)),
        lambda history: history.with_columns(pl.col("ds").dt.replace_time_zone("UTC")),
        lambda history: history.with_columns(y=pl.when(pl.int_range(pl.len()) == 7).then(None).otherwise("y")),
        lambda history: history.with_columns(y=pl.when(pl.int_range(pl.len()) == 119).then(0.5).otherwise("y")),
        lambda history: history.with_columns(pl.col("unique_id") + "x"),
        lambda history: history.head(119),
    ],
)
def test_any_change_has_another_digest(change: Callable[[pl.DataFrame], pl.DataFrame]) -> None:
    assert digest(change(tiny_history())) != digest(tiny_history())


def test_text_and_numbers_are_not_the_same_ids() -> None:
    numbered = tiny_history().with_columns(unique_id=pl.col("unique_id").rank("dense").cast(pl.Int64))
    assert digest(numbered) != digest(numbered.with_columns(pl.col("unique_id").cast(pl.String)))


def test_a_digest_fits_the_tracking_store() -> None:
    assert len(digest(tiny_history())) <= 36


# ---- Covariates, weights, channels


@pytest.fixture
def full() -> Panel:
    """A panel that has all of them."""
    return panel_from(FULL, seed=3, num_entities=4)


def changed(array: np.ndarray) -> np.ndarray:
    """The array with its last number changed."""
    other = array.copy()
    other.flat[-1] = ~other.flat[-1] if other.dtype == bool else other.flat[-1] + 1
    return other


@pytest.mark.parametrize(
    "change",
    [
        lambda panel: replace(panel, weights=changed(panel.weights)),
        lambda panel: replace(panel, weights=None),
        lambda panel: replace(panel, channels=None),
        lambda panel: replace(panel, channels=replace(panel.channels, names=("channel 1", "channel 0"))),
        lambda panel: replace(panel, covariates=None),
        lambda panel: with_covariates(panel, values=tuple(map(changed, panel.covariates.values))),
        lambda panel: with_covariates(panel, observed=tuple(map(changed, panel.covariates.observed))),
        lambda panel: with_covariates(panel, static=changed(panel.covariates.static)),
        lambda panel: with_covariates(panel, static_observed=changed(panel.covariates.static_observed)),
        lambda panel: with_covariates(panel, lengths=panel.covariates.lengths - [1, *[0] * (len(panel) - 1)]),
        lambda panel: with_covariates(panel, schema=replace(panel.covariates.schema, calendar=())),
    ],
)
def test_what_stands_beside_the_target_is_part_of_the_digest(change, full):
    assert panel_digest(change(full)) != panel_digest(full)


def with_covariates(panel: Panel, **parts: object) -> Panel:
    if "schema" in parts:
        parts |= {"values": panel.covariates.values[:-1], "observed": panel.covariates.observed[:-1]}
    return replace(panel, covariates=replace(panel.covariates, **parts))


def test_where_rows_of_covariates_lie_is_no_part_of_the_digest(full):
    covariates = full.covariates
    chosen = [6, 7, 4, 5, 2, 3, 0, 1]  # its own inverse, channels kept together
    moved = replace(
        covariates,
        values=tuple(np.concatenate([[9.0] * 5, values]) for values in covariates.values),
        observed=tuple(np.concatenate([[True] * 5, observed]) for observed in covariates.observed),
        starts=covariates.starts + 5,
    )
    assert panel_digest(replace(full, covariates=moved)) == panel_digest(full)
    assert panel_digest(full.select(chosen).select(chosen)) == panel_digest(full)


def test_a_mask_that_is_not_kept_says_that_all_is_known(full):
    ones = with_covariates(full, observed=tuple(np.ones_like(mask) for mask in full.covariates.observed))
    none = with_covariates(full, observed=(None,) * len(full.covariates.values))
    assert panel_digest(ones) == panel_digest(none)


@pytest.mark.parametrize("chunk", [8, 16, 64])
def test_how_much_is_read_at_a_time_changes_nothing(chunk, full, monkeypatch):
    expected = panel_digest(full)
    monkeypatch.setattr(digests, "CHUNK", chunk)
    assert panel_digest(full) == expected


def test_the_digest_of_a_bare_panel_is_that_of_artifacts_already_written():
    panel = panel_from(Build(roles="none", weights=False), seed=3, num_entities=4)
    origins = panel.axis.origins
    expected = hashlib.sha256(json.dumps(["h", "Europe/Berlin", *panel.ids]).encode())
    expected.update(panel.values.astype("<f8").tobytes())
    expected.update(np.packbits(panel.observed).tobytes())
    for array in (panel.offsets, origins.places, origins.times_of_day, origins.month_days):
        expected.update(array.astype("<i8").tobytes())
    assert panel_digest(panel) == expected.hexdigest()[:32]


def test_how_many_rows_a_series_has_is_part_of_the_digest_where_no_covariate_fills_them():
    panel = panel_from(Build(roles="static alone"), seed=3, num_entities=4)
    longer = with_covariates(panel, lengths=panel.covariates.lengths + 1)
    assert panel_digest(longer) != panel_digest(panel)
