"""Decoding beside Hugging Face's `TimeSeriesTransformerForPrediction.generate`: the same weights in our layers.

The peer is put into a folder of its own on demand and imported from there, in a process of its own, beside the torch
that we run on: so both compute with the same library, in turns. Each draws samples in its own way. That both are the
same model is shown by feeding both the means of their distributions, in float64: there no rounding hides a difference.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Float, Float64
from scipy.special import stdtrit
from torch import Tensor, nn

from benchmarks.peer_loaders import INSTALL_S, MEASURE_S, PINS, reason, run
from benchmarks.shown import Shown, at_most, holds
from benchmarks.side_by_side import peak_mb, race, rise
from forecast.attention.patterns import Causal, Full
from forecast.feedforward import Gelu
from forecast.model.layers import DecoderStack, EncoderLayer, LayerConfig
from forecast.model.paths import draw_levels
from forecast.model.stepwise import Stepwise

MODULE = "benchmarks.hf_time_series"
TRANSFORMERS = "transformers==5.24.0"
FOLDER = Path(".venv") / "peer_transformers"
D_MODEL, HEADS, LAYERS, EXPANSION = 128, 4, 3, 4
LAGS = [1, 2, 3, 7, 24]
QUICK = os.environ.get("QUICK") == "1"
ROUNDS = 1 if QUICK else 2
EXACT = 1e-6


@dataclass(frozen=True)
class Case:
    """What is decoded, and how many times as fast it should be."""

    context_length: int
    horizon: int
    num_samples: int
    aim: float


CASES = {"long": Case(512, 96, 20, aim=20.0), "many": Case(96, 24, 100, aim=10.0)}


def show_hf_time_series() -> Iterator[Shown]:
    """Show speed and memory against the peer, and how far the means lie from its own."""
    for name, case in CASES.items():
        what = f"{case.num_samples} paths of {case.horizon} steps from {case.context_length}, same weights"
        aim = f"at least {case.aim:g} times"
        if QUICK and name == "long":
            yield holds(what, "left out by QUICK=1", aim, met=None)
            continue
        try:
            _install()
            found = json.loads(run([sys.executable, "-m", MODULE, "measure", name], timeout_s=MEASURE_S))
            peaks = {who: peak_mb(MODULE, "peak", name, who) for who in ("theirs", "ours")}
        except (subprocess.SubprocessError, OSError, RuntimeError) as failure:
            yield holds(what, f"{TRANSFORMERS} could not be run: {reason(failure)}", aim, met=None)
            continue
        yield _faster(what, aim, case, found, peaks)
        yield at_most("  largest difference of the means in units of the series, in float64", found["apart"], EXACT)


def _faster(what: str, aim: str, case: Case, found: dict[str, float], peaks: dict[str, float]) -> Shown:
    wall, cpu = (found[f"theirs_{clock}"] / found[f"ours_{clock}"] for clock in ("wall_s", "cpu_s"))
    figure = (
        f"{wall:.1f} times as fast as {TRANSFORMERS} ({cpu:.1f} by CPU time), {found['ours_wall_s']:.2f} s of "
        f"{found['theirs_wall_s']:.2f} s, {peaks['ours']:.0f} MB of {peaks['theirs']:.0f} MB"
    )
    return holds(what, figure, aim, met=wall >= case.aim)


def _install() -> None:
    """Put the peer into its folder, where it is not yet. It needs no torch of its own."""
    ready = FOLDER / ".ready"
    if not ready.is_file():
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--upgrade", "--target", str(FOLDER)]
        run([*pip, "--constraint", str(PINS), TRANSFORMERS], timeout_s=INSTALL_S)
        ready.touch()


class Peer:
    """The peer with random weights."""

    def __init__(self, case: Case):
        sys.path.append(str(FOLDER.absolute()))  # behind everything of ours
        from transformers import (  # ty: ignore[import-not-found]
            TimeSeriesTransformerConfig,
            TimeSeriesTransformerForPrediction,
        )

        sizes = {f"{part}_{name}": size for part in ("encoder", "decoder") for name, size in SIZES.items()}
        config = TimeSeriesTransformerConfig(
            context_length=case.context_length,
            prediction_length=case.horizon,
            num_parallel_samples=case.num_samples,
            lags_sequence=LAGS,
            num_time_features=1,
            d_model=D_MODEL,
            **sizes,
        )
        torch.manual_seed(0)
        self.model = TimeSeriesTransformerForPrediction(config).eval().requires_grad_(False)
        for name, weights in self.model.named_parameters():  # as it begins, it would forecast next to nothing
            if "embed_positions" not in name:
                nn.init.normal_(weights, mean=float("norm" in name and "weight" in name), std=0.05 * weights.ndim)

    def generate(self, series: "Series") -> Float[Tensor, "series path step"]:
        """Draw paths."""
        given = self.model.generate(
            past_values=series.past, past_time_features=series.past_time, future_time_features=series.future_time
        )
        return given.sequences

    def generate_means(self, series: "Series") -> Float[Tensor, "series path step"]:
        """Feed back means in place of draws."""
        own = self.model.output_distribution
        self.model.output_distribution = lambda *given, **named: _Means(own(*given, **named))
        try:
            return self.generate(series)
        finally:
            self.model.output_distribution = own


SIZES = {"layers": LAYERS, "attention_heads": HEADS, "ffn_dim": EXPANSION * D_MODEL}


@dataclass(frozen=True)
class _Means:
    distribution: torch.distributions.Distribution

    def sample(self) -> Tensor:
        return self.distribution.mean


@dataclass(frozen=True, eq=False)
class Series:
    """One series as the peer takes it."""

    past: Float[Tensor, "series past"]
    past_time: Float[Tensor, "series past 1"]
    future_time: Float[Tensor, "series horizon 1"]

    @classmethod
    def draw(cls, case: Case) -> "Series":
        """Draw a noisy wave."""
        num_past = case.context_length + max(LAGS)
        steps = torch.arange(num_past + case.horizon)
        noise = torch.randn(len(steps), generator=torch.Generator().manual_seed(1))
        wave = (3 + torch.sin(steps / 4) + 0.3 * noise)[None]
        time = (steps / len(steps))[None, :, None]
        return cls(wave[:, :num_past], time[:, :num_past], time[:, num_past:])

    def double(self) -> "Series":
        """Give the same in float64."""
        return Series(self.past.double(), self.past_time.double(), self.future_time.double())


class Converted:
    """The peer's weights in our layers."""

    def __init__(self, peer: Any, case: Case):
        self.case = case
        encoder, decoder = peer.model.encoder, peer.model.decoder
        layer = LayerConfig(
            d_model=D_MODEL, num_heads=HEADS, feed_forward=Gelu(expansion=EXPANSION), norm_position="post", dropout=0.0
        )
        self.encoder = [EncoderLayer(layer, pattern=Full()).eval().to(peer.dtype) for _ in range(LAYERS)]
        self.decoder = DecoderStack(layer, num_layers=LAYERS, pattern=Causal()).eval().to(peer.dtype)
        for ours, theirs in zip(self.encoder, encoder.layers, strict=True):
            _copy_attention(ours.attention, theirs.self_attn)
            ours.around_attention.norm.load_state_dict(theirs.self_attn_layer_norm.state_dict())
            _copy_feed_forward(ours, theirs)
        for ours, theirs in zip(self.decoder.layers, decoder.layers, strict=True):
            _copy_attention(ours.self_attention, theirs.self_attn)
            _copy_attention(ours.cross_attention, theirs.encoder_attn)
            ours.around_self_attention.norm.load_state_dict(theirs.self_attn_layer_norm.state_dict())
            ours.around_cross_attention.norm.load_state_dict(theirs.encoder_attn_layer_norm.state_dict())
            _copy_feed_forward(ours, theirs)
        self.embed_past, self.embed_ahead = Embedding(encoder), Embedding(decoder)
        self.projection = nn.Linear(D_MODEL, 3)
        parts = peer.parameter_projection.proj
        self.projection.weight = nn.Parameter(torch.cat([part.weight for part in parts]), requires_grad=False)
        self.projection.bias = nn.Parameter(torch.cat([part.bias for part in parts]), requires_grad=False)

    @torch.inference_mode()
    def generate(
        self, series: Series, levels: Float64[Tensor, "series path step"] | None
    ) -> Float[Tensor, "series path step"]:
        """Draw paths at levels, or feed back means where none are given."""
        num_paths, horizon, last = self.case.num_samples, self.case.horizon, series.past.shape[1]
        scale = series.past[:, -self.case.context_length :].abs().mean(dim=1, keepdim=True)
        static = torch.cat([torch.zeros_like(scale), scale.log()], dim=1)[:, None]
        stepwise = Stepwise(self.decoder, self._encode(series, scale, static), None, capacity=horizon)
        values = scale.new_zeros(len(scale), num_paths, last + horizon)
        values[..., :last] = (series.past / scale)[:, None]
        back = torch.tensor(LAGS)
        for step in range(horizon):
            known = values[:, : 1 if step == 0 else num_paths, last + step - back]
            beside = torch.cat([static, series.future_time[:, [step]]], dim=-1).expand(-1, known.shape[1], -1)
            features = torch.cat([known, beside], dim=-1).flatten(0, 1)[:, None]
            tokens = self.embed_ahead.embed(features, first=self.case.context_length + step)
            parameters = self.projection(stepwise.decode(tokens)).view(*known.shape[:2], 3)
            if step == 0:
                stepwise.fork(num_paths)
            values[..., last + step] = _draw(parameters, None if levels is None else levels[..., step])
        return values[..., last:] * scale[:, None]

    def _encode(self, series: Series, scale: Tensor, static: Tensor) -> Float[Tensor, "series context d_model"]:
        length, scaled = self.case.context_length, series.past / scale
        lagged = [scaled[:, -length - lag : -lag] for lag in LAGS]
        features = [torch.stack(lagged, dim=-1), static.expand(-1, length, -1), series.past_time[:, -length:]]
        tokens = self.embed_past.embed(torch.cat(features, dim=-1), first=0)
        for layer in self.encoder:
            tokens = layer(tokens, observed=None)
        return tokens


