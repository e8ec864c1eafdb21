"""The names of `tf.math.special`: Bessel functions and integrals."""

from ...facade import facade
from .homes import MATH_SPECIAL

__all__, __getattr__, __dir__ = facade(__name__, MATH_SPECIAL)
