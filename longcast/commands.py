"""What each verb of the command line does: one function a verb, one line in VERBS.

Each reads its configuration before it imports what does the work: a mistake is told in seconds, Lightning takes more.
"""

import json
import logging
import sys
import warnings
from argparse import Namespace
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

from forecast.config import load_config
from forecast.errors import ConfigError

if TYPE_CHECKING:
    from pipelines.config import RunConfig

T = TypeVar("T")


def train(options: Namespace) -> None:
    """Train as configured, and say how it went."""
    config = _load(options)
    from longcast.hints import compare_runs
    from pipelines.flows.train import train as run

    _speak()
    print(run(config, progress=sys.stderr.isatty(), track=_track))
    print(compare_runs(config.tracking_uri))


def backtest(options: Namespace) -> None:
    """Score a model over every test window of the configured data, or models trained anew on rolling folds."""
    if options.folds is not None:
        _backtest_folds(options)
        return
    config = _load(options)
    from pipelines.flows.draw import draw
    from pipelines.flows.predict import load_predictor
    from pipelines.flows.read import read
    from pipelines.flows.score import score_model

    _speak()
    model = load_predictor(config, reference=options.model).artifact.model
    panel = read(config, schema=model.schema).panel
    result = score_model(config, panel, model, track=_track)
    print(result)
    if options.json is not None:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(json.dumps(result.to_plain(), indent=2), encoding="utf-8")
    if options.pictures is not None:
        options.pictures.mkdir(parents=True, exist_ok=True)
        for name, figure in draw(config, panel, model, result).items():
            figure.savefig(options.pictures / f"{name}.png")


def _backtest_folds(options: Namespace) -> None:
    config = _load(options)
    without_effect = [f"--{name}" for name in ("model", "json", "pictures") if getattr(options, name) is not None]
    if without_effect:
        raise ConfigError(
            f"--folds trains models of its own and prints their tables; leave out {', '.join(without_effect)}"
        )
    from pipelines.flows.folds import backtest_folds
    from pipelines.flows.read import read

    _speak()
    panel = read(config).panel
    for number, result in enumerate(backtest_folds(config, panel, num_folds=options.folds, track=_track), start=1):
        print(f"fold {number} of {options.folds}\n{result}")


def predict(options: Namespace) -> None:
    """Forecast the configured data from its end."""
    config = _load(options)
    from pipelines.flows.predict import predict as run
    from pipelines.flows.predict import write_frame

    with _told("predict"):
        frame = run(
            config,
            reference=options.model,
            future=options.future,
            frequency=options.frequency,
            horizon=options.horizon,
            level=options.level,
            quantile_levels=options.quantiles,
        )
    if options.output is None:
        sys.stdout.write(frame.write_csv())
    else:
        write_frame(frame, options.output)


def promote(options: Namespace) -> None:
    """Make a registered version the champion, by a person's decision."""
    config = _load(options)
    from forecast.registry import Registry
    from pipelines.registration import promote as run

    registry = Registry(config.tracking_uri)
    version = registry.resolve(options.model)
    run(registry, version, reasons=[options.reason])
    print(f"{version.reference} is champion")


def serve(options: Namespace) -> None:
    """Serve a champion over HTTP until told to stop."""
    from api.main import serve as run
    from api.settings import choose_settings
    from longcast.serving import served

    chosen = served(options.config, options.set, reference=options.model)
    given = {"host": options.host, "port": options.port, "compiled": options.compiled}
    run(choose_settings(**chosen, **{name: value for name, value in given.items() if value is not None}))


def doctor(options: Namespace) -> None:
    """Check everything a run needs, or say which attention kernel serves what, or both."""
    if options.config is None:
        _doctor_without_run(options)
        return
    config = _load(options)
    from longcast.doctor import examine

    if options.attention:
        _print_kernels()
    examine(config, name=str(options.config))


def _doctor_without_run(options: Namespace) -> None:
    if not options.attention or options.set:
        raise ConfigError(
            "doctor examines a run: give the path of its YAML file; --attention alone prints the kernels without one"
        )
    _print_kernels()


def _print_kernels() -> None:
    from longcast.kernels import print_kernels

    print_kernels()


def inspect(options: Namespace) -> None:
    """Say what the contract finds in data, and draw them on one page."""
    from pipelines.flows.inspect import look_at, write_page

    look = look_at(options.data, overrides=[*_contract_overrides(options), *options.set])
    print(look.prepared.report)
    print(f"page: {write_page(look, options.output)}")


def _contract_overrides(options: Namespace) -> list[str]:
    """Give what the options say about the contract as overrides; a name is quoted, so that YAML reads it as it is."""
    names = {"columns.id": options.id, "columns.time": options.time, "zone": options.zone}
    if options.target is not None:
        names["columns.target"] = options.target if len(options.target) > 1 else options.target[0]
    quoted = {key: json.dumps(name, ensure_ascii=False) for key, name in names.items() if name is not None}
    if options.frequency is not None:
        quoted["frequency"] = options.frequency
    return [f"contract.{key}={text}" for key, text in quoted.items()]


def demo(options: Namespace) -> None:
    """Run the whole job on the embedded series."""
    from longcast.demo import own_config, run_demo

    _speak()
    run_demo(options.config or own_config(), overrides=options.set)


VERBS: dict[str, Callable[[Namespace], None]] = {
    "train": train,
    "backtest": backtest,
    "predict": predict,
    "promote": promote,
    "serve": serve,
    "doctor": doctor,
    "inspect": inspect,
    "demo": demo,
}


def _load(options: Namespace) -> "RunConfig":
    from pipelines.config import RunConfig

    return load_config(RunConfig, options.config, overrides=options.set)


def _speak() -> None:
    """Let the library's own loggers be heard, and nobody else's chatter."""
    logging.basicConfig(format="%(name)s: %(message)s", level=logging.WARNING)
    logging.getLogger("longcast").setLevel(logging.INFO)


@contextmanager
def _told(verb: str) -> Generator[None]:
    """Tell what a forecast warns of as a line each, without the place in our code that it was raised at."""
    from forecast.predictor import ForecastWarning

    with warnings.catch_warnings(record=True, action="always", category=ForecastWarning) as caught:
        yield
    for warning in caught:
        print(f"longcast {verb}: {warning.message}", file=sys.stderr)


def _track(batches: Sequence[T]) -> Iterable[T]:
    """Show how far a backtest is, where somebody looks on."""
    from rich.console import Console
    from rich.progress import track

    return track(
        batches,
        description="backtest",
        console=Console(stderr=True),
        transient=True,
        disable=not sys.stderr.isatty(),
    )
