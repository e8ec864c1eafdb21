"""The names of `tf.io`."""

from ...facade import facade
from .homes import IO

__all__, __getattr__, __dir__ = facade(__name__, IO, modules={"gfile": "compat.v1.io_gfile"})
