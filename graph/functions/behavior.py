"""What TF1 programs say about themselves before they start."""

from __future__ import annotations

from ..core.contexts import control_flow_v2
from ..variables.variables import use_resources


def disable_v2_behavior() -> None:
    """Lets graphs be written with branches and loops of Switch and Merge; else this is TF1 anyway.

    See `disable_control_flow_v2`.
    """
    control_flow_v2(False)


def disable_eager_execution() -> None:
    """Does nothing: operations are never run at once."""


def disable_control_flow_v2() -> None:
    """Lets `as_graph_def`, `write_graph`, `export_meta_graph` and SavedModels write TF1's form.

    That is Switch, Merge, Enter, Exit, NextIteration and LoopCond, under TensorFlow's names. Within
    a graph branches and loops stay `If` and `While`, which run faster.
    """
    control_flow_v2(False)


def enable_control_flow_v2() -> None:
    """Lets graphs be written with branches and loops that call functions, as `If` and `While`."""
    control_flow_v2(True)


def control_flow_v2_enabled() -> bool:
    """Whether graphs are written with `If` and `While`, as they are at first."""
    return control_flow_v2()


def disable_tensor_equality() -> None:
    """Does nothing: tensors are compared by identity."""


def executing_eagerly_outside_functions() -> bool:
    """False: operations are never run at once."""
    return False


def executing_eagerly() -> bool:
    """False: operations are never run at once."""
    return False


def enable_resource_variables() -> None:
    """Makes variables resource variables unless they say otherwise."""
    use_resources(True)


def disable_resource_variables() -> None:
    """Makes variables reference variables unless they say otherwise, as they are at first."""
    use_resources(False)


def resource_variables_enabled() -> bool:
    """Whether variables are resource variables by default."""
    return use_resources()
