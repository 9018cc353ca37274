"""A predictor answers frames: the same numbers for any kind of frame and any company, and says what it leaves out."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest

from forecast import predictor as module
from forecast.errors import ConfigError, ContextTooLong, MissingValues, QuantilesUnavailable
from forecast.frames.contract import prepare
from forecast.predictor import ForecastWarning, NaiveForecast, Predictor, SeriesLeftOut
from forecast.request import Request
from tests.tiny_model import CONTEXT_LENGTH, HORIZON, tiny_artifact, tiny_history

CLOSE = 1e-5  # relative; the project's stated tolerance for one series alone or in company


@pytest.fixture
def predictor() -> Predictor:
    return Predictor(tiny_artifact())


def numbers(answer: pl.DataFrame) -> np.ndarray:
    return answer.drop("unique_id", "ds").to_numpy()


def test_every_series_is_forecast_from_its_own_end_at_the_trained_horizon_and_levels(predictor: Predictor) -> None:
    answer = predictor.predict(tiny_history())
    assert answer.columns[:3] == ["unique_id", "ds", "mean"]
    assert answer.columns[3:] == ["0.05", "0.1", "0.2", "0.3", "0.4", "0.5", "0.6", "0.7", "0.8", "0.9", "0.95"]
    assert answer["unique_id"].to_list() == ["a"] * HORIZON + ["b"] * HORIZON
    assert answer["ds"][0] == tiny_history()["ds"].max() + pd.Timedelta(hours=1)


def test_pandas_and_polars_give_the_same_numbers_and_each_its_own_kind(predictor: Predictor) -> None:
    history = tiny_history()
    of_polars, of_pandas = predictor.predict(history), predictor.predict(history.to_pandas())
    assert isinstance(of_pandas, pd.DataFrame)
    assert pl.from_pandas(of_pandas).equals(of_polars)


def test_the_zone_of_the_caller_comes_back() -> None:
    history = tiny_history(zone="Europe/Berlin")
    answer = Predictor(tiny_artifact(history)).predict(history)
    assert answer.schema["ds"] == pl.Datetime("us", "Europe/Berlin")


@pytest.mark.parametrize("horizon", [1, HORIZON, 2 * HORIZON + 1])
def test_any_horizon_can_be_asked_for(predictor: Predictor, horizon: int) -> None:
    answer = predictor.predict(tiny_history(), horizon=horizon)
    assert answer.height == 2 * horizon
    assert np.isfinite(numbers(answer)).all()


@pytest.mark.parametrize("context_length", [1, CONTEXT_LENGTH - 1, 2 * CONTEXT_LENGTH])
def test_any_context_can_be_asked_for(predictor: Predictor, context_length: int) -> None:
    assert np.isfinite(numbers(predictor.predict(tiny_history(), context_length=context_length))).all()


def test_a_context_asked_for_is_all_that_is_seen(predictor: Predictor) -> None:
    history = tiny_history(ids=("a",))
    asked = predictor.predict(history, context_length=5)
    assert asked.equals(predictor.predict(history.tail(5), context_length=5))


def test_learned_positions_refuse_a_context_that_they_do_not_reach() -> None:
    predictor = Predictor(tiny_artifact(position={"kind": "learned"}))
    with pytest.raises(ContextTooLong):
        predictor.predict(tiny_history(), context_length=2 * CONTEXT_LENGTH)


@pytest.mark.parametrize(
    ("level", "quantile_levels"),
    [(80, [0.1, 0.9]), ([80, 95], [0.025, 0.1, 0.9, 0.975]), ((99.8,), (0.001, 0.999)), (50.0, [0.75, 0.25, 0.25])],
)
def test_levels_and_quantile_levels_are_one_request_in_two_forms(
    predictor: Predictor, level: object, quantile_levels: object
) -> None:
    history = tiny_history()
    of_level = predictor.predict(history, level=level)
    assert of_level.equals(predictor.predict(history, quantile_levels=quantile_levels))
    assert of_level.columns[3:] == [str(level) for level in sorted(set(quantile_levels))]


def test_quantiles_of_a_single_level_need_no_list(predictor: Predictor) -> None:
    assert predictor.predict(tiny_history(), quantile_levels=0.5).columns == ["unique_id", "ds", "mean", "0.5"]


@pytest.mark.parametrize(
    ("asked", "field"),
    [
        ({"level": 80, "quantile_levels": [0.1, 0.9]}, "level"),
        ({"level": 100}, "level"),
        ({"level": [80, 0]}, "level"),
        ({"quantile_levels": [0.0, 0.5]}, "quantile_levels"),
        ({"quantile_levels": 95}, "quantile_levels"),
        ({"quantile_levels": float("nan")}, "quantile_levels"),
        ({"horizon": 0}, "horizon"),
        ({"context_length": -1}, "context_length"),
        ({"num_samples": 0}, "num_samples"),
        ({"num_samples": 5, "seed": -1}, "seed"),
        ({"num_samples": 5, "seed": 2**63}, "seed"),
    ],
)
def test_a_request_that_makes_no_sense_is_refused_by_its_part(
    predictor: Predictor, asked: dict[str, object], field: str
) -> None:
    with pytest.raises(ConfigError) as refused:
        predictor.predict(tiny_history(), **asked)
    assert refused.value.field == field


def test_a_point_model_gives_its_mean_and_refuses_levels() -> None:
    predictor = Predictor(tiny_artifact(head={"kind": "mae"}))
    assert predictor.predict(tiny_history()).columns == ["unique_id", "ds", "mean"]
    with pytest.raises(QuantilesUnavailable):
        predictor.predict(tiny_history(), level=80)
    with pytest.raises(QuantilesUnavailable, match="sample paths"):
        predictor.predict(tiny_history(), num_samples=5)


def test_a_batch_gives_each_series_what_it_gets_alone(predictor: Predictor) -> None:
    ids = tuple(f"s{number}" for number in range(7))
    history = tiny_history(ids=ids).filter(  # of different lengths, some shorter than the context
        pl.int_range(pl.len()).over("unique_id") >= 8 * pl.col("unique_id").str.slice(1).cast(pl.Int64)
    )
    together = predictor.predict(history, horizon=13)
    for series in ids:
        alone = predictor.predict(history.filter(unique_id=series), horizon=13)
        np.testing.assert_allclose(numbers(together.filter(unique_id=series)), numbers(alone), rtol=CLOSE)


def test_sample_paths_of_a_series_are_its_own_whatever_is_beside_it_and_wherever_it_stands(
    predictor: Predictor,
) -> None:
    history, asked = tiny_history(ids=("a", "b", "c")), {"horizon": 13, "num_samples": 20, "seed": 6}
    together = predictor.predict(history, **asked)
    for series in ("a", "b", "c"):
        alone = predictor.predict(history.filter(unique_id=series), **asked)
        np.testing.assert_allclose(numbers(together.filter(unique_id=series)), numbers(alone), rtol=CLOSE)
    turned = predictor.predict(history.sort("unique_id", descending=True, maintain_order=True), **asked)
    np.testing.assert_allclose(numbers(turned.sort("unique_id", maintain_order=True)), numbers(together), rtol=CLOSE)


def test_sample_paths_hang_on_the_seed_alone(predictor: Predictor) -> None:
    first, again, other = (predictor.predict(tiny_history(), num_samples=20, seed=seed) for seed in (1, 1, 2))
    assert first.equals(again)
    assert not np.allclose(numbers(first), numbers(other))


def test_series_of_the_same_values_draw_paths_of_their_own(predictor: Predictor) -> None:
    one = tiny_history(ids=("a",))
    twins = pl.concat([one, one.with_columns(unique_id=pl.lit("b"))])
    answer = predictor.predict(twins, num_samples=20)
    assert not np.allclose(numbers(answer.filter(unique_id="a")), numbers(answer.filter(unique_id="b")), rtol=1e-3)


def test_the_size_of_batches_changes_nothing(predictor: Predictor, monkeypatch: pytest.MonkeyPatch) -> None:
    history = tiny_history(ids=("a", "b", "c", "d", "e"))
    expected = predictor.predict(history)
    monkeypatch.setattr(module, "STEPS_A_BATCH", 2 * (CONTEXT_LENGTH + HORIZON))
    found = predictor.predict(history)
    assert found["unique_id"].equals(expected["unique_id"])
    np.testing.assert_allclose(numbers(found), numbers(expected), rtol=CLOSE)


def test_what_lies_before_the_context_changes_nothing_and_the_newest_value_does(predictor: Predictor) -> None:
    history = tiny_history(ids=("a",))
    expected = predictor.predict(history)
    step = pl.int_range(pl.len())
    older = history.with_columns(y=pl.when(step < pl.len() - CONTEXT_LENGTH).then(1e6).otherwise("y"))
    newest = history.with_columns(y=pl.when(step == pl.len() - 1).then(pl.col("y") + 1).otherwise("y"))
    assert predictor.predict(older).equals(expected)
    assert not predictor.predict(newest).equals(expected)


def test_a_series_without_a_recent_value_stays_at_its_newest_one_and_is_named(predictor: Predictor) -> None:
    history = tiny_history().with_columns(
        y=pl.when((pl.col("unique_id") == "b") & (pl.col("ds") > pl.lit("2024-03-29 12:00").str.to_datetime()))
        .then(None)
        .otherwise("y")
    )
    with pytest.warns(
        NaiveForecast, match="1 series repeat their newest value: series 'b': none of its newest 24 steps"
    ):
        answer = predictor.predict(history)
    newest = history.filter(unique_id="b")["y"].drop_nulls()[-1]
    assert (numbers(answer.filter(unique_id="b")) == newest).all()
    alone = predictor.predict(history.filter(unique_id="a"))
    np.testing.assert_allclose(numbers(answer.filter(unique_id="a")), numbers(alone), rtol=CLOSE)


def test_a_series_without_any_value_is_left_out_and_named(predictor: Predictor) -> None:
    history = tiny_history().with_columns(y=pl.when(pl.col("unique_id") == "a").then("y"))
    with pytest.warns(SeriesLeftOut, match="1 series have no forecast: series 'b': none of its newest 60 steps"):
        answer = predictor.predict(history)
    assert answer["unique_id"].unique().to_list() == ["a"]


def test_a_series_that_breaks_the_contract_is_left_out_and_the_others_are_served(predictor: Predictor) -> None:
    history = tiny_history()
    twice = pl.concat([history, history.filter(unique_id="b").tail(1)])
    prediction = predictor.answer(twice, request=Request.complete(predictor.card))
    assert prediction.panel.ids == ("a",)
    assert list(prediction.left_out) == ["b"]
    assert any("'b'" in warning for warning in prediction.warnings)


def test_an_error_names_the_series_when_none_can_be_forecast(predictor: Predictor) -> None:
    with pytest.raises(MissingValues, match="series 'a': none of its newest 60 steps has a value"):
        predictor.predict(tiny_history(ids=("a",)).with_columns(y=pl.lit(None, pl.Float64)))


def test_a_single_step_is_enough(predictor: Predictor) -> None:
    """The frequency cannot be read from one stamp: it is the card's."""
    with pytest.warns(
        NaiveForecast, match="series 'a': one of its newest 1 steps has a value; its forecast repeats it"
    ):
        answer = predictor.predict(tiny_history(ids=("a",)).head(1))
    assert answer["mean"].to_list() == pytest.approx([10.0] * HORIZON)


