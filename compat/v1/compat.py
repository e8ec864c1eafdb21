"""`tf.compat`: bytes and text; `tf.compat.v1` is `tf`."""

from ...facade import facade
from .homes import COMPAT

MODULES = {"v1": "compat.v1"}
__all__, __getattr__, __dir__ = facade(__name__, COMPAT, modules=MODULES)
