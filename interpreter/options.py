"""What an interpreter is told when it is made, and what a pickled one holds."""

from __future__ import annotations

import os
from collections.abc import Sequence
from enum import Enum, unique
from typing import TYPE_CHECKING, TypeVar

from .arguments import as_index

if TYPE_CHECKING:
    from typing import TypedDict

    from _typeshed import ReadableBuffer

    from ..engine.run.limits import Limits
    from .delegation.partition import AnyDelegate
    from .plan.scope import Variables

    class Options(TypedDict, total=False):
        """What `Interpreter` takes beside the model and delegates, by keyword."""

        num_threads: int | None
        experimental_op_resolver_type: OpResolverType
        experimental_preserve_all_tensors: bool
        experimental_disable_delegate_clustering: bool
        experimental_default_delegate_latest_features: bool
        experimental_compress_quantization_zero_points: bool
        experimental_disable_delegate_node_fusion: bool
        experimental_force_delegate_node_profiling: bool
        share_weights: bool
        profile: bool
        limits: Limits | None

    class Arguments(Options, total=False):
        """What `Interpreter` takes, by keyword."""

        model_path: str | os.PathLike[str] | None
        model_content: ReadableBuffer | None
        experimental_delegates: Sequence[AnyDelegate] | None

    class State(TypedDict):
        """A pickled interpreter."""

        content: bytes
        folder: str | None
        options: Options
        delegates: list[AnyDelegate]
        custom_ops: dict[str, type]
        variables: Variables


AnyEnum = TypeVar("AnyEnum", bound=Enum)


@unique
class OpResolverType(Enum):
    """Which kernels LiteRT would choose; flatlite has one set, exact as BUILTIN_REF."""

    AUTO = 0
    BUILTIN = 1
    BUILTIN_REF = 2
    BUILTIN_WITHOUT_DEFAULT_DELEGATES = 3


def as_member(value: object, kind: type[AnyEnum]) -> object:
    """The member of `kind` that another library's enum of that name has; else `value`."""
    if isinstance(value, Enum) and type(value).__name__ == kind.__name__:
        return kind.__members__.get(value.name, value)
    return value


def checked(options: Options) -> Options:
    """The options, when their types and values are allowed; TensorFlow's enum becomes flatlite's.

    Raises ValueError in LiteRT's words, TypeError for limits and switches that are none and for
    threads beyond int32.
    """
    name = options.get("experimental_op_resolver_type")
    resolver, num_threads = as_member(name, OpResolverType), options.get("num_threads")
    if not isinstance(resolver, OpResolverType):
        raise ValueError(f"Unrecognized passed in op resolver type: {resolver}")
    options = {**options, "experimental_op_resolver_type": resolver}
    if num_threads is not None:
        if not isinstance(num_threads, int):
            raise ValueError("type of num_threads should be int")
        if num_threads < 1:
            raise ValueError("num_threads should >= 1")
        as_index(num_threads)
    for switch in "share_weights", "profile":
        value = options.get(switch, False)
        if not isinstance(value, bool):
            raise TypeError(f"{switch} must be True or False, got {value!r}")
    limits = options.get("limits")
    if limits is not None:
        from ..engine.run.limits import Limits  # with dataclasses 2 ms, which few pay for

        if not isinstance(limits, Limits):
            raise TypeError(f"limits must be a Limits, got {type(limits).__name__}")
    return options


def takes_cached_plans(options: Options) -> bool:
    """Whether a plan of the file that was made before will do."""
    limits = options.get("limits")
    counts_elements = limits is not None and limits.elements is not None  # where one is prepared
    return not counts_elements and not options.get("experimental_preserve_all_tensors")
