"""Longcast: long-sequence time-series forecasting. `from longcast import Forecaster` is the Python face.

Importing this package does nothing else: torch and the rest are imported when `Forecaster` is first named.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from longcast.forecaster import Forecaster

__all__ = ["Forecaster"]


def __getattr__(name: str) -> Any:
    if name == "Forecaster":
        from longcast.forecaster import Forecaster

        return Forecaster
    raise AttributeError(f"module 'longcast' has no attribute {name!r}")
