"""What a contract asks to know beside the target, laid out once the series have their steps."""

from dataclasses import dataclass

from forecast.frames.beside import Beside, SideRows, lay_beside
from forecast.frames.channels import leave_whole_entities
from forecast.frames.covariate_columns import CovariateColumns, describe_covariates
from forecast.frames.covariates import Covariates, CovariateSchema
from forecast.frames.door import Table
from forecast.frames.features import CalendarFeature, calendar_names
from forecast.frames.ids import SeriesIds
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
            on_duplicate=self.on_duplicate,
        )
