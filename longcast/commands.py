"""What each verb of the command line does: one function a verb, one line in VERBS."""

import json
import logging
import sys
from argparse import Namespace
from collections.abc import Callable

from rich.console import Console
from rich.progress import track as rich_track

from forecast.config import load_config

console = Console(stderr=True)


def train(options: Namespace) -> None:
    """Train as configured, and say how it went."""
    from pipelines.config import RunConfig
    from pipelines.flows.train import train as run

    _speak()
    config = load_config(RunConfig, options.config, overrides=options.set)
    trained = run(config, progress=console.is_terminal, track=_track)
    console.print(trained.prepared.report)
    print(trained.result)
    verdict = "champion" if trained.decision.passed else "not promoted"
    print(f"{trained.version.reference} is {verdict}: {'; '.join(trained.decision.reasons)}")
    print(f"run folder {trained.folder}; compare runs with: mlflow ui --backend-store-uri {config.tracking_uri}")


def backtest(options: Namespace) -> None:
    """Score a model over every test window of the configured data."""
    from forecast.frames.contract import prepare
    from pipelines.config import RunConfig
    from pipelines.flows.predict import load_predictor
    from pipelines.flows.score import draw, score_model

    _speak()
    config = load_config(RunConfig, options.config, overrides=options.set)
    model = load_predictor(config, reference=options.model).artifact.model
    panel = prepare(config.source.read(), config.contract).panel
    result = score_model(config, panel, model, track=_track)
    print(result)
    if options.json is not None:
        options.json.write_text(json.dumps(result.to_plain(), indent=2), encoding="utf-8")
    if options.pictures is not None:
        options.pictures.mkdir(parents=True, exist_ok=True)
        for name, figure in draw(config, panel, model, result).items():
            figure.savefig(options.pictures / f"{name}.png")


def predict(options: Namespace) -> None:
    """Forecast the configured data from its end."""
    from pipelines.config import RunConfig
    from pipelines.flows.predict import predict as run
    from pipelines.flows.predict import write_frame

    config = load_config(RunConfig, options.config, overrides=options.set)
    frame = run(
        config,
        reference=options.model,
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
    from forecast.registry import Registry
    from pipelines.config import RunConfig
    from pipelines.registration import promote as run

    config = load_config(RunConfig, options.config, overrides=options.set)
    registry = Registry(config.tracking_uri)
    version = registry.resolve(options.model)
    run(registry, version, reasons=[options.reason])
    print(f"{version.reference} is champion")


def serve(options: Namespace) -> None:
    """Serve the configured model's champion over HTTP until told to stop."""
    from api.main import serve as run
    from api.settings import choose_settings
    from longcast.serving import served

    config_settings = served(options.config, options.set)
    asked = {"model": options.model, "host": options.host, "port": options.port}
    run(choose_settings(**config_settings, **{name: value for name, value in asked.items() if value is not None}))


def doctor(options: Namespace) -> None:
    """Check everything a run needs."""
    from longcast.doctor import examine

    _speak()
    examine(options.config, overrides=options.set)


def demo(options: Namespace) -> None:
    """Run the whole job on the embedded series."""
    from longcast.demo import run

    _speak()
    run(options.config, overrides=options.set)


VERBS: dict[str, Callable[[Namespace], None]] = {
    "train": train,
    "backtest": backtest,
    "predict": predict,
    "promote": promote,
    "serve": serve,
    "doctor": doctor,
    "demo": demo,
}


def _speak() -> None:
    """Let the library's own loggers be heard, and nobody else's chatter."""
    logging.basicConfig(format="%(name)s: %(message)s", level=logging.WARNING)
    logging.getLogger("longcast").setLevel(logging.INFO)


def _track(batches):
    return rich_track(batches, description="backtest", console=console, transient=True, disable=not console.is_terminal)
