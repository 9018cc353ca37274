"""One file a resource, one line each here."""

from api.routes import forecasts, health, models

ROUTERS = (
    forecasts.router,
    models.router,
    health.router,
)
