"""The names of `tf.io.gfile`."""

from ...facade import facade
from .homes import IO_GFILE

__all__, __getattr__, __dir__ = facade(__name__, IO_GFILE)
