"""The names of `tf.debugging`: checks of values, shapes and types."""

from ...facade import facade
from .homes import CHECKS, DEBUGGING

__all__, __getattr__, __dir__ = facade(__name__, CHECKS, DEBUGGING)
