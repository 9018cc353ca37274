"""Strict configuration: the `@config` decorator, loading from YAML with overrides, and flattening.

A configuration class stands beside what it configures. It is frozen, takes keywords only and refuses unknown keys; a
variant carries `kind` and is listed in a union tagged by it (`Annotated[A | B, Tagged]`).
"""

import difflib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, TypeVar, dataclass_transform, get_args

import yaml
from pydantic import ConfigDict, Field, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass
from pydantic_core import ErrorDetails

from forecast.errors import ConfigError

T = TypeVar("T")
Plain = dict[str, Any]

NO_SECTION = {"dataclass_type", "model_attributes_type"}
"""Problems of pydantic that mean: a value stands where a mapping is needed."""

Tagged = Field(discriminator="kind")
"""Marks a union of variants that are told apart by their `kind`."""


@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(Field,))
def config(cls: type[T]) -> type[T]:
    """Make `cls` a frozen, keyword-only dataclass that validates its fields and refuses unknown keys."""
    settings = ConfigDict(extra="forbid", allow_inf_nan=False)
    return dataclass(frozen=True, kw_only=True, config=settings)(cls)


def load_config(cls: type[T], path: str | Path, *, overrides: Sequence[str] = ()) -> T:
    """Read one complete configuration from a YAML file, changed by `a.b=value` overrides.

    Raises:
        ConfigError: the file is not there or not YAML, a key is unknown or a value does not fit; names the path.
    """
    file = Path(path)
    if not file.is_file():
        raise ConfigError(
            f"no configuration at {str(file)!r}; give the path of a YAML file, for example configs/demo.yaml"
        )
    return build_config(cls, _parse(file.read_text(encoding="utf-8"), where=str(file)), overrides=overrides)


def build_config(cls: type[T], plain: Mapping[str, Any], *, overrides: Sequence[str] = ()) -> T:
    """Build `cls` from plain mappings, changed by `a.b=value` overrides whose values are YAML.

    Raises:
        ConfigError: a key is unknown or a value does not fit; names the dotted path.
    """
    changed = _copy(plain)
    for override in overrides:
        _apply(changed, override)
    try:
        return TypeAdapter(cls).validate_python(changed)
    except ValidationError as failure:
        raise _explain(failure, changed, set(_known_keys(cls))) from None


def to_plain(value: Any) -> Any:
    """Give the configuration as mappings, lists and scalars that YAML and JSON can hold."""
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: to_plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): to_plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [to_plain(item) for item in value]
    return str(value) if isinstance(value, Path) else value


def flatten(plain: Mapping[str, Any], *, prefix: str = "") -> dict[str, Any]:
    """Flatten nested mappings to dotted keys, as a tracking store wants them."""
    flat: dict[str, Any] = {}
    for key, value in plain.items():
        if isinstance(value, Mapping):
            flat.update(flatten(value, prefix=f"{prefix}{key}."))
        else:
            flat[f"{prefix}{key}"] = value
    return flat


def _parse(text: str, *, where: str) -> Plain:
    try:
        plain = yaml.safe_load(text)
    except yaml.YAMLError as failure:
        raise ConfigError(f"{where} is not YAML: {failure}") from None
    if not isinstance(plain, dict):
        raise ConfigError(f"{where} must hold a mapping of sections; it holds {type(plain).__name__}")
    return plain


def _copy(value: Any) -> Any:
    return {key: _copy(item) for key, item in value.items()} if isinstance(value, Mapping) else value


def _apply(plain: Plain, override: str) -> None:
    dotted, equals, text = override.partition("=")
    if not equals or not dotted:
        raise ConfigError(f"override {override!r} is not of the form section.key=value")
    *sections, last = dotted.split(".")
    place = plain
    for section in sections:
        below = place.get(section)
        if below is None:  # an empty section in YAML is None; an absent one is made and judged by validation
            below = place[section] = {}
        if not isinstance(below, dict):
            raise ConfigError(f"override {override!r}: {section!r} is a value, not a section", field=dotted)
        place = below
    try:
        place[last] = yaml.safe_load(text)
    except yaml.YAMLError:
        raise ConfigError(f"override {override!r}: {text!r} is not YAML; close or quote it", field=dotted) from None


def _explain(failure: ValidationError, plain: Plain, known: set[str]) -> ConfigError:
    problems = failure.errors(include_url=False)
    lines = [f"{_dotted(problem, plain)}: {_reason(problem, known)}" for problem in problems]
    return ConfigError("\n".join(lines), field=_dotted(problems[0], plain))


def _dotted(problem: ErrorDetails, plain: Plain) -> str:
    """Give the path as the user wrote it: the tags that pydantic adds for unions are left out."""
    path: list[str] = []
    place: Any = plain
    for step in problem["loc"]:
        if (isinstance(place, Mapping) and step in place) or (isinstance(place, list) and isinstance(step, int)):
            path.append(str(step))
            place = place[step]
        elif problem["type"] == "missing" and step == problem["loc"][-1]:
            path.append(str(step))
    return ".".join(path) or "configuration"


def _reason(problem: ErrorDetails, known: set[str]) -> str:
    match problem["type"]:
        case "unexpected_keyword_argument":
            key = str(problem["loc"][-1])
            close = difflib.get_close_matches(key, known - {key}, n=1, cutoff=0.7)  # other sections may have the key
            return "unknown key; " + (f"did you mean {close[0]!r}?" if close else "remove it or correct its spelling")
        case "missing":
            return "is needed and was not given"
        case "union_tag_not_found":
            return "needs a 'kind' that says which variant is meant"
        case "union_tag_invalid":
            context = problem.get("ctx", {})
            return f"unknown kind {context.get('tag')!r}; choose one of {context.get('expected_tags')}"
        case "value_error":
            return problem["msg"].removeprefix("Value error, ")
        case _:
            said = "must be a section of keys" if problem["type"] in NO_SECTION else problem["msg"]
            return f"{said}, got {_shown(problem['input'])}"


def _shown(given: Any) -> str:
    """Show what was given, except where it may be an address that holds a password."""
    text = repr(given)
    return f"a {type(given).__name__} that is not shown" if "://" in text else text


def _known_keys(annotation: Any) -> Iterator[str]:
    """Every key of the configuration class and of the classes its fields lead to."""
    if isinstance(annotation, type) and is_dataclass(annotation):
        for field in fields(annotation):
            yield field.name
            yield from _known_keys(field.type)
    for argument in get_args(annotation):
        yield from _known_keys(argument)
