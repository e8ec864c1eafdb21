"""The names of `tf.distribute` that programs of TF1 use."""

from ...facade import facade
from .absent import DISTRIBUTE as ABSENT
from .homes import DISTRIBUTE

__all__, __getattr__, __dir__ = facade(__name__, DISTRIBUTE, absent=ABSENT)
