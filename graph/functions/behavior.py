"""What TF1 programs say about themselves before they start."""

from __future__ import annotations

from ..variables.variables import use_resources


def disable_v2_behavior() -> None:
    """Does nothing: this is TF1."""


def disable_eager_execution() -> None:
    """Does nothing: operations are never run at once."""


def disable_control_flow_v2() -> None:
    """Does nothing: conditions and loops are functional, as `If` and `While`."""


def enable_control_flow_v2() -> None:
    """Does nothing: conditions and loops are functional, as `If` and `While`."""


def control_flow_v2_enabled() -> bool:
    """True: conditions and loops are functional, as `If` and `While`."""
    return True


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
