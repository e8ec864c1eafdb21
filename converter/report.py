"""What the command line tells about models, as plain data: contents, differences, times."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..interpreter.profile import profile
from ..schema import tables
from ..schema.files import read_bytes
from .runnable import Flatbuffer, Port, Runnable, open_runnable
from .sources.source import naming

SEED = 20
PERCENTILES = (50, 90, 99)
N_PROFILED = 5  # profiled runs, of which the medians are shown


def inspect(path: str | os.PathLike, content: bytes | None = None) -> dict[str, Any]:
    """A flatbuffer's signatures, inputs, outputs, operators, tensors and sizes.

    `content` are its bytes where they are known.
    """
    from ..schema.model import load  # the interpreter itself never needs the Model

    content = read_bytes(path) if content is None else content
    with naming(path):
        model = load(content)
    main = model.subgraphs[0]
    operators = Counter(op.custom_code or op.op for s in model.subgraphs for op in s.operators)
    return {
        "file": os.fspath(path),
        "bytes": len(content),
        "constant_bytes": sum(constant_bytes(t) for s in model.subgraphs for t in s.tensors),
        "description": model.description,
        "metadata": {name: len(value) for name, value in model.metadata.items()},
        "signatures": {
            s.key: {"inputs": list(s.inputs), "outputs": list(s.outputs), "subgraph": s.subgraph}
            for s in model.signatures
        },
        "inputs": [tensor_row(main, i) for i in main.inputs],
        "outputs": [tensor_row(main, i) for i in main.outputs],
        "operators": dict(operators.most_common()),
        "subgraphs": [
            {
                "name": subgraph.name,
                "operators": [operator_row(subgraph, i) for i in range(len(subgraph.operators))],
                "tensors": [tensor_row(subgraph, i) for i in range(len(subgraph.tensors))],
            }
            for subgraph in model.subgraphs
        ],
    }


def delegated(path: str, delegates: Sequence[Any]) -> dict[str, Any]:
    """Which delegate runs which operator of a flatbuffer's first subgraph, and why not the rest."""
    model = Flatbuffer(path, by_name=False, delegates=delegates)
    model.interpreter.allocate_tensors()
    return model.interpreter.delegate_report().as_dict()


def constant_bytes(tensor: Any) -> int:
    """Bytes of a constant tensor's data, 0 for any other."""
    return 0 if tensor.data is None else memoryview(tensor.data).nbytes


def operator_row(subgraph: Any, index: int) -> dict[str, Any]:
    """One operator as a row of a table; options at their default are left out."""
    op = subgraph.operators[index]
    return {
        "index": index,
        "operator": op.custom_code or op.op,
        "version": op.version,
        "inputs": [int(i) for i in op.inputs],
        "outputs": [int(i) for i in op.outputs],
        "options": {} if op.options is None else stated(op.options),
    }


def stated(options: Any) -> dict[str, Any]:
    """The fields of an options record that are not at their default, enums by name."""
    kinds = {name: kind for name, kind, *_ in tables.TABLES[type(options).__name__]}
    default = type(options)()
    said = {}
    for name in type(options).__slots__:
        value = getattr(options, name)
        if not np.array_equal(value, getattr(default, name)):
            is_enum = kinds.get(name) in tables.ENUMS
            said[name] = (
                tables.name_of(kinds[name], value) if is_enum else np.asarray(value).tolist()
            )
    return said


def tensor_row(subgraph: Any, index: int) -> dict[str, Any]:
    """One tensor as a row of a table; an unknown dimension is -1."""
    if index < 0:
        return {"index": index, "name": "", "type": "", "shape": [], "bytes": 0}
    tensor = subgraph.tensors[index]
    shape = tensor.shape_signature if tensor.shape_signature is not None else tensor.shape
    row = {
        "index": index,
        "name": tensor.name,
        "type": tensor.dtype,
        "shape": [int(n) for n in shape],
        "bytes": constant_bytes(tensor),
    }
    scale = getattr(tensor.quantization, "scale", None)
    if scale is not None and len(scale):
        zero_point = tensor.quantization.zero_point
        row["scales"] = len(scale)
        row["scale"] = float(scale[0])
        row["zero_point"] = int(zero_point[0]) if zero_point is not None and len(zero_point) else 0
    return row


