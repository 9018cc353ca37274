"""Activations kept for the backward pass, or computed again in it: what a long context asks of memory.

Source: Chen et al., "Training Deep Nets with Sublinear Memory Cost" (2016). `selective` turns Korthikanti et al.,
"Reducing Activation Recomputation in Large Transformer Models" (2023), section 5, round: they compute attention again,
which held all its weights; fused attention holds none, so its output costs little to keep and much to compute.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, Literal

import torch
from torch import Tensor
from torch.utils.checkpoint import CheckpointPolicy, checkpoint, create_selective_checkpoint_contexts

Checkpointing = Literal["none", "selective", "full"]

ATTENTION = frozenset(
    (
        "aten::_scaled_dot_product_flash_attention_for_cpu",
        "aten::_scaled_dot_product_flash_attention",
        "aten::_scaled_dot_product_efficient_attention",
        "aten::_scaled_dot_product_cudnn_attention",
        "aten::_scaled_dot_product_fused_attention_overrideable",
        "aten::_flash_attention_forward",
        "aten::_efficient_attention_forward",
        "aten::_cudnn_attention_forward",
        "xformers_flash::flash_fwd",
        "xformers_flash3::flash_fwd",
        "mslk_flash::flash_fwd",
        "mslk_flash3::flash_fwd",
        "flex_attention",
    )
)
"""The operators of all attention kernels by name, as the libraries that bring some of them need not be here."""

DROPOUT = ("dropout_p", "p")
"""What those operators call the share of weights that they drop."""


def recomputed(layer: Callable[..., Tensor], tokens: Tensor, *, checkpointing: Checkpointing, **beside: Any) -> Tensor:
    """Run a layer and keep for its backward pass what `checkpointing` says; gradients are the same to the bit.

    `none` keeps every activation, `full` the tokens alone, `selective` the tokens and what attention gave. What is
    computed again draws the same dropout. Without gradients nothing is kept anyway, and the layer is simply run.
    """
    if checkpointing == "none" or not torch.is_grad_enabled():
        return layer(tokens, **beside)
    if checkpointing == "full":
        return checkpoint(layer, tokens, use_reentrant=False, **beside)
    return checkpoint(layer, tokens, use_reentrant=False, context_fn=KEEP_ATTENTION, **beside)


def _policy(_context: Any, operator: Any, *given: Any, **named: Any) -> CheckpointPolicy:
    # What is kept is not run again, and then draws nothing: the dropout behind it would draw what was drawn here.
    if _name(operator) in ATTENTION and not _drops(operator, given, named):
        return CheckpointPolicy.MUST_SAVE
    return CheckpointPolicy.PREFER_RECOMPUTE


def _name(operator: Any) -> str:
    """Give the name without its overload."""
    return operator.name().partition(".")[0]


def _drops(operator: Any, given: tuple[Any, ...], named: dict[str, Any]) -> bool:
    schema = getattr(operator, "_schema", None)
    if schema is None:  # operators of higher order, which drop nothing
        return False
    values = dict(zip((argument.name for argument in schema.arguments), given, strict=False)) | named
    return any(values.get(name) for name in DROPOUT)


KEEP_ATTENTION = partial(create_selective_checkpoint_contexts, _policy)
