"""The names of `tf.linalg`."""

from ...facade import facade
from .homes import LINALG

__all__, __getattr__, __dir__ = facade(__name__, LINALG)