def chosen_inputs(model: Runnable, given: Mapping[str, np.ndarray]) -> list[np.ndarray]:
    """An array for each input: one of `given` by any of its names, else a seeded random one.

    The name "" stands for the only input. Raises ValueError for a name that no input has.
    """
    left, arrays = dict(given), []
    generator = np.random.default_rng(SEED)
    for port in model.inputs:
        names = [*port.names, ""] if len(model.inputs) == 1 else port.names
        name = next((name for name in names if name in left), None)
        arrays.append(port.random(generator) if name is None else left.pop(name))
    if left:
        names = ", ".join(port.names[0] for port in model.inputs) or "none"
        name = next(iter(left))
        what = f"no input is named '{name}'" if name else "an input file needs a name (NAME=FILE)"
        raise ValueError(f"{what}; the inputs of '{model.path}' are {names}")
    return arrays


def run(model: Runnable, arrays: Sequence[np.ndarray]) -> dict[str, np.ndarray]:
    """The outputs by name, a number after names that occur twice."""
    outputs: dict[str, np.ndarray] = {}
    for port, array in zip(model.outputs, model.run(arrays), strict=True):
        name, i = port.names[0], 1
        while name in outputs:
            name, i = f"{port.names[0]}_{i}", i + 1
        outputs[name] = array
    return outputs


def compare(a: str, b: str, runs: int = 3, signature: str | None = None) -> dict[str, Any]:
    """How far the outputs of two models lie apart on the same random inputs.

    Inputs and outputs are paired by name where both models have the same names, else in order.
    Quantized ones are compared as the real numbers they stand for.

    Raises:
        ValueError: the models do not have the same inputs or outputs.
    """
    left, right = (open_runnable(path, signature) for path in (a, b))
    inputs = paired(left, right, "inputs")
    check_inputs(left, right, inputs)
    outputs = paired(left, right, "outputs")
    generator = np.random.default_rng(SEED)
    rows = [{"a": x.names[0], "b": y.names[0], "max_abs": 0.0, "max_rel": 0.0} for x, y in outputs]
    for _ in range(runs):
        samples = [x.sized_like(y).random(generator) for x, y in inputs]
        stored = [y.stored(x.real(s)) for (x, y), s in zip(inputs, samples, strict=True)]
        ours = left.run([x.stored(y.real(v)) for (x, y), v in zip(inputs, stored, strict=True)])
        fed = {id(y): value for (_, y), value in zip(inputs, stored, strict=True)}
        theirs = right.run([fed[id(port)] for port in right.inputs])
        found = dict(zip(map(id, right.outputs), theirs, strict=True))
        for row, (x, y), value in zip(rows, outputs, ours, strict=True):
            note_gap(row, x.real(value), y.real(found[id(y)]))
    return {"a": a, "b": b, "runs": runs, "outputs": rows}


def paired(a: Runnable, b: Runnable, kind: str) -> list[tuple[Port, Port]]:
    """The inputs or outputs of two models, pair by pair, in the order of the first."""
    ours, theirs = getattr(a, kind), getattr(b, kind)
    if len(ours) != len(theirs):
        raise ValueError(f"'{a.path}' has {len(ours)} {kind}, '{b.path}' has {len(theirs)}")
    by_name = {port.names[0]: port for port in theirs}
    if by_name.keys() == {port.names[0] for port in ours}:
        theirs = [by_name[port.names[0]] for port in ours]
    return list(zip(ours, theirs, strict=True))


