"""The names of `tf.math`: arithmetic, reductions, products, segments."""

from ...facade import facade
from .homes import MATH, MATH_ALONE

MODULES = {"special": "compat.v1.math_special"}
__all__, __getattr__, __dir__ = facade(__name__, MATH, MATH_ALONE, modules=MODULES)
