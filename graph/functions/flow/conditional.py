"""Branches: `cond`, `case` and `switch_case`, as operations that call one of several functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, cast

import numpy as np

from ...core.build import ops
from ...core.composite.indexed_slices import IndexedSlices
from ...core.composite.sparse_tensor import SparseTensor
from ...core.composite.structure import Composite, flatten, is_nested, pack, require_same_structure
from ...core.create import convert_to_tensor, create, is_tensor_like
from ...core.function_graph import FunctionGraph, define, is_stateful, trace_graph, unify
from ...core.graph import Operation, Tensor
from ...core.scopes import control_dependencies, name_scope
from ...core.shapes import common_shape
from .control_flow import Assert as assert_
from .control_flow import group

if TYPE_CHECKING:
    from ...core.protocols import AttrValue
    from ...core.typing import TensorLike

    Branch = Callable[[], object]


def cond(
    pred: TensorLike,
    true_fn: Branch | None = None,
    false_fn: Branch | None = None,
    strict: bool = False,
    name: str | None = None,
    fn1: Branch | None = None,
    fn2: Branch | None = None,
) -> object:
    """What `true_fn()` gives where `pred` holds, else what `false_fn()` gives.

    Only what the functions themselves make is a matter of the branch; operations made outside run
    in any case.

    Args:
        pred: A boolean tensor of one element.
        true_fn, false_fn: Functions without arguments that give tensors of the same number and
            types.
        strict: Whether a list of one tensor stays a list.
        name: Of the operations.
        fn1, fn2: Old names of `true_fn` and `false_fn`.

    Raises:
        TypeError: A function is missing or no function, `pred` is a Python bool, or the functions
            give different types.
        ValueError: A function gives nothing, or they give different structures.
    """
    true_fn, false_fn = (
        _renamed(true_fn, fn1, "fn1", "true_fn"),
        _renamed(false_fn, fn2, "fn2", "false_fn"),
    )
    if not callable(true_fn):
        raise TypeError("'true_fn' must be callable.")
    if not callable(false_fn):
        raise TypeError("'false_fn' must be callable.")
    if isinstance(pred, bool):
        raise TypeError("'pred' must not be a Python bool.")
    with name_scope(name, "cond", [pred]) as scope:
        condition = convert_to_tensor(pred, name="pred")
        if condition.dtype != np.bool_:
            raise TypeError(
                f"pred must be a bool tensor, got {condition.dtype.name} from '{condition.name}'"
            )
        if condition.sizes != ():
            condition = ops.Reshape(condition, np.zeros(0, np.int32))
        traced = [
            _traced(true_fn, "true_fn", strict, scope),
            _traced(false_fn, "false_fn", strict, scope),
        ]
        _widen_indices(traced)
        _require_alike(traced, ("true_fn", "false_fn"))
        if not traced[0].body.outputs:
            raise ValueError("'true_fn' and 'false_fn' must return at least one result.")
        outputs = call_one_of(
            "If", condition, [branch.body for branch in traced], ("cond_true", "cond_false"), scope
        )
        return _result(traced, outputs, scope)


def _renamed(new: Branch | None, old: Branch | None, old_name: str, name: str) -> Branch | None:
    if old is None:
        if new is None:
            raise TypeError(f"cond(): '{name}' argument required")
        return new
    if new is not None:
        raise TypeError(f"cond(): '{name}' and '{old_name}' may not be set simultaneously.")
    return old


class _Traced:
    """One branch: its body and the structure of what its function gave."""

    def __init__(self, body: FunctionGraph, structure: object):
        self.body = body
        self.structure = structure


def _traced(function: Branch, name: str, strict: bool, scope: str) -> _Traced:
    body = trace_graph("cond", scope)
    with body.traced():
        returned = function()
        if returned is None:
            raise ValueError(f"'{name}' must have a return value.")
        leaves = flatten(returned, expand=True)
        body.outputs = [body.capture(_as_output(leaf)) for leaf in leaves]
    if not strict and isinstance(returned, (list, tuple)):
        items = cast("Sequence[object]", returned)
        return _Traced(body, items[0] if len(items) == 1 else items)
    return _Traced(body, returned)


def _as_output(leaf: object) -> Tensor:
    """A leaf as a tensor; of an operation one that comes after it."""
    if isinstance(leaf, Operation):
        with control_dependencies([leaf]):
            return convert_to_tensor(np.bool_(True), name="done")
    tensor = convert_to_tensor(cast("TensorLike", leaf))
    return ops.Identity(tensor) if tensor.op.type in ("Variable", "VariableV2") else tensor


def _widen_indices(traced: Sequence[_Traced]) -> None:
    """Lets IndexedSlices of branches have indices of one type."""
    if not all(isinstance(branch.structure, IndexedSlices) for branch in traced):
        return
    indices = [branch.body.outputs[1] for branch in traced]
    if {tensor.dtype for tensor in indices} == {np.dtype(np.int32), np.dtype(np.int64)}:
        for branch in traced:
            with branch.body.as_default():
                wide = ops.Cast(branch.body.outputs[1], DstT=np.dtype(np.int64))
                branch.body.outputs[1] = wide


def _require_alike(traced: Sequence[_Traced], names: Sequence[str]) -> None:
    first = traced[0]
    for branch, name in zip(traced[1:], names[1:], strict=True):
        if is_nested(first.structure) or is_nested(branch.structure):
            require_same_structure(first.structure, branch.structure)
        for a, b in zip(first.body.outputs, branch.body.outputs, strict=True):
            if a.dtype != b.dtype:
                raise ValueError(
                    f"Outputs of '{names[0]}' and '{name}' must have the same type(s). Received "
                    f"{a.dtype.name} from '{names[0]}' and {b.dtype.name} from '{name}'."
                )


def call_one_of(
    kind: str, selector: Tensor, bodies: Sequence[FunctionGraph], names: Sequence[str], scope: str
) -> list[Tensor]:
    """The outputs of an operation that calls one of several traced functions: an If or a Case."""
    operands = unify(bodies)
    references = [define(body, name) for body, name in zip(bodies, names, strict=True)]
    results = list(zip(*(body.outputs for body in bodies), strict=True))
    attrs: dict[str, AttrValue] = {
        "Tin": [tensor.dtype for tensor in operands],
        "Tout": [column[0].dtype for column in results],
        "output_shapes": [common_shape([t.sizes for t in column]) for column in results],
    }
    if kind == "If":
        attrs["then_branch"], attrs["else_branch"] = references
    else:
        attrs["branches"] = references
    kind = kind if is_stateful(bodies) else f"Stateless{kind}"
    with control_dependencies([op for body in bodies for op in body.controls]):
        return create(kind, [selector, operands], attrs, scope).outputs


def _result(traced: Sequence[_Traced], outputs: Sequence[Tensor], scope: str) -> object:
    """The outputs in the structure of what a branch gave."""
    structure = traced[0].structure
    with name_scope(scope):
        leaves = [ops.Identity(tensor, name="Merge") for tensor in outputs]
    if not is_nested(structure) and not isinstance(structure, Composite):
        return leaves[0]
    result = pack(structure, leaves, expand=True)
    for leaf, *same in zip(*map(flatten, [result, *(b.structure for b in traced)]), strict=True):
        if isinstance(leaf, SparseTensor):
            shapes = [cast("SparseTensor", other).shape for other in same]
            leaf.set_shape(common_shape([shape.as_shape() for shape in shapes]))
    return result


def switch_case(
    branch_index: TensorLike,
    branch_fns: Mapping[int, Branch] | Sequence[Branch | tuple[int, Branch]],
    default: Branch | None = None,
    name: str = "switch_case",
) -> object:
    """What the function at `branch_index` gives; the default, or the last, when there is none.

    Args:
        branch_index: An int32 tensor of one element.
        branch_fns: Functions without arguments: a dict by index, a list, or a list of pairs.
        default: The function for all other indices.
        name: Of the operations.

    Raises:
        TypeError: `branch_index` is no tensor, an index no int, or a function no function.
        ValueError: The indices are not those from 0 on.
    """
    if not is_tensor_like(branch_index):
        kind = type(branch_index).__name__
        raise TypeError(f"'branch_index' must be a Tensor, got {kind}")
    pairs: list[tuple[int, Branch]]
    if isinstance(branch_fns, Mapping):
        pairs = list(branch_fns.items())
    else:
        pairs = [
            cast("tuple[int, Branch]", item) if isinstance(item, tuple) else (i, item)
            for i, item in enumerate(branch_fns)
        ]
    for key, _ in pairs:
        if not isinstance(key, (int, np.integer)):
            raise TypeError(f"branch_fns: each key must be a Python `int`, got {key!r}")
    by_index = dict(pairs)
    if len(by_index) < len(pairs) or set(by_index) != set(range(len(pairs))):
        raise ValueError(f"branch indices must form contiguous [0, {len(pairs)})")
    functions = [by_index[i] for i in range(len(pairs))]
    for function in functions:
        if not callable(function):
            raise TypeError("branch_fns: all functions must be callable.")
    if default is not None:
        functions.append(default)
    with name_scope(name, "case", [branch_index]) as scope:
        index = convert_to_tensor(branch_index, name="branch_index")
        names = [f"branch_{i}" for i in range(len(functions))]
        traced = [_traced(f, n, False, scope) for f, n in zip(functions, names, strict=True)]
        _require_alike(traced, names)
        outputs = call_one_of(
            "Case", index, [branch.body for branch in traced], [f"switch_{n}" for n in names], scope
        )
        return _result(traced, outputs, scope)


def case(
    pred_fn_pairs: Sequence[tuple[TensorLike, Branch]] | Mapping[Tensor, Branch],
    default: Branch | None = None,
    exclusive: bool = False,
    strict: bool = False,
    name: str = "case",
) -> object:
    """What the function of the first predicate that holds gives, else what `default` gives.

    Args:
        pred_fn_pairs: Pairs of a boolean tensor and a function without arguments, or a dict.
        default: The function when none holds; without it that is an error of the run.
        exclusive: Whether it is an error of the run when several hold.
        strict: Whether a list of one tensor stays a list.
        name: Of the operations.

    Raises:
        TypeError: The pairs are no pairs, or a function is no function.
    """
    pairs = _checked_pairs(pred_fn_pairs, exclusive)
    if default is not None and not callable(default):
        raise TypeError("'default' must be a callable.")
    with name_scope(name, "case", [pred for pred, _ in pairs]):
        predicates = [convert_to_tensor(pred) for pred, _ in pairs]
        functions = [function for _, function in pairs]
        checks: list[Operation] = []
        if exclusive and predicates:
            count = ops.Sum(ops.Cast(ops.Pack(predicates), DstT=np.dtype(np.int32)), 0)
            listed = ", ".join(predicate.name for predicate in predicates)
            words = f"exclusive=True: more than 1 conditions ({listed}) evaluated as True:"
            checks.append(
                assert_(
                    ops.LessEqual(count, np.int32(1)),
                    [f"Input error: {words}", ops.Pack(predicates)],
                    summarize=len(predicates),
                )
            )
        if default is None:
            if not predicates:
                raise ValueError("pred_fn_pairs must not be empty without a default")
            packed = ops.Pack(predicates)
            words = "Input error: None of conditions evaluated as True:"
            checks.append(assert_(ops.Any(packed, np.int32(0)), [words, packed]))
            *predicates, _ = predicates
            *functions, default = functions
        with control_dependencies(checks):
            if checks:
                predicates = [ops.Identity(predicate) for predicate in predicates]
                default = _after(group(*checks), default)
            result: Branch = default
            for predicate, function in reversed(list(zip(predicates, functions, strict=True))):
                result = _nested(predicate, function, result, strict)
            return result() if predicates else _only(result, strict)


def _checked_pairs(
    pairs: Sequence[tuple[TensorLike, Branch]] | Mapping[Tensor, Branch], exclusive: bool
) -> list[tuple[TensorLike, Branch]]:
    if isinstance(pairs, Mapping):
        if not exclusive:
            listed = sorted(pairs.items(), key=lambda item: item[0].name)
        else:
            listed = list(pairs.items())
        return cast("list[tuple[TensorLike, Branch]]", listed)
    if not isinstance(pairs, (list, tuple)):
        raise TypeError("'pred_fn_pairs' must be a list, tuple, or dict.")
    for pair in pairs:
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise TypeError("Each entry in 'pred_fn_pairs' must be a 2-tuple.")
        if not callable(pair[1]):
            raise TypeError(f"'{pair[1]}' must be a callable.")
    return list(pairs)


def _nested(predicate: Tensor, function: Branch, otherwise: Branch, strict: bool) -> Branch:
    return lambda: cond(predicate, function, otherwise, strict=strict)


def _only(function: Branch, strict: bool) -> object:
    returned = function()
    if isinstance(returned, (list, tuple)):
        items = cast("Sequence[object]", returned)
        return items[0] if len(items) == 1 and not strict else items
    return returned


def _after(gate: Operation, function: Branch) -> Branch:
    """The function, whose results come after an operation."""

    def gated() -> object:
        with control_dependencies([gate]):
            returned = function()
            leaves = flatten(returned, expand=True)
            return pack(returned, [ops.Identity(_as_output(x)) for x in leaves], expand=True)

    return gated
