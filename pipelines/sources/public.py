"""Public data sets known by name: from the folder of data sets where it has them, else from their origin."""

import gzip
import os
from pathlib import Path
from typing import Literal

import polars as pl

from forecast.cache import cache_dir
from forecast.config import config
from forecast.errors import SourceError
from pipelines.sources.base import Description, SourceContract
from pipelines.sources.download import check, download
from pipelines.sources.wide import melt

# The commit is pinned: a branch may move, and a figure read on another version of a file is another figure.
ORIGIN = "https://raw.githubusercontent.com/zhouhaoyi/ETDataset/1d16c8f4f943005d613b5bc962e9eeb06058cf07/ETT-small"
SHA256 = {
    "ETTh1": "f18de3ad269cef59bb07b5438d79bb3042d3be49bdeecf01c1cd6d29695ee066",
    "ETTh2": "a3dc2c597b9218c7ce1cd55eb77b283fd459a1d09d753063f944967dd6b9218b",
    "ETTm1": "6ce1759b1a18e3328421d5d75fadcb316c449fcd7cec32820c8dafda71986c9e",
    "ETTm2": "db973ca252c6410a30d0469b13d696cf919648d0f3fd588c60f03fdbdbadd1fd",
}
SERIES = ("HUFL", "HULL", "MUFL", "MULL", "LUFL", "LULL", "OT")


@config
class PublicSource(SourceContract):
    """Two years of an electricity transformer: six loads and the oil temperature, one series a column of the file.

    The file is `ett/NAME.csv` or `ett/NAME.csv.gz` in the folder named by `LONGCAST_DATA_DIR` where it is there, else
    the one in the cache folder, else it is downloaded into that. Wherever it lies, its sha256 is checked.
    Zhou et al., "Informer" (AAAI 2021).
    """

    kind: Literal["public"] = "public"

    name: Literal["ETTh1", "ETTh2", "ETTm1", "ETTm2"]
    """h: hourly, 17,420 steps; m: every 15 minutes, 69,680 steps. 1 and 2 are the two stations. Stamps bear no zone."""

    def read(self) -> pl.DataFrame:
        rows = pl.read_csv(self._content())
        stamped = rows.with_columns(pl.col("date").str.to_datetime("%Y-%m-%d %H:%M:%S", time_unit="us"))
        return melt(stamped, time="date", series=SERIES)

    def describe(self) -> Description:
        return Description(
            name=self.name,
            origin=f"{ORIGIN}/{self.name}.csv",
            holds="electricity transformer loads and oil temperature, 2016-07-01 to 2018-06-26",
            terms="CC BY-ND 4.0, Zhou et al. (AAAI 2021)",
        )

    def _content(self) -> bytes:
        sha256 = SHA256[self.name]
        cached = cache_dir() / "ett" / f"{self.name}.csv"
        for path in (*self._in_data_dir(), cached):
            if path.is_file():
                return check(_unzipped(path), sha256=sha256, where=str(path))
        return download(f"{ORIGIN}/{self.name}.csv", sha256=sha256, path=cached)

    def _in_data_dir(self) -> list[Path]:
        folder = os.environ.get("LONGCAST_DATA_DIR")
        return [Path(folder, "ett", f"{self.name}.csv{ending}") for ending in ("", ".gz")] if folder else []


def _unzipped(path: Path) -> bytes:
    content = path.read_bytes()
    if path.suffix != ".gz":
        return content
    try:
        return gzip.decompress(content)
    except (OSError, EOFError) as failure:
        raise SourceError(f"{path} is not a whole gzip file: {failure}; fetch it again") from failure
