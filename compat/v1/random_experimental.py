"""The names of `tf.random.experimental`."""

from ...facade import facade
from .homes import RANDOM_EXPERIMENTAL

__all__, __getattr__, __dir__ = facade(__name__, RANDOM_EXPERIMENTAL)
