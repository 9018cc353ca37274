"""Configuration is loaded strictly, and its errors say where and what, as a person meets them."""

from pathlib import Path

import pytest
import yaml

from forecast.config import build_config, flatten, load_config, to_plain
from forecast.errors import ConfigError
from forecast.training.config import OptimizerConfig
from pipelines.config import RunConfig

REPOSITORY = Path(__file__).parents[2]
CONFIGS = sorted((REPOSITORY / "configs").glob("*.yaml"))
RUN = {"name": "tides", "model": {"context_length": 8, "horizon": 2}}

every_yaml = pytest.mark.parametrize("file", CONFIGS, ids=lambda file: file.name)


def run_with(**sections) -> RunConfig:
    return build_config(RunConfig, {**RUN, **sections})


def model_with(**keys) -> RunConfig:
    return run_with(model={**RUN["model"], **keys})


def override(*overrides: str) -> RunConfig:
    return build_config(RunConfig, RUN, overrides=overrides)


# ---- What a person reads


@pytest.mark.parametrize(
    ("sections", "message"),
    [
        ({"modle": {}}, "modle: unknown key; did you mean 'model'?"),
        ({"trainer": {"optimiser": {}}}, "trainer.optimiser: unknown key; did you mean 'optimizer'?"),
        ({"trainer": {"zzz": 1}}, "trainer.zzz: unknown key; remove it or correct its spelling"),
        ({"model": {"context_length": 8}}, "model.horizon: is needed and was not given"),
        ({"data": {"name": "sea"}}, "data: needs a 'kind' that says which variant is meant"),
        ({"model": None}, "model: must be a section of keys, got None"),
        ({"trainer": [1]}, "trainer: must be a section of keys, got [1]"),
        (
            {"name": "two words"},
            "name: String should match pattern '^[A-Za-z0-9][A-Za-z0-9_-]*$', got 'two words'",
        ),
        ({"trainer": {"max_epochs": 0}}, "trainer.max_epochs: Input should be greater than 0, got 0"),
        (
            {"trainer": {"precision": "8"}},
            "trainer.precision: Input should be '32-true', 'bf16-mixed' or '16-mixed', got '8'",
        ),
        (
            {"trainer": {"gradient_clip": float("nan")}},
            "trainer.gradient_clip: Input should be a finite number, got nan",
        ),
    ],
)
def test_a_section_that_does_not_fit_is_refused_with_its_path(sections, message):
    with pytest.raises(ConfigError) as refused:
        run_with(**sections)
    assert str(refused.value) == message
    assert refused.value.field == message.partition(":")[0]


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"layer": {"d_modle": 3}}, "model.layer.d_modle: unknown key; did you mean 'd_model'?"),
        (
            {"position": {"kind": "sinus"}},
            "model.position: unknown kind 'sinus'; choose one of 'none', 'sinusoidal', 'learned', 'rope', 'alibi', "
            "'relative'",
        ),
        ({"position": "learned"}, "model.position: must be a section of keys, got 'learned'"),
        (
            {"position": {"kind": "learned", "table": 3}},
            "model.position.table: unknown key; remove it or correct its spelling",
        ),
        (
            {"head": {"kind": "quantile", "quantile_levels": [0.1, "high"]}},
            "model.head.quantile_levels.1: Input should be a valid number, unable to parse string as a number, "
            "got 'high'",
        ),
        (
            {"head": {"kind": "quantile", "quantile_levels": [0.1, 0.9]}},
            "model.head: quantile levels must ascend inside (0, 1) and hold 0.5, got (0.1, 0.9)",
        ),
        (
            {"decoder": {"kind": "autoregressive", "patch_length": 4, "label_length": 6}},
            "model.decoder: label_length 6 must be a multiple of patch_length 4",
        ),
        ({"layer": {"d_model": 10, "num_heads": 4}}, "model: d_model 10 must be a multiple of num_heads 4"),
        (
            {"decoder": {"kind": "autoregressive", "pattern": {"kind": "local", "left": 3}}},
            "model.decoder: decoder 'autoregressive' cannot look ahead and pattern 'local' does; choose 'causal', "
            "'local' with right 0, or 'sparse' or 'linear' with causal true",
        ),
        (
            {"draft": {"context_length": 9}},
            "model: the draft's context 9 must lie inside context_length 8",
        ),
    ],
)
def test_a_model_that_does_not_fit_together_is_refused_with_its_path(keys, message):
    with pytest.raises(ConfigError) as refused:
        model_with(**keys)
    assert str(refused.value) == message
    assert refused.value.field == message.partition(":")[0]


