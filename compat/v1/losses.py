"""The names of `tf.losses`."""

from ...facade import facade
from .homes import LOSSES

__all__, __getattr__, __dir__ = facade(__name__, LOSSES)
