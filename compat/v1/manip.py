"""The names of `tf.manip`."""

from ...facade import facade
from .homes import MANIP

__all__, __getattr__, __dir__ = facade(__name__, MANIP)
