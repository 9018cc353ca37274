"""A training run learns, keeps its best weights, repeats to the bit and leaves nothing behind but its checkpoint."""

import re
from copy import deepcopy
from dataclasses import replace
from itertools import pairwise

import pytest
import torch
from torch import Tensor
from torch.nn.utils import clip_grad_norm_
from torch.optim import AdamW

from forecast.batch import Batch
from forecast.errors import TrainingError
from forecast.linear import LinearMap
from forecast.model.transformer import ForecastModel
from forecast.training.schedule import warmup_cosine
from tests.forecast.model.kinds import CONTEXT, HORIZON, make_batch
from tests.forecast.training.tiny_run import (
    NUM_BATCHES,
    loader,
    run,
    tiny,
    training_batches,
    validation_batch,
    weights,
)

OVERSHOOTING = {"optimizer": {"learning_rate": 1.0}, "average_decay": 0.0, "max_epochs": 30}


def with_draft(head: str) -> ForecastModel:
    """A model whose draft says that nothing moves away from the mean."""
    model = tiny(draft={"kind": "ridge"}, head={"kind": head})
    model.install_draft(LinearMap(torch.zeros(CONTEXT, HORIZON, dtype=torch.float64)))
    return model


# ---- Learning


def test_losses_fall(tmp_path):
    fit = run(tiny(), tmp_path, max_epochs=8, optimizer={"learning_rate": 1e-2})
    assert fit.epochs[-1]["train_loss"] < 0.7 * fit.epochs[0]["train_loss"]
    assert fit.epochs[-1]["validation_loss"] < 0.95 * fit.epochs[0]["validation_loss"]


def test_an_epoch_is_clipped_adamw_on_a_schedule_with_averaged_weights(tmp_path):
    model, twin = tiny(), tiny()
    settings = {"optimizer": {"learning_rate": 0.02, "weight_decay": 0.3, "warmup_share": 0.4}, "gradient_clip": 0.1}
    run(model, tmp_path, max_epochs=1, average_decay=0.7, **settings)
    average = written_out(twin, learning_rate=0.02, weight_decay=0.3, warmup_share=0.4, clip=0.1, decay=0.7)
    for name, weight in model.named_parameters():
        if not name.endswith("keys.bias"):  # it moves all scores of a query alike: its gradient is rounding alone
            torch.testing.assert_close(weight, average[name], atol=1e-6, rtol=1e-5)


def written_out(
    model: ForecastModel, *, learning_rate: float, weight_decay: float, warmup_share: float, clip: float, decay: float
) -> dict[str, Tensor]:
    """Train one epoch step by step and give the moving average of the weights."""
    matrices = {"params": [weight for weight in model.parameters() if weight.ndim > 1], "weight_decay": weight_decay}
    vectors = {"params": [weight for weight in model.parameters() if weight.ndim < 2], "weight_decay": 0.0}
    optimizer = AdamW([matrices, vectors], betas=(0.9, 0.95))
    average: dict[str, Tensor] = {}
    for step, batch in enumerate(training_batches()):
        for group in optimizer.param_groups:
            group["lr"] = learning_rate * warmup_cosine(step, num_steps=NUM_BATCHES, warmup_share=warmup_share)
        optimizer.zero_grad()
        model.teacher_forced_loss(batch).backward()
        assert clip_grad_norm_(model.parameters(), clip) > clip, "the test means to clip"
        optimizer.step()
        for name, weight in model.named_parameters():
            before = average.get(name, weight).detach()
            average[name] = decay * before + (1 - decay) * weight.detach()
    return average


def test_the_learning_rate_ends_at_zero_whatever_ends_the_run(tmp_path):
    for limits in ({"max_epochs": 2}, {"max_epochs": 50, "max_steps": 5}):
        fit = run(tiny(), tmp_path, **limits)
        rates = [epoch["learning_rate"] for epoch in fit.epochs]
        assert len(rates) == 2
        assert rates[0] > 1e-4
        assert rates[1] == pytest.approx(0, abs=1e-9)


# ---- What is kept


def test_the_best_epoch_is_kept_and_not_the_last(tmp_path):
    model = tiny()
    fit = run(model, tmp_path, **OVERSHOOTING)
    losses = [epoch["validation_loss"] for epoch in fit.epochs]
    assert fit.best_epoch == losses.index(min(losses)) < len(losses) - 1
    assert fit.best_loss == min(losses)
    assert model.free_running_loss(validation_batch()).item() == pytest.approx(fit.best_loss, rel=1e-6)


