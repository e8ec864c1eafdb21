"""Layers of live Keras models on JAX, each traced by JAX into one module of StableHLO.

For what symbolic.py cannot call on Keras' symbolic tensors, whose open sizes are None: JAX
computes with open sizes (`arange(n)`, `2 * n`) where a `call` does.

    x -> Decoder -> y      becomes      x, weights -> Module -> y
"""

from __future__ import annotations

import base64
import heapq
import importlib
import itertools
import logging
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from ....schema.errors import ConverterError

MODULE = "flatlite.Module"
"""The layer that calls a module with its weights and what it is called with."""
TRACE_ERRORS = (ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError)
"""What a failing trace raises; JAX raises InconclusiveDimensionOperation of its own, too."""
FIX = "give the model's Input a full shape, such as Input((128, 64))"
STATE_FIX = "have it change nothing, and draw no random numbers, where training is False"
SIZE = re.compile(r"\bsize_\d+_\d+\b")
SHAPE = re.compile(r"[(\[]([^()\[\]]*)[)\]]")
KERAS_NOTE = "Arguments received by"
"""Keras adds the shapes of all arguments after it, which says nothing of what failed."""
COLOUR = re.compile(r"\x1b\[\d+m")
MAX_TRACES = 64
FLOATS = ("bfloat16", "float16", "float64")


def module_results(keras: Any, layer: Any, args: tuple, kwargs: Mapping) -> Any:
    """What `layer` gives for symbolic arguments, as the results of a module.

    Args:
        keras: The running Keras 3, on JAX.
        layer: A built layer or model of Keras.
        args, kwargs: What it is called with: structures of symbolic tensors and other values.

    Raises ConverterError naming the layer when JAX cannot trace it, or its call changes variables.
    """
    tensors = symbolic_tensors(keras, (args, kwargs))
    computed, variables, structures = _function(keras, layer, args, kwargs)
    exported, equal = _exported(keras, layer, computed, variables, tensors)
    types = [str(x.dtype) for x in exported.in_avals[len(variables) :]]
    tensors = [  # JAX computes with int32 where Keras says int64
        x if str(x.dtype) in (dtype, *FLOATS) else keras.ops.cast(x, dtype)
        for x, dtype in zip(tensors, types, strict=True)
    ]
    results = _module_class(keras)(layer.name, exported, variables, equal)(tensors)
    return keras.tree.pack_sequence_as(structures[0], results)


def symbolic_tensors(keras: Any, structure: Any) -> list:
    """The distinct symbolic tensors in a structure."""
    leaves = keras.tree.flatten(structure)
    return list({id(x): x for x in leaves if isinstance(x, keras.KerasTensor)}.values())


def _function(
    keras: Any, layer: Any, args: tuple, kwargs: Mapping
) -> tuple[Callable[[list, list], list], list, list]:
    """`(weights, tensors) -> results` of arrays; the weights; what the call gave, once traced."""
    tree = keras.tree
    variables = sorted(filter(_is_float, layer.variables), key=lambda v: not v.trainable)
    ids = [id(x) for x in symbolic_tensors(keras, (args, kwargs))]
    structures = []

    def computed(values: list, arrays: list) -> list:
        by_id = dict(zip(ids, arrays, strict=True))

        def actual(x: Any) -> Any:
            if isinstance(x, keras.KerasTensor):
                return keras.ops.cast(by_id[id(x)], x.dtype)
            return x

        state = [(v, keras.ops.cast(x, v.dtype)) for v, x in zip(variables, values, strict=True)]
        with keras.StatelessScope(state_mapping=state) as scope:
            before = dict(scope.state_mapping)
            results = layer(*tree.map_structure(actual, args), **tree.map_structure(actual, kwargs))
        _check_unchanged(layer, before, scope.state_mapping)
        structures[:] = [results]
        return [_as_float32(keras, x) for x in tree.flatten(results)]

    return computed, variables, structures


def _check_unchanged(layer: Any, before: Mapping[int, Any], after: Mapping[int, Any]) -> None:
    """Raises ConverterError when a call gave a variable another value: a module has no state."""
    changed = {key for key, value in after.items() if value is not before.get(key)}
    if changed:
        names = [v.path for v in layer.variables if id(v) in changed]
        which = f"the variable '{names[0]}'" if names else "a variable that is not the layer's"
        raise ConverterError(
            f"{type(layer).__name__} '{layer.name}': its call changes {which}, which is not "
            f"supported where sizes are not known; {STATE_FIX}"
        )


def _is_float(value: Any) -> bool:
    return "float" in str(value.dtype)


def _as_float32(keras: Any, x: Any) -> Any:
    return keras.ops.cast(x, "float32") if str(x.dtype) in FLOATS else x


