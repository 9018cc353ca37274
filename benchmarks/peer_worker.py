"""What runs in the peers' own environment: iterates their training windows and prints how many a second they give.

Knows nothing of this project: it gets a file of series, one a row, and the shape of the windows. Each peer is measured
twice: as its models train by default, where a batch mixes series, and in the fastest way that its settings allow.
"""

import json
import logging
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

SECONDS = 15  # of iterating; the first batches are not timed
WARM_UP = 3


def neuralforecast(series: np.ndarray, *, context_length: int, horizon: int, batch_size: int) -> dict[str, float]:
    """The windows that its models draw in `training_step`, with its own loader.

    Each step takes some series whole, 32 by default, unfolds all their windows and draws a batch of them: the fewer
    series a step, the less is unfolded.
    """
    import pandas as pd
    import torch
    from neuralforecast.models import MLP  # ty: ignore[import-not-found]
    from neuralforecast.tsdataset import TimeSeriesDataModule, TimeSeriesDataset  # ty: ignore[import-not-found]

    num_series, num_steps = series.shape
    frame = pd.DataFrame(
        {
            "unique_id": np.repeat(np.arange(num_series), num_steps),
            "ds": np.tile(np.arange(num_steps), num_series),
            "y": series.ravel().astype(np.float32),
        }
    )
    dataset, *_ = TimeSeriesDataset.from_df(frame)

    def batches(series_a_step: int) -> Iterator[int]:
        model = MLP(
            h=horizon,
            input_size=context_length,
            batch_size=series_a_step,
            windows_batch_size=batch_size,
            max_steps=1,
            accelerator="cpu",
        )
        loader = TimeSeriesDataModule(dataset, batch_size=series_a_step, shuffle_train=True).train_dataloader()
        while True:
            for batch in loader:
                windows, static, static_cols, valid, weight, columns = model._create_windows(batch, step="train")
                chosen = torch.randperm(len(valid))[:batch_size]
                drawn = model._sample_windows(windows, static, static_cols, columns, chosen, valid, weight)
                past, *_ = model._parse_windows(batch, drawn)
                yield len(past)

    return {"mixed": _rate(batches(32)), "fastest": _rate(batches(1))}


def gluonts(series: np.ndarray, *, context_length: int, horizon: int, batch_size: int) -> dict[str, float]:
    """The windows that its PyTorch estimators are given: an instance splitter, stacked to batches.

    By default the splitter draws about one window of each series and goes on to the next; it is fastest where it takes
    every window of a series, one after the other.
    """
    import pandas as pd
    import torch
    from gluonts.dataset.loader import as_stacked_batches  # ty: ignore[import-not-found]
    from gluonts.itertools import Cyclic  # ty: ignore[import-not-found]
    from gluonts.transform import InstanceSplitter  # ty: ignore[import-not-found]
    from gluonts.transform.sampler import ExpectedNumInstanceSampler, InstanceSampler, UniformSplitSampler  # ty: ignore[import-not-found]

    start = pd.Period("2024-01-01", freq="h")
    entries = [
        {"start": start, "target": row, "observed_values": np.ones_like(row)} for row in series.astype(np.float32)
    ]

    def batches(sampler: InstanceSampler) -> Iterator[int]:
        splitter = InstanceSplitter(
            target_field="target",
            is_pad_field="is_pad",
            start_field="start",
            forecast_start_field="forecast_start",
            instance_sampler=sampler,
            past_length=context_length,
            future_length=horizon,
            time_series_fields=["observed_values"],
        )
        stacked = as_stacked_batches(
            splitter.apply(Cyclic(entries).stream(), is_train=True),
            batch_size=batch_size,
            field_names=["past_target", "past_observed_values", "future_target", "future_observed_values"],
            output_type=torch.tensor,
        )
        return (len(batch["past_target"]) for batch in stacked)

    room = {"min_past": context_length, "min_future": horizon}
    mixed = ExpectedNumInstanceSampler(num_instances=1.0, **room)
    return {"mixed": _rate(batches(mixed)), "fastest": _rate(batches(UniformSplitSampler(p=1.0, **room)))}


def _rate(sizes: Iterator[int]) -> float:
    """Give windows a second."""
    for _ in range(WARM_UP):
        next(sizes)
    start, count = time.perf_counter(), 0
    while (spent := time.perf_counter() - start) < SECONDS:
        count += next(sizes)
    return count / spent


PEERS: dict[str, Callable[..., dict[str, float]]] = {"neuralforecast": neuralforecast, "gluonts": gluonts}


def main(peer: str, file: str, *sizes: str) -> dict[str, Any]:
    """Measure one peer on the series of a file."""
    logging.disable(logging.WARNING)
    context_length, horizon, batch_size = map(int, sizes)
    return PEERS[peer](np.load(file), context_length=context_length, horizon=horizon, batch_size=batch_size)


if __name__ == "__main__":
    print(json.dumps(main(*sys.argv[1:])))
