"""Public functions that are one operation each, as rows of text.

    exp             Exp          x # e to the power of x
    space_to_depth  SpaceToDepth input block_size data_format='NHWC' # Height and width become ...

A row has the function's name, the op type, and its parameters in order: inputs and attributes of
the op as its signature names them, or `mine:theirs`; `name` stands behind unless it is among them.
`=` gives a default, as a Python literal; a backslash lets a row go on in the next line. Behind #
stands what the function gives; what its arguments may be, its docstring has from the op's tables.
"""

from __future__ import annotations

import ast
import functools
import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar, cast

from ..core.build import ops
from ..core.composite.ragged_dispatch import HOMES, is_ragged, with_ragged
from ..core.composite.ragged_tensor import RaggedTensor
from ..core.composite.sparse_tensor import SparseTensor
from ..core.named_results import named
from ..core.signatures.signatures import signature_of
from .ragged.operands import as_ragged
from .ragged.values import of_flat_values
from .row_docs import docstring

if TYPE_CHECKING:
    from ..core.graph import Tensor
    from ..core.typing import TensorLike

FunctionT = TypeVar("FunctionT", bound=Callable[..., object])
_POSITIONAL = inspect.Parameter.POSITIONAL_OR_KEYWORD


SPARSE_UNARY = frozenset(
    ("Asin", "Asinh", "Atan", "Atanh", "BesselI0e", "BesselI1e", "Erf", "Neg", "Sign", "Sin")
    + ("Sqrt", "Square", "Tan", "Tanh")
)
"""The ops whose functions take sparse tensors, as TensorFlow's do."""


def functions(
    table: str, module: str, elementwise: bool = False
) -> dict[str, Callable[..., Tensor]]:
    """A function of `module` for each row of `table`, by name.

    `elementwise` functions take ragged tensors, too, and those of `SPARSE_UNARY` sparse ones.
    """
    parts = [line.partition(" # ")[::2] for line in table.replace("\\\n", "").strip().splitlines()]
    rows = [row.split() for row, _ in parts]
    functions = {
        name: _function(name, kind, words, module, " ".join(description.split()))
        for (name, kind, *words), (_, description) in zip(rows, parts, strict=True)
    }
    functions = {
        key: with_ragged(function) if HOMES(key) else function
        for key, function in functions.items()
    }
    if elementwise:
        for name, kind, *_ in rows:
            functions[name] = _elementwise(kind, functions[name])
    return functions


def _elementwise(kind: str, function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    if kind in SPARSE_UNARY:
        return sparse_unary(function)
    signature = signature_of(kind)
    return unary(function) if signature and len(signature.inputs) == 1 else n_ary(function)


def n_ary(function: FunctionT) -> FunctionT:
    """A function of tensors, also of the innermost values of ragged ones."""

    @functools.wraps(function)
    def wrapped(*args: TensorLike, **kwargs: TensorLike) -> object:
        if not any(map(is_ragged, (*args, *kwargs.values()))):
            return function(*args, **kwargs)
        return of_flat_values(function, *args, **kwargs)

    return cast("FunctionT", wrapped)


def unary(function: FunctionT) -> FunctionT:
    """A function of a tensor, its first argument, also of the values of a ragged one."""

    @functools.wraps(function)
    def wrapped(*args: TensorLike, **kwargs: TensorLike) -> object:
        first, bound = _first_argument(function, args, kwargs)
        if is_ragged(first):
            first = as_ragged(cast("RaggedTensor", first))
        if not isinstance(first, RaggedTensor):
            return function(*args, **kwargs)
        return first.with_flat_values(cast("Tensor", bound(first.flat_values)))

    return cast("FunctionT", wrapped)


def sparse_unary(function: FunctionT) -> FunctionT:
    """A function of a tensor, its first argument, also of a sparse or ragged one's values."""
    of_ragged = unary(function)

    @functools.wraps(function)
    def wrapped(*args: TensorLike, **kwargs: TensorLike) -> object:
        first, bound = _first_argument(function, args, kwargs)
        if not isinstance(first, SparseTensor):
            return of_ragged(*args, **kwargs)
        return SparseTensor(first.indices, cast("Tensor", bound(first.values)), first.dense_shape)

    return cast("FunctionT", wrapped)


def _first_argument(
    function: Callable[..., object], args: tuple[TensorLike, ...], kwargs: dict[str, TensorLike]
) -> tuple[object, Callable[[object], object]]:
    """The first argument, and `function` with another in its place."""
    if args:
        return args[0], lambda first: function(first, *args[1:], **kwargs)
    key = next(iter(inspect.signature(function).parameters))
    return kwargs.get(key), lambda first: function(**(kwargs | {key: first}))


def _function(
    name: str, kind: str, words: list[str], module: str, description: str
) -> Callable[..., Tensor]:
    place = words.index("name") if "name" in words else len(words)
    pairs = [_parameter(word) for word in words if word != "name"]
    theirs = dict(
        zip((parameter.name for parameter, _ in pairs), (t for _, t in pairs), strict=True)
    )
    name_parameter = inspect.Parameter("name", _POSITIONAL, default=None)
    parameters = [parameter for parameter, _ in pairs]
    signature = inspect.Signature([*parameters[:place], name_parameter, *parameters[place:]])
    declared = signature_of(kind)
    outputs = declared.outputs if declared else ()
    is_named = len(outputs) > 1 and not any(each.count or each.is_list for each in outputs)

    def function(*args: TensorLike, **kwargs: TensorLike) -> Tensor:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        label = bound.arguments.pop("name")
        inputs = [argument.name for argument in declared.inputs] if declared else ()
        arguments = {theirs[key]: value for key, value in bound.arguments.items()}
        operands = [arguments.pop(argument) for argument in inputs]
        results = getattr(ops, kind)(*operands, name=label, **arguments)
        return cast("Tensor", named(kind, results)) if is_named else results

    function.__name__ = function.__qualname__ = name
    function.__module__ = module
    function.__signature__ = signature  # pyright: ignore[reportFunctionMemberAccess]
    function.__doc__ = docstring(kind, description, theirs)
    return function


def _parameter(word: str) -> tuple[inspect.Parameter, str]:
    text, has_default, default = word.partition("=")
    mine, _, theirs = text.partition(":")
    value = ast.literal_eval(default) if has_default else inspect.Parameter.empty
    return inspect.Parameter(mine, _POSITIONAL, default=value), theirs or mine
