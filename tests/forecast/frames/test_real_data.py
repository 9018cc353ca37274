"""Real series as people have them: the contract says what is in each."""

from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from forecast.errors import DuplicateSteps
from forecast.frames.columns import Columns
from forecast.frames.contract import DataContract, prepare

RIVER = Columns(target="Water flow [l/s]")
TRAFFIC = Columns(target="traffic_volume")


@pytest.mark.parametrize("read", [pl.read_csv, pd.read_csv])
def test_river_flow_keeps_its_hours_across_the_clock_change(data_dir: Path, read: Callable[[Path], Any]) -> None:
    frame = read(data_dir / "open" / "river_water-flow.csv")

    prepared = prepare(frame, DataContract(columns=RIVER, zone="Europe/Rome"))

    assert prepared.panel.axis.frequency.text == "h"
    assert prepared.panel.lengths.tolist() == [1268 + 111]
    (gaps,) = prepared.report.of_kind("gaps")
    assert gaps.count == 111
    stamps = prepared.panel.axis.stamps(0, first=0, count=len(prepared.panel.values))
    assert stamps.filter(prepared.panel.observed).to_list() == list(frame["Time"])
    assert stamps[-1] == "2022-05-16T22:00:00+02:00"


def test_traffic_with_duplicates_is_refused_with_their_count(data_dir: Path) -> None:
    frame = pl.read_csv(data_dir / "open" / "hourly_traffic_volume.csv", try_parse_dates=True)

    with pytest.raises(DuplicateSteps, match=r"has 7,629 rows for a step that has one already, the first at 2012-10-"):
        prepare(frame, DataContract(columns=TRAFFIC))


def test_traffic_with_duplicates_merged_has_the_hours_that_it_has(data_dir: Path) -> None:
    frame = pl.read_csv(data_dir / "open" / "hourly_traffic_volume.csv", try_parse_dates=True)

    prepared = prepare(frame, DataContract(columns=TRAFFIC, on_duplicate="last"))

    last = frame.unique("date_time", keep="last").sort("date_time")
    assert prepared.panel.axis.frequency.text == "h"
    assert prepared.panel.lengths.tolist() == [52_551]
    assert np.array_equal(prepared.panel.values[prepared.panel.observed], last["traffic_volume"])


def test_traffic_in_its_own_zone_has_no_gap_where_the_clock_goes_forward(data_dir: Path) -> None:
    frame = pl.read_csv(data_dir / "open" / "hourly_traffic_volume.csv", try_parse_dates=True)

    naive, zoned = (
        prepare(frame, DataContract(columns=TRAFFIC, on_duplicate="last", zone=zone)).panel
        for zone in (None, "America/Chicago")
    )

    skipped = [datetime(2013, 3, 10, 2), datetime(2016, 3, 13, 2), datetime(2018, 3, 11, 2)]
    assert set(skipped) <= set(naive.axis.stamps(0, first=0, count=len(naive.values)))
    assert not set(skipped) & set(zoned.axis.stamps(0, first=0, count=len(zoned.values)))


def test_m4_hourly_is_read_whole(data_dir: Path) -> None:
    frame = pl.read_parquet(data_dir / "open" / "m4_hourly.parquet")

    prepared = prepare(frame)

    assert prepared.panel.ids == tuple(sorted(frame["series_id"].unique()))
    assert set(prepared.panel.lengths.tolist()) == {748, 1008}
    assert np.array_equal(prepared.panel.values, frame.sort("series_id", maintain_order=True)["value"])
    assert [finding.kind for finding in prepared.report.findings if finding.kind != "constant"] == ["ignored_columns"]


def test_ett_is_the_same_in_every_library(data_dir: Path) -> None:
    frame = pl.read_csv(data_dir / "ett" / "ETTh1.csv", try_parse_dates=True)
    melted = frame.unpivot(index="date", variable_name="unique_id", value_name="y")

    panels = [prepare(given).panel for given in (melted, melted.to_pandas(), melted.to_arrow(), melted.lazy())]

    for panel in panels:
        assert panel.ids == tuple(sorted(frame.columns[1:]))
        assert panel.lengths.tolist() == [17_420] * 7
        assert panel.observed.all()
        assert panel.axis.frequency.text == "h"
        assert np.array_equal(panel.values.reshape(7, -1).T, frame.select(panel.ids).to_numpy())
