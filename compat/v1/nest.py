"""The names of `tf.nest`."""

from ...facade import facade
from .homes import NEST

__all__, __getattr__, __dir__ = facade(__name__, NEST)
