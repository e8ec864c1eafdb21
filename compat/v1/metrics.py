"""The names of `tf.metrics`."""

from ...facade import facade
from .homes import METRICS

__all__, __getattr__, __dir__ = facade(__name__, METRICS)