def _exported(
    keras: Any, layer: Any, computed: Callable, variables: list, tensors: list
) -> tuple[Any, list[list[int]]]:
    """What `computed` is for JAX, with as few equal sizes among the open ones as it demands.

    A trace that fails names sizes in its message; two of them are taken as one then. Those with
    the most different sizes are tried first.

    Returns also the sizes taken as one: `[tensor, axis, other tensor, its axis]` each.
    """
    errors = importlib.import_module("jax.errors")
    trace_errors = (*TRACE_ERRORS, errors.InconclusiveDimensionOperation)
    keys = [(i, k) for i, x in enumerate(tensors) for k, n in enumerate(x.shape) if n is None]
    waiting = [(0, 0, tuple(f"size_{k}_{i}" for i, k in keys))]
    failed: dict[tuple, Exception] = {}
    while waiting and len(failed) < MAX_TRACES:
        names = heapq.heappop(waiting)[2]
        if names in failed:
            continue
        try:
            with _silent():
                exported = _trace(computed, variables, tensors, dict(zip(keys, names, strict=True)))
        except trace_errors as error:
            failed[names] = error
        else:
            first = dict(zip(reversed(names), reversed(keys), strict=True))
            pairs = [(key, first[name]) for key, name in zip(keys, names, strict=True)]
            return exported, [[*key, *other] for key, other in pairs if key != other]
        for merged in _merged(names, str(failed[names]).partition(KERAS_NOTE)[0]):
            entry = (len(keys) - len(set(merged)), len(failed) + len(waiting), merged)
            heapq.heappush(waiting, entry)
    error = next(iter(failed.values()))
    raise _refusal(layer, error) from error


def _trace(computed: Callable, variables: list, tensors: list, names: Mapping) -> Any:
    """`computed` for float32 weights, and tensors whose open sizes have names."""
    jax, export = importlib.import_module("jax"), importlib.import_module("jax.export")
    scope = export.SymbolicScope()
    values = [jax.ShapeDtypeStruct(tuple(v.shape), np.float32) for v in variables]
    arrays = []
    for i, x in enumerate(tensors):
        sizes = [names.get((i, k), str(n)) for k, n in enumerate(x.shape)]
        shape = export.symbolic_shape(f"({', '.join(sizes)},)", scope=scope) if sizes else ()
        dtype = "float32" if str(x.dtype) in FLOATS else str(x.dtype)
        arrays.append(jax.ShapeDtypeStruct(shape, np.dtype(dtype)))
    return export.export(jax.jit(computed), platforms=["cpu"])(values, arrays)


@contextmanager
def _silent() -> Iterator[None]:
    """Keeps JAX from logging what it tries in vain."""
    logger = logging.getLogger("absl")
    was_disabled, logger.disabled = logger.disabled, True
    try:
        yield
    finally:
        logger.disabled = was_disabled


def _merged(names: tuple[str, ...], message: str) -> Iterator[tuple[str, ...]]:
    """Names of sizes with some that a message mentions made one.

    First those at the same places of two shapes, then any two but the first size of a tensor with
    another: a batch is as long as a sequence by chance alone.
    """
    shapes = [re.split(r",\s*", shape) for shape in SHAPE.findall(message)]
    for one, other in itertools.pairwise(shapes):
        pairs = zip(reversed(one), reversed(other), strict=False)
        same = {max(p): min(p) for p in pairs if p[0] != p[1] and all(map(SIZE.fullmatch, p))}
        for some in (*({name: to} for name, to in same.items()), same):
            if some:
                yield tuple(some.get(name, name) for name in names)
    for pair in itertools.combinations(dict.fromkeys(SIZE.findall(message)), 2):
        if len({name.startswith("size_0_") for name in pair}) == 1:
            yield tuple(min(pair) if name in pair else name for name in names)


def _refusal(layer: Any, error: Exception) -> ConverterError:
    lines = COLOUR.sub("", str(error)).strip().splitlines() or [type(error).__name__]
    is_note = lines[0].startswith("Exception encountered") and len(lines) > 2
    first_line = SIZE.sub("n", lines[2 if is_note else 0])[:200]
    return ConverterError(
        f"{type(layer).__name__} '{layer.name}': JAX cannot trace its call with sizes that are "
        f"not known: {first_line}; {FIX}"
    )


def _module_class(keras: Any) -> type:
    """The class of layers that call a module, of the Keras in this process."""

    class Module(keras.layers.Layer):
        """Calls a module of StableHLO with weights and tensors."""

        def __init__(self, name: str, exported: Any, variables: list, equal: list) -> None:
            super().__init__(name=f"{name}_module", dtype="float32")
            used = exported.module_kept_var_idx
            self.values = [v for i, v in enumerate(variables) if i in used]
            self.used = [i - len(variables) for i in used if i >= len(variables)]
            self.exported, self.equal = exported, equal
            self.built = True

        def call(self, tensors: list) -> list:
            weights = [keras.ops.cast(v, "float32") for v in self.values]
            return self.exported.call(weights, tensors)

        def compute_output_spec(self, tensors: list) -> list:
            return [
                keras.KerasTensor([n if isinstance(n, int) else None for n in x.shape], x.dtype)
                for x in self.exported.out_avals
            ]

        def get_config(self) -> dict:
            return {
                **super().get_config(),
                "module": base64.b64encode(self.exported.mlir_module_serialized).decode(),
                "shapes": [[int(n) for n in v.shape] for v in self.values],
                "used": self.used,
                "equal": self.equal,
                "results": [
                    [str(x.dtype), *(n if isinstance(n, int) else None for n in x.shape)]
                    for x in self.exported.out_avals
                ],
            }

    Module.__module__, Module.__qualname__ = MODULE.split(".")
    return Module
