"""The sine task: a made-up series whose right forecast is known."""

from typing import Literal

import numpy as np
import polars as pl

from forecast.config import config
from pipelines.sources.base import Description, SourceContract

NUM_POINTS = 10_000
# Both ends are points, so a period is 199.98 steps: no window of the test part repeats one of training to the bit.
X = (0.0, 100 * np.pi)


@config
class SineSource(SourceContract):
    """y = sin x + 0.1 sin 5x on 10,000 evenly spaced points of the closed interval [0, 100π], free of noise.

    `ds` counts the points from 0: x is an angle, and invented dates would bring a calendar that means nothing.
    """

    kind: Literal["sine"] = "sine"

    def read(self) -> pl.DataFrame:
        x = np.linspace(*X, NUM_POINTS)
        ds = pl.Series(np.arange(NUM_POINTS, dtype=np.int64))
        return pl.select(unique_id=pl.lit("sine"), ds=ds, y=pl.Series(np.sin(x) + 0.1 * np.sin(5 * x)))

    def describe(self) -> Description:
        return Description(
            name="sine",
            origin="y = sin x + 0.1 sin 5x",
            holds=f"{NUM_POINTS:,} noiseless points over [0, 100π], integer time",
        )
