"""The names of `tf.dtypes`."""

from ...facade import facade
from .homes import DTYPES

__all__, __getattr__, __dir__ = facade(__name__, DTYPES)
