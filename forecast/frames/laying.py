"""What a contract asks to know beside the target, laid out once the series have their steps."""

from dataclasses import dataclass

from forecast.errors import ConfigError, FrequencyError
from forecast.frames.beside import Beside, SideRows, lay_beside
from forecast.frames.channels import leave_whole_entities
from forecast.frames.covariate_columns import CovariateColumns, describe_covariates
from forecast.frames.covariates import Covariates, CovariateSchema
from forecast.frames.door import Table
from forecast.frames.features import CalendarFeature, calendar_names
from forecast.frames.frequency import Frequency
from forecast.frames.ids import SeriesIds
from forecast.frames.irregular import OnIrregular
from forecast.frames.lay_covariates import FUTURE_FRAME, Layout, lay_covariates, note_unknown_categories
from forecast.frames.ledger import Ledger
from forecast.frames.policies import OnDuplicate
from forecast.frames.stepped import Stepped


@dataclass(frozen=True, eq=False)
class Laying:
    """The frames that hold covariates, and what is asked of them."""

    table: Table
    side: SideRows | None
    ids: SeriesIds
    columns: CovariateColumns
    calendar: tuple[CalendarFeature, ...]
    on_irregular: OnIrregular
    on_duplicate: OnDuplicate
    horizon: int
    schema: CovariateSchema | None
    """What a model has learnt of the covariates; None reads it from the frames."""

    future_fix: str = FUTURE_FRAME
    """What a caller does about unknown steps of the horizon."""

    def lay(self, stepped: Stepped, ledger: Ledger) -> tuple[Stepped, Covariates | None]:
        """Give the series that go on and their covariates; series whose covariates cannot be used are put at fault.

        Raises:
            DataError: a column holds what its covariate cannot be, or no series goes on.
        """
        leave_whole_entities(ledger, num_channels=self._num_channels)
        stepped = stepped.going_on(ledger)
        if not self.columns.names and not self.calendar:
            return stepped, None
        schema = self.schema
        if schema is None:
            schema = self._described(stepped)
        else:
            note_unknown_categories(schema, self._tables, ledger)
        num_faults = len(ledger.faults)
        laid = self._lay(stepped, ledger, schema=schema)
        if len(ledger.faults) == num_faults:
            return stepped, laid
        leave_whole_entities(ledger, num_channels=self._num_channels)
        num_findings = len(ledger.findings)  # what is left was told when it was laid out the first time
        stepped = stepped.going_on(ledger)
        laid = self._lay(stepped, ledger, schema=schema)
        del ledger.findings[num_findings:]
        return stepped, laid

    @property
    def _num_channels(self) -> int:
        return len(self.table.columns.targets)

    @property
    def _tables(self) -> list[Table]:
        return [self.table, *([] if self.side is None else [self.side.table])]

    def _described(self, stepped: Stepped) -> CovariateSchema:
        cells = {
            name: [table.parts[name] for table in self._tables if name in table.parts] for name in self.columns.names
        }
        return describe_covariates(
            self.columns, cells=cells, calendar=calendar_names(self.calendar, frequency=stepped.axis.frequency)
        )

    def _lay(self, stepped: Stepped, ledger: Ledger, *, schema: CovariateSchema) -> Covariates:
        entities = self._entities(stepped)
        beside = self._beside(stepped, ledger, entities)
        layout = Layout(stepped, self.table, beside, entities, self._num_channels, self.horizon, self.future_fix)
        return lay_covariates(layout, ledger, schema=schema, calendar=self.calendar)

    def _entities(self, stepped: Stepped) -> tuple[str | int, ...]:
        numbers = stepped.rows.series[stepped.rows.starts][:: self._num_channels]
        return tuple(self.ids.names[number // self._num_channels] for number in numbers.tolist())

    def _beside(self, stepped: Stepped, ledger: Ledger, entities: tuple[str | int, ...]) -> Beside | None:
        if self.side is None:
            return None
        return lay_beside(
            self.side,
            stepped,
            ledger,
            entities=entities,
            num_channels=self._num_channels,
            horizon=self.horizon,
            on_irregular=self.on_irregular,
            on_duplicate=self.on_duplicate,
        )


def check_calendar(
    calendar: tuple[CalendarFeature, ...], schema: CovariateSchema | None, *, frequency: Frequency
) -> None:
    """Refuse steps of which the calendar features that a model has learnt cannot be made; None has learnt nothing yet.

    Raises:
        FrequencyError: a feature means nothing for such steps.
        ConfigError: the contract makes other features than the model is told.
    """
    if schema is None:
        return
    learnt = tuple(covariate.name for covariate in schema.calendar)
    try:
        made = calendar_names(calendar, frequency=frequency)
    except ConfigError as failure:  # an hour of integer time, a season of steps that have none
        what = f"this model is told calendar features that steps of {frequency.text!r} do not have"
        fix = "give steps of the kind that it was trained on, or train a model on steps like these"
        raise FrequencyError(f"{what}; {fix}", field="frequency") from failure
    if made != learnt:
        raise ConfigError(
            f"the contract makes the calendar features {_listed(made)} and the model is told {_listed(learnt)}; give "
            f"the calendar that the model was trained with",
            field="calendar",
        )


def _listed(names: tuple[str, ...]) -> str:
    return ", ".join(map(repr, names)) or "none"
