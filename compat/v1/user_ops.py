"""The names of `tf.user_ops`."""

from ...facade import facade
from .homes import USER_OPS

__all__, __getattr__, __dir__ = facade(__name__, USER_OPS)