class Embedding:
    """What the peer makes of features and position before its layers."""

    def __init__(self, part: Any):
        self.projection = part.value_embedding.value_projection
        self.places = part.embed_positions.weight
        self.norm = part.layernorm_embedding

    def embed(self, features: Float[Tensor, "row token feature"], *, first: int) -> Float[Tensor, "row token d_model"]:
        """Embed tokens that stand one after the other."""
        return self.norm(self.projection(features) + self.places[first : first + features.shape[1]])


def _draw(parameters: Float[Tensor, "series path 3"], level: Tensor | None) -> Float[Tensor, "series path"]:
    freedom, location, scale = parameters.unbind(dim=-1)
    if level is None:
        return location
    standard = stdtrit((2.0 + _squareplus(freedom)).double().numpy(), level.numpy())
    return location + _squareplus(scale) * torch.from_numpy(standard).to(location)


def _squareplus(tensor: Tensor) -> Tensor:
    return (tensor + torch.sqrt(tensor.square() + 4.0)) / 2.0


def _copy_attention(ours: Any, theirs: Any) -> None:
    for own, other in (("queries", "q_proj"), ("keys", "k_proj"), ("values", "v_proj"), ("output", "out_proj")):
        getattr(ours, own).load_state_dict(getattr(theirs, other).state_dict())