def test_all_that_is_wrong_is_said_at_once():
    with pytest.raises(ConfigError) as refused:
        run_with(model={"context_length": "many", "horizont": 2})
    assert str(refused.value).splitlines() == [
        "model.context_length: Input should be a valid integer, unable to parse string as an integer, got 'many'",
        "model.horizon: is needed and was not given",
        "model.horizont: unknown key; did you mean 'horizon'?",
    ]


# ---- Overrides


def test_overrides_reach_any_depth_and_hold_yaml():
    changed = override(
        "model.horizon=3",
        "model.layer.feed_forward={kind: relu, expansion: 2}",
        "model.head.kind=quantile",
        "model.head.quantile_levels=[0.2, 0.5, 0.8]",
        "trainer.optimizer.learning_rate=1e-3",
        "model.draft=null",
    )
    assert changed.model.horizon == 3
    assert (changed.model.layer.feed_forward.kind, changed.model.layer.feed_forward.expansion) == ("relu", 2)
    assert changed.model.head.quantile_levels == (0.2, 0.5, 0.8)
    assert changed.trainer.optimizer.learning_rate == 1e-3
    assert changed.model.draft is None


def test_the_last_of_two_overrides_wins():
    assert override("seed=4", "seed=5").seed == 5


def test_a_value_may_hold_an_equals_sign():
    assert override("tracking.uri=http://host/?a=b").tracking.uri == "http://host/?a=b"


def test_overrides_leave_the_mapping_given_as_it_was():
    plain = {"name": "tides", "model": {"context_length": 8, "horizon": 2, "layer": {"d_model": 8}}}
    kept = yaml.safe_dump(plain)
    build_config(RunConfig, plain, overrides=["model.layer.d_model=16", "trainer.max_epochs=1"])
    assert yaml.safe_dump(plain) == kept


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("model.horizon", "override 'model.horizon' is not of the form section.key=value"),
        ("=3", "override '=3' is not of the form section.key=value"),
        ("model.horizon.days=3", "override 'model.horizon.days=3': 'horizon' is a value, not a section"),
        ("trainer.max_epochs=[1", "override 'trainer.max_epochs=[1': '[1' is not YAML; close or quote it"),
        ("trainer.epochs=3", "trainer.epochs: unknown key; did you mean 'max_epochs'?"),
        (
            "model.horizon=none",
            "model.horizon: Input should be a valid integer, unable to parse string as an integer, got 'none'",
        ),
    ],
)
def test_an_override_that_does_not_fit_is_refused(text, message):
    with pytest.raises(ConfigError) as refused:
        override(text)
    assert str(refused.value) == message


# ---- Files


@every_yaml
def test_every_shipped_yaml_survives_the_way_through_plain_values(file):
    loaded = load_config(RunConfig, file)
    plain = to_plain(loaded)
    assert build_config(RunConfig, plain) == loaded
    assert build_config(RunConfig, yaml.safe_load(yaml.safe_dump(plain))) == loaded


@every_yaml
def test_flattened_keys_are_the_overrides_that_give_them(file):
    loaded = load_config(RunConfig, file)
    flat = flatten(to_plain(loaded))
    assert all(not isinstance(value, dict) for value in flat.values())
    overrides = [f"{key}={yaml.safe_dump(value, default_flow_style=True)}" for key, value in flat.items()]
    assert build_config(RunConfig, {}, overrides=overrides) == loaded


def test_flatten_joins_keys_with_dots():
    assert flatten({"a": 1, "b": {"c": [2, 3], "d": {"e": None}}}) == {"a": 1, "b.c": [2, 3], "b.d.e": None}


def test_a_missing_file_is_refused_with_an_example(tmp_path):
    with pytest.raises(ConfigError, match=r"no configuration at '.*none\.yaml'; give the path of a YAML file"):
        load_config(RunConfig, tmp_path / "none.yaml")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name: [", r"run\.yaml is not YAML: "),
        ("- name", r"run\.yaml must hold a mapping of sections; it holds list"),
        ("", r"run\.yaml must hold a mapping of sections; it holds NoneType"),
    ],
)
def test_a_file_that_holds_no_sections_is_refused(tmp_path, text, message):
    file = tmp_path / "run.yaml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match=message):
        load_config(RunConfig, file)


def test_a_file_is_changed_by_overrides(tmp_path):
    file = tmp_path / "run.yaml"
    file.write_text(yaml.safe_dump({**RUN, "trainer": None}), encoding="utf-8")
    assert load_config(RunConfig, str(file), overrides=["trainer.patience=9"]).trainer.patience == 9


def test_a_configuration_cannot_be_changed():
    with pytest.raises(AttributeError):
        run_with().seed = 3


def test_a_configuration_takes_keywords_only():
    with pytest.raises(ValueError, match="positional"):
        OptimizerConfig(3)
