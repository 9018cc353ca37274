"""Preparation in memory: the quickest where the rows fit."""

from typing import Literal

from forecast.config import config
from forecast.frames.contract import Prepared, prepare
from pipelines.preparation.base import Order, PreparationContract


@config
class InMemory(PreparationContract):
    """All rows at once, in this process."""

    kind: Literal["memory"] = "memory"

    def prepare(self, order: Order) -> Prepared:
        return prepare(
            order.source.read(),
            order.contract,
            covariates=order.covariates,
            schema=order.schema,
            on_bad_series=order.on_bad_series,
        )
