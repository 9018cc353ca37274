"""Where each series is cut in time: the parts that train, that validate and that test, and folds that roll forward."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Literal

import numpy as np
from jaxtyping import Bool, Float64, Int64
from pydantic import Field, model_validator

from forecast.config import Tagged, config
from forecast.errors import ConfigError, SeriesTooShort
from forecast.frames.panel import Panel

Steps = Int64[np.ndarray, " series"]

STEPS_AT_A_TIME = 1 << 22  # about 200 MB of arrays as long as these steps

# A spread below this share of a series' largest value is rounding of a constant, not a unit to measure errors in.
ROUNDING = 16 * float(np.finfo(np.float64).eps)


@dataclass(frozen=True, eq=False)
class Parts:
    """Three parts of each series that follow each other without a gap, in steps from the series' own start.

    Training is `0:train_end`, validation `train_end:validation_end`, test `validation_end:test_end`. Steps from
    `test_end` on are used by nothing.
    """

    train_end: Steps
    validation_end: Steps
    test_end: Steps
    num_channels: int = 1
    """Series of one entity, which are cut alike."""

    @property
    def train_only(self) -> Bool[np.ndarray, " series"]:
        """True for a series of which no step is held out, by request or because it is too short for the parts."""
        return self.test_end == self.train_end


class SplitContract(ABC):
    """A rule that cuts each series along its own time."""

    @abstractmethod
    def cut(self, panel: Panel, *, horizon: int = 1) -> Parts:
        """Cut every series into its parts.

        A series too short for them trains with all its steps (`Parts.train_only` tells which): too short means that
        a held-out part would have fewer than `horizon` steps, so that no forecast could be scored in it.
        """


@config
class FractionSplit(SplitContract):
    """Shares of each series' length: the test part is what training and validation leave, at the series' end.

    Training and test are rounded down and validation takes the odd steps, as the public benchmarks do.
    """

    kind: Literal["fraction"] = "fraction"

    train: float = Field(default=0.7, gt=0, le=1)
    """Share of the steps that train."""

    validation: float = Field(default=0.1, ge=0, lt=1)
    """Share of the steps that validate; 0 for none."""

    @model_validator(mode="after")
    def _check_sum(self) -> "FractionSplit":
        if self._test < 0:
            raise ValueError(f"train {self.train} and validation {self.validation} must not exceed 1 together")
        return self

    @property
    def _test(self) -> Decimal:
        return 1 - _exact(self.train) - _exact(self.validation)

    def cut(self, panel: Panel, *, horizon: int = 1) -> Parts:
        test = _share(panel.lengths, self._test)
        train = _share(panel.lengths, _exact(self.train)) if self.validation else panel.lengths - test
        validation = panel.lengths - test - train
        fits = train >= 1
        for held_out, is_wanted in ((validation, self.validation > 0), (test, self._test > 0)):
            fits &= (held_out >= horizon) | (not is_wanted)
        return _parts(train, panel.lengths - test, panel.lengths, fits=fits, panel=panel)


@config
class StepsSplit(SplitContract):
    """Numbers of steps, counted from each series' start; steps after the three parts are used by nothing."""

    kind: Literal["steps"] = "steps"

    train: int = Field(gt=0)
    """Steps that train."""

    validation: int = Field(ge=0)
    """Steps after them that validate; 0 for none."""

    test: int = Field(ge=0)
    """Steps after those that test; 0 for none."""

    def cut(self, panel: Panel, *, horizon: int = 1) -> Parts:
        for name, steps in (("validation", self.validation), ("test", self.test)):
            if 0 < steps < horizon:
                raise ConfigError(
                    f"{name} has {steps} steps, in which no forecast of {horizon} steps can be scored; "
                    f"give it at least {horizon}, or 0 for none",
                    field=f"split.{name}",
                )
        ends = np.cumsum([self.train, self.validation, self.test])
        train, validation, test = (np.full_like(panel.lengths, end) for end in ends)
        return _parts(train, validation, test, fits=panel.lengths >= test, panel=panel)


Split = Annotated[FractionSplit | StepsSplit, Tagged]


