"""Biases on the scores: what a head prefers for the distance alone."""

from forecast.attention.biases.base import Bias
from forecast.attention.biases.buckets import BucketBias
from forecast.attention.biases.slopes import SlopeBias

__all__ = ["Bias", "BucketBias", "SlopeBias"]
