"""Quantiles of a baseline: the errors that its point forecast made on the training part, laid around the point."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float64, Int64

from forecast.frames.panel import Panel


def spread(errors: Float64[np.ndarray, " error"], quantile_levels: Sequence[float]) -> Float64[np.ndarray, " quantile"]:
    """Give the distance of each quantile from the point: the empirical quantiles of `errors` and their mirror image.

    Errors count with both signs, so that the median is the point itself and the forecast remains the copy that its name
    promises; split conformal intervals (Lei et al., 2018) are symmetric in the same way. No errors, no spread: 0.
    """
    levels = np.asarray(quantile_levels, dtype=np.float64)
    if not len(errors) or not len(levels):
        return np.zeros(len(levels))
    return np.sign(levels - 0.5) * np.quantile(np.abs(errors), np.abs(2 * levels - 1))


def lag_spreads(
    panel: Panel,
    *,
    ends: Int64[np.ndarray, " series"],
    lags: Sequence[int],
    quantile_levels: tuple[float, ...],
) -> Float64[np.ndarray, "series lag quantile"]:
    """Give, for each series and lag, the spread of y(t) - y(t - lag) over the observed pairs before `ends`.

    `lags` ascend; a lag without a pair takes the spread of the lag before it.
    """
    spreads = np.zeros((len(panel), len(lags), len(quantile_levels)))
    for number, end in enumerate(ends):
        place = slice(int(panel.offsets[number]), int(panel.offsets[number] + end))
        values, observed = panel.values[place], panel.observed[place]
        for index, lag in enumerate(lags):
            paired = observed[lag:] & observed[:-lag]
            if paired.any():
                spreads[number, index] = spread((values[lag:] - values[:-lag])[paired], quantile_levels)
            elif index:
                spreads[number, index] = spreads[number, index - 1]
    return spreads
