"""Every way of preparing gives what the contract gives for all rows in memory: series, values, report, faults."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forecast.config import config
from forecast.errors import DataError, MissingValues
from forecast.frames.columns import Columns
from forecast.frames.contract import DataContract, Prepared, prepare
from forecast.frames.covariate_columns import CovariateColumns
from forecast.frames.digest import panel_digest
from forecast.frames.panel_store import check_panel, write_panel
from pipelines.preparation import InMemory, InStore, Preparation, prepare_source, spool
from pipelines.sources.base import Description, SourceContract

START = datetime(2024, 1, 1)


@dataclass(frozen=True)
class FrameSource(SourceContract):
    """A frame that comes in pieces of so many rows."""

    frame: pl.DataFrame
    rows: int = 7

    def read(self) -> pl.DataFrame:
        return self.frame

    def chunks(self) -> Iterator[pl.DataFrame]:
        yield from self.frame.iter_slices(self.rows)

    def describe(self) -> Description:
        return Description(name="frame", origin="a test", holds="rows")


@config
class Run:
    preparation: Preparation = InMemory()


@pytest.fixture(autouse=True)
def small_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs and groups of few rows, so that a small frame has many."""
    monkeypatch.setattr(spool, "RUN_ROWS", 20)
    monkeypatch.setattr(spool, "GROUP_ROWS", 4)


def series(name: str, values: list[float | None], *, every: str = "1h", start: datetime = START) -> pl.DataFrame:
    stamps = pl.datetime_range(start, start.replace(year=2030), interval=every, eager=True).head(len(values))
    return pl.DataFrame({"unique_id": [name] * len(values), "ds": stamps, "y": pl.Series(values, dtype=pl.Float64)})


def many(count: int = 12, *, every: str = "1h") -> list[pl.DataFrame]:
    """Series of unequal length."""
    return [series(f"s{k}", [float(k * step % 7 + step) for step in range(3 + k)], every=every) for k in range(count)]


def facts(prepared: Prepared) -> dict:
    """All that a preparation gives, in a form that can be compared; findings in any order."""
    report = prepared.report.to_plain()
    findings = Counter(str(sorted(map(str, finding.items()))) for finding in report.pop("findings"))
    panel, stamps = prepared.panel, prepared.panel.axis.stamp_type
    return {
        "digest": panel_digest(panel),
        "ids": panel.ids,
        "id_type": panel.id_type.dtype,
        "stamps": (stamps.column.dtype, stamps.dtype, stamps.text, stamps.naive),
        "channels": panel.channels,
        "report": report,
        "findings": findings,
        "left_out": {name: (type(error), str(error)) for name, error in prepared.left_out.items()},
        "columns": prepared.columns,
        "like": prepared.like,
        "types": dict(prepared.types),
    }


def check_alike(
    frame: pl.DataFrame,
    tmp_path: Path,
    *,
    contract: DataContract | None = None,
    on_bad_series: str = "leave_out",
    parts: int = 5,
    beside: pl.DataFrame | None = None,
) -> Prepared:
    contract = contract or DataContract()
    whole = prepare(frame, contract, covariates=beside, on_bad_series=on_bad_series)
    way = InStore(folder=tmp_path / "store", num_partitions=parts)
    stored = prepare_source(FrameSource(frame), contract, way, covariates=beside, on_bad_series=on_bad_series)
    assert facts(stored) == facts(whole)
    assert check_panel(tmp_path / "store") == panel_digest(whole.panel)
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_dir()) == ["store"]
    return stored


def interleaved(frames: list[pl.DataFrame]) -> pl.DataFrame:
    """Rows by time, so that every series comes in every run."""
    return pl.concat(frames).sort("ds", maintain_order=True)


@pytest.mark.parametrize("parts", [1, 2, 5, 100])
@pytest.mark.parametrize("order", [pl.concat, interleaved])
def test_parts_give_what_memory_gives(tmp_path, parts, order):
    check_alike(order(many()), tmp_path, parts=parts)


def test_the_store_is_the_one_that_is_written_from_memory(tmp_path):
    frame = interleaved(many())
    prepare_source(FrameSource(frame), DataContract(), InStore(folder=tmp_path / "parts"))
    write_panel(prepare(frame).panel, tmp_path / "whole")
    for file in sorted((tmp_path / "whole").iterdir()):
        assert (tmp_path / "parts" / file.name).read_bytes() == file.read_bytes()


