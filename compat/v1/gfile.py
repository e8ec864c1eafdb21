"""`tf.gfile`: files and folders."""

from ...facade import facade
from .homes import GFILE

__all__, __getattr__, __dir__ = facade(__name__, GFILE)