def test_the_weights_kept_are_the_averaged_ones_that_were_validated(tmp_path):
    averaged, newest = tiny(), tiny()
    fit = run(averaged, tmp_path, average_decay=0.9, optimizer={"learning_rate": 1e-2})
    run(newest, tmp_path, average_decay=0.0, optimizer={"learning_rate": 1e-2})
    assert averaged.free_running_loss(validation_batch()).item() == pytest.approx(fit.best_loss, rel=1e-6)
    assert weights(averaged) != weights(newest)


def test_the_model_comes_back_ready_to_forecast(tmp_path):
    model, batch = tiny(dropout=0.3), make_batch()
    run(model, tmp_path)
    assert not model.training
    forecast = model.forecast(batch.past, batch.past_observed, horizon=HORIZON)
    assert (forecast.mean == model.forecast(batch.past, batch.past_observed, horizon=HORIZON).mean).all()


def test_a_run_without_a_better_epoch_stops_when_its_patience_ends(tmp_path):
    fit = run(tiny(), tmp_path, patience=2, **OVERSHOOTING)
    assert len(fit.epochs) == fit.best_epoch + 1 + 2 < 30


def test_a_point_model_that_training_made_worse_than_its_draft_stays_at_the_draft(tmp_path):
    model = with_draft("mae")
    untouched = weights(model)
    draft_loss = deepcopy(model).eval().free_running_loss(validation_batch()).item()
    fit = run(model, tmp_path, optimizer={"learning_rate": 10.0}, average_decay=0.0, max_epochs=2)
    assert min(epoch["validation_loss"] for epoch in fit.epochs) > draft_loss
    assert (fit.best_epoch, fit.best_loss) == (-1, pytest.approx(draft_loss, rel=1e-6))
    assert weights(model) == untouched


def test_a_point_model_that_is_better_than_its_draft_is_kept(tmp_path):
    model = with_draft("mae")
    draft_loss = deepcopy(model).eval().free_running_loss(validation_batch()).item()
    fit = run(model, tmp_path, optimizer={"learning_rate": 1e-2})
    assert fit.best_epoch >= 0
    assert fit.best_loss < draft_loss


def test_a_model_with_a_spread_is_never_put_back_to_its_draft(tmp_path):
    model = with_draft("quantile")
    fit = run(model, tmp_path, optimizer={"learning_rate": 10.0}, average_decay=0.0, max_epochs=2)
    assert fit.best_epoch >= 0


def test_the_draft_itself_is_not_trained(tmp_path):
    model = tiny(draft={"kind": "ridge"})
    solved = torch.randn(CONTEXT, HORIZON, dtype=torch.float64)
    model.install_draft(LinearMap(solved))
    run(model, tmp_path, optimizer={"learning_rate": 1e-2})
    torch.testing.assert_close(model.draft.weights, solved, atol=1e-14, rtol=1e-14)


# ---- Ends and limits


def test_steps_end_a_run_inside_an_epoch_that_is_validated_all_the_same(tmp_path):
    for max_steps, num_epochs in ((2, 1), (NUM_BATCHES, 1), (NUM_BATCHES + 1, 2)):
        fit = run(tiny(), tmp_path, max_epochs=10, max_steps=max_steps)
        losses = [epoch["validation_loss"] for epoch in fit.epochs]
        assert len(losses) == num_epochs
        assert all(first != second for first, second in pairwise(losses))


def test_a_run_of_n_steps_takes_n_steps(tmp_path):
    limited, whole = tiny(), tiny()
    run(limited, tmp_path, max_epochs=10, max_steps=2)
    run(whole, tmp_path, max_epochs=1, train=loader(*training_batches()[:2]))
    assert weights(limited) == weights(whole)


def test_without_validation_the_training_loss_may_judge(tmp_path):
    fit = run(tiny(), tmp_path, validation=None, monitor="train_loss")
    losses = [epoch["train_loss"] for epoch in fit.epochs]
    assert (fit.best_epoch, fit.best_loss) == (losses.index(min(losses)), min(losses))
    assert all("validation_loss" not in epoch for epoch in fit.epochs)


def test_nothing_to_judge_by_is_an_error_that_says_what_to_do(tmp_path):
    with pytest.raises(
        TrainingError, match=r"no validation window to judge epochs by;.*trainer\.monitor to train_loss"
    ):
        run(tiny(), tmp_path, validation=None)


def test_nothing_to_train_on_is_an_error_that_says_what_to_do(tmp_path):
    with pytest.raises(TrainingError, match=r"no training window; give longer series"):
        run(tiny(), tmp_path, train=loader())


def test_a_run_that_diverges_from_the_start_is_an_error_that_says_what_to_do(tmp_path):
    with pytest.raises(TrainingError, match=r"not a number.*lower trainer\.optimizer\.learning_rate"):
        run(tiny(), tmp_path, optimizer={"learning_rate": 1e30}, gradient_clip=0)


