"""`tf.compat`: bytes and text; `tf.compat.v1` is `tf`, `tf.compat.v2` what TF2 names otherwise."""

from ...facade import facade
from .homes import COMPAT

MODULES = {"v1": "compat.v1", "v2": "compat.v2"}
__all__, __getattr__, __dir__ = facade(__name__, COMPAT, modules=MODULES)