FAULTS = {
    "a duplicate": lambda: [*many(), series("s3", [1.0])],
    "a gap": lambda: [*many(), series("s3", [1.0], start=START + timedelta(days=2))],
    "missing values": lambda: [*many(), series("m", [None, 1.0, None])],
    "nothing but missing values": lambda: [*many(), series("m", [None, None])],
    "infinite values": lambda: [*many(), series("i", [1.0, float("inf")])],
    "a constant": lambda: [*many(), series("c", [2.0] * 9)],
    "a single step": lambda: [*many(), series("one", [2.0])],
    "only single steps at the end": lambda: [*many(3), *(series(f"one{k}", [2.0]) for k in range(30))],
    "a stray stamp": lambda: [*many(), series("x", [1.0, 2.0, 3.0], start=START + timedelta(minutes=7), every="53m")],
    "a coarser series": lambda: [*many(), series("day", [1.0, 2.0, 3.0, 4.0, 5.0], every="1d")],
    "coarser series that fill a part": lambda: [
        *many(),
        *(series(f"d{k}", [1.0, 2, 3, 4, 5], every="1d") for k in range(9)),
    ],
    "coarser series first": lambda: [*(series(f"d{k}", [1.0, 2, 3, 4, 5], every="1d") for k in range(5)), *many(20)],
    "bad series that fill parts": lambda: [*many(), *(pl.concat([series(f"b{k}", [1.0, 2.0])] * 2) for k in range(40))],
    "no stamp": lambda: [*many(), series("n", [1.0]).with_columns(ds=pl.lit(None, dtype=pl.Datetime("us")))],
}


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_are_found_as_in_memory(tmp_path, fault):
    frame = pl.concat(FAULTS[fault]())
    if fault == "no stamp":  # the message names a row, by its place in the part
        frame = frame.filter(pl.col("ds").is_not_null())
    check_alike(frame, tmp_path)


@pytest.mark.parametrize("policy", ["refuse", "first", "last", "mean"])
def test_duplicates_are_merged_in_the_order_of_the_rows(tmp_path, policy):
    again = [frame.with_columns(y=pl.col("y") + 100) for frame in many()[:9]]
    frame = pl.concat([*many(), *again, *many()[:3]])
    check_alike(frame, tmp_path, contract=DataContract(on_duplicate=policy))


@pytest.mark.parametrize("policy", ["keep", "drop", "refuse"])
def test_short_series_are_judged_as_in_memory(tmp_path, policy):
    check_alike(pl.concat(many()), tmp_path, contract=DataContract(on_short=policy, min_length=6))


def test_dropped_series_are_no_faults(tmp_path):
    contract = DataContract(on_short="drop", min_length=6)
    check_alike(pl.concat(many()), tmp_path, contract=contract, on_bad_series="raise")


@pytest.mark.parametrize(
    "frames",
    [
        [*many(), series("i1", [1.0, float("inf")]), *many(3)[:0], series("i2", [float("inf"), 1.0])],
        [series("i1", [1.0, float("inf")]), *many()],
        [*many(), *(series(f"i{k}", [1.0, float("inf")]) for k in range(20))],
    ],
)
def test_the_first_fault_is_raised_with_how_many_more_there_are(tmp_path, frames):
    frame = pl.concat(frames)
    with pytest.raises(MissingValues) as whole:
        prepare(frame)
    with pytest.raises(MissingValues) as stored:
        prepare_source(FrameSource(frame), DataContract(), InStore(folder=tmp_path / "store"))
    assert str(stored.value) == str(whole.value)
    assert (stored.value.series, stored.value.field) == (whole.value.series, whole.value.field)
    assert not (tmp_path / "store").exists()


