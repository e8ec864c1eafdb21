"""The names of `tf.lookup`."""

from ...facade import facade
from .homes import LOOKUP

MODULES = {"experimental": "compat.v1.lookup_experimental"}
__all__, __getattr__, __dir__ = facade(__name__, LOOKUP, modules=MODULES)
