"""The small real series that ships with Longcast; ATTRIBUTION.md beside it names its origin and terms."""

from importlib.resources import files
from typing import Literal

import polars as pl

from forecast.config import config
from pipelines.sources.base import Description, SourceContract


@config
class EmbeddedSource(SourceContract):
    """A data set inside the package: read without a network, the same on every machine."""

    kind: Literal["embedded"] = "embedded"

    name: Literal["sea_surface_temperature"] = "sea_surface_temperature"
    """Half-hourly water temperature in degrees Celsius, with two short gaps and one stamp given twice."""

    def read(self) -> pl.DataFrame:
        rows = pl.read_csv(files(__name__).joinpath(f"{self.name}.csv.gz").read_bytes())
        return rows.select(
            unique_id=pl.lit(self.name),
            ds=pl.col("time (UTC)").str.to_datetime("%Y-%m-%dT%H:%M:%SZ", time_unit="us", time_zone="UTC"),
            y=pl.col("temperature (celsius)"),
        )

    def describe(self) -> Description:
        return Description(
            name=self.name,
            origin="https://data.neracoos.org/erddap/tabledap/B01_ocean_agg.html",
            holds="sea surface temperature at buoy B01, Western Maine Shelf, half-hourly, 2016-02-15 to 2017-03-22",
            terms="free to use and redistribute, not intended for legal use; attribution: NERACOOS",
        )
