"""The names of `tf.signal`."""

from ...facade import facade
from .homes import SIGNAL

__all__, __getattr__, __dir__ = facade(__name__, SIGNAL)
