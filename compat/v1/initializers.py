"""The names of `tf.initializers`."""

from ...facade import facade
from .homes import INITIALIZERS

__all__, __getattr__, __dir__ = facade(__name__, INITIALIZERS)
