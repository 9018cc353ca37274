"""What a run's page in MLflow holds, listed by its API, and the champion loaded by a stranger."""

import json
import subprocess
import sys
from collections.abc import Iterator

from mlflow import MlflowClient
from mlflow.entities import Run

from benchmarks.shown import Shown, holds

STRANGER = """
import json, sys, warnings
warnings.simplefilter("ignore")
import mlflow, pandas as pd
mlflow.set_tracking_uri(sys.argv[1]); mlflow.set_registry_uri(sys.argv[1])
model = mlflow.pyfunc.load_model(f"models:/{sys.argv[2]}@champion")
stamps = pd.date_range("2026-01-01", periods=500, freq="30min", tz="UTC").strftime("%Y-%m-%dT%H:%M:%S+00:00")
history = pd.DataFrame({"unique_id": "a", "ds": stamps, "y": [float(step % 48) for step in range(500)]})
answer = model.predict(history, params={"horizon": 3})
print(json.dumps({"columns": list(answer.columns), "rows": len(answer), "lightning": "lightning" in sys.modules}))
"""


def show_registry(uri: str, name: str) -> Iterator[Shown]:
    """Show the run behind the champion of a model, item by item."""
    client = MlflowClient(tracking_uri=uri, registry_uri=uri)
    version = client.get_model_version_by_alias(name, "champion")
    run = client.get_run(str(version.run_id))
    yield _parameters(run)
    yield _steps(client, run, "validation_loss", "metrics per epoch")
    yield _steps(client, run, "by_step/longcast/mase", "metrics per horizon step")
    inputs = run.inputs.dataset_inputs if run.inputs is not None else []
    digests = [dataset.dataset.digest for dataset in inputs]
    yield holds("mlflow data-set digest", ", ".join(digests), "our own", met=bool(digests))
    pictures = sorted(entry.path for entry in client.list_artifacts(run.info.run_id, "pictures"))
    yield holds("mlflow pictures", ", ".join(pictures), "forecasts and error by horizon", met=len(pictures) >= 2)
    yield holds("mlflow alias", f"{name}/{version.version} is champion", "set when it beats seasonal naive", met=True)
    yield _stranger(uri, name)


def _parameters(run: Run) -> Shown:
    flat = [key for key in run.data.params if "." in key]
    return holds(
        "mlflow parameters", f"{len(run.data.params)}, {len(flat)} of them nested", "flattened", met=bool(flat)
    )


def _steps(client: MlflowClient, run: Run, metric: str, what: str) -> Shown:
    history = client.get_metric_history(run.info.run_id, metric)
    return holds(f"mlflow {what}", f"{metric} at {len(history)} steps", "more than one", met=len(history) > 1)


def _stranger(uri: str, name: str) -> Shown:
    """Load the champion in a fresh process, as MLflow's own users do."""
    asked = subprocess.run([sys.executable, "-c", STRANGER, uri, name], capture_output=True, text=True, check=True)
    answer = json.loads(asked.stdout.splitlines()[-1])
    met = answer["rows"] == 3 and {"ds", "mean", "0.5"} <= set(answer["columns"]) and not answer["lightning"]
    return holds(f"models:/{name}@champion in a fresh process", json.dumps(answer), "forecasts, no Lightning", met=met)
