"""The names of `tf.math`: arithmetic, reductions, products, segments."""

from .homes import MATH, MATH_ALONE, namespace

__all__, __getattr__, __dir__ = namespace(__name__, MATH, MATH_ALONE)
