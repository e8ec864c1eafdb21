"""The names of `tf.quantization`: floats rounded to what integers hold."""

from ...facade import facade
from .homes import QUANTIZATION

__all__, __getattr__, __dir__ = facade(__name__, QUANTIZATION)
