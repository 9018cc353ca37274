"""The kernel of linear attention: sums of features in place of a softmax, at a cost linear in the length."""

from typing import ClassVar

from jaxtyping import Float
from torch import Tensor
from torch.nn import functional

from forecast.attention.call import AttentionCall
from forecast.attention.kernels.base import Kernel
from forecast.attention.patterns import Linear
from forecast.attention.patterns.linear import NO_DROPOUT, NO_SCORES
from forecast.attention.state import LinearState


class LinearKernel(Kernel):
    """One sum over all keys, or the sums up to each query (Katharopoulos et al. 2020, equations 6 and 9)."""

    name: ClassVar[str] = "linear"

    def refusal(self, call: AttentionCall) -> str | None:
        """Refuse every other pattern, a bias, and dropout of weights that are never written out."""
        if not isinstance(call.pattern, Linear):
            return f"it computes pattern 'linear' alone and this is {call.pattern!r}; use backend 'auto'"
        if call.bias is not None:
            return NO_SCORES
        if call.dropout:
            return NO_DROPOUT
        return None

    def run(self, call: AttentionCall) -> Float[Tensor, "batch head query value_dim"]:
        """Take the keys in, and let the queries look at them."""
        pattern = call.pattern
        assert isinstance(pattern, Linear), "run is not called where refusal gives a reason"
        state = LinearState(pattern.features)
        if pattern.causal:
            return _causal(call, state)
        state.take_in(call.key, call.value, key_observed=call.key_observed)
        return state.look(call.query)


def _causal(call: AttentionCall, state: LinearState) -> Tensor:
    """Decode in one step; what precedes the first query is taken in at once, and no query before the first key sees."""
    surplus = call.num_keys - call.num_queries
    seeing = call.query[:, :, max(-surplus, 0) :]
    first = max(surplus, 0)
    observed = call.key_observed
    if first:
        earlier = None if observed is None else observed[:, :first]
        state.take_in(call.key[:, :, :first], call.value[:, :, :first], key_observed=earlier)
    own = None if observed is None else observed[:, first:]
    output = state.step(seeing, call.key[:, :, first:], call.value[:, :, first:], key_observed=own)
    return functional.pad(output, (0, 0, max(-surplus, 0), 0))
