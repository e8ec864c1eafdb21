"""The names of `tf.math`: arithmetic, reductions, products, segments."""

from ...facade import facade
from .homes import MATH, MATH_ALONE

__all__, __getattr__, __dir__ = facade(__name__, MATH, MATH_ALONE)
