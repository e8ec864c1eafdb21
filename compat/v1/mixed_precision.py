"""The names of `tf.mixed_precision`."""

from ...facade import facade
from .train_experimental import HOMES as TRAIN

HOMES = {home: words for home, words in TRAIN.items() if home.startswith("training.optimizers.")}

__all__, __getattr__, __dir__ = facade(
    __name__, HOMES, modules={"experimental": "compat.v1.train_experimental"}
)