@pytest.mark.parametrize(
    ("frame", "contract"),
    [
        (pl.concat(many()).with_columns(y=pl.lit("text")), DataContract()),
        (pl.concat(many()).drop("y"), DataContract()),
        (pl.concat(many()).head(0), DataContract()),
        (pl.concat(many()), DataContract(frequency="D")),
        (pl.concat(many()), DataContract(frequency=3)),
        (pl.concat([series(f"s{k}", [1.0]) for k in range(30)]), DataContract()),
        (pl.concat(many()).with_columns(ds=pl.col("ds").dt.to_string("%d/%m/%Y %H:%M")), DataContract()),
        (pl.concat(many()), DataContract(covariates=CovariateColumns(past=("price",)))),
        (pl.concat(many()).with_columns(unique_id=pl.lit(1.5)), DataContract()),
    ],
)
def test_a_frame_that_breaks_the_contract_as_a_whole_is_refused_by_the_same_class(tmp_path, frame, contract):
    with pytest.raises(DataError) as whole:
        prepare(frame, contract)
    with pytest.raises(type(whole.value)) as stored:
        prepare_source(FrameSource(frame), contract, InStore(folder=tmp_path / "store"))
    assert stored.value.field == whole.value.field
    assert not [path for path in tmp_path.iterdir() if path.is_dir()]


def test_a_row_without_an_id_is_refused_with_its_place(tmp_path):
    frame = pl.concat([*many(), series("x", [1.0]).with_columns(unique_id=pl.lit(None, dtype=pl.String))])
    with pytest.raises(MissingValues, match=f"rows without an id, the first is row {frame.height - 1};"):
        prepare_source(FrameSource(frame), DataContract(), InStore(folder=tmp_path / "store"))


TYPES = {
    "integer ids": lambda frame: frame.with_columns(unique_id=pl.col("unique_id").str.slice(1).cast(pl.Int32)),
    "categories": lambda frame: frame.with_columns(unique_id=pl.col("unique_id").cast(pl.Categorical)),
    "an enum": lambda frame: frame.with_columns(
        unique_id=pl.col("unique_id").cast(pl.Enum(["never", *(f"s{k}" for k in range(99))]))
    ),
    "integer time": lambda frame: frame.with_columns(ds=pl.int_range(pl.len(), dtype=pl.Int32).over("unique_id")),
    "dates": lambda frame: frame.with_columns(
        ds=pl.date(2024, 1, 1).dt.offset_by(pl.format("{}d", pl.int_range(pl.len()).over("unique_id")))
    ),
    "nanoseconds of a zone": lambda frame: frame.with_columns(
        ds=pl.col("ds").cast(pl.Datetime("ns")).dt.replace_time_zone("Europe/Berlin")
    ),
    "text": lambda frame: frame.with_columns(ds=pl.col("ds").dt.to_string("%Y-%m-%dT%H:%M:%SZ")),
    "whole numbers": lambda frame: frame.with_columns(y=pl.col("y").cast(pl.Int16)),
    "numbers that are rounded": lambda frame: frame.with_columns(y=pl.col("y").cast(pl.Int64) + 2**53),
    "decimals": lambda frame: frame.with_columns(y=pl.col("y").cast(pl.Decimal(20, 3))),
    "booleans": lambda frame: frame.with_columns(y=pl.col("y") > 3),
    "other names": lambda frame: frame.rename({"unique_id": "item_id", "ds": "timestamp", "y": "target"}),
    "no ids": lambda frame: frame.filter(pl.col("unique_id") == "s9").drop("unique_id"),
    "further columns": lambda frame: frame.with_columns(a=1, b=pl.lit("b")),
    "reversed rows": lambda frame: frame.reverse(),
}


@pytest.mark.parametrize("kind", TYPES)
def test_columns_of_every_type_are_prepared_as_in_memory(tmp_path, kind):
    check_alike(TYPES[kind](pl.concat(many())), tmp_path)


def test_text_in_the_callers_own_pattern_is_read_as_in_memory(tmp_path):
    frame = pl.concat(many()).with_columns(ds=pl.col("ds").dt.to_string("%d/%m/%Y %H:%M"))
    check_alike(frame, tmp_path, contract=DataContract(time_format="%d/%m/%Y %H:%M"))


def test_text_that_other_parts_write_otherwise_is_refused_as_in_memory(tmp_path):
    others = [series(f"t{k}", [1.0] * 9).with_columns(ds=pl.col("ds").dt.to_string("%Y-%m-%d %H:%M")) for k in range(9)]
    usual = [frame.with_columns(ds=pl.col("ds").dt.to_string("%Y-%m-%dT%H:%M:%SZ")) for frame in many(20)]
    stored = check_alike(pl.concat([*usual, *others]), tmp_path)
    assert len(stored.left_out) == 9


