"""Forecasts, while the caller waits."""

from typing import Annotated

import structlog
from fastapi import APIRouter, Depends, Request, Response
from starlette.concurrency import run_in_threadpool

from api.answer import write_answer
from api.body import forecast_request
from api.deps import ServingDep, SettingsDep
from api.question import make_ready, num_points
from api.schemas import ForecastAnswer, ForecastRequest

router = APIRouter(prefix="/v1/forecasts", tags=["forecasts"])


@router.post("", response_model=ForecastAnswer)
async def forecast(
    request: Request,
    wanted: Annotated[ForecastRequest, Depends(forecast_request)],
    serving: ServingDep,
    settings: SettingsDep,
) -> Response:
    """Forecast every series from its own end.

    A series that cannot be forecast is told in `errors` and leaves the others alone; 422 where none can be.
    """
    served = await serving.get(wanted.model)
    request.state.model_version = served.entry.label
    question = await run_in_threadpool(make_ready, wanted, served.predictor, limits=settings)
    timed = await serving.forecast(served, question.panel, question.asked)
    structlog.contextvars.bind_contextvars(
        num_series=len(wanted.series.unique_id),
        num_points=num_points(wanted),
        horizon=question.asked.horizon,
        model_version=served.entry.label,
        queue_ms=round(timed.queue_ms, 2),
        inference_ms=round(timed.inference_ms, 2),
    )
    body = await run_in_threadpool(write_answer, question, timed.forecast, served)
    return Response(body, media_type="application/json")