def _copy_feed_forward(ours: Any, theirs: Any) -> None:
    first, *_, last = ours.feed_forward
    first.load_state_dict(theirs.fc1.state_dict())
    last.load_state_dict(theirs.fc2.state_dict())
    ours.around_feed_forward.norm.load_state_dict(theirs.final_layer_norm.state_dict())


def _measure(case: Case) -> dict[str, float]:
    """Time both in turns, and give how far their means lie apart."""
    peer, series = Peer(case), Series.draw(case)
    ours, levels = Converted(peer.model, case), _levels(case)
    times = race(
        {"theirs": lambda: peer.generate(series), "ours": lambda: ours.generate(series, levels)}, rounds=ROUNDS
    )
    found = {f"{who}_{clock}": getattr(times[who], clock) for who in times for clock in ("wall_s", "cpu_s")}
    return found | {"apart": _apart(peer, series.double(), case)}


def _apart(peer: Peer, series: Series, case: Case) -> float:
    """Compare two paths: fed with means, all are alike."""
    two = replace(case, num_samples=2)
    peer.model.double().config.num_parallel_samples = two.num_samples
    theirs, ours = peer.generate_means(series), Converted(peer.model, two).generate(series, None)
    return float((ours - theirs).abs().max() / theirs.abs().mean())


def _peak(case: Case, who: str) -> float:
    """Give the MB that one of the two takes."""
    peer, series, levels = Peer(case), Series.draw(case), _levels(case)
    ours = Converted(peer.model, case)
    return rise(lambda: ours.generate(series, levels) if who == "ours" else peer.generate(series))


def _levels(case: Case) -> Float64[Tensor, "1 path step"]:
    return draw_levels([0], seed=0, num_paths=case.num_samples, horizon=case.horizon)


if __name__ == "__main__":
    task, name, *who = sys.argv[1:]
    print(json.dumps(_measure(CASES[name])) if task == "measure" else _peak(CASES[name], *who))