def test_an_hour_that_comes_twice_is_told_once_for_all(tmp_path):
    start = datetime(2024, 10, 26, 20)
    frames = []
    for k in range(12):
        stamps = pl.datetime_range(start, start + timedelta(hours=12 + k), interval="1h", eager=True, time_zone="UTC")
        local = stamps.dt.convert_time_zone("Europe/Berlin").dt.replace_time_zone(None)
        frames.append(pl.DataFrame({"unique_id": f"s{k}", "ds": local, "y": pl.Series(range(len(local))) * 0.5}))
    check_alike(pl.concat(frames), tmp_path, contract=DataContract(zone="Europe/Berlin"))


@pytest.mark.parametrize("every", ["15m", "1d", "1w", "1mo", "1q", "2h"])
def test_the_frequency_is_the_one_of_all_rows(tmp_path, every):
    check_alike(pl.concat(many(every=every)), tmp_path)


def test_weekly_series_on_other_days_have_the_frequency_of_the_whole(tmp_path):
    frames = [
        series(f"s{k}", [float(step) for step in range(9)], every="1w", start=START + timedelta(days=k % 2 * (k > 15)))
        for k in range(20)
    ]
    stored = check_alike(pl.concat(frames), tmp_path)
    assert stored.report.frequency == prepare(pl.concat(frames)).report.frequency


def test_business_days_are_found_although_some_parts_never_cross_a_weekend(tmp_path):
    days = [day for day in pl.date_range(START, START + timedelta(days=30), eager=True) if day.weekday() < 5]
    long = [
        pl.DataFrame({"unique_id": f"l{k}", "ds": days, "y": [float(k)] * 20 + [1.0] * (len(days) - 20)})
        for k in range(9)
    ]
    short = [pl.DataFrame({"unique_id": f"k{k}", "ds": days[:5], "y": [1.0, 2, 3, 4, 5]}) for k in range(30)]
    stored = check_alike(pl.concat([*long, *short]), tmp_path)
    assert stored.report.frequency == "B"


def test_a_given_frequency_that_few_series_contradict_leaves_only_these_out(tmp_path):
    others = [series(f"q{k}", [1.0, 2.0, 3.0, 4.0], every="17m") for k in range(12)]
    stored = check_alike(pl.concat([*many(30), *others]), tmp_path, contract=DataContract(frequency="h"))
    assert len(stored.left_out) == 12


def test_stamps_are_moved_as_in_memory(tmp_path):
    frame = interleaved(many()).with_columns(pl.col("ds").dt.offset_by(pl.format("{}m", pl.int_range(pl.len()) % 9)))
    check_alike(frame, tmp_path, contract=DataContract(frequency="h", on_irregular="nearest", on_duplicate="last"))


def test_several_targets_and_weights_stay_together(tmp_path):
    frame = pl.concat(many()).with_columns(z=pl.col("y") * 2, w=pl.col("y") % 3)
    columns = Columns(target=("y", "z"), weight="w")
    check_alike(frame, tmp_path, contract=DataContract(columns=columns))
    worse = pl.concat([frame, frame.filter(pl.col("unique_id") == "s4").with_columns(z=float("inf"))])
    check_alike(worse, tmp_path, contract=DataContract(columns=columns))


def told() -> pl.DataFrame:
    """Series with covariates of all roles, a vocabulary that no part has whole, and holes in some parts only."""
    frames = [
        frame.with_columns(
            price=pl.when(pl.int_range(pl.len()) == 2 * (k == 3)).then(None).otherwise(pl.col("y") * 1.5),
            weather=pl.lit(f"w{(7 * k) % 5}"),
            holiday=pl.col("y") > 4,
            shop=pl.lit(f"shop{(k * 5) % 7}"),
            size=pl.lit(k * 10),
        )
        for k, frame in enumerate(many())
    ]
    return pl.concat(frames)


COVARIATES = CovariateColumns(
    past=("weather", "price"), future=("holiday",), static=("shop", "size"), categorical=("size",)
)


def test_covariates_have_the_vocabulary_of_all_rows(tmp_path):
    contract = DataContract(covariates=COVARIATES)
    stored = check_alike(told(), tmp_path, contract=contract)
    whole = prepare(told(), contract)
    assert stored.panel.covariates.schema == whole.panel.covariates.schema
    for mine, theirs in zip(stored.panel.covariates.values, whole.panel.covariates.values, strict=True):
        np.testing.assert_array_equal(mine, theirs)
    assert [mask is None for mask in stored.panel.covariates.observed] == [
        mask is None for mask in whole.panel.covariates.observed
    ]


