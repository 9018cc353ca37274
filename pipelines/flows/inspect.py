"""Inspect: read data, let the contract judge them, and keep a page of what they are like; trains and tracks nothing."""

import re
from collections.abc import Sequence
from pathlib import Path

from forecast.config import build_config, config, load_config
from forecast.errors import SourceError
from forecast.frames.contract import DataContract, prepare
from pipelines.look.measure import Look
from pipelines.look.page import GENERATOR, render
from pipelines.sources import Source

RUN_ENDINGS = (".yaml", ".yml")
UNFIT = re.compile(r"[^\w.-]+")  # for the name of a file


@config
class DataConfig:
    """What a look needs of a run: where the data are, and how they are to be read."""

    data: Source

    covariates: Source | None = None
    """A second table, of covariates alone."""

    contract: DataContract = DataContract()


def look_at(data: str, *, overrides: Sequence[str] = ()) -> Look:
    """Read and measure the data of a run configuration, or of files named by a path, a pattern or a URL.

    Series at fault are left out and listed.

    Raises:
        ConfigError: the configuration, or an override, does not fit.
        SourceError: the data cannot be read.
        DataError: not one series can be used; says why.
    """
    if data.lower().endswith(RUN_ENDINGS):
        name, chosen = _of_run(data, overrides=overrides)
    else:
        chosen = build_config(DataConfig, {"data": {"kind": "files", "paths": data}}, overrides=overrides)
        name = chosen.data.describe().name
    beside = None if chosen.covariates is None else chosen.covariates.read()
    prepared = prepare(chosen.data.read(), chosen.contract, covariates=beside, on_bad_series="leave_out")
    return Look(name=name, origin=str(chosen.data.describe()), prepared=prepared)


def write_page(look: Look, file: Path | None = None) -> Path:
    """Write the page of a look, by default in the current folder under the data's name; give where it is.

    Raises:
        SourceError: no file was named, and under the data's name there is one that is no page of a look.
    """
    if file is None:
        file = Path(f"{UNFIT.sub('_', look.name).strip('_.') or 'data'}.html")
        if file.exists() and GENERATOR not in file.read_text(encoding="utf-8", errors="replace"):
            raise SourceError(f"{str(file)!r} exists and is no page of a look; name another file: --output")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(render(look), encoding="utf-8")
    return file


def _of_run(file: str, *, overrides: Sequence[str]) -> tuple[str, DataConfig]:
    """Give the name of a run and what it says about data; the rest of it is checked too."""
    from pipelines.config import RunConfig  # it knows models, and so imports torch: seconds that a file does not need

    run = load_config(RunConfig, file, overrides=overrides)
    return run.name, DataConfig(data=run.source, covariates=run.covariates, contract=run.contract)
