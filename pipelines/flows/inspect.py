"""Inspect: read data, let the contract judge them, and keep a page of what they are like; trains and tracks nothing."""

import re
from collections.abc import Sequence
from pathlib import Path

from forecast.config import build_config, config, load_config
from forecast.errors import SourceError
from forecast.frames.contract import DataContract, prepare
from pipelines.config import RunConfig
from pipelines.look.measure import Look
from pipelines.look.page import GENERATOR, render
from pipelines.sources import Source

RUN_ENDINGS = (".yaml", ".yml")
UNFIT = re.compile(r"[^\w.-]+")  # for the name of a file


@config
class DataConfig:
    """What a look needs of a run: where the data are, and how they are to be read."""

    data: Source

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
        run = load_config(RunConfig, data, overrides=overrides)
        name, source, contract = run.name, run.source, run.contract
    else:
        plain = {"data": {"kind": "files", "paths": data}}
        files = build_config(DataConfig, plain, overrides=overrides)
        name, source, contract = files.data.describe().name, files.data, files.contract
    prepared = prepare(source.read(), contract, on_bad_series="leave_out")
    return Look(name=name, origin=str(source.describe()), prepared=prepared)


def write_page(look: Look, file: Path | None = None) -> Path:
    """Write the page of a look, by default beside the caller under the data's name; give where it is.

    Raises:
        SourceError: under that name there is a file that is no page of a look.
    """
    if file is None:
        file = Path(f"{UNFIT.sub('_', look.name).strip('_.') or 'data'}.html")
        if file.exists() and GENERATOR not in file.read_text(encoding="utf-8", errors="replace"):
            raise SourceError(f"{str(file)!r} exists and is no page of a look; name another file: --output")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(render(look), encoding="utf-8")
    return file
