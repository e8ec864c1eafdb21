"""The names of `tf.train`: optimizers, schedules, checkpoints."""

import importlib

_NAMES = {
    "training.global_step": (
        "create_global_step get_global_step get_or_create_global_step global_step"
    ),
    "training.optimizers": "AdamOptimizer GradientDescentOptimizer MomentumOptimizer Optimizer",
    "training.saver": "Saver latest_checkpoint",
    "training.schedules": "exponential_decay",
}
_HOMES = {name: home for home, names in _NAMES.items() for name in names.split()}
__all__ = sorted(_HOMES)


def __getattr__(name: str):
    if name not in _HOMES:
        raise AttributeError(f"module 'flatlite.train' has no attribute '{name}'")
    importlib.import_module(".graph.functions.operators", __package__)
    return getattr(importlib.import_module(f".{_HOMES[name]}", __package__), name)


def __dir__() -> list[str]:
    return __all__
