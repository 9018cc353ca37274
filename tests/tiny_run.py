"""A complete run that takes seconds: its configuration, and what it leaves when the command line has trained it."""

import contextlib
import io
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from forecast.config import build_config, to_plain
from forecast.registry import ModelVersion, Registry
from forecast.store import sqlite_file
from longcast.cli import main
from pipelines.config import RunConfig

NAME, HORIZON = "tiny_sine", 8

PLAIN: Mapping[str, Any] = {
    "name": NAME,
    "data": {"kind": "sine"},
    "model": {
        "context_length": 32,
        "horizon": HORIZON,
        "patch_length": 4,
        "num_encoder_layers": 1,
        "layer": {"d_model": 8, "num_heads": 2},
        "decoder": {"kind": "autoregressive", "patch_length": 4},
        "draft": {"kind": "ridge"},
    },
    "trainer": {"max_epochs": 2, "batch_size": 256, "stride": 20, "validation_stride": 40, "device": "cpu"},
    "backtest": {"stride": 20},
}


@dataclass(frozen=True)
class TinyChampion:
    """What `longcast train` left of the tiny run, whose model became champion."""

    file: Path
    """The configuration."""
    config: RunConfig
    version: ModelVersion
    folder: Path
    """The run's own folder."""
    printed: str
    complained: str
    status: int


def tiny_config(*overrides: str, **sections: Any) -> RunConfig:
    """The tiny run, with other sections or single values."""
    return build_config(RunConfig, {**PLAIN, **sections}, overrides=overrides)


def write_config(file: Path, *overrides: str) -> Path:
    """The tiny run as a YAML file."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(yaml.safe_dump(to_plain(tiny_config(*overrides))), encoding="utf-8")
    return file


@cache
def tiny_champion(uri: str) -> TinyChampion:
    """Train by the command line, once for all tests of a process: the making of a store alone takes seconds."""
    store = sqlite_file(uri)
    assert store is not None
    output = store.parent / "runs"
    file = write_config(store.parent / "tiny.yaml", f"tracking.uri={uri}", f"output={output}")
    printed, complained = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(complained):
        status = main(["train", str(file)])
    version = Registry(uri).resolve(f"{NAME}/1")
    assert version.run_id is not None
    config = tiny_config(f"tracking.uri={uri}", f"output={output}")
    return TinyChampion(
        file=file,
        config=config,
        version=version,
        folder=output / NAME / version.run_id,
        printed=printed.getvalue(),
        complained=complained.getvalue(),
        status=status,
    )
