"""The names of `tf.lookup.experimental`."""

from ...facade import facade
from .homes import LOOKUP_EXPERIMENTAL

__all__, __getattr__, __dir__ = facade(__name__, LOOKUP_EXPERIMENTAL)
