"""The names of `tf.lite`: converter, interpreter and what they are told."""

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from . import experimental
    from .converter.converter import TFLiteConverter
    from .converter.ophint import OpHint
    from .converter.options import OpsSet, Optimize, RepresentativeDataset, TargetSpec, constants
    from .delegates.delegate import Delegate
    from .delegates.load import load_delegate
    from .graph.custom import custom_op
    from .interpreter.interpreter import Interpreter, OpResolverType
    from .interpreter.signature import SignatureRunner
    from .interpreter.with_custom_ops import InterpreterWithCustomOps

__all__ = [
    "Delegate",
    "Interpreter",
    "InterpreterWithCustomOps",
    "OpHint",
    "OpResolverType",
    "OpsSet",
    "Optimize",
    "RepresentativeDataset",
    "SignatureRunner",
    "TFLiteConverter",
    "TargetSpec",
    "constants",
    "custom_op",
    "experimental",
    "load_delegate",
]

_HOMES = {
    "Delegate": "delegates.delegate",
    "Interpreter": "interpreter.interpreter",
    "InterpreterWithCustomOps": "interpreter.with_custom_ops",
    "OpHint": "converter.ophint",
    "OpResolverType": "interpreter.interpreter",
    "OpsSet": "converter.options",
    "Optimize": "converter.options",
    "RepresentativeDataset": "converter.options",
    "SignatureRunner": "interpreter.signature",
    "TFLiteConverter": "converter.converter",
    "TargetSpec": "converter.options",
    "constants": "converter.options",
    "custom_op": "graph.custom",
    "load_delegate": "delegates.load",
}


def __getattr__(name: str):
    if name == "experimental":
        return importlib.import_module(".experimental", __package__)
    if name not in _HOMES:
        raise AttributeError(f"module 'flatlite.lite' has no attribute '{name}'")
    return getattr(importlib.import_module(f".{_HOMES[name]}", __package__), name)


def __dir__() -> list[str]:
    return __all__
