"""One YAML file, one complete run: what is read, how it is cut, what is trained, and where it is tracked."""

from pathlib import Path

from pydantic import Field, NonNegativeInt

from forecast.config import config
from forecast.errors import ConfigError
from forecast.frames.contract import DataContract
from forecast.model.transformer import ModelConfig
from forecast.training.config import TrainerConfig
from pipelines.flows.backtest import BacktestConfig
from pipelines.preparation import InMemory, Preparation
from pipelines.sources import Source
from pipelines.split import FractionSplit, Split


@config
class TrackingConfig:
    """Where runs and models are kept."""

    uri: str | None = None
    """An MLflow tracking URI; None keeps runs in an SQLite store in `output`."""

    experiment: str | None = None
    """Experiment of the runs; None takes the name of the run configuration."""


@config
class RunConfig:
    """Everything that a training run needs, and nothing that it does not."""

    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]*$")
    """Name of the registered model, and of the folder its runs lie in."""

    seed: NonNegativeInt = 1
    """Seeds Python, NumPy, PyTorch and the order of the windows."""

    output: Path = Path("runs")
    """Folder that everything is written to, apart from a tracking store elsewhere."""

    data: Source | None = None
    """Where the flows read from; a run that is handed its frame needs none."""

    covariates: Source | None = None
    """A second table, of covariates by id and time, or by time alone for all series; its rows may reach past the end
    of the data. None where the data hold their covariates themselves."""

    contract: DataContract = DataContract()

    preparation: Preparation = InMemory()
    """How rows become a panel: in memory, through a store on disk, or in parts on a Ray cluster; all give the same."""

    split: Split = FractionSplit()

    model: ModelConfig

    trainer: TrainerConfig = TrainerConfig()

    backtest: BacktestConfig = BacktestConfig()

    attention_maps: bool = False
    """Log pictures of what the trained model looks at, a heat map a layer and head."""

    tracking: TrackingConfig = TrackingConfig()

    @property
    def source(self) -> Source:
        """The source to read from.

        Raises:
            ConfigError: the configuration has none.
        """
        if self.data is None:
            raise ConfigError(
                "data: is needed and was not given; name a source, for example {kind: files, paths: history.csv}",
                field="data",
            )
        return self.data

    @property
    def tracking_uri(self) -> str:
        """The tracking URI in force."""
        return self.tracking.uri or f"sqlite:///{(self.output / 'mlflow.db').absolute()}"
