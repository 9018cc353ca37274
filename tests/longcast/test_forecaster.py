"""The Python face: from frame to forecast in any library, and the laws that hold for the whole way."""

import doctest
import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import torch
from polars.testing import assert_frame_equal

import longcast
from forecast.errors import ArtifactError, ConfigError, SeriesTooShort
from forecast.predictor import ForecastWarning
from longcast import Forecaster, forecaster

CONTEXT_LENGTH, HORIZON, STEPS = 24, 6, 200
CUTOFF = 160  # the first step of the test part
CLOSE = 1e-5  # relative; the project's stated tolerance for one series alone or in company

CONFIG: dict[str, Any] = {
    "name": "waves",
    "split": {"kind": "fraction", "train": 0.7, "validation": 0.1},
    "model": {
        "context_length": CONTEXT_LENGTH,
        "horizon": HORIZON,
        "patch_length": 4,
        "num_encoder_layers": 1,
        "layer": {"d_model": 8, "num_heads": 2},
        "decoder": {"kind": "autoregressive", "patch_length": 3},
        "draft": {"kind": "ridge"},
    },
    "trainer": {"max_epochs": 1, "batch_size": 32, "device": "cpu"},
}


def history(*ids: str, zone: str | None = None) -> pl.DataFrame:
    """Hourly waves with noise, one a series; the last fifth of each is its test part."""
    random = np.random.default_rng(4)
    stamps = pl.datetime_range(pl.datetime(2026, 3, 24), pl.datetime(2026, 4, 30), "1h", eager=True).head(STEPS)
    if zone is not None:
        stamps = stamps.dt.replace_time_zone("UTC").dt.convert_time_zone(zone)
    waves = [10 + np.sin(np.arange(STEPS) / (3 + len(name))) + random.normal(0, 0.1, STEPS) for name in ids]
    return pl.concat(
        pl.DataFrame({"unique_id": [name] * STEPS, "ds": stamps, "y": wave})
        for name, wave in zip(ids, waves, strict=True)
    )


def weights(fitted: Forecaster) -> dict[str, bytes]:
    return {name: tensor.numpy().tobytes() for name, tensor in fitted.artifact.model.state_dict().items()}


def numbers(answer: pl.DataFrame) -> np.ndarray:
    return answer.drop("unique_id", "ds").to_numpy()


@pytest.fixture(scope="module")
def frame() -> pl.DataFrame:
    return history("a", "bb")


@pytest.fixture(scope="module")
def fitted(frame: pl.DataFrame) -> Forecaster:
    return Forecaster(CONFIG).fit(frame)


def test_the_examples_of_the_documentation_are_right() -> None:
    tests = doctest.DocTestFinder(recurse=False).find(Forecaster, globs={"Forecaster": Forecaster})
    results = [doctest.DocTestRunner().run(example) for example in tests]
    assert [(result.failed, result.attempted > 5) for result in results] == [(0, True)]


def test_the_package_offers_the_forecaster_and_nothing_else() -> None:
    assert longcast.Forecaster is forecaster.Forecaster
    with pytest.raises(AttributeError, match="no attribute 'Forcaster'"):
        _ = longcast.Forcaster


# ---- Configuration


def test_a_configuration_is_an_object_a_mapping_or_a_file(tmp_path: Path) -> None:
    (tmp_path / "run.yaml").write_text(json.dumps(CONFIG))
    of_mapping = Forecaster(CONFIG).config
    assert of_mapping == Forecaster(tmp_path / "run.yaml").config == Forecaster(str(tmp_path / "run.yaml")).config
    assert Forecaster(of_mapping).config == of_mapping


def test_overrides_change_any_of_them() -> None:
    changed = Forecaster(Forecaster(CONFIG).config, overrides=["model.horizon=12", "seed=7"]).config
    assert (changed.model.horizon, changed.seed) == (12, 7)


def test_an_unknown_key_is_told_by_its_path() -> None:
    with pytest.raises(ConfigError, match=r"model\.layer\.d_modl: unknown key"):
        Forecaster(CONFIG, overrides=["model.layer.d_modl=3"])


