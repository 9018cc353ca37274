"""The model as MLflow calls it. MLflow copies this file into every logged model and runs the copy: keep it small.

It needs the library installed, at the version that the model requires; the model itself is the artifact beside it.
"""

from typing import Any

import mlflow
import pandas as pd
from mlflow.pyfunc import PythonModel, PythonModelContext

from forecast.predictor import Predictor
from forecast.registry import ARTIFACT


class LongcastModel(PythonModel):
    """Long frames of history in, long frames of forecasts out, on the CPU."""

    def load_context(self, context: PythonModelContext) -> None:
        """Read the artifact."""
        self.predictor = Predictor.load(context.artifacts[ARTIFACT])

    def predict(
        self,
        context: PythonModelContext,
        model_input: pd.DataFrame,
        params: dict[str, Any] | None = None,
    ) -> pd.DataFrame:
        """Forecast every series of the frame from its end; the parameters are `horizon` and `quantile_levels`.

        Covariates that are known ahead stand in rows behind the history, without a target.
        """
        answer = self.predictor.predict_whole(self._with_zone(model_input), **(params or {}))
        return self._without_zone(answer)

    def _with_zone(self, history: pd.DataFrame) -> pd.DataFrame:
        """Read ISO text in the zone of the training frame: MLflow takes no column that has a zone."""
        time = self.predictor.card.time
        if time.zone is None:
            return history
        name = self.predictor.card.contract.columns.time
        stamps = pd.to_datetime(history[name], utc=True).dt.tz_convert(time.zone).dt.as_unit(time.unit)
        return history.assign(**{name: stamps})

    def _without_zone(self, answer: pd.DataFrame) -> pd.DataFrame:
        """Write stamps that have a zone as ISO text with their offset."""
        name = self.predictor.card.contract.columns.time
        if self.predictor.card.time.zone is None:
            return answer
        return answer.assign(**{name: answer[name].map(pd.Timestamp.isoformat)})


mlflow.models.set_model(LongcastModel())
