"""The models in memory: the default one is loaded and warmed in the background, others when they are asked for."""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

import structlog
import torch
from starlette.concurrency import run_in_threadpool

from api.catalog.base import Catalog, Entry, Served
from api.errors import RETRY_S, Refused
from api.settings import Settings
from api.warming import warm
from forecast.errors import LongcastError
from forecast.forecast import Forecast
from forecast.frames.panel import Panel
from forecast.registry import CHAMPION
from forecast.request import Request

T = TypeVar("T")

log = structlog.get_logger()


@dataclass(frozen=True, eq=False)
class Timed:
    """A forecast and what it took."""

    forecast: Forecast
    queue_ms: float
    inference_ms: float


class Serving:
    """Holds the models and the thread that runs them. Lives on one event loop, from `start` to `stop`."""

    def __init__(self, catalog: Catalog, settings: Settings):
        self.catalog = catalog
        self.default: Served | None = None
        self.reason = "the model is being loaded"
        """Why the service is not ready, for people; empty once it is."""
        self._settings = settings
        self._others: OrderedDict[str, Served] = OrderedDict()
        self._loading = asyncio.Lock()
        # One thread a device: two forecasts at once would share its cores and both take longer.
        self._device = ThreadPoolExecutor(1, "inference", initializer=_set_threads, initargs=(settings.cpu_threads,))
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to load the default model; a failure is told by `reason` and tried again."""
        self._task = asyncio.create_task(self._keep_trying())

    async def stop(self) -> None:
        """Stop trying, and let the forecast that runs come to its end."""
        if self._task is not None:
            self._task.cancel()
        await run_in_threadpool(self._device.shutdown, cancel_futures=True)

    async def get(self, reference: str | None) -> Served:
        """Give the model meant by a reference, loaded where it is not yet; the default one where it is None.

        Raises:
            Refused: 503, the default model is not ready.
            ModelNotFound: there is none.
            RegistryError: the registry cannot be read, and the model is not in memory.
            ArtifactError: the model is unusable.
        """
        if reference is None:
            return self._ready()
        held = self._held(reference) or self._default_as(reference)
        if held is not None:
            return held
        entry = await run_in_threadpool(self.catalog.find, reference)
        async with self._loading:
            return self._held(entry.label) or self._keep(await self._load(entry))

    def loaded(self, label: str) -> Served | None:
        """Give a model if it is in memory."""
        if self.default is not None and self.default.entry.label == label:
            return self.default
        return self._others.get(label)

    async def forecast(self, served: Served, panel: Panel, request: Request) -> Timed:
        """Forecast on the device's thread, while the event loop stays free."""
        asked = time.perf_counter()

        def work() -> Timed:
            begun = time.perf_counter()
            forecast = served.predictor.forecast(panel, request=request)
            return Timed(forecast, 1000 * (begun - asked), 1000 * (time.perf_counter() - begun))

        return await self._on_device(work)

    def _ready(self) -> Served:
        if self.default is None:
            headers = {"Retry-After": str(RETRY_S)}
            raise Refused(f"not ready: {self.reason}", status=503, code="not_ready", headers=headers)
        return self.default

    def _held(self, reference: str) -> Served | None:
        """Give what is in memory under an exact version, which never changes."""
        held = self.loaded(reference)
        if held is not None and held is not self.default:
            self._others.move_to_end(reference)
        return held

    def _default_as(self, reference: str) -> Served | None:
        """Give the default model where it is meant by a name or alias that it had when it was loaded.

        So the registry is not asked at each request, and may be down. Other aliases are looked up each time.
        """
        if self.default is None:
            return None
        entry = self.default.entry
        names = {f"{entry.name}@{alias}" for alias in entry.aliases}
        if CHAMPION in entry.aliases:
            names.add(entry.name)
        return self.default if reference in names else None

    def _keep(self, served: Served) -> Served:
        self._others[served.entry.label] = served
        while len(self._others) > self._settings.max_loaded_models:
            self._others.popitem(last=False)
        return served

    async def _keep_trying(self) -> None:
        wait_s = self._settings.first_retry_s
        while not await self._try():
            await asyncio.sleep(wait_s)
            wait_s = min(2 * wait_s, self._settings.longest_retry_s)

    async def _try(self) -> bool:
        try:
            entry = await run_in_threadpool(self._find_default)
            self.default = await self._load(entry)
        except LongcastError as error:
            self.reason = str(error)
            log.warning("model not loaded", kind=type(error).__name__, reason=self.reason)
        except Exception as error:  # a door: nobody else would hear of it, and the service would wait for ever
            self.reason = f"unexpected {type(error).__name__} while the model was being loaded"
            log.exception("model not loaded")
        else:
            self.reason = ""
            log.info("ready", model_version=entry.label)
        return self.default is not None

    def _find_default(self) -> Entry:
        name = self._settings.model
        return self.catalog.find_only() if name is None else self.catalog.find(name)

    async def _load(self, entry: Entry) -> Served:
        """Load a model and let it make one forecast: the first is slow, and a broken one must not answer."""

        def load() -> Served:
            folder, settings = self.catalog.fetch(entry), self._settings
            return Served.load(entry, folder, device=settings.device, compiled=settings.compiled)

        served = await run_in_threadpool(load)
        await self._on_device(lambda: warm(served))
        return served

    async def _on_device(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._device, work)


def _set_threads(count: int | None) -> None:
    if count is not None:
        torch.set_num_threads(count)  # counts for the thread that calls it
