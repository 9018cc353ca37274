"""Which models can be asked for, and what is known of one."""

from fastapi import APIRouter, Request
from starlette.concurrency import run_in_threadpool

from api.catalog.base import Entry, Served
from api.deps import ServingDep
from api.descriptions import CovariateDetails, ModelDetails, ModelListing, Models, Role
from api.serving import Serving
from forecast.frames.covariates import Covariate, CovariateSchema

MOST_LEVELS = 100
"""Categories of one covariate that are listed: a vocabulary can hold all products of a shop."""

router = APIRouter(prefix="/v1/models", tags=["models"])


@router.get("")
async def list_models(serving: ServingDep) -> Models:
    """List every version, the newest of each model first; those in memory with their details."""
    entries = await run_in_threadpool(serving.catalog.entries)
    return Models(models=[_listing(entry, serving.loaded(entry.label), serving) for entry in entries])


@router.get("/{reference:path}")
async def describe_model(reference: str, request: Request, serving: ServingDep) -> ModelListing:
    """Describe the model meant by `name`, `name@alias` or `name/version`; it is loaded where it was not."""
    served = await serving.get(reference)
    request.state.model_version = served.entry.label
    return _listing(served.entry, served, serving)


def _listing(entry: Entry, served: Served | None, serving: Serving) -> ModelListing:
    default = serving.default is not None and serving.default.entry.label == entry.label
    return ModelListing(
        name=entry.name,
        version=entry.version,
        aliases=list(entry.aliases),
        created=entry.created,
        default=default,
        details=None if served is None else _details(served),
    )


def _details(served: Served) -> ModelDetails:
    card = served.predictor.card
    return ModelDetails(
        digest=served.digest,
        frequency=card.frequency,
        context_length=card.context_length,
        horizon=card.horizon,
        quantile_levels=list(card.quantile_levels),
        targets=list(card.contract.columns.targets),
        covariates=_covariates(card.covariates),
        trained_until=card.trained_until,
        num_series=card.num_series,
        data_digest=card.data_digest,
        library_version=card.library_version,
        backtest=card.backtest,
    )


def _covariates(schema: CovariateSchema) -> list[CovariateDetails]:
    roles: dict[Role, tuple[Covariate, ...]] = {
        "past": schema.past,
        "future": schema.future,
        "static": schema.static,
        "calendar": schema.calendar,
    }
    return [
        CovariateDetails(
            name=covariate.name,
            role=role,
            kind=covariate.kind,
            num_levels=len(covariate.levels),
            levels=list(covariate.levels[:MOST_LEVELS]),
        )
        for role, covariates in roles.items()
        for covariate in covariates
    ]
