"""The names of `tf.bitwise`: the bits of integers."""

from .homes import BITWISE, namespace

__all__, __getattr__, __dir__ = namespace(__name__, BITWISE)
