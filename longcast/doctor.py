"""Doctor: what is installed, which kernels serve, and whether a configuration's data and store are in order."""

import platform
from collections.abc import Callable, Sequence
from importlib.metadata import packages_distributions, version
from pathlib import Path

import torch

from forecast.attention.choice import KERNELS, choose
from forecast.attention.pattern import AttentionCall, Causal
from forecast.config import load_config
from forecast.errors import LongcastError
from forecast.frames.contract import prepare
from forecast.registry import Registry
from pipelines.config import RunConfig

OWN_PACKAGES = ("forecast", "pipelines", "api", "longcast")


def examine(config_file: Path, *, overrides: Sequence[str]) -> None:
    """Print one line a check, the failed ones with what to do.

    Raises:
        LongcastError: a check failed.
    """
    config = load_config(RunConfig, config_file, overrides=overrides)
    checks: dict[str, Callable[[], str]] = {
        "installation": _installation,
        "package names": _package_names,
        "attention": _attention,
        "configuration": lambda: f"{config_file} is complete; model {config.name!r}",
        "data": lambda: _data(config),
        "tracking": lambda: _tracking(config),
    }
    failed = [name for name, check in checks.items() if not _passes(name, check)]
    if failed:
        raise LongcastError(f"not in order: {', '.join(failed)}")


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
    lines = [f"auto runs {choose(call).name} on {device}"]
    lines += [f"{name} {kernel.refusal(call) or 'can serve'}" for name, kernel in KERNELS.items()]
    return "; ".join(lines)


def _data(config: RunConfig) -> str:
    prepared = prepare(config.source.read(), config.contract)
    return f"{config.source.describe()}\n{prepared.report}"


def _tracking(config: RunConfig) -> str:
    names = sorted({model.name for model in Registry(config.tracking_uri).models()})
    return f"{config.tracking_uri} holds {len(names)} models: {', '.join(names) or 'none yet'}"