def test_a_forecaster_that_is_not_fitted_says_so(frame: pl.DataFrame, tmp_path: Path) -> None:
    unfitted = Forecaster(CONFIG)
    for use in (unfitted.predict, unfitted.backtest):
        with pytest.raises(ConfigError, match="not fitted yet"):
            use(frame)
    with pytest.raises(ConfigError, match="not fitted yet"):
        unfitted.save(tmp_path / "model")


# ---- Fit


def test_the_same_seed_gives_the_same_weights_to_the_bit(fitted: Forecaster, frame: pl.DataFrame) -> None:
    torch.manual_seed(99)
    assert weights(Forecaster(CONFIG).fit(frame)) == weights(fitted)


def test_pandas_polars_and_any_order_of_rows_and_columns_give_the_same_model(
    fitted: Forecaster, frame: pl.DataFrame
) -> None:
    mixed = frame.select("y", "ds", "unique_id").sample(fraction=1, shuffle=True, seed=1)
    assert mixed["unique_id"][0] == "bb"
    mixed = mixed.to_pandas()
    again = Forecaster(CONFIG).fit(mixed)
    assert weights(again) == weights(fitted)
    answer = again.predict(mixed)
    assert isinstance(answer, pd.DataFrame)
    assert_frame_equal(pl.from_pandas(answer), fitted.predict(frame))


def test_nothing_after_the_cutoff_reaches_the_weights_or_a_forecast_made_at_it(
    fitted: Forecaster, frame: pl.DataFrame
) -> None:
    is_after = pl.int_range(pl.len()).over("unique_id") >= CUTOFF
    corrupted = Forecaster(CONFIG).fit(frame.with_columns(y=pl.when(is_after).then(-1e6 * pl.col("y")).otherwise("y")))
    until = frame.filter(~is_after)
    assert weights(corrupted) == weights(fitted)
    assert corrupted.predict(until).equals(fitted.predict(until))


