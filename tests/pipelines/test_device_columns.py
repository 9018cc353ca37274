"""Columns on a device give the batches of main memory to the last bit, and stay off it where they do not fit."""

import logging
from dataclasses import replace

import numpy as np
import pytest
import torch

from forecast.batch import cut_windows
from forecast.gather import gather_on_host
from pipelines.datamodule import WindowDataModule
from pipelines.device_columns import SHARE, DeviceColumns, choose_gather, columns_of, gather_within
from pipelines.split import FractionSplit
from tests.forecast.frames.panels import Build, panel_from

CPU = torch.device("cpu")
BUILDS = {
    "bare": Build(roles="none", weights=False),
    "weights": Build(roles="none"),
    "covariates with masks": Build(masks=True),
    "covariates without masks": Build(masks=False),
    "static covariates alone": Build(roles="static alone"),
    "channels": Build(num_channels=2),
}


@pytest.mark.parametrize("build", BUILDS.values(), ids=BUILDS)
def test_batches_are_those_cut_in_main_memory(build):
    panel = panel_from(build, seed=3, num_entities=6)
    random = np.random.default_rng(1)
    series = random.integers(0, len(panel), 50)
    asked = {
        "series": series,
        "origins": random.integers(0, panel.lengths[series] + 1),
        "context_length": 5,
        "horizon": 3,
    }
    for ends in (None, panel.lengths // 2):
        one, other = (
            cut_windows(panel, **asked, ends=ends, gather=gather)
            for gather in (gather_on_host, DeviceColumns(panel, CPU))
        )
        assert one.tensors().keys() == other.tensors().keys()
        for name, tensor in one.tensors().items():
            assert torch.equal(tensor, other.tensors()[name]), name


def test_columns_are_moved_in_pieces(monkeypatch):
    panel = panel_from(Build(), seed=3, num_entities=6)
    monkeypatch.setattr("pipelines.device_columns.CHUNK", 3)
    asked = {"series": np.arange(6), "origins": panel.lengths, "context_length": 9, "horizon": 1}
    one, other = (cut_windows(panel, **asked, gather=gather) for gather in (gather_on_host, DeviceColumns(panel, CPU)))
    for name, tensor in one.tensors().items():
        assert torch.equal(tensor, other.tensors()[name]), name


def test_a_panel_that_fits_its_share_is_put_on_the_device_and_one_that_does_not_is_not(caplog):
    panel = panel_from(Build(), seed=3, num_entities=6)
    needed = sum(column.nbytes for column in columns_of(panel))
    caplog.set_level(logging.INFO, logger="longcast")
    assert isinstance(gather_within(panel, device=CPU, free_bytes=int(needed / SHARE)), DeviceColumns)
    assert gather_within(panel, device=CPU, free_bytes=int(needed / SHARE) - 2) is gather_on_host
    assert [record.message.split(":")[0] for record in caplog.records] == [
        "batches are cut on cpu",
        "batches are cut in main memory",
    ]


def test_every_column_is_counted():
    panel = panel_from(Build(masks=True), seed=3, num_entities=6)
    assert len(columns_of(panel)) == 3 + 2 * len(panel.covariates.values)
    assert len(columns_of(replace(panel, covariates=None, weights=None))) == 2


def test_training_on_the_cpu_reads_main_memory_and_says_so_once(make_panel, caplog):
    panel = make_panel(np.arange(60.0))
    caplog.set_level(logging.INFO, logger="longcast")
    assert choose_gather(panel, device=CPU) is gather_on_host
    caplog.clear()
    parts = FractionSplit().cut(panel)
    module = WindowDataModule(panel, parts, context_length=6, horizon=3, batch_size=8, seed=5)
    list(module.train_dataloader())
    assert [record.message for record in caplog.records] == ["batches are cut in main memory: training is on cpu"]
