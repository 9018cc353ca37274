"""The learning-rate schedule: linear warm-up, then a half cosine to zero."""

import math


def warmup_cosine(step: int, *, num_steps: int, warmup_share: float) -> float:
    """Give the factor on the learning rate at a step, counted from 0.

    It rises from 1/warm-up steps to 1 over the first `warmup_share` of the run and falls to 0 at its end (Loshchilov &
    Hutter, "SGDR", 2017).
    """
    num_warmup = max(1, round(num_steps * warmup_share))
    if step < num_warmup:
        return (step + 1) / num_warmup
    passed = (step - num_warmup) / max(1, num_steps - num_warmup)
    return 0.5 * (1 + math.cos(math.pi * min(1.0, passed)))