def test_a_second_table_is_shared_out_by_series(tmp_path):
    frame, contract = told(), DataContract(covariates=COVARIATES)
    keys = ["unique_id", "ds"]
    strangers = frame.head(4).with_columns(unique_id=pl.lit("stranger"))
    beside = pl.concat([frame, strangers]).select(*keys, *COVARIATES.names)
    check_alike(frame.select(*keys, "y"), tmp_path, contract=contract, beside=beside)


def test_a_second_table_for_all_series_goes_to_every_part(tmp_path):
    stamps = pl.datetime_range(START, START + timedelta(hours=30), interval="1h", eager=True)
    beside = pl.DataFrame({"ds": stamps, "temperature": pl.Series(range(len(stamps))) * 0.5})
    contract = DataContract(covariates=CovariateColumns(past=("temperature",)))
    check_alike(pl.concat(many(29)), tmp_path, contract=contract, beside=beside)


def test_rows_of_a_second_table_that_no_series_uses_are_counted_once(tmp_path):
    stamps = pl.datetime_range(START - timedelta(hours=3), START + timedelta(hours=30), interval="1h", eager=True)
    beside = pl.DataFrame({"ds": stamps, "temperature": pl.Series(range(len(stamps))) * 0.5})
    contract = DataContract(covariates=CovariateColumns(past=("temperature",)))
    stored = check_alike(pl.concat(many(29)), tmp_path, contract=contract, beside=beside)
    assert [finding.count for finding in stored.report.of_kind("unused_covariates")] == [3]


@settings(max_examples=5)
@given(random=st.randoms(use_true_random=False), rows=st.integers(9, 60), parts=st.integers(1, 9))
def test_rows_shuffled_give_the_panel_of_sorted_rows_in_memory_and_in_parts(tmp_path_factory, random, rows, parts):
    contract, keys = DataContract(covariates=COVARIATES), ["unique_id", "ds"]
    tables = told().select(*keys, "y"), told().select(*keys, *COVARIATES.names)
    mixed, beside = (one[random.sample(range(len(one)), len(one))] for one in tables)
    way = InStore(folder=tmp_path_factory.mktemp("mixed") / "store", num_partitions=parts)

    expected = prepare(tables[0].sort(keys), contract, covariates=tables[1].sort(keys))
    whole = prepare(mixed, contract, covariates=beside)
    stored = prepare_source(FrameSource(mixed, rows), contract, way, covariates=beside)

    assert facts(stored) == facts(whole)
    assert panel_digest(whole.panel) == panel_digest(expected.panel)
    assert whole.panel.ids == tuple(sorted(tables[0]["unique_id"].unique()))


@settings(max_examples=25)
@given(
    data=st.lists(
        st.tuples(
            st.integers(0, 9),
            st.integers(0, 30),
            st.one_of(st.none(), st.floats(-1e6, 1e6), st.just(float("inf"))),
        ),
        min_size=1,
        max_size=80,
    ),
    rows=st.integers(1, 30),
    parts=st.integers(1, 9),
    policy=st.sampled_from(["first", "last", "mean", "refuse"]),
)
def test_any_rows_in_any_order_give_what_memory_gives(tmp_path_factory, data, rows, parts, policy):
    ids, steps, values = zip(*data, strict=True)
    frame = pl.DataFrame(
        {"unique_id": ids, "ds": steps, "y": values}, schema={"unique_id": pl.Int64, "ds": pl.Int64, "y": pl.Float64}
    )
    contract, folder = DataContract(on_duplicate=policy), tmp_path_factory.mktemp("any") / "store"
    way = InStore(folder=folder, num_partitions=parts)
    try:
        whole = prepare(frame, contract, on_bad_series="leave_out")
    except DataError as refused:
        with pytest.raises(type(refused)):
            prepare_source(FrameSource(frame, rows), contract, way, on_bad_series="leave_out")
    else:
        stored = prepare_source(FrameSource(frame, rows), contract, way, on_bad_series="leave_out")
        assert facts(stored) == facts(whole)
