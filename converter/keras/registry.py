"""The closed table of Keras layers: which function writes which layer, and what it sees."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ...schema.errors import ConverterError, ModelError
from ...schema.registry import Registry
from .architecture import Layer

if TYPE_CHECKING:
    from ...graph.core.graph import Graph, Tensor

FAMILIES = ("activation", "conv", "core", "merge", "norm", "pool", "shape")
TENSOR, LIST, PAIR = "one tensor", "a list of tensors", "two tensors"
MAX_NUMBER = 1e38
INVALID = re.compile(r"[^A-Za-z0-9_.\\/>-]")


@dataclass(frozen=True)
class Row:
    """One kind of layer.

    Attributes:
        write: `(call, *arguments)` gives the layer's result.
        weights: the names of a layer's weights, in the order Keras makes them.
        takes: what the arguments are: one TENSOR, a LIST of tensors, or a PAIR of tensors.
    """

    write: Callable
    weights: Callable[[Layer], Sequence[str]]
    takes: str


LAYERS: Registry[Row] = Registry("layer", __package__, FAMILIES)


def no_weights(layer: Layer) -> Sequence[str]:
    """Of a layer that learns nothing."""
    return ()


def layer(
    *kinds: str,
    weights: Callable[[Layer], Sequence[str]] = no_weights,
    takes: str = TENSOR,
) -> Callable:
    """Registers a function that writes layers of these kinds."""

    def register(function: Callable) -> Callable:
        for kind in kinds:
            LAYERS.add(kind, Row(function, weights, takes))
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

    def __init__(self, layer: Layer, graph: Graph, scope: str, is_keras3: bool) -> None:
        self.layer, self.graph, self.is_keras3 = layer, graph, is_keras3
        self.scope = inner_scope(scope, layer.name)

    def require(self, condition: object, message: str) -> None:
        """Raises ConverterError naming the layer unless `condition` holds."""
        if not condition:
            raise ConverterError(f"{self.layer.title}: {message}")

    def setting(self, name: str, default: Any = None) -> Any:
        """A setting as the file has it."""
        return self.layer.config.get(name, default)

    def check(self, condition: object, name: str, requirement: str) -> None:
        """Raises ModelError unless the setting `name` is as it must be."""
        if not condition:
            actual = repr(self.setting(name))[:80]
            raise ModelError(f"{self.layer.title}: {name} must be {requirement}, got {actual}")

    def flag(self, name: str, default: bool = False) -> bool:
        """A setting that is true or false."""
        value = self.setting(name, default)
        self.check(isinstance(value, bool), name, "true or false")
        return value

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
        shape = x.shape
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
        weight = self.layer.tensors.get(name)
        if weight is None:
            value = self.layer.stored_weights[name].read(self.layer, name, tuple(shape))
            weight = self.graph.constant(value, f"{self.scope}/{name}")
            self.layer.tensors[name] = weight
        return weight

    def constant(self, value: Any, like: Tensor | None = None) -> Tensor:
        """A constant, of the type of `like` or an int32."""
        dtype = np.int32 if like is None else like.dtype
        try:
            array = np.asarray(value, dtype)
        except OverflowError:
            raise ModelError(f"{self.layer.title}: needs sizes that are too large") from None
        return self.graph.constant(array, f"{self.scope}/Const")

    def op(self, kind: str, *inputs: Tensor, **attrs: Any) -> Tensor:
        """The first result of a TF operation; texts among the attributes may be str."""
        attrs = {k: v.encode() if isinstance(v, str) else v for k, v in attrs.items()}
        name = self.graph.unique_name(f"{self.scope}/{kind}")
        try:
            return self.graph.add(kind, name, inputs, attrs).outputs[0]
        except ValueError as error:
            raise ModelError(f"{self.layer.title}: {error}") from None


def is_number(value: Any) -> bool:
    """Whether a value of JSON is a number that a float32 can hold."""
    return (
        isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < MAX_NUMBER
    )


def is_integer(value: Any) -> bool:
    """Whether a value of JSON is an integer."""
    return isinstance(value, int) and not isinstance(value, bool)