def test_another_frequency_is_served_when_it_is_asked_for_and_remarked_upon(predictor: Predictor) -> None:
    history = tiny_history().with_columns(pl.col("ds").dt.truncate("1d") + pl.duration(days=pl.int_range(pl.len())))
    with pytest.warns(ForecastWarning, match="trained on steps of 'h' and is given 'D'"):
        answer = predictor.predict(history.filter(unique_id="a").unique("ds", keep="first"), frequency="D")
    assert answer["ds"].diff().drop_nulls().unique().to_list() == [pd.Timedelta(days=1)]


def test_an_ordinary_frame_is_answered_without_a_warning(predictor: Predictor) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        predictor.predict(tiny_history())


def test_a_panel_gives_the_numbers_of_its_frame(predictor: Predictor) -> None:
    history = tiny_history()
    forecast = predictor.predict_panel(prepare(history).panel, horizon=4, quantile_levels=[0.9, 0.1])
    frame = predictor.predict(history, horizon=4, level=80)
    assert forecast.quantile_levels == (0.1, 0.9)
    assert np.array_equal(forecast.mean.ravel(), frame["mean"])
    assert np.array_equal(forecast.quantiles.reshape(-1, 2), frame.select("0.1", "0.9"))


def test_a_panel_with_a_blind_series_is_refused(predictor: Predictor) -> None:
    panel = prepare(tiny_history().with_columns(y=pl.when(pl.col("unique_id") == "a").then("y"))).panel
    with pytest.raises(MissingValues, match="'b'"):
        predictor.predict_panel(panel)
