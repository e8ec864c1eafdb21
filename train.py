"""The names of `tf.train`: optimizers, schedules, checkpoints."""

import importlib

_NAMES = {
    "training.checkpoints": (
        "NewCheckpointReader checkpoint_exists generate_checkpoint_state_proto "
        "get_checkpoint_mtimes get_checkpoint_state latest_checkpoint list_variables "
        "load_checkpoint load_variable remove_checkpoint update_checkpoint_state"
    ),
    "training.global_step": (
        "assert_global_step create_global_step get_global_step get_or_create_global_step "
        "global_step"
    ),
    "training.meta_graph": "export_meta_graph import_meta_graph",
    "training.optimizer": "Optimizer",
    "training.optimizers": "AdamOptimizer GradientDescentOptimizer MomentumOptimizer",
    "training.saver": "Saver",
    "training.schedules": (
        "cosine_decay exponential_decay inverse_time_decay natural_exp_decay piecewise_constant "
        "polynomial_decay"
    ),
}
_HOMES = {name: home for home, names in _NAMES.items() for name in names.split()}
__all__ = sorted(_HOMES)


def __getattr__(name: str):
    if name not in _HOMES:
        raise AttributeError(f"module 'flatlite.train' has no attribute '{name}'")
    return getattr(importlib.import_module(f".{_HOMES[name]}", __package__), name)


def __dir__() -> list[str]:
    return __all__
