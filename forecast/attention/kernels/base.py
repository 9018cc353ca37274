"""What a kernel is: it says why it cannot serve a call, or computes it exactly."""

from abc import ABC, abstractmethod
from typing import ClassVar

from torch import Tensor

from forecast.attention.call import AttentionCall


class Kernel(ABC):
    """Computes softmax(query key' / sqrt(key_dim)) value under the call's pattern; stateless."""

    name: ClassVar[str]

    @abstractmethod
    def refusal(self, call: AttentionCall) -> str | None:
        """Say why this kernel cannot compute the call, with what would help; None when it can."""

    def reluctance(self, call: AttentionCall) -> str | None:
        """Say why `auto` does better with a kernel after this one, whether it can compute the call or not, or None."""
        return None

    @abstractmethod
    def run(self, call: AttentionCall) -> Tensor:
        """Give [batch, head, query, value_dim]; a query that may see nothing gets zeros."""
