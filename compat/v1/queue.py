"""The names of `tf.queue`."""

from ...facade import facade
from .homes import QUEUE

__all__, __getattr__, __dir__ = facade(__name__, QUEUE)
