"""The closed table of Keras layers: which function writes which layer, and what it sees."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ...graph.core.graph import Tensor
from ...schema.errors import ConverterError, ModelError
from ...schema.registry import Homes, Registry
from .files.architecture import Layer
from .homes import HOMES

if TYPE_CHECKING:
    from ...graph.core.graph import Graph
    from .build import Writer

TENSOR, LIST, ANY = "one tensor", "a list of tensors", "any arguments"
EXPORT = (
    "save the model as a SavedModel (model.export(folder)) and use "
    "TFLiteConverter.from_saved_model(folder)"
)
MAX_NUMBER = 1e38
INVALID = re.compile(r"[^A-Za-z0-9_.\\/>-]")


@dataclass(frozen=True)
class Row:
    """One kind of layer.

    Attributes:
        write: `(call, *arguments)` gives the layer's result.
        weights: the names of a layer's weights, in the order Keras makes them.
        takes: what the arguments are: one TENSOR, a LIST of tensors, or ANY that `write` names.
        parts: the layers that a layer is made of, by the attributes that hold them.
        archived: the names of the weights in a `.keras` archive, which may have more.
        order: (who has it, name) of all weights of a layer and its parts, in the order of an HDF5
            file, where that is not its own and then its parts'.
    """

    write: Callable
    weights: Callable[[Layer], Sequence[str]]
    takes: str
    parts: Callable[[Layer], dict[str, Layer]]
    archived: Callable[[Layer], Sequence[str]]
    order: Callable[[Layer], Sequence[tuple[Layer, str]]] | None = None

    @cached_property
    def signature(self) -> inspect.Signature:
        """The arguments of `write`."""
        return inspect.signature(self.write)


LAYERS: Registry[Row] = Registry("layer", __package__, Homes(HOMES))


def no_weights(layer: Layer) -> Sequence[str]:
    """Of a layer that learns nothing."""
    return ()


def no_parts(layer: Layer) -> dict[str, Layer]:
    """Of a layer that is not made of layers."""
    return {}


def layer(
    *kinds: str,
    weights: Callable[[Layer], Sequence[str]] = no_weights,
    takes: str = TENSOR,
    parts: Callable[[Layer], dict[str, Layer]] = no_parts,
    archived: Callable[[Layer], Sequence[str]] | None = None,
    order: Callable[[Layer], Sequence[tuple[Layer, str]]] | None = None,
) -> Callable:
    """Registers a function that writes layers of these kinds."""

    def register(function: Callable) -> Callable:
        for kind in kinds:
            LAYERS.add(kind, Row(function, weights, takes, parts, archived or weights, order))
        return function

    return register


def inner_scope(scope: str, name: str) -> str:
    """The scope of what a layer called `name` does, within another or "" for the outermost."""
    valid = INVALID.sub("_", name)
    if scope:
        return f"{scope}/{valid}"
    return valid if valid[:1].isalnum() else f"model{valid}"


class Call:
    """One application of a layer, as the function that writes it sees it.

    Settings are read with a check, so that a damaged file gives an error with a name.
    """

    def __init__(self, layer: Layer, writer: Writer, scope: str) -> None:
        self.layer, self.writer, self.outer = layer, writer, scope
        self.graph, self.is_keras3 = writer.graph, writer.is_keras3
        self.scope = inner_scope(scope, layer.name)

    def on(self, graph: Graph) -> Call:
        """The same call, for operations of another graph: the body of a loop."""
        return Call(self.layer, self.writer.on(graph), self.outer)

    def part(self, name: str) -> Call:
        """A call of one of the layers that this one is made of."""
        return Call(self.layer.parts[name], self.writer, self.scope)

    def apply(self, name: str, *args: Any, **kwargs: Any) -> Any:
        """What one of the layers that this one is made of gives for some arguments."""
        results = self.writer.apply(self.layer.parts[name], list(args), kwargs, self.scope)
        return results[0] if len(results) == 1 else results

    def require(self, condition: object, message: str) -> None:
        """Raises ConverterError naming the layer unless `condition` holds."""
        if not condition:
            raise ConverterError(f"{self.layer.title}: {message}")

    def _require_tensors(self, *values: Any) -> None:
        for value in values:
            if not isinstance(value, Tensor):
                shown = f"{type(value).__name__} {str(value)[:40]}"
                self.require(False, f"must be called with tensors, got {shown}; {EXPORT}")

    def setting(self, name: str, default: Any = None) -> Any:
        """A setting as the file has it."""
        return self.layer.config.get(name, default)

    def check(self, condition: object, name: str, requirement: str) -> None:
        """Raises ModelError unless the setting `name` is as it must be."""
        if not condition:
            actual = repr(self.setting(name))[:80]
            raise ModelError(f"{self.layer.title}: {name} must be {requirement}, got {actual}")

    def flag(self, name: str, default: bool = False) -> bool:
        """A setting that is true or false; 0 and 1 are, too."""
        value = self.setting(name, default)
        self.check(value in (0, 1), name, "true or false")
        return bool(value)

    def text(self, name: str, *choices: str) -> str:
        """A setting that is one of `choices`, by default the first."""
        value = self.setting(name, choices[0])
        self.check(value in choices, name, f"one of {', '.join(choices)}")
        return value

    def number(self, name: str, default: float = 0.0) -> float:
        """A setting that is a number."""
        value = self.setting(name, default)
        if isinstance(value, dict):  # numpy scalars, as Keras writes them
            value = value.get("config", value).get("value", value)
        self.check(is_number(value), name, "a finite number")
        return value

    def integers(self, name: str, n: int, default: int = 1) -> list[int]:
        """A setting that is one positive integer or `n` of them, as `n`."""
        value = self.setting(name, default)
        values = [value] * n if is_integer(value) else value
        is_valid = isinstance(values, list) and len(values) == n
        is_valid = is_valid and all(is_integer(v) and 0 < v < 1 << 31 for v in values)
        self.check(is_valid, name, f"a positive integer or {n} of them")
        return values

    def axes(self, name: str, rank: int, default: int = -1) -> list[int]:
        """A setting that is one axis of `rank` or several, from the front."""
        value = self.setting(name, default)
        values = [value] if is_integer(value) else value
        is_valid = isinstance(values, list) and values
        is_valid = is_valid and all(is_integer(v) and -rank <= v < rank for v in values)
        self.check(is_valid, name, f"axes in [-{rank}, {rank})")
        return [v % rank for v in values]

    def axis(self, name: str, rank: int, default: int = -1) -> int:
        """A setting that is one axis of `rank`, from the front."""
        axes = self.axes(name, rank, default)
        self.require(len(axes) == 1, f"one axis is supported in {name}, got {axes}")
        return axes[0]

    def is_channels_first(self) -> bool:
        """Whether the channels stand before the image."""
        return self.text("data_format", "channels_last", "channels_first") == "channels_first"

    def shape(self, x: Tensor, *ranks: int) -> tuple[int | None, ...]:
        """The shape of an input, which must have one of these ranks where any are given."""
        self._require_tensors(x)
        shape = x.sizes
        if shape is None or (ranks and len(shape) not in ranks):
            expected = " or ".join(map(str, ranks)) or "a known number of"
            raise ModelError(
                f"{self.layer.title}: the input must have {expected} dimensions, got {shape}"
            )
        return shape

    def known(self, size: int | None, what: str) -> int:
        """A dimension that the layer's weights or result depend on."""
        self.require(
            size is not None,
            f"{what} of the input must be known; give the model's inputs a shape in input_shapes",
        )
        return size or 0

    def weight(self, name: str, shape: Sequence[int]) -> Tensor:
        """One of the layer's weights, the same constant at each call."""
        weight = self.layer.tensors.get((self.graph, name))
        if weight is None:
            value = self.weight_value(name, shape)
            weight = self.graph.constant(value, f"{self.scope}/{name}")
            if name in self.layer.rounding:
                weight = self.layer.rounding[name](weight)
            self.layer.tensors[self.graph, name] = weight
        return weight

    def weight_value(self, name: str, shape: Sequence[int]) -> np.ndarray:
        """The values of one of the layer's weights."""
        return self.layer.stored_weights[name].read(self.layer, name, tuple(shape))

    def constant(self, value: Any, like: Tensor | None = None) -> Tensor:
        """A constant, of the type of `like` or an int32."""
        dtype = np.int32 if like is None else like.dtype
        try:
            array = np.asarray(value, dtype)
        except OverflowError:
            raise ModelError(f"{self.layer.title}: needs sizes that are too large") from None
        return self.graph.constant(array, f"{self.scope}/Const")

    def constant_of(self, value: Any, dtype: Any) -> Tensor:
        """A constant of a type."""
        return self.graph.constant(np.asarray(value, dtype), f"{self.scope}/Const")

    def op(self, kind: str, *inputs: Tensor, name: str | None = None, **attrs: Any) -> Tensor:
        """The first result of a TF operation; texts among the attributes may be str."""
        return self.ops(kind, *inputs, name=name, **attrs)[0]

    def ops(
        self, kind: str, *inputs: Tensor, name: str | None = None, **attrs: Any
    ) -> list[Tensor]:
        """All results of a TF operation, which is named like its kind where nothing else is."""
        self._require_tensors(*inputs)
        attrs = {k: v.encode() if isinstance(v, str) else v for k, v in attrs.items()}
        name = self.graph.unique_name(f"{self.scope}/{name or kind}")
        try:
            return self.graph.add(kind, name, inputs, attrs).outputs
        except ValueError as error:
            raise ModelError(f"{self.layer.title}: {error}") from None

    def cast(self, x: Tensor, dtype: Any) -> Tensor:
        """`x` as another type."""
        self._require_tensors(x)
        dtype = np.dtype(dtype)
        return x if x.dtype == dtype else self.op("Cast", x, DstT=dtype)

    def size(self, x: Tensor, axis: int) -> Tensor:
        """One dimension of `x` as a scalar, a constant where it is known."""
        known = self.shape(x)[axis]
        if known is not None:
            return self.constant(known)
        bounds = [self.constant([value]) for value in (axis, axis + 1, 1)]
        return self.op("StridedSlice", self.op("Shape", x), *bounds, shrink_axis_mask=1)

    def sizes(self, dims: Sequence[int | Tensor]) -> Tensor:
        """Numbers and scalars as one shape."""
        if all(isinstance(dim, int) for dim in dims):
            return self.constant(list(dims))
        return self.op(
            "Pack", *(self.constant(d) if isinstance(d, int) else d for d in dims), axis=0
        )

    def bound(self, row: Row, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """Arguments as a function takes them; raises ConverterError when it does not."""
        return self.bound_by(row.signature, args, kwargs)

    def bound_by(
        self, signature: inspect.Signature, args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> inspect.BoundArguments:
        """Arguments by a signature, whose tensors must be tensors."""
        try:
            bound = signature.bind(self, *args, **kwargs)
        except TypeError as error:
            raise ConverterError(
                f"{self.layer.title}: is called in an unknown way: {error}"
            ) from None
        for name, value in bound.arguments.items():
            if signature.parameters[name].annotation in ("Tensor", Tensor):
                self._require_tensors(value)
        return bound


def is_number(value: Any) -> bool:
    """Whether a value of JSON is a number that a float32 can hold."""
    return (
        isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < MAX_NUMBER
    )


def is_integer(value: Any) -> bool:
    """Whether a value of JSON is an integer."""
    return isinstance(value, int) and not isinstance(value, bool)
