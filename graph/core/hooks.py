"""What a lower room asks of those above it, which register their functions here.

    implementation("to_graph_def")(graph)    imports the module that has it, where that was not done

So a Tensor knows how to be evaluated, and no module imports one that imports it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeVar, overload

from ...schema.registry import Registry

if TYPE_CHECKING:
    from ..format.messages import FunctionDef, GraphDef, NodeDef, OpDef, VersionDef
    from ..session.delegated import Delegation, Offer, SessionDelegate
    from ..session.plan_pool import RunPlan
    from ..session.session import Session
    from ..variables.variables import Variable
    from .composite.ragged_tensor import RaggedTensor
    from .graph import Graph, Operation, Tensor
    from .library import FunctionLibrary
    from .protocols import AttrValue
    from .signatures.attributes import FunctionRef
    from .signatures.signatures import Signature

Function = TypeVar("Function", bound=Callable[..., object])

HOMES = {
    "apply_operator": ".functions.operators",
    "apply_ragged": ".functions.operators",
    "as_graph_def": ".format.graphdef",
    "create_op": ".format.node_messages",
    "delegated": "..converter.api.session_parts",
    "gradient_body": ".derivatives.symbolic",
    "get_variable": ".variables.get_variable",
    "import_body": ".format.functiondef",
    "new_graph": ".core.graph",
    "node_def": ".format.node_messages",
    "op_def": ".format.node_messages",
    "plan": ".session.dataflow",
    "ragged_function": ".core.composite.ragged_dispatch",
    "session_for": ".session.default_sessions",
    "to_graph_def": ".format.graphdef",
    "variable_kind": ".variables.kinds",
    "version_def": ".format.graphdef",
}
"""Name of a hook -> the module that registers it, from graph/.

Delegates need the converter, which is above it: only Sessions that have some come there.
"""

HOOKS: Registry[Callable[..., object]] = Registry(
    "hook", __package__, lambda name: HOMES.get(name, "")
)


def hook(name: str) -> Callable[[Function], Function]:
    """Registers the decorated function, or class, for core/ to call."""

    def register(function: Function) -> Function:
        HOOKS.add(name, function)
        return function

    return register


@overload
def implementation(name: Literal["apply_operator"]) -> Callable[..., Tensor]: ...
@overload
def implementation(name: Literal["apply_ragged"]) -> Callable[..., RaggedTensor]: ...
@overload
def implementation(
    name: Literal["as_graph_def"],
) -> Callable[[Graph, int | None, bool], GraphDef]: ...
@overload
def implementation(
    name: Literal["delegated"],
) -> Callable[[Offer, Sequence[SessionDelegate]], Delegation]: ...
@overload
def implementation(name: Literal["get_variable"]) -> Callable[..., Variable]: ...
@overload
def implementation(
    name: Literal["gradient_body"],
) -> Callable[[FunctionLibrary, FunctionRef], Graph]: ...
@overload
def implementation(
    name: Literal["import_body"],
) -> Callable[[FunctionDef, Signature, Mapping[str, AttrValue], FunctionLibrary], Graph]: ...
@overload
def implementation(name: Literal["new_graph"]) -> Callable[[], Graph]: ...
@overload
def implementation(name: Literal["create_op"]) -> Callable[..., Operation]: ...
@overload
def implementation(name: Literal["node_def"]) -> Callable[[Operation], NodeDef]: ...
@overload
def implementation(name: Literal["op_def"]) -> Callable[[Operation], OpDef]: ...
@overload
def implementation(name: Literal["version_def"]) -> Callable[[Graph], VersionDef]: ...
@overload
def implementation(name: Literal["plan"]) -> Callable[..., RunPlan]: ...
@overload
def implementation(
    name: Literal["ragged_function"],
) -> Callable[[str], Callable[..., Any]]: ...  # pyright: ignore[reportExplicitAny] - each its own
@overload
def implementation(
    name: Literal["session_for"],
) -> Callable[[Graph, Session | None, str, str], Session]: ...
@overload
def implementation(name: Literal["to_graph_def"]) -> Callable[[Graph], GraphDef]: ...
@overload
def implementation(name: Literal["variable_kind"]) -> Callable[[bool], type[Variable]]: ...
def implementation(name: str) -> Callable[..., object]:
    """The function registered as `name`."""
    return HOOKS.known(name)
