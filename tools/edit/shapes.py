"""Other sizes of a model's inputs, and of all that is computed from them."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence

import numpy as np

from ...interpreter.interpreter import Interpreter
from ...schema.model import Model, Subgraph, load, save
from .allocated import allocated_shapes
from .any_batch import free_batch, free_images
from .folding import fold_sizes
from .subgraphs import compact, end_index

SEED = 20
UNKNOWN = ((1, 3), (2, 4), (16, 24), (64, 96), (224, 256))
"""Pairs of what unknown sizes take: results of which they are sizes differ. Later ones serve where
operators refuse those before."""
ITEMS = 3  # how many batches a changed one is tried with
SECONDS = 10.0  # a model that takes longer for a batch is not compared
TOLERANCE = 1e-4  # of an output's largest value


def set_input_shapes(model: Model, shapes: Mapping[str, Sequence[int | None]]) -> Model:
    """The model with other shapes of inputs; all results have the shapes that come of them.

    Where operators have the first size as a constant (any_batch.py), or a TRANSPOSE_CONV its
    result's sizes, they take whatever comes. What known sizes alone decide becomes constants.

    Args:
        model: any.
        shapes: {input: shape}, names of the signature or of tensors of the first subgraph; None or
            -1 for an unknown size.

    Raises ValueError when a name is unknown, a rank another one, or an operator refuses the shapes.
    """
    result = load(save(model))
    graph = result.subgraphs[0]
    n_tensors = len(graph.tensors)
    batches: dict[int, list[int]] = {}
    sizes_of: dict[int, tuple[int, ...]] = {}
    for name, shape in shapes.items():
        index = end_index(result, 0, "inputs", name)
        tensor = graph.tensors[index]
        sizes = tuple(-1 if n is None else int(n) for n in shape)
        if tensor.has_rank and len(sizes) != len(tensor.shape):
            raise ValueError(
                f"input '{name}' must have {len(tensor.shape)} dimensions, got {list(sizes)}"
            )
        if any(n < 1 and n != -1 for n in sizes):
            raise ValueError(f"sizes of input '{name}' must be positive or -1, got {list(sizes)}")
        before = tensor.shape_signature or tensor.shape
        if sizes and before[0] != sizes[0] and before[0] > 0:
            batches.setdefault(before[0], []).append(index)
        sizes_of[index] = sizes
    for before, inputs in batches.items():
        states = free_batch(result, inputs, before)
        _set_states(graph, states, before, sizes_of[inputs[0]][0])
    free_images(graph)
    for index, sizes in sizes_of.items():
        tensor = graph.tensors[index]
        tensor.shape = tuple(1 if n < 0 else n for n in sizes)
        tensor.shape_signature = sizes if -1 in sizes else None
        tensor.has_rank = True
    if len(graph.tensors) > n_tensors:
        compact(result, 0)
    _infer(result)
    if _is_known(graph):
        fold_sizes(result)
    return result


def set_batch(model: Model, batch: int | None) -> Model:
    """The model with another first size of all its inputs that have dimensions.

    Where it took a known number of items, the results for several batches are compared with those
    for each alone.

    Args:
        model: any.
        batch: how many items it takes at once; None for any number.

    Raises ValueError when the inputs do not have one batch, an operator refuses another one, or the
    results for several items are not those for each.

    Warns UserWarning when they could not be compared.
    """
    graph = model.subgraphs[0]
    inputs = [graph.tensors[i] for i in graph.inputs if graph.tensors[i].shape]
    batches = {(t.shape_signature or t.shape)[0] for t in inputs}
    if len(batches) != 1:
        raise ValueError(f"the inputs must have one batch, got {sorted(batches)}; set their shapes")
    (before,) = batches
    shapes = {
        tensor.name: (batch, *(tensor.shape_signature or tensor.shape)[1:]) for tensor in inputs
    }
    result = set_input_shapes(model, shapes)
    if before > 0 and batch != before:
        several, n = result, ITEMS if batch is None else batch // before
        if batch is not None and batch % before:
            multiple = {name: (ITEMS * before, *shape[1:]) for name, shape in shapes.items()}
            several, n = set_input_shapes(model, multiple), ITEMS
        _compare_batches(model, several, n, n * before)
    return result


def _set_states(graph: Subgraph, states: Sequence[int], before: int, batch: int) -> None:
    """Gives variables of items as many as the batch has, in place."""
    for tensor in (graph.tensors[i] for i in states):
        if batch < 0:
            raise ValueError(
                f"the batch must be known: variable '{tensor.name}' keeps a state of each of "
                f"{before} item{'s' * (before > 1)}"
            )
        tensor.shape = (batch, *tensor.shape[1:])


def _infer(model: Model) -> None:
    """Gives the results of the first subgraph the shapes that its inputs make, in place."""
    graph = model.subgraphs[0]
    shapes = _shapes_of_two_sizes(save(model), graph)
    computed = {i for op in graph.operators for i in op.outputs}
    for i in computed:
        first, second = (by_index.get(i) for by_index in shapes)
        if first is None or second is None or len(first) != len(second):
            continue  # known when the model runs
        tensor = graph.tensors[i]
        sizes = tuple(m if m == n else -1 for m, n in zip(first, second, strict=True))
        open_sizes = tensor.shape_signature or ()
        if -1 in open_sizes and len(open_sizes) == len(sizes) and not _is_known(graph):
            sizes = tuple(-1 if o < 0 else n for o, n in zip(open_sizes, sizes, strict=True))
        tensor.shape = tuple(1 if n < 0 else n for n in sizes)
        tensor.shape_signature = sizes if -1 in sizes else None


def _shapes_of_two_sizes(content: bytes, graph: Subgraph) -> list[dict[int, tuple[int, ...]]]:
    """Tensor -> its shape, for two numbers that unknown sizes are.

    Raises ValueError, with what is wrong with the first pair, where no pair is accepted.
    """
    pairs = UNKNOWN[:1] if _is_known(graph) else UNKNOWN
    accepted = (pair for pair in pairs if _accepts(content, graph, pair))
    pair = next(accepted, pairs[0])
    return [_shapes_for(content, graph, n) for n in pair]


def _accepts(content: bytes, graph: Subgraph, pair: tuple[int, int]) -> bool:
    """Whether the operators take what unknown sizes are."""
    try:
        return bool([_shapes_for(content, graph, n) for n in pair])
    except ValueError:
        return False


def _is_known(graph: Subgraph) -> bool:
    """Whether all inputs have known sizes."""
    return not any(-1 in (graph.tensors[i].shape_signature or ()) for i in graph.inputs)


def _shapes_for(content: bytes, graph: Subgraph, unknown: int) -> dict[int, tuple[int, ...]]:
    """Tensor -> its shape where unknown sizes are this."""
    shapes = {i: graph.tensors[i].shape_signature or graph.tensors[i].shape for i in graph.inputs}
    return allocated_shapes(
        content, {i: [unknown if n < 0 else n for n in shape] for i, shape in shapes.items()}
    )


def _compare_batches(single: Model, several: Model, n_batches: int, n: int) -> None:
    """Raises ValueError where a model gives other results for several batches at once, which are
    `n` items, than `single` for each.
    """
    generator = np.random.default_rng(SEED)
    items = [_random_inputs(single, generator) for _ in range(n_batches)]
    try:
        expected = [_results(single, item) for item in items]
    except (RuntimeError, ValueError, TimeoutError) as error:
        warnings.warn(
            f"the results for {n} items were not compared with those for each: {error}",
            stacklevel=3,
        )
        return
    joined = [
        np.concatenate(arrays) if arrays[0].shape else arrays[0]
        for arrays in zip(*items, strict=True)
    ]
    try:
        results = _results(several, joined)
    except (RuntimeError, ValueError, TimeoutError) as error:
        raise ValueError(f"the model does not run on {n} items: {error}") from None
    names = [single.subgraphs[0].tensors[i].name for i in single.subgraphs[0].outputs]
    for name, result, *alone in zip(names, results, *expected, strict=True):
        want = np.concatenate(alone) if alone[0].ndim else alone[0]
        if result.shape != want.shape or not _agree(result, want):
            raise ValueError(
                f"output '{name}' of {n} items must be that of each alone, shape {want.shape}, and "
                f"is another one, shape {result.shape}: an operator before it reads across the "
                "batch or has it as a constant"
            )


def _agree(result: np.ndarray, want: np.ndarray) -> bool:
    if want.dtype.kind not in "fc":
        return np.array_equal(result, want)
    limit = TOLERANCE * float(np.abs(want[np.isfinite(want)]).max(initial=1e-6))
    return np.allclose(result, want, rtol=0, atol=limit, equal_nan=True)


def _random_inputs(model: Model, generator: np.random.Generator) -> list[np.ndarray]:
    """An array for each input: normal floats, quantized integers of any value, others 0 or 1."""
    from ...schema.dtypes import TENSOR_TYPES

    graph = model.subgraphs[0]
    arrays = []
    for tensor in (graph.tensors[i] for i in graph.inputs):
        dtype = TENSOR_TYPES[tensor.dtype]
        if dtype.kind == "f":
            arrays.append(generator.standard_normal(tensor.shape).astype(dtype))
        elif dtype.kind in "iu" and tensor.quantization is not None:
            limits = np.iinfo(dtype)
            values = generator.integers(limits.min, limits.max, tensor.shape, endpoint=True)
            arrays.append(values.astype(dtype))
        elif dtype.hasobject:
            arrays.append(np.full(tensor.shape, b"a", object))
        else:
            arrays.append(generator.integers(0, 2, tensor.shape).astype(dtype))
    return arrays


def _results(model: Model, arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
    """The outputs of a model that has run only once; TimeoutError after SECONDS."""
    interpreter = Interpreter(model_content=save(model))
    details = interpreter.get_input_details()
    for detail, array in zip(details, arrays, strict=True):
        interpreter.resize_tensor_input(detail["index"], array.shape)
    interpreter.allocate_tensors()
    for detail, array in zip(details, arrays, strict=True):
        interpreter.set_tensor(detail["index"], array)
    interpreter.invoke(timeout=SECONDS)
    return [interpreter.get_tensor(detail["index"]) for detail in interpreter.get_output_details()]
