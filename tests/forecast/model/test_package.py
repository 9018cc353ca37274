"""The network as a graph of one window: of every kind of model, the same parameters."""

from dataclasses import fields

import pytest
import torch

from forecast.errors import BackendUnavailable
from forecast.model.package import LONGEST, Network, export_network
from tests.forecast.model.kinds import HORIZON, KINDS, make_batch, make_model
from tests.forecast.model.told import told_batch, told_model


def exported_parameters(model, given):
    tensors = [getattr(given, field.name) for field in fields(given)]
    return export_network(Network(model)).module()(*[tensor.contiguous() for tensor in tensors if tensor is not None])


def check(model, batch):
    batch = batch.rows(slice(1, 2))
    observed = batch.past_observed.clone()
    observed[:, 3] = False
    given = model._window(batch.past, observed, batch.covariates, horizon=HORIZON).given
    with torch.no_grad():
        expected = model.decoder.roll_out(model.know(given), horizon=HORIZON)
        found = exported_parameters(model, given)
    assert expected.std() > 0
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if "by step" not in kind])
def test_graph_gives_what_the_model_gives(kind):
    check(make_model(kind), make_batch())


@pytest.mark.parametrize("kind", ["autoregressive", "direct"])
def test_graph_of_a_model_with_covariates_is_told_them(kind):
    check(told_model(kind), told_batch())


def test_a_decoder_of_many_passes_is_refused_with_what_to_do():
    model = make_model("autoregressive by step", horizon=LONGEST + 1)
    with pytest.raises(BackendUnavailable, match=rf"decodes {LONGEST + 1} tokens .* decoder.patch_length"):
        Network(model)
