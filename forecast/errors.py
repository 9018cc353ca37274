"""The one tree of errors: every failure a caller can cause or meet is a `LongcastError`."""


class LongcastError(Exception):
    """Base of all errors raised on purpose; the message says what was expected, what came and what to do."""

    series: str | None = None
    """The series at fault, where there is one."""

    field: str | None = None
    """The column, configuration key or request field at fault, where there is one."""

    def __init__(self, message: str, *, series: str | None = None, field: str | None = None):
        super().__init__(message)
        self.series = series
        self.field = field


class ConfigError(LongcastError):
    """A configuration that does not say a complete, consistent run; `field` is the dotted path."""


class DataError(LongcastError):
    """A frame that breaks the data contract and that no policy may mend."""


class ColumnMissing(DataError):
    """A column that the contract needs is absent or ambiguous."""


class WrongType(DataError):
    """A column holds values of a type that cannot be what its role needs."""


class DuplicateSteps(DataError):
    """A series holds the same time step more than once."""


class GapFound(DataError):
    """A series lacks steps inside its range and the policy refuses to fill them."""


class FrequencyError(DataError):
    """The frequency cannot be read from the stamps, or contradicts the one given."""


class MissingValues(DataError):
    """A column holds missing or infinite values where the policy refuses them."""


class CovariatesMissing(DataError):
    """A covariate that must be known ahead is not, at some steps of the horizon."""


class SeriesTooShort(DataError):
    """A series, or every series, is shorter than what was asked of it needs."""


class SourceError(LongcastError):
    """A file, public data set or other source cannot be read."""


class ContextTooLong(LongcastError):
    """A context or horizon lies beyond what the model's positions were trained for."""


class QuantilesUnavailable(LongcastError):
    """Quantiles were asked of a model that forecasts points only."""


class BackendUnavailable(LongcastError):
    """An optional package or kernel was asked for and cannot serve here."""


class ArtifactError(LongcastError):
    """A saved model is incomplete, altered, or of a format this library does not read."""


class RegistryError(LongcastError):
    """The tracking store or registry lacks what was asked for, or cannot be reached."""


class ModelNotFound(RegistryError):
    """No model stands under this name, version or alias."""


class TrainingError(LongcastError):
    """A training run cannot start or cannot go on."""
