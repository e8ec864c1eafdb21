"""The names of `tf.bitwise`: the bits of integers."""

from ...facade import facade
from .homes import BITWISE

__all__, __getattr__, __dir__ = facade(__name__, BITWISE)
