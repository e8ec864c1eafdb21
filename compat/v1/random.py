"""The names of `tf.random`."""

from ...facade import facade
from .homes import RANDOM

MODULES = {"experimental": "compat.v1.random_experimental"}
__all__, __getattr__, __dir__ = facade(__name__, RANDOM, modules=MODULES)