def test_a_draft_that_was_not_solved_is_an_error(tmp_path):
    with pytest.raises(TrainingError, match="draft is not solved yet"):
        run(tiny(draft={"kind": "ridge"}), tmp_path)


# ---- Again, and around it


def test_the_same_seed_gives_the_same_weights_to_the_bit(tmp_path):
    one, same, other = (tiny(seed=seed, dropout=0.2) for seed in (5, 5, 6))
    for number, (model, seed) in enumerate(((one, 5), (same, 5), (other, 6))):
        torch.manual_seed(seed)
        run(model, tmp_path / str(number))
    assert weights(one) == weights(same)
    assert weights(one) != weights(other)


def test_nothing_is_written_outside_the_folder_and_only_the_best_into_it(tmp_path, monkeypatch):
    elsewhere, folder = tmp_path / "elsewhere", tmp_path / "run"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    run(with_draft("mse"), folder, progress=True)
    assert [entry.name for entry in tmp_path.rglob("*") if entry.is_file()] == ["best.ckpt"]
    assert not list(elsewhere.iterdir())


def test_the_listener_hears_every_epoch_as_it_ends(tmp_path):
    heard = []
    fit = run(tiny(), tmp_path, on_epoch=lambda epoch, metrics: heard.append((epoch, metrics)))
    assert [epoch for epoch, _ in heard] == [0, 1]
    assert [metrics for _, metrics in heard] == fit.epochs
    assert set(fit.epochs[0]) == {"train_loss", "validation_loss", "learning_rate"}


def test_a_run_is_quiet_unless_asked_for_its_bar(tmp_path, capfd):
    run(tiny(), tmp_path)
    assert "".join(capfd.readouterr()) == ""


def test_the_bar_shows_losses_and_windows_per_second(tmp_path, capfd):
    run(tiny(), tmp_path, progress=True)
    shown = "".join(capfd.readouterr())
    assert all(int(rate) > 0 for rate in re.findall(r"windows/s=(\d+)", shown))
    assert re.search(r"windows/s=\d+", shown)
    assert re.search(r"train_loss=\d", shown)
    assert re.search(r"validation_loss=\d", shown)
    assert "v_num" not in shown


def test_a_step_weighs_the_same_whatever_batch_it_is_validated_in(tmp_path):
    batch = validation_batch()
    batch.future_observed[:5, 3:] = False
    batch.past[7:10] = 4.0  # does not move, so it weighs nothing
    together = run(tiny(), tmp_path, validation=loader(batch))
    apart = run(tiny(), tmp_path, validation=loader(rows(batch, 0, 3), rows(batch, 3, 8), rows(batch, 8, 16)))
    for one, other in zip(together.epochs, apart.epochs, strict=True):
        assert one["validation_loss"] == pytest.approx(other["validation_loss"], rel=1e-5)


def test_a_weighted_step_weighs_the_same_whatever_batch_it_is_validated_in(tmp_path):
    weight = torch.rand(16, HORIZON, generator=torch.Generator().manual_seed(5), dtype=torch.float64)
    weight[:3] = 0.0  # a batch of its own below, which then counts for nothing
    batch = replace(validation_batch(), weight=weight)
    parts = (rows(batch, 0, 3), rows(batch, 3, 8), rows(batch, 8, 16))
    together = run(tiny(), tmp_path, validation=loader(batch))
    apart = run(tiny(), tmp_path, validation=loader(*parts))
    plain = run(tiny(), tmp_path, validation=loader(validation_batch()))
    for one, other, unweighted in zip(together.epochs, apart.epochs, plain.epochs, strict=True):
        assert one["validation_loss"] == pytest.approx(other["validation_loss"], rel=1e-5)
        assert one["validation_loss"] != pytest.approx(unweighted["validation_loss"], rel=1e-3)


def test_targets_of_weight_0_are_not_learned(tmp_path):
    """A decoder that is not shown the targets has no other way to know them than the loss."""
    direct = {"decoder": {"kind": "direct", "patch_length": 6}}
    trained = []
    for wrong in (0.0, 1e3):
        batches = []
        for batch in training_batches():
            weight = torch.ones_like(batch.future)
            weight[::2], future = 0.0, batch.future.clone()
            future[::2] += wrong
            batches.append(replace(batch, future=future, weight=weight))
        model = tiny(**direct)
        run(model, tmp_path, train=loader(*batches))
        trained.append(weights(model))
    assert trained[0] == trained[1]


def rows(batch: Batch, first: int, last: int) -> Batch:
    return batch.rows(slice(first, last))