def test_fitting_writes_nothing_where_it_runs(
    frame: pl.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Forecaster(CONFIG).fit(frame).predict(frame)
    assert not list(tmp_path.iterdir())


def test_a_series_too_short_for_the_parts_trains_beside_the_others(frame: pl.DataFrame) -> None:
    short = history("c").head(HORIZON + 3)
    fitted = Forecaster(CONFIG).fit(pl.concat([frame, short]))
    assert fitted.predict(short)["unique_id"].unique().to_list() == ["c"]


# ---- Predict


def test_names_types_and_zone_of_the_caller_come_back() -> None:
    berlin = history("a", zone="Europe/Berlin").rename({"unique_id": "buoy", "ds": "when", "y": "degrees"})
    berlin = berlin.with_columns(pl.col("when").dt.cast_time_unit("ms"), pl.col("buoy").cast(pl.Categorical))
    columns = {"columns": {"id": "buoy", "time": "when", "target": "degrees"}}
    answer = Forecaster({**CONFIG, "contract": columns}).fit(berlin).predict(berlin)
    assert answer.columns[:3] == ["buoy", "when", "mean"]
    assert answer.schema["when"] == pl.Datetime("ms", "Europe/Berlin")
    assert answer.schema["buoy"] == pl.Categorical
    # The clocks go forward on the 29th, after 120 of the 200 hours; the answer begins an hour after the history ends.
    assert answer["when"][0] == berlin["when"][-1] + pd.Timedelta(hours=1)


def test_common_names_need_no_configuration(fitted: Forecaster, frame: pl.DataFrame) -> None:
    renamed = frame.rename({"unique_id": "item_id", "ds": "timestamp", "y": "target"})
    again = Forecaster(CONFIG).fit(renamed)
    assert weights(again) == weights(fitted)
    assert again.predict(renamed).columns[:3] == ["item_id", "timestamp", "mean"]


def test_several_series_are_each_forecast_as_if_alone(fitted: Forecaster, frame: pl.DataFrame) -> None:
    together = fitted.predict(frame)
    alone = pl.concat(fitted.predict(part) for part in frame.partition_by("unique_id", maintain_order=True))
    np.testing.assert_allclose(numbers(together), numbers(alone), rtol=CLOSE)
    assert together.select("unique_id", "ds").equals(alone.select("unique_id", "ds"))


def test_a_series_that_training_never_saw_is_forecast_from_its_own_past(fitted: Forecaster) -> None:
    stranger = history("stranger").with_columns(pl.col("y") + 1000)
    answer = fitted.predict(stranger)
    assert answer["mean"].is_between(1000, 1020).all()


def test_a_horizon_may_be_longer_than_trained(fitted: Forecaster, frame: pl.DataFrame) -> None:
    answer = fitted.predict(frame, horizon=5 * HORIZON)
    assert answer.height == 2 * 5 * HORIZON
    assert np.isfinite(numbers(answer)).all()
    by_series = answer.group_by("unique_id", maintain_order=True).head(1)
    np.testing.assert_allclose(
        numbers(by_series), numbers(fitted.predict(frame, horizon=1)), rtol=CLOSE, err_msg="the first step stays"
    )


def test_level_and_quantiles_ask_for_the_same(fitted: Forecaster, frame: pl.DataFrame) -> None:
    assert fitted.predict(frame, level=80).equals(fitted.predict(frame, quantiles=[0.1, 0.9]))
    with pytest.raises(ConfigError, match="say the same in two ways"):
        fitted.predict(frame, level=80, quantiles=0.5)


def test_another_frequency_than_in_training_is_noted(fitted: Forecaster, frame: pl.DataFrame) -> None:
    days = pl.duration(days=pl.int_range(pl.len()).over("unique_id"))
    daily = frame.with_columns(ds=pl.datetime(2020, 1, 1) + days)
    with pytest.warns(ForecastWarning, match="trained on steps of 'h' and is given 'D'"):
        fitted.predict(daily, frequency="D")


def test_the_forecast_of_good_data_warns_of_nothing(fitted: Forecaster, frame: pl.DataFrame) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted.predict(frame)


# ---- Backtest, save and load


def test_a_backtest_scores_every_window_beside_the_baselines(fitted: Forecaster, frame: pl.DataFrame) -> None:
    result = fitted.backtest(frame)
    assert list(result) == ["longcast", "last_value", "seasonal_naive", "linear"]
    assert result.num_windows == 2 * (STEPS - CUTOFF - HORIZON + 1)


def test_a_backtest_of_too_little_is_refused(fitted: Forecaster) -> None:
    with pytest.raises(SeriesTooShort, match="there is no test window"):
        fitted.backtest(history("a").head(20))


def test_a_loaded_model_forecasts_and_scores_as_the_saved_one(
    fitted: Forecaster, frame: pl.DataFrame, tmp_path: Path
) -> None:
    folder = fitted.save(tmp_path / "model")
    loaded = Forecaster.load(folder)
    assert loaded.config == fitted.config
    assert loaded.predict(frame).equals(fitted.predict(frame))
    assert loaded.backtest(frame).to_plain() == fitted.backtest(frame).to_plain()
    assert sorted(file.name for file in folder.iterdir()) == [
        "artifact.json",
        "configuration.yaml",
        "weights.safetensors",
    ]


def test_a_model_without_its_configuration_forecasts_but_does_not_guess_the_split(
    fitted: Forecaster, frame: pl.DataFrame, tmp_path: Path
) -> None:
    folder = fitted.save(tmp_path / "model")
    (folder / "configuration.yaml").unlink()
    loaded = Forecaster.load(folder)
    assert loaded.predict(frame).equals(fitted.predict(frame))
    with pytest.raises(ConfigError, match=r"Forecaster.load\(folder, config=...\)"):
        loaded.backtest(frame)
    told = Forecaster.load(loaded.save(tmp_path / "again"), config=CONFIG)
    assert told.backtest(frame).to_plain() == fitted.backtest(frame).to_plain()


def test_a_loaded_forecaster_can_be_fitted_anew(fitted: Forecaster, frame: pl.DataFrame, tmp_path: Path) -> None:
    again = Forecaster.load(fitted.save(tmp_path / "model")).fit(frame)
    assert weights(again) == weights(fitted)


def test_a_folder_without_a_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ArtifactError, match="no artifact at"):
        Forecaster.load(tmp_path)


def test_the_card_says_what_was_trained(fitted: Forecaster) -> None:
    card = fitted.artifact.card
    assert (card.name, card.frequency, card.num_series) == ("waves", "h", 2)
    assert card.trained_until == "2026-03-29T19:00:00"
    assert card.model == fitted.config.model
