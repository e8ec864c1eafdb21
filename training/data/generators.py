"""Datasets of what Python functions generate."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import count
from typing import TYPE_CHECKING, cast

import numpy as np

from ...graph.core.composite.type_specs import TensorSpec
from ...graph.core.create import convert_to_tensor, create
from ...graph.core.dtype import as_numpy
from ...graph.functions.flow.functional import py_func
from . import structures
from .base import attributes, of_variant
from .functions import ElementFunction

if TYPE_CHECKING:
    from ...graph.core.graph import Tensor
    from ...graph.core.typing import TensorLike
    from .dataset import Dataset
    from .structures import Structure

_NUMBER = TensorSpec([], np.int64)


class _Runs:
    """The iterators of a generator that are under way, by number."""

    def __init__(self, generator: Callable[..., object], spec: Structure):
        self._generator, self._spec = generator, spec
        self._numbers, self._iterators = count(), dict[int, Iterator[object]]()

    def start(self, *arguments: np.ndarray) -> np.ndarray:
        """Begins; gives the number."""
        number = next(self._numbers)
        self._iterators[number] = iter(cast("Iterable[object]", self._generator(*arguments)))
        return np.array(number)

    def next(self, number: np.ndarray) -> list[np.ndarray]:
        """The components of the next element; StopIteration behind the last."""
        element = next(self._iterators[int(number)])
        expected = structures.types_of(self._spec)
        try:
            parts = structures.flatten_up_to(self._spec, element)
            expected = self._spec
            specs = cast("list[TensorSpec]", structures.flatten(self._spec))
            arrays = [_array(item, spec) for item, spec in zip(parts, specs, strict=True)]
        except (TypeError, ValueError):
            raise TypeError(
                "`generator` yielded an element that did not match the expected structure. The "
                f"expected structure was {expected}, but the yielded element was {element}."
            ) from None
        for array, spec in zip(arrays, specs, strict=True):
            if not spec.shape.is_compatible_with(array.shape):
                raise TypeError(
                    f"`generator` yielded an element of shape {array.shape} where an element of "
                    f"shape {spec.shape} was expected."
                )
        return arrays

    def end(self, number: np.ndarray) -> np.ndarray:
        """Forgets one."""
        self._iterators.pop(int(number), None)
        return np.array(0)


def _array(item: object, spec: TensorSpec) -> np.ndarray:
    dtype = as_numpy(spec.dtype)
    return _encoded(item) if dtype.hasobject else _number(item, dtype)


def _number(item: object, dtype: np.dtype) -> np.ndarray:
    """NumPy's values as any number; Python's only where they are of the kind of `dtype`."""
    array = np.asarray(item)
    is_integer = array.dtype.kind in "iu" and dtype.kind in "iu"
    if isinstance(item, (np.ndarray, np.generic)) or not array.size or is_integer:
        return (array if dtype.kind == "c" else np.real(array)).astype(dtype, copy=False)
    if array.dtype.kind in "SUO":
        raise TypeError
    return array.astype(dtype, casting="same_kind", copy=False)


def _encoded(item: object) -> np.ndarray:
    """Texts as bytes, in an array of objects; TypeError for anything else."""
    array = np.asarray(item, object)
    encoded = np.empty(array.shape, object)
    for place in np.ndindex(array.shape):
        text = cast("object", array[place])
        encoded[place] = text.encode() if isinstance(text, str) else text
        if not isinstance(encoded[place], bytes):
            raise TypeError
    return encoded


def generated(
    generator: Callable[..., object], spec: Structure, args: Sequence[TensorLike], name: str | None
) -> Dataset:
    """What `generator` gives each time one goes through; `args` are tensors that it gets."""
    runs = _Runs(generator, spec)
    tensors = tuple(convert_to_tensor(x, name="args") for x in args)
    types = [structures.types_of(leaf) for leaf in structures.flatten(spec)]

    def start() -> Tensor:
        return cast("Tensor", py_func(runs.start, list(tensors), np.int64))

    def following(number: Tensor) -> Structure:
        values = cast("list[Tensor]", py_func(runs.next, [number], cast("list[type]", types)))
        for value, leaf in zip(values, structures.flatten(spec), strict=True):
            value.set_shape(structures.shape_of(leaf))
        return structures.pack(spec, values)

    def end(number: Tensor) -> Tensor:
        return cast("Tensor", py_func(runs.end, [number], np.int64))

    functions = [
        ElementFunction(function, specs, "Dataset.from_generator()")
        for function, specs in ((start, []), (following, [_NUMBER]), (end, [_NUMBER]))
    ]
    names = ("init_func", "next_func", "finalize_func")
    references = {text: f.reference for text, f in zip(names, functions, strict=True)}
    inputs = [function.captured for function in functions]
    attrs = {**attributes(spec), **references}
    return of_variant(create("GeneratorDataset", inputs, attrs, name).outputs[0], spec)
