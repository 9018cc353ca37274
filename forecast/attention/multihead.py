"""Multi-head attention: projections around one attention call."""

from jaxtyping import Bool, Float
from torch import Tensor, nn

from forecast.attention.cache import KeysValues
from forecast.attention.call import AttentionCall
from forecast.attention.choice import Backend, attend
from forecast.attention.patterns import Pattern
from forecast.attention.relation import Relation, Stand

ORIGIN = Stand()


class MultiHeadAttention(nn.Module):
    """Heads that look at the same tokens through their own projections (Vaswani et al. 2017, section 3.2.2).

    Queries, keys and values have separate weights, each Xavier-initialised on its own; heads are split off after one
    fused projection. Keys and values can be projected apart from the queries, so that a decoder caches its own and
    computes those of the encoder once.
    """

    def __init__(
        self,
        d_model: int,
        *,
        num_heads: int,
        pattern: Pattern,
        backend: Backend,
        dropout: float = 0.0,
        value_width: int | None = None,
        relation: Relation | None = None,
    ):
        super().__init__()
        self.num_heads = num_heads
        self.pattern = pattern
        self.backend: Backend = backend
        self.dropout = dropout
        self.relation = relation or Relation()
        value_width = value_width or d_model
        self.queries = nn.Linear(d_model, d_model)
        self.keys = nn.Linear(d_model, d_model)
        self.values = nn.Linear(d_model, value_width)
        self.output = nn.Linear(value_width, d_model)
        for projection in (self.queries, self.keys, self.values, self.output):
            nn.init.xavier_uniform_(projection.weight)
            nn.init.zeros_(projection.bias)

    def project(self, tokens: Float[Tensor, "batch key d_model"], *, stand: Stand = ORIGIN) -> KeysValues:
        """Project the tokens that will be looked at."""
        keys = self.relation.rotate(self._split(self.keys(tokens)), stand)
        return KeysValues(keys, self._split(self.values(tokens)))

    def forward(
        self,
        tokens: Float[Tensor, "batch query d_model"],
        seen: KeysValues,
        *,
        key_observed: Bool[Tensor, "batch key"] | None = None,
        stand: Stand = ORIGIN,
        beside: Stand | None = None,
    ) -> Float[Tensor, "batch query d_model"]:
        """Let `tokens`, which stand at `stand`, look at `seen`, whose last positions they are.

        Tokens of another sequence say by `beside` where they stand, counted from the first of those seen.
        """
        call = self.call_for(tokens, seen, key_observed=key_observed, stand=stand, beside=beside)
        heads = attend(call, backend=self.backend)
        return self.output(heads.transpose(1, 2).flatten(2))

    def call_for(
        self,
        tokens: Float[Tensor, "batch query d_model"],
        seen: KeysValues,
        *,
        key_observed: Bool[Tensor, "batch key"] | None = None,
        stand: Stand = ORIGIN,
        beside: Stand | None = None,
    ) -> AttentionCall:
        """Give the attention that `forward` computes, for kernels and for looking inside."""
        return AttentionCall(
            query=self.relation.rotate(self._split(self.queries(tokens)), stand),
            key=seen.keys,
            value=seen.values,
            pattern=self.pattern,
            key_observed=key_observed,
            dropout=self.dropout if self.training else 0.0,
            bias=self.relation.bias(),
            stand=beside,
        )

    def _split(self, projected: Float[Tensor, "batch token width"]) -> Float[Tensor, "batch head token head_width"]:
        return projected.unflatten(-1, (self.num_heads, -1)).transpose(1, 2)
