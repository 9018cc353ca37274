"""The power of Box-Cox under which the series of a panel are most likely normal."""

import numpy as np
from jaxtyping import Float64, Int64

from forecast.errors import DataError
from forecast.frames.panel import Panel
from forecast.transform.base import FIX

Owners = Int64[np.ndarray, " step"]
Values = Float64[np.ndarray, " step"]

STILL = 1e-9  # a series whose logarithms spread less says nothing of the power: what it shows is rounding
PRECISION = 1e-4  # of the power: what lies below changes no forecast


def fit_power(panel: Panel, *, ends: Int64[np.ndarray, " series"]) -> float:
    """Give the power from 0 to 1 of greatest likelihood on the steps before `ends`; 1 where no series moves.

    Each series has a mean and a variance of its own, as its windows have in the model, and all share the power. In
    units of its geometric mean a series' likelihood is -n/2 log(variance), so that large series weigh no more than
    small ones (Box & Cox 1964, section 3).

    Raises:
        DataError: a value is not above 0.
    """
    from scipy.optimize import minimize_scalar  # heavy: only a fit needs it

    owners, logs = _centred_logs(panel, ends)
    if not len(logs):
        return 1.0
    found = minimize_scalar(
        lambda power: _misfit(owners, logs, power), bounds=(0.0, 1.0), method="bounded", options={"xatol": PRECISION}
    )
    return float(found.x)


def _centred_logs(panel: Panel, ends: Int64[np.ndarray, " series"]) -> tuple[Owners, Values]:
    """Give the logarithms of the series that move, each around its own mean."""
    owners = np.repeat(np.arange(len(panel)), panel.lengths)
    used = panel.observed & (np.arange(len(owners)) - panel.offsets[owners] < ends[owners])
    owners, values = owners[used], panel.values[used]
    if not (values > 0).all():
        raise DataError(
            f"the power of box_cox is fitted on logarithms, and {(values <= 0).sum():,} training values are not above "
            f"0; give transform.power, with which 0 can be taken, or {FIX}"
        )
    logs = np.log(values)
    logs -= _means(owners, logs)[owners]
    moves = np.sqrt(_means(owners, logs**2)) > STILL
    return owners[moves[owners]], logs[moves[owners]]


def _misfit(owners: Owners, logs: Values, power: float) -> float:
    """Give minus the log-likelihood of all series, but for a constant."""
    with np.errstate(over="ignore"):  # of a series over hundreds of decades: that power is then infinitely unlikely
        changed = np.expm1(power * logs) / power
        variances = _means(owners, (changed - _means(owners, changed)[owners]) ** 2)[owners]
        return float(np.log(variances).sum() / 2)


def _means(owners: Owners, values: Values) -> Float64[np.ndarray, " series"]:
    count = np.bincount(owners)
    return np.bincount(owners, values) / np.maximum(count, 1)
