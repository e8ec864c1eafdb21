"""The names of `tf.python_io`."""

from ...facade import facade
from .homes import PYTHON_IO

__all__, __getattr__, __dir__ = facade(__name__, PYTHON_IO)
