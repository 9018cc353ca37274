"""Lightning gets every window once an epoch, in an order that the seed decides, a batch gathered in one step."""

from itertools import pairwise

import lightning.pytorch as pl
import numpy as np
import pytest
import torch

from forecast.batch import Batch, cut_windows
from forecast.errors import SeriesTooShort
from forecast.frames.contract import DataContract, prepare
from pipelines.datamodule import Chosen, ShuffledBatches, WindowDataModule, WindowDataset
from pipelines.sources import EmbeddedSource
from pipelines.split import FractionSplit, StepsSplit

ASKED = {"context_length": 6, "horizon": 3}


@pytest.fixture
def panel(make_panel):
    """Two long series and a short one, in which every value occurs once."""
    return make_panel(np.arange(0.0, 60.0), np.arange(100.0, 150.0), np.arange(200.0, 207.0))


@pytest.fixture
def module(panel) -> WindowDataModule:
    parts = FractionSplit(train=0.6, validation=0.2).cut(panel, horizon=3)
    return WindowDataModule(panel, parts, **ASKED, batch_size=8, seed=5)


def first_targets(loader) -> list[float]:
    """The first target of each window, which tells the windows of the fixture apart."""
    return torch.cat([batch.future[:, 0] for batch in loader]).tolist()


def test_an_epoch_gives_each_training_window_once_and_drops_none(module):
    loader = module.train_dataloader()
    sizes = [len(batch.past) for batch in loader]
    assert sorted(sizes, reverse=True) == [8] * (len(module.training) // 8) + [len(module.training) % 8]
    assert len(loader) == len(sizes)
    expected = [*range(6, 34), *range(106, 128), *range(201, 205)]
    assert sorted(first_targets(loader)) == expected
    assert first_targets(loader) != expected


def test_held_out_windows_come_in_order_of_series_and_time(module):
    (validation,), (test,) = module.val_dataloader(), module.test_dataloader()
    assert first_targets(validation) == [*range(36, 46), *range(130, 138)]
    assert first_targets(test) == [*range(48, 58), *range(140, 148)]


def test_the_same_seed_gives_the_same_order_and_another_seed_another(panel):
    parts = FractionSplit().cut(panel)
    one, same, other = (
        first_targets(WindowDataModule(panel, parts, **ASKED, batch_size=8, seed=seed).train_dataloader())
        for seed in (1, 1, 2)
    )
    assert one == same
    assert one != other
    assert sorted(one) == sorted(other)


def test_the_order_does_not_depend_on_what_was_drawn_before(module):
    one = first_targets(module.train_dataloader())
    torch.rand(17)
    np.random.default_rng().random(3)
    assert first_targets(module.train_dataloader()) == one


def windows_of(order: ShuffledBatches) -> list[int]:
    """The windows of all batches, numbered through the buckets."""
    before = np.cumsum([0, *(len(bucket.index) for bucket in order.buckets)])
    place = {id(bucket): start for bucket, start in zip(order.buckets, before, strict=False)}
    return [int(number) + place[id(chosen.bucket)] for chosen in order for number in chosen.numbers]


def test_epochs_and_neighbouring_seeds_have_different_orders(module):
    orders = []
    for seed in range(3):
        order = ShuffledBatches(module.training.buckets, seed=seed)
        for epoch in range(3):
            order.set_epoch(epoch)
            orders.append(tuple(windows_of(order)))
    assert len(set(orders)) == 9
    assert {tuple(sorted(order)) for order in orders} == {tuple(range(len(module.training)))}


def test_other_windows_meet_in_a_batch_in_the_next_epoch(module):
    order, batches = ShuffledBatches(module.training.buckets, seed=5), []
    for epoch in range(2):
        order.set_epoch(epoch)
        batches.append({frozenset(chosen.numbers.tolist()) for chosen in order})
    assert not batches[0] & batches[1]


def test_an_epoch_that_is_taken_up_again_has_the_order_that_it_had(module):
    one, again = (ShuffledBatches(module.training.buckets, seed=5) for _ in range(2))
    list(again)
    for order in (one, again):
        order.set_epoch(7)
    assert windows_of(one) == windows_of(again)


def chosen(dataset: WindowDataset, *numbers: int) -> Batch:
    (bucket,) = dataset.buckets
    return dataset[Chosen(bucket, np.array(numbers))]


def test_a_batch_is_the_windows_that_are_cut_one_by_one(module):
    numbers = [3, 0, len(module.training) - 1]
    batch = chosen(module.training, *numbers)
    for name, together in batch.tensors().items():
        alone = torch.cat([chosen(module.training, number).tensors()[name] for number in numbers])
        assert torch.equal(together, alone), name


def test_all_parts_are_measured_in_the_units_of_the_training_part(panel, module):
    expected = [np.arange(36).std(), np.arange(30).std(), np.arange(7).std()]
    for dataset in (module.training, module.validation, module.test):
        np.testing.assert_allclose(dataset.units, expected)
    (validation,) = module.val_dataloader()
    np.testing.assert_allclose(next(iter(validation)).unit, [expected[0]] * 8)


def test_strides_thin_the_windows(panel):
    parts = FractionSplit(train=0.6, validation=0.2).cut(panel, horizon=3)
    module = WindowDataModule(panel, parts, **ASKED, batch_size=8, seed=5, stride=10, validation_stride=5)
    (validation,) = module.val_dataloader()
    assert sorted(first_targets(module.train_dataloader())) == [6, 16, 26, 106, 116, 126, 201]
    assert first_targets(validation) == [36, 41, 130, 135]


def test_without_held_out_windows_there_is_no_loader_for_them(panel):
    parts = FractionSplit(train=1, validation=0).cut(panel)
    module = WindowDataModule(panel, parts, **ASKED, batch_size=8, seed=5)
    assert (module.val_dataloader(), module.test_dataloader()) == ([], [])


def test_a_panel_without_a_training_window_is_refused(make_panel):
    panel = make_panel([1.0], [2.0])
    with pytest.raises(SeriesTooShort):
        WindowDataModule(panel, FractionSplit().cut(panel), **ASKED, batch_size=8, seed=5)


@pytest.mark.parametrize("train", [36, 3], ids=["whole windows", "less than one window"])
def test_nothing_held_out_changes_a_training_batch(make_panel, train):
    values = np.arange(0.0, 60.0)
    corrupted = np.where(np.arange(60) < train, values, 1e9)
    split = StepsSplit(train=train, validation=12, test=12)
    batches = []
    for panel in (make_panel(values), make_panel(corrupted)):
        module = WindowDataModule(panel, split.cut(panel), **ASKED, batch_size=64, seed=5)
        batches.append(next(iter(module.train_dataloader())))
    for name, tensor in batches[0].tensors().items():
        assert torch.equal(tensor, batches[1].tensors()[name]), name


def test_the_loader_cuts_what_serving_cuts(panel, module):
    batch = chosen(module.test, 4)
    served = cut_windows(panel.select([0]), series=np.array([0]), origins=np.array([52]), context_length=6, horizon=0)
    assert torch.equal(batch.past, served.past)


def test_the_embedded_series_comes_from_its_file_to_batches_with_its_gaps_unobserved():
    prepared = prepare(EmbeddedSource().read(), DataContract(on_duplicate="mean"))
    parts = FractionSplit().cut(prepared.panel, horizon=48)
    module = WindowDataModule(prepared.panel, parts, context_length=96, horizon=48, batch_size=512, seed=5, stride=48)
    observed = torch.cat([batch.future_observed for batch in module.train_dataloader()])
    assert parts.train_end[0] == int(0.7 * (19_226 - 1 + 24))
    assert (~observed).sum() == 24


class Recorder(pl.LightningModule):
    """Learns nothing and writes down the order in which windows come."""

    def __init__(self):
        super().__init__()
        self.bias = torch.nn.Parameter(torch.zeros(()))
        self.epochs: list[list[float]] = []
        self.validated: list[float] = []

    def on_train_epoch_start(self):
        self.epochs.append([])

    def training_step(self, batch: Batch, number: int) -> torch.Tensor:
        self.epochs[-1] += batch.future[:, 0].tolist()
        return self.bias**2

    def validation_step(self, batch: Batch, number: int) -> None:
        self.validated += batch.future[:, 0].tolist()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


def test_a_trainer_sees_every_window_in_a_new_order_each_epoch(module, tmp_path):
    recorder = Recorder()
    quiet = {
        "logger": False,
        "enable_checkpointing": False,
        "enable_progress_bar": False,
        "enable_model_summary": False,
    }
    trainer = pl.Trainer(max_epochs=3, accelerator="cpu", default_root_dir=tmp_path, num_sanity_val_steps=0, **quiet)
    trainer.fit(recorder, datamodule=module)
    assert all(sorted(one) == sorted(other) and one != other for one, other in pairwise(recorder.epochs))
    assert len(recorder.epochs[0]) == len(module.training)
    assert len(recorder.validated) == 3 * len(module.validation)


# ---- Buckets


@pytest.fixture
def bucketed(panel) -> WindowDataModule:
    parts = FractionSplit(train=0.6, validation=0.2).cut(panel, horizon=3)
    return WindowDataModule(panel, parts, **ASKED, batch_size=8, seed=5, buckets=(2, 4))


def test_buckets_give_every_window_once_and_mix_in_every_epoch(module, bucketed):
    assert sorted(first_targets(bucketed.train_dataloader())) == sorted(first_targets(module.train_dataloader()))
    lengths = [batch.past.shape[1] for batch in bucketed.train_dataloader()]
    assert set(lengths) == {2, 4, 6}
    assert lengths != sorted(lengths)


def test_a_window_in_a_bucket_is_the_newest_part_of_the_whole_one(module, bucketed):
    whole = {
        float(batch.future[row, 0]): batch.rows(slice(row, row + 1))
        for batch in module.train_dataloader()
        for row in range(len(batch.past))
    }
    for batch in bucketed.train_dataloader():
        for row in range(len(batch.past)):
            expected, found = whole[float(batch.future[row, 0])], batch.rows(slice(row, row + 1))
            kept = found.past.shape[1]
            assert torch.equal(found.past, expected.past[:, -kept:])
            assert not expected.past_observed[:, :-kept].any()
            assert torch.equal(found.future, expected.future)


def test_held_out_windows_come_in_buckets_too(bucketed):
    (test,) = bucketed.test_dataloader()
    assert sorted(first_targets(test)) == [*range(48, 58), *range(140, 148)]
