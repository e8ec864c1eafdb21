"""Models with a state, tables, or weights that are not dense, and what they are fed step by step.

A step that is a list allocates tensors anew, a tuple goes on where the one before ended.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import control_draws
import numpy as np
import recurrent_draws
import recurrent_models
import stablehlo_draws
from building import Builder, save
from cases import options_record
from declared import constant, handle

from flatlite.schema.dtypes import TENSOR_TYPES
from flatlite.schema.flatbuffer import record
from flatlite.schema.model import Model, Operator, Quantization, Subgraph, Tensor, load
from flatlite.schema.model import save as save_model

from . import drawn_stablehlo

Step: TypeAlias = "list[np.ndarray] | tuple[np.ndarray, ...]"
RECURRENT = 1e-4
"""Tolerance of cells: their states carry errors on."""


@dataclass(frozen=True)
class Sequential:
    """A model and its steps.

    Attributes:
        kind: the function that drew it.
        content: the file.
        steps: inputs for each call.
        tolerance: of floats, relative to the largest of an output.
        expected: the results of each step by the operator's definition, where it is known.
    """

    kind: str
    content: bytes
    steps: Sequence[Step]
    tolerance: float = 1e-5
    expected: Sequence[Sequence[np.ndarray]] | None = None


def _seed(rng: np.random.Generator) -> int:
    return int(rng.integers(1 << 31))


def _one_of(rng: np.random.Generator, choices: Sequence[Any]) -> Any:
    return choices[int(rng.integers(len(choices)))]


def _array(rng: np.random.Generator, dtype: str, shape: Sequence[int]) -> np.ndarray:
    """Random values of a type of the schema."""
    if dtype == "STRING":
        array = np.empty(shape, object)
        array.flat = [b"k%d" % n for n in rng.integers(0, 9, array.size)]
        return array
    if dtype == "BOOL":
        return rng.random(shape) < 0.5
    if dtype.startswith("FLOAT"):
        return np.asarray(rng.normal(0, 3, shape)).astype(dtype.lower())
    return np.asarray(rng.integers(-9, 10, shape)).astype(dtype.lower())


def recurrent(rng: np.random.Generator) -> Sequential:
    """A recurrent operator over several calls, its state reset between some of them."""
    draw = recurrent_draws.Draw(_seed(rng))
    sort = draw.sort()
    content = recurrent_models.content(sort)
    if sort.numbers == "hybrid" and draw.flag():
        content = recurrent_draws.with_weights_of_uint8(content)
    graph, steps = load(content).subgraphs[0], []
    for call in range(4):
        arrays = []
        for tensor in (graph.tensors[i] for i in graph.inputs):
            if tensor.dtype == "FLOAT32":
                arrays.append(np.float32(rng.normal(0, 1, tensor.shape)) * (rng.random() > 0.1))
            else:
                data = rng.integers(0, 256, tensor.shape).astype(np.uint8)
                arrays.append(data.view(tensor.dtype.lower()))
        steps.append(arrays if not call or rng.random() < 0.2 else tuple(arrays))
    return Sequential("recurrent", content, steps, RECURRENT)


def control(rng: np.random.Generator) -> Sequential:
    """An operator that calls subgraphs, on drawn states."""
    kind = _one_of(rng, sorted(control_draws.KINDS))
    content, steps = control_draws.KINDS[kind](control_draws.Draw(_seed(rng)))
    if rng.random() < 0.5:
        steps = [steps[0], *(tuple(step) for step in steps[1:])]
    return Sequential(kind, content, steps)


def stablehlo(rng: np.random.Generator) -> Sequential:
    """An operator of StableHLO, with the results of its definition."""
    if rng.random() < 0.6:
        kind = _one_of(rng, sorted(drawn_stablehlo.KINDS))
        content, inputs, result = drawn_stablehlo.KINDS[kind](rng)
        return Sequential(f"stablehlo {kind}", content, [inputs], expected=[[result]])
    kind = _one_of(rng, sorted(stablehlo_draws.KINDS))
    content, feeds, expected = stablehlo_draws.KINDS[kind](stablehlo_draws.Draw(_seed(rng)))
    return Sequential(f"stablehlo {kind}", content, [feeds], expected=[expected])


def captured(rng: np.random.Generator) -> Sequential:
    """A variable that branches, or the body of a loop, read and assign under its name."""
    dtype, shape = _one_of(rng, ["FLOAT32", "INT32", "INT64"]), _one_of(rng, [(), (3,), (2, 2)])
    main, first = Builder("main"), Builder("first")
    first.op("ASSIGN_VARIABLE", [_variable(first), _value(first, rng, dtype, shape)], [])
    main.op("CALL_ONCE", [], [], init_subgraph_index=1)
    if rng.random() < 0.5:
        flag, x = main.input("flag", (), "BOOL"), main.input("x", shape, dtype)
        y = main.tensor("y", shape, dtype)
        fields = {"then_subgraph_index": 2, "else_subgraph_index": 3}
        main.op("IF", [flag, x], [y], **fields)
        others = [_updating(rng, dtype, shape), _updating(rng, dtype, shape)]
        first_inputs = [np.array(n) for n in rng.random(4) < 0.5]
    else:
        n, x = main.input("n", (), "INT32"), main.input("x", shape, dtype)
        y = main.tensor("y", shape, dtype)
        end = main.tensor("end", (), "INT32")
        main.op("WHILE", [n, x], [end, y], cond_subgraph_index=2, body_subgraph_index=3)
        others = _loop(rng, dtype, shape)
        first_inputs = [np.int32(n) for n in rng.integers(0, 4, 4)]
    results = [y]
    if rng.random() < 0.7:
        results.append(main.tensor("after", shape, dtype))
        main.op("READ_VARIABLE", [_variable(main)], results[1:])
    steps = [[np.asarray(n), _array(rng, dtype, shape)] for n in first_inputs]
    content = save(main.outputs(*results), first, *others)
    return Sequential("captured", content, [steps[0], *map(tuple, steps[1:])])


def _variable(b: Builder) -> int:
    return b.op("VAR_HANDLE", [], [b.tensor("handle", (1,), "RESOURCE")], shared_name="v")


def _value(b: Builder, rng: np.random.Generator, dtype: str, shape: Sequence[int]) -> int:
    return b.tensor("value", shape, dtype, data=_array(rng, dtype, shape))


def _updating(rng: np.random.Generator, dtype: str, shape: Sequence[int]) -> Builder:
    """y of x: their sum with the variable, assigned, or not, before or after a read."""
    b = Builder("branch")
    x, v, y = b.input("x", shape, dtype), b.tensor("v", shape, dtype), b.tensor("y", shape, dtype)
    _update(b, rng, x, v, y)
    return b.outputs(_one_of(rng, [v, y]))


def _update(b: Builder, rng: np.random.Generator, x: int, v: int, y: int) -> None:
    variable = _variable(b)
    b.op("READ_VARIABLE", [variable], [v])
    b.op(_one_of(rng, ["ADD", "SUB", "MAXIMUM"]), _one_of(rng, [[x, v], [v, x]]), [y])
    if rng.random() < 0.8:
        b.op("ASSIGN_VARIABLE", [variable, _one_of(rng, [x, y])], [])


def _loop(rng: np.random.Generator, dtype: str, shape: Sequence[int]) -> list[Builder]:
    condition, body = Builder("condition"), Builder("body")
    n = condition.input("n", (), "INT32")
    condition.input("x", shape, dtype)
    less = condition.tensor("less", (), "BOOL")
    condition.op("LESS", [n, condition.constant("limit", np.int32(3))], [less])
    n, x = body.input("n", (), "INT32"), body.input("x", shape, dtype)
    more, v, y = body.tensor("more", (), "INT32"), *(body.tensor(t, shape, dtype) for t in "vy")
    body.op("ADD", [n, body.constant("one", np.int32(1))], [more])
    _update(body, rng, x, v, y)
    return [condition.outputs(less), body.outputs(more, y)]


def table(rng: np.random.Generator) -> Sequential:
    """A hash table that is filled in the call or once before, asked for keys, and counted."""
    types = _one_of(rng, [("INT64", "STRING"), ("STRING", "INT64"), ("INT64", "INT64")])
    main, filled = Builder("main"), Builder("filled")
    by_call = rng.random() < 0.5
    b = main if by_call else filled
    for _ in range(int(rng.integers(1, 3))):
        count = int(rng.integers(0, 7))
        pair = [
            constant(b, name, _array(rng, t, (count,))) for name, t in zip("kv", types, strict=True)
        ]
        b.op("HASHTABLE_IMPORT", [handle(b, *types), *pair], [])
    if not by_call:
        main.op("CALL_ONCE", [], [], init_subgraph_index=1)
    shape = tuple(rng.integers(1, 4, int(rng.integers(1, 4))).tolist())
    x, place = main.input("x", shape, types[0]), handle(main, *types)
    y, n = main.tensor("y", shape, types[1]), main.tensor("n", (1,), "INT64")
    default = constant(main, "default", _array(rng, types[1], (1,)))
    main.op("HASHTABLE_FIND", [place, x, default], [y])
    main.op("HASHTABLE_SIZE", [place], [n])
    steps = [[_array(rng, types[0], shape)], (_array(rng, types[0], shape),)]
    return Sequential("table", save(main.outputs(y, n), *([] if by_call else [filled])), steps)


def sparse(rng: np.random.Generator) -> Sequential:
    """FULLY_CONNECTED with sparse rows of elements or blocks, or the same weights written out."""
    block = _one_of(rng, [1, 4, 16])
    rows, blocks = int(rng.integers(1, 20)), int(rng.integers(1, 6))
    columns = blocks * block
    chosen = rng.random((rows, blocks)) < _one_of(rng, [0.2, 0.6, 1.0])
    chosen[0, 0] = True
    dense = np.float32(rng.normal(0, 1, (rows, blocks, block)))
    segments = np.concatenate([[0], np.cumsum(chosen.sum(1))])
    vector, level = record("Int32Vector"), record("DimensionMetadata")
    inner = (level(dense_size=block),) if block > 1 else ()
    sparsity = record("SparsityParameters")(
        traversal_order=np.arange(2 + len(inner), dtype=np.int32),
        block_map=np.int32([1]) if inner else None,
        dim_metadata=(
            level(dense_size=rows),
            level(
                format=1,
                array_segments=vector(values=segments.astype(np.int32)),
                array_indices=vector(values=np.nonzero(chosen)[1].astype(np.int32)),
            ),
            *inner,
        ),
    )
    b = Builder()
    batch = int(rng.integers(1, 6))
    x = b.input("x", (batch, columns))
    w = b.tensor("w", (rows, columns), data=dense[chosen].tobytes(), sparsity=sparsity)
    if rng.random() < 0.3:
        written = b.tensor("written", (rows, columns))
        b.op("DENSIFY", [w], [written])
        w = written
    y = b.tensor("y", (batch, rows))
    bias = b.constant("bias", np.float32(rng.normal(0, 1, rows))) if rng.random() < 0.5 else -1
    activation = int(rng.integers(0, 4))
    b.op("FULLY_CONNECTED", [x, w, bias], [y], fused_activation_function=activation)
    feeds = np.float32(rng.normal(0, 1, (batch, columns)))
    return Sequential("sparse", save(b.outputs(y)), [[feeds]])


def blockwise(rng: np.random.Generator) -> Sequential:
    """Weights of 4 bits with a scale for each block, as a matrix or as rows to look up."""
    kind = _one_of(rng, ["FULLY_CONNECTED", "EMBEDDING_LOOKUP"])
    block = _one_of(rng, [32, 64])
    least = 4  # rows: of fewer, LiteRT's kernel leaves the result as it is
    shape = int(rng.integers(least, 40)), block * int(rng.integers(1, 5))
    counts = shape[0], shape[1] // block
    scales = rng.uniform(0.01, 0.1, counts).astype(np.float16)
    details = record("BlockwiseQuantization")(scales=2, zero_points=-1, block_size=block)
    count = int(rng.integers(1, 6))
    if kind == "FULLY_CONNECTED":
        feed = np.float32(rng.normal(0, 1, (count, shape[1])))
    else:
        feed = rng.integers(0, shape[0], count).astype(np.int32)
    weights = rng.integers(-8, 8, shape).astype(TENSOR_TYPES["INT4"])
    tensors = [
        Tensor("x", feed.shape, feed.dtype.name.upper()),
        Tensor("w", shape, "INT4", weights, quantization=Quantization([], [], details=details)),
        Tensor("scales", counts, "FLOAT16", scales),
        Tensor("y", (count, shape[1 if kind == "EMBEDDING_LOOKUP" else 0]), "FLOAT32"),
    ]
    inputs = [0, 1, -1] if kind == "FULLY_CONNECTED" else [0, 1]
    step = Operator(kind, inputs, [3], options_record(kind, {}))
    content = save_model(Model([Subgraph("main", tensors, [0], [3], [step])]))
    return Sequential("blockwise", content, [[feed]])


def skip_gram(rng: np.random.Generator) -> Sequential:
    """Groups of the words of a text."""
    main = Builder("main")
    x, y = main.input("x", (1,), "STRING"), main.tensor("y", (0,), "STRING")
    options = {
        "ngram_size": int(rng.integers(1, 4)),
        "max_skip_size": int(rng.integers(0, 3)),
        "include_all_ngrams": bool(rng.random() < 0.5),
    }
    main.op("SKIP_GRAM", [x], [y], **options)
    words = [b"a", b"word", b"", b"\xc3\xa9t\xc3\xa9", b"\t", b"x!"]
    texts = [b" ".join(words[i] for i in rng.integers(0, 6, rng.integers(0, 7))) for _ in range(2)]
    return Sequential("skip_gram", save(main.outputs(y)), [[np.array([t], object)] for t in texts])


KINDS: tuple[Callable[[np.random.Generator], Sequential], ...] = (
    *(recurrent, recurrent, control, control, stablehlo, stablehlo, captured, captured),
    *(table, sparse, blockwise, skip_gram),
)