def rolling_folds(
    panel: Panel, *, num_folds: int, test_steps: int, validation_steps: int = 0, stride: int | None = None
) -> list[Parts]:
    """Give folds whose test parts roll forward, oldest first; the newest tests the last `test_steps` of each series.

    Each fold trains on everything before its held-out parts. From fold to fold these move by `stride` steps, by default
    `test_steps`, so that the test parts lie side by side. A series that would not have one step to train on in a fold
    sits that fold out: all its parts are empty, because training on its later steps would tell that fold's future.

    Raises:
        SeriesTooShort: no series takes part in the oldest fold; names the length needed.
    """
    back = stride or test_steps
    needed = 1 + validation_steps + test_steps + (num_folds - 1) * back
    if not (panel.lengths >= needed).any():
        raise SeriesTooShort(
            f"{num_folds} folds of {validation_steps} validation and {test_steps} test steps, {back} steps apart, need "
            f"{needed} steps, but the longest of {len(panel)} series has {panel.lengths.max(initial=0)}; ask for fewer "
            f"or shorter folds"
        )
    return [
        _fold(panel, back=number * back, validation_steps=validation_steps, test_steps=test_steps)
        for number in reversed(range(num_folds))
    ]


def train_units(panel: Panel, ends: Steps) -> Float64[np.ndarray, " series"]:
    """Give each series' population standard deviation over its observed steps before `ends`, in the caller's units.

    It is 1 where there is none: for a constant series, and for one without an observed step. Memory holds what is
    worked out of some series at a time, whatever the size of the panel.
    """
    units, first = np.ones(len(panel)), 0
    while first < len(panel):
        reach = panel.offsets[first] + STEPS_AT_A_TIME
        last = max(first + 1, int(np.searchsorted(panel.offsets, reach, side="right")) - 1)
        place = slice(int(panel.offsets[first]), int(panel.offsets[last]))
        lengths, some = panel.lengths[first:last], ends[first:last]
        units[first:last] = _units(panel.values[place], panel.observed[place], lengths=lengths, ends=some)
        first = last
    return units


def _units(
    values: Float64[np.ndarray, " step"], observed: Bool[np.ndarray, " step"], *, lengths: Steps, ends: Steps
) -> Float64[np.ndarray, " series"]:
    """Give the units of series that lie end to end."""
    count = len(lengths)
    number = np.repeat(np.arange(count), lengths)
    starts = np.cumsum(lengths) - lengths
    used = observed & (np.arange(len(number)) - starts[number] < ends[number])
    owner, values = number[used], values[used]
    if not len(owner):
        return np.ones(count)
    level = np.zeros(count)
    np.maximum.at(level, owner, np.abs(values))
    level[level == 0] = 1.0
    # Distances from the first value as shares of the largest: exactly 0 for a constant, and no square overflows.
    start = values[np.minimum(np.searchsorted(owner, np.arange(count)), len(owner) - 1)]
    spread = _spread((values - start[owner]) / level[owner], owner=owner, num_series=count)
    return np.where(spread > ROUNDING, spread * level, 1.0)


def _spread(
    values: Float64[np.ndarray, " step"], *, owner: Int64[np.ndarray, " step"], num_series: int
) -> Float64[np.ndarray, " series"]:
    count = np.maximum(np.bincount(owner, minlength=num_series), 1)
    mean = np.bincount(owner, values, minlength=num_series) / count
    return np.sqrt(np.bincount(owner, (values - mean[owner]) ** 2, minlength=num_series) / count)


def _exact(fraction: float) -> Decimal:
    return Decimal(str(fraction))  # 0.7 as written: as a binary number it lies below, and 0.7 of 30 would lose a step


def _share(lengths: Steps, fraction: Decimal) -> Steps:
    return np.array([int(fraction * length) for length in lengths.tolist()], dtype=np.int64)


def _parts(train: Steps, validation: Steps, test: Steps, *, fits: Bool[np.ndarray, " series"], panel: Panel) -> Parts:
    """Give the parts of the series that fit them; the others train with all their steps."""
    train, validation, test = (np.where(fits, end, panel.lengths) for end in (train, validation, test))
    return Parts(train, validation, test, num_channels=panel.num_channels)


def _fold(panel: Panel, *, back: int, validation_steps: int, test_steps: int) -> Parts:
    """Give the parts of a fold that ends `back` steps before the series do; empty ones for a series that sits out."""
    test_end = panel.lengths - back
    validation_end = test_end - test_steps
    train_end = validation_end - validation_steps
    takes_part = train_end >= 1
    ends = (np.where(takes_part, end, 0) for end in (train_end, validation_end, test_end))
    return Parts(*ends, num_channels=panel.num_channels)
