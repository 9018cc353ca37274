"""Doctor: what is installed, which kernels serve, and whether a configuration's data and store are in order."""

import os
import platform
from collections.abc import Callable
from importlib.metadata import packages_distributions, version
from pathlib import Path

import torch

from forecast.attention.call import AttentionCall
from forecast.attention.choice import KERNELS, choose
from forecast.attention.patterns import Causal
from forecast.errors import LongcastError, RegistryError
from forecast.frames.contract import prepare
from forecast.frames.panel import Panel
from forecast.registry import Registry
from forecast.store import shown, sqlite_file
from pipelines.config import RunConfig
from pipelines.flows.score import scored_windows
from pipelines.windows import training_windows, validation_windows, window_report

OWN_PACKAGES = ("forecast", "pipelines", "api", "longcast")


def examine(config: RunConfig, *, name: str) -> None:
    """Print one line a check, the failed ones with what to do; `name` is the configuration's, for people.

    Raises:
        LongcastError: a check failed.
    """
    checks: dict[str, Callable[[], str]] = {
        "installation": _installation,
        "package names": _package_names,
        "attention": _attention,
        "configuration": lambda: f"{name} is complete; model {config.name!r}",
        "data": lambda: _data(config),
        "tracking": lambda: _tracking(config.tracking_uri),
    }
    failed = [check for check, examined in checks.items() if not _passes(check, examined)]
    if failed:
        raise LongcastError(f"not in order: {', '.join(failed)}; each is explained above")


def _passes(name: str, check: Callable[[], str]) -> bool:
    try:
        print(f"ok      {name}: {check()}")
    except LongcastError as failure:
        print(f"failed  {name}: {failure}")
        return False
    return True


def _installation() -> str:
    device = torch.cuda.get_device_name() if torch.cuda.is_available() else "no CUDA device"
    versions = ", ".join(f"{name} {version(name)}" for name in ("longcast", "torch", "lightning", "mlflow", "polars"))
    return f"Python {platform.python_version()}, {versions}, {torch.get_num_threads()} threads, {device}"


def _package_names() -> str:
    """Two distributions that ship a package of the same name overwrite each other without a word."""
    owners = packages_distributions()
    strangers = {name: owners[name] for name in OWN_PACKAGES if set(owners.get(name, [])) - {"longcast"}}
    if strangers:
        raise LongcastError(f"other distributions own our package names: {strangers}; install longcast on its own")
    return f"{', '.join(OWN_PACKAGES)} belong to longcast alone"


def _attention() -> str:
    device = "cuda" if torch.cuda.is_available() else "cpu"
    query, key, value = (torch.zeros(1, 4, 64, 64, device=device) for _ in range(3))
    call = AttentionCall(query, key, value, pattern=Causal())
    refusals = {name: kernel.refusal(call) for name, kernel in KERNELS.items()}
    kernels = [f"{name} {f'cannot serve ({reason})' if reason else 'can serve'}" for name, reason in refusals.items()]
    return "; ".join([f"auto runs {choose(call).name} on {device}", *kernels])


def _data(config: RunConfig) -> str:
    prepared = prepare(config.source.read(), config.contract)
    return f"{config.source.describe()}\n{prepared.report}\n{_windows(config, prepared.panel)}"


def _windows(config: RunConfig, panel: Panel) -> str:
    horizon, trainer = config.model.horizon, config.trainer
    parts = config.split.cut(panel, horizon=horizon)
    training = training_windows(
        panel, parts, context_length=config.model.context_length, horizon=horizon, stride=trainer.stride
    )
    validation = validation_windows(parts, horizon=horizon, stride=trainer.validation_stride)
    test = scored_windows(config, panel)
    counts = f"{len(training):,} windows to train on, {len(validation):,} to validate on, {len(test):,} to test on"
    return f"{counts}; {window_report(panel, training, context_length=config.model.context_length)} in training"


def _tracking(uri: str) -> str:
    file = sqlite_file(uri)
    if file is not None and not file.exists():
        return _store_to_come(file)
    names = sorted({model.name for model in Registry(uri).models()})
    return f"{shown(uri)} holds {len(names)} models: {', '.join(names) or 'none yet'}"


def _store_to_come(file: Path) -> str:
    """A store that is not there yet is in order where training can make it."""
    folder = next(parent for parent in file.parents if parent.exists())
    if not (folder.is_dir() and os.access(folder, os.W_OK)):
        raise RegistryError(
            f"there is no store at {str(file)!r}, and none can be made: {str(folder)!r} is no folder that can be "
            f"written to; correct output or tracking.uri"
        )
    return f"no store at {str(file)!r} yet; the first training makes it"
