"""What the service says of itself and of its models, as JSON."""

from datetime import datetime
from typing import Literal

from api.schemas import Documented

Role = Literal["past", "future", "static", "calendar"]


class CovariateDetails(Documented):
    """One covariate of a model: what to send of it, and where."""

    name: str
    role: Role
    """`past`: its history in `series.past`; `future`: that, and what is known ahead in `future`; `static`: one value a
    series in `series.static`; `calendar`: nothing, it is made from the stamps."""

    kind: Literal["numeric", "categorical"]
    """Booleans are numeric: false is 0, true is 1."""

    num_levels: int
    """How many categories it has; 0 for numbers."""

    levels: list[str]
    """The categories, at most the first 100 of them; others count as unknown."""


class ModelDetails(Documented):
    """What is known of a model that has been loaded."""

    digest: str
    frequency: str
    context_length: int
    """Steps of history that it looks at."""

    horizon: int
    """Steps that it forecasts where none are asked for."""

    quantile_levels: list[float]
    """Levels that it forecasts where none are asked for; empty for a model of points."""

    targets: list[str]
    """What it forecasts. Where there are several, `y` is an object with a list for each."""

    covariates: list[CovariateDetails]
    """What it is told beside the targets."""

    trained_until: str
    """Newest step seen in training."""

    num_series: int
    """Series trained on."""

    data_digest: str
    library_version: str
    backtest: dict[str, float]
    """Figures on the test part, by metric."""


class ModelListing(Documented):
    """One version of a model."""

    name: str
    version: str
    aliases: list[str]
    created: datetime | None
    default: bool
    """True for the one that answers where a request names none."""

    details: ModelDetails | None
    """Null in a list where the version is not loaded; ask for it by name."""


class Models(Documented):
    """Every version that can be asked for."""

    models: list[ModelListing]


class Health(Documented):
    """That the service lives, or is ready."""

    status: str


class Version(Documented):
    """What runs here."""

    longcast: str
    git_sha: str | None
    python: str
    torch: str
