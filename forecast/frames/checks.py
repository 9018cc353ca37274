"""The checks of the rows of each series: unreadable stamps, infinite values, strays, duplicates, gaps, missing values."""

import numpy as np
import polars as pl
from jaxtyping import Bool, Float64, Int64

from forecast.errors import DuplicateSteps, FrequencyError, MissingValues, WrongType
from forecast.frames.ledger import Ledger
from forecast.frames.rows import Rows

