"""The names of `tf.sparse`."""

from ...facade import facade
from .homes import SPARSE

__all__, __getattr__, __dir__ = facade(__name__, SPARSE)
