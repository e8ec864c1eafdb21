"""The names of `tf.tpu` that have a meaning without one."""

from ...facade import facade
from .absent import TPU

HOMES = {"graph.functions.flow.sharding": "XLAOptions shard"}

__all__, __getattr__, __dir__ = facade(__name__, HOMES, absent=TPU)