def check_inputs(a: Runnable, b: Runnable, pairs: Sequence[tuple[Port, Port]]) -> None:
    """Raises ValueError unless two models take the same inputs."""
    rows = []
    for x, y in pairs:
        is_real = not (x.quantization[0] or y.quantization[0])
        fits = len(x.shape) == len(y.shape) and all(
            m == n or -1 in (m, n) for m, n in zip(x.shape, y.shape, strict=True)
        )
        if not fits or (is_real and x.dtype != y.dtype):
            rows.append(f"{x.described()} in the first, {y.described()} in the second")
    if rows:
        raise ValueError(
            f"'{a.path}' and '{b.path}' do not take the same inputs: {'; '.join(rows)}"
        )


def note_gap(row: dict[str, Any], x: np.ndarray, y: np.ndarray) -> None:
    """Raises a row's largest differences to those between two arrays."""
    if x.shape != y.shape:
        raise ValueError(
            f"output '{row['a']}' has the shape {x.shape} in the first model, {y.shape} in the "
            "second"
        )
    if x.dtype.hasobject:
        gap, size = float(np.count_nonzero(x != y)), float(x.size)
    else:
        x, y = (array.astype(np.result_type(array, np.float64)) for array in (x, y))
        with np.errstate(invalid="ignore"):
            same = (x == y) | (np.isnan(x) & np.isnan(y))
            gap = float(
                np.where(same, 0.0, np.nan_to_num(np.abs(x - y), nan=np.inf, posinf=np.inf)).max(
                    initial=0
                )
            )
        size = float(np.abs(x[np.isfinite(x)]).max(initial=0.0))
    row["max_abs"] = max(row["max_abs"], gap)
    row["max_rel"] = max(row["max_rel"], gap / size if size else gap)


def benchmark(
    path: str,
    runs: int,
    warmup: int,
    threads: int,
    advance: Callable[[], Any] = lambda: None,
    delegates: Sequence[Any] | None = None,
) -> dict[str, Any]:
    """Times of `runs` invokes after `warmup` ones, in milliseconds, and those of each operator.

    `advance` is called after every invoke, for a progress bar. A delegate's part is one operator.
    """
    started = time.perf_counter()
    model = Flatbuffer(path, threads=threads, by_name=False, delegates=delegates)
    arrays = chosen_inputs(model, {})
    loaded = time.perf_counter()
    model.run(arrays)
    first = time.perf_counter()
    times = []
    for i in range(warmup + runs):
        start = time.perf_counter()
        model.interpreter.invoke()
        if i >= warmup:
            times.append(1e3 * (time.perf_counter() - start))
        advance()
    return {
        "file": path,
        "threads": threads,
        "runs": runs,
        "inputs": {
            port.names[0]: list(a.shape) for port, a in zip(model.inputs, arrays, strict=True)
        },
        "load_ms": 1e3 * (loaded - started),
        "first_ms": 1e3 * (first - loaded),
        "mean_ms": float(np.mean(times)),
        "min_ms": min(times),
        **{f"p{p}_ms": float(np.percentile(times, p)) for p in PERCENTILES},
        "operators": profile_rows(model),
        **({"delegates": model.interpreter.delegate_report().as_dict()} if delegates else {}),
    }


def profile_rows(model: Flatbuffer) -> list[dict[str, Any]]:
    """Milliseconds and share of each operator that runs, in the order of the model."""
    found = profile(model.interpreter, N_PROFILED)
    total = sum(row.seconds for row in found) or 1.0
    return [
        {
            "index": row.position,
            "operator": row.kind,
            "name": row.name,
            "ms": 1e3 * row.seconds,
            "share": row.seconds / total,
        }
        for row in found
    ]


def by_kind(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The rows of `profile_rows` summed by operator, the slowest first."""
    kinds: dict[str, dict[str, Any]] = {}
    for row in rows:
        one = kinds.setdefault(
            row["operator"], {"operator": row["operator"], "count": 0, "ms": 0.0, "share": 0.0}
        )
        one["count"] += 1
        one["ms"] += row["ms"]
        one["share"] += row["share"]
    return sorted(kinds.values(), key=lambda one: -one["ms"])
