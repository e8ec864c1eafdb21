"""The names of `tf.spectral`."""

from ...facade import facade
from .homes import SPECTRAL

__all__, __getattr__, __dir__ = facade(__name__, SPECTRAL)
