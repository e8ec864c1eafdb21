"""The names of `tf.random`."""

from ...facade import facade
from .homes import RANDOM

__all__, __getattr__, __dir__ = facade(__name__, RANDOM)
