"""The demo: the whole main job on the embedded series, from file to a forecast fetched over HTTP."""

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from forecast.config import load_config
from forecast.errors import LongcastError
from forecast.frames.panel import Panel
from forecast.predictor import Predictor
from longcast.hints import compare_runs, program
from longcast.service import LocalService, local_service
from pipelines.config import RunConfig
from pipelines.flows.train import Trained, train

CLOSE = 1e-5  # relative: how near the two ways to the same forecast must be


@dataclass(frozen=True, eq=False)
class Demonstrated:
    """What a demo showed."""

    trained: Trained
    difference: float
    """The largest relative difference between the forecast over HTTP and the library's."""
    uri: str
    """The tracking store."""
    seconds: float


def own_config() -> Path:
    """Give the demo's configuration: in this package where it was installed, beside it in the project's tree."""
    installed = Path(__file__).with_name("demo.yaml")
    return installed if installed.is_file() else Path(__file__).parents[1] / "configs" / "demo.yaml"


def run_demo(config_file: Path, *, overrides: Sequence[str]) -> Demonstrated:
    """Train on the embedded series, then serve the champion and compare its answer with the library's.

    Raises:
        LongcastError: the model was not promoted, or the service does not answer as the library does.
    """
    started = time.monotonic()
    config = load_config(RunConfig, config_file, overrides=overrides)
    print(config.source.describe())
    trained = train(config, progress=sys.stderr.isatty())
    print(trained)
    if not trained.decision.passed:
        raise LongcastError(
            "the demo's model is not better than the seasonal naive forecast, so its service has no champion"
        )
    with local_service(config_file, overrides=overrides) as service:
        difference = _compare(service, trained)
    done = Demonstrated(trained, difference, config.tracking_uri, seconds=time.monotonic() - started)
    print(f"forecast over HTTP equals the library's: largest relative difference {done.difference:.1e}")
    print(compare_runs(done.uri))
    print(f"serve it: {program('longcast')} serve {config_file}")
    print(f"demo finished in {done.seconds:.0f} s")
    return done


def _compare(service: LocalService, trained: Trained) -> float:
    """Ask the service and the library for the same forecast, and give the largest relative difference."""
    panel = trained.prepared.panel.select([0])
    own = Predictor(trained.artifact).predict_panel(panel)
    answer = service.ask("/v1/forecasts", _question(panel, num_steps=trained.artifact.card.context_length))
    if answer["model"]["version"] != str(trained.version.version):
        raise LongcastError(
            f"the service answers with version {answer['model']['version']}, and the champion just made is "
            f"{trained.version.version}; see whether another training runs in the same store"
        )
    served = np.array([answer["series"]["mean"], *answer["series"]["quantiles"].values()])
    expected = np.vstack([own.mean, own.quantiles[0].T])
    difference = float(np.max(np.abs(served - expected) / np.abs(expected)))
    if difference > CLOSE:
        raise LongcastError(f"the service's forecast is {difference:.1e} away from the library's, and may be {CLOSE}")
    return difference


def _question(panel: Panel, *, num_steps: int) -> dict[str, Any]:
    """Write the newest steps of a panel's first series as a request."""
    first = max(0, int(panel.lengths[0]) - num_steps)
    (start,) = panel.axis.stamps(0, first=first, count=1).to_list()
    steps = zip(panel.values[first:].tolist(), panel.observed[first:].tolist(), strict=True)
    values = [value if observed else None for value, observed in steps]
    columns = {"unique_id": [str(panel.ids[0])], "sizes": [len(values)], "start": [start.isoformat()], "y": values}
    return {"freq": panel.axis.frequency.text, "series": columns}
