"""Frames of the kinds that people have, drawn by hypothesis."""

import os
from datetime import datetime, timedelta
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
from hypothesis import Phase, settings
from hypothesis import strategies as st

TIMES = int(os.environ.get("LONGCAST_CONTRACT_TIMES", "1"))
"""By how much more inputs are drawn than in an ordinary run."""

# A row asks the doors four times or more of each input: many inputs would take minutes, and so would shrinking.
PHASES = (Phase.explicit, Phase.generate)
FEW, MORE = (settings(max_examples=TIMES * count, phases=PHASES) for count in (4, 7))

START = datetime(2024, 3, 29)
"""Two days before the clocks of Europe go forward."""


def wave(length: int, *, seed: int = 0) -> np.ndarray:
    random = np.random.default_rng(seed)
    return 10 + 3 * np.sin(np.arange(length) / (2 + seed % 5)) + random.normal(0, 0.2, length)


def frame_of(lengths: dict[Any, int], *, every: str = "h", start: datetime = START, seed: int = 0) -> pl.DataFrame:
    """Series that start together, of the frequency given, as pandas spells it."""
    return pl.concat(
        pl.DataFrame(
            {
                "unique_id": [name] * length,
                "ds": pl.from_pandas(pd.Series(pd.date_range(start, periods=length, freq=every))).cast(
                    pl.Datetime("us")
                ),
                "y": wave(length, seed=seed + number),
            }
        )
        for number, (name, length) in enumerate(lengths.items())
    )


def lengths(least: int = 1, most: int = 60) -> st.SearchStrategy[dict[str, int]]:
    """One to four series and how long each is."""
    return st.dictionaries(st.sampled_from("abcdef"), st.integers(least, most), min_size=1, max_size=4)


SEEDS = st.integers(0, 1_000)
RANDOMS = st.randoms(use_true_random=False)


@st.composite
def hourly(draw: st.DrawFn, least: int = 2, most: int = 60) -> pl.DataFrame:
    """Hourly series of any length."""
    shift = timedelta(hours=draw(st.integers(0, 100)))
    return frame_of(draw(lengths(least, most)), start=START + shift, seed=draw(SEEDS))
