"""Models spoilt on purpose, and a process that runs them where a crash does no harm.

    python tests/support/hostile.py SIDE FIRST STOP FILE...   # spoilt models FIRST to STOP

A spoilt model is a file, read, changed in one to three places (shapes, types, options, edges,
quantization, constants) and written again: a valid file of a senseless model. What `save` refuses
is no file. Everything follows from the number, so that a crash can be repeated; with a negative
number the model is as it was, only its inputs are not. Each tensor lies beside a page that must not
be touched: at its SIDE, end or start. The process prints a line for each number: what was changed,
and what became of it.
"""

import copy
import faulthandler
import os
import resource
import signal
import sys
from pathlib import Path

import numpy as np

from flatlite.engine.plan import program
from flatlite.engine.run import guard, stages
from flatlite.errors import ModelError
from flatlite.interpreter.interpreter import Interpreter
from flatlite.interpreter.plan import plan, plan_cache
from flatlite.schema import model as schema_model
from flatlite.schema import tables
from flatlite.schema.flatbuffer import Record

SECONDS = 2  # of one model; a loop without end must be interruptible
GRACE = 600  # more, and the process has hung: others may have the processor for minutes
MEMORY = 2 << 30
LARGE = 1 << 20  # elements of a tensor
ALLOWED = (ValueError, RuntimeError, MemoryError)
INTEGERS = (-(1 << 31), -129, -3, -1, 0, 1, 2, 3, 5, 8, 64, 255, 1 << 16, (1 << 31) - 1)
SCALES = (0.0, -0.5, 1e-38, 1e-10, 1.0, 3e5, 1e38, np.inf, np.nan)
OPERATORS = [name for name in tables.ENUMS["BuiltinOperator"] if name != "CUSTOM"]
TYPES = [name for name in tables.ENUMS["TensorType"] if name not in ("VARIANT", "RESOURCE")]


class TooLong(RuntimeError):
    """The time of one model is up."""


def spoilt(model, number):
    """A model with one to three mistakes, and the words for them; none for a negative number."""
    rng = np.random.default_rng(abs(number))
    model = copy.deepcopy(model)
    words = []
    for _ in range(rng.integers(1, 4) if number >= 0 else 0):
        change = CHANGES[rng.integers(len(CHANGES))]
        words.append(f"{change.__name__}: {change(model, rng)}")
    return model, words


def _one(rng, items):
    return items[rng.integers(len(items))] if len(items) else None


def _tensor(model, rng):
    graph = _one(rng, model.subgraphs)
    return graph, _one(rng, graph.tensors)


def _operator(model, rng):
    graph = _one(rng, model.subgraphs)
    return graph, _one(rng, graph.operators)


def _change_shape(model, rng):
    _, tensor = _tensor(model, rng)
    if tensor is None:
        return "nothing"
    shape = list(tensor.shape)
    kind = rng.integers(4)
    if kind == 0 or not shape:
        shape.insert(rng.integers(len(shape) + 1), int(_one(rng, (0, 1, 2, 3))))
    elif kind == 1:
        del shape[rng.integers(len(shape))]
    elif kind == 2:
        rng.shuffle(shape)
    else:
        at = rng.integers(len(shape))
        shape[at] = int(_one(rng, (0, 1, 2, shape[at] + 1, max(shape[at] - 1, 0), 70_000)))
    tensor.shape, tensor.shape_signature = tuple(shape), None
    if isinstance(tensor.data, np.ndarray):
        if np.prod(shape, dtype=object) > 1 << 22:
            tensor.data = None
        else:
            tensor.data = np.resize(tensor.data, tensor.shape)
    return f"{tensor.name} {tensor.shape}"


def _change_type(model, rng):
    _, tensor = _tensor(model, rng)
    if tensor is None or tensor.data is not None:
        return "nothing"
    tensor.dtype = _one(rng, TYPES)
    return f"{tensor.name} {tensor.dtype}"


def _change_constant(model, rng):
    constants = [t for g in model.subgraphs for t in g.tensors if isinstance(t.data, np.ndarray)]
    tensor = _one(rng, [t for t in constants if t.data.dtype.kind in "iuf" and t.data.size])
    if tensor is None:
        return "nothing"
    data = tensor.data.copy()
    flat = data.reshape(-1)
    at = rng.integers(flat.size)
    if data.dtype.kind == "f":
        with np.errstate(over="ignore"):
            flat[at] = _one(rng, (np.nan, np.inf, -np.inf, 1e38, -1e38, 0.0, 1e-45))
    else:
        limits = np.iinfo(data.dtype)
        flat[at] = min(max(_one(rng, INTEGERS), limits.min), limits.max)
    tensor.data = data
    return f"{tensor.name}[{at}] = {flat[at]}"


def _forget_constant(model, rng):
    _, tensor = _tensor(model, rng)
    if tensor is not None:
        tensor.data = None
        return tensor.name
    return "nothing"


def _change_options(model, rng):
    _, operator = _operator(model, rng)
    if operator is None or operator.options is None or not operator.options.__slots__:
        return "nothing"
    name = _one(rng, operator.options.__slots__)
    before = getattr(operator.options, name)
    setattr(operator.options, name, _other(before, rng))
    return f"{operator.op} {name} = {getattr(operator.options, name)}"


def _other(value, rng):
    """Something else of the same kind."""
    if isinstance(value, (bool, np.bool_)):
        return not value
    if isinstance(value, (float, np.floating)):
        return float(_one(rng, (*SCALES, -1.0)))
    if isinstance(value, (int, np.integer)):
        return int(_one(rng, INTEGERS))
    if isinstance(value, np.ndarray) and value.dtype.kind in "iu":
        value = np.resize(value, rng.integers(0, value.size + 3))
        if value.size:
            limits = np.iinfo(value.dtype)
            value[rng.integers(value.size)] = min(max(_one(rng, INTEGERS), limits.min), limits.max)
        return value
    return None if not isinstance(value, Record) else value


def _change_operator(model, rng):
    _, operator = _operator(model, rng)
    if operator is None:
        return "nothing"
    before, operator.op = operator.op, _one(rng, OPERATORS)
    operator.options = None
    return f"{before} to {operator.op}"


def _change_version(model, rng):
    _, operator = _operator(model, rng)
    if operator is not None:
        operator.version = int(rng.integers(1, 9))
        return f"{operator.op} {operator.version}"
    return "nothing"


def _change_edges(model, rng):
    graph, operator = _operator(model, rng)
    if operator is None:
        return "nothing"
    ends = _one(rng, (operator.inputs, operator.inputs, operator.inputs, operator.outputs))
    kind = rng.integers(4)
    if kind == 0 or not ends:
        ends.append(int(rng.integers(-1, len(graph.tensors))))
    elif kind == 1:
        del ends[rng.integers(len(ends))]
    elif kind == 2:
        rng.shuffle(ends)
    else:
        ends[rng.integers(len(ends))] = int(rng.integers(-1, len(graph.tensors)))
    return f"{operator.op} {operator.inputs} -> {operator.outputs}"


def _change_ends_of_graph(model, rng):
    graph = _one(rng, model.subgraphs)
    ends = _one(rng, (graph.inputs, graph.outputs))
    if ends and rng.integers(2):
        del ends[rng.integers(len(ends))]
    elif graph.tensors:
        ends.append(int(rng.integers(len(graph.tensors))))
    return f"{graph.inputs} -> {graph.outputs}"


def _change_quantization(model, rng):
    quantized = [t for g in model.subgraphs for t in g.tensors if t.quantization is not None]
    tensor = _one(rng, [t for t in quantized if len(t.quantization.scales)])
    if tensor is None:
        return "nothing"
    values = tensor.quantization
    kind = rng.integers(5)
    if kind == 0:
        values.scales = values.scales.copy()
        values.scales[rng.integers(len(values.scales))] = _one(rng, SCALES)
    elif kind == 1:
        values.zero_points = np.array(values.zero_points, np.int64)
        if len(values.zero_points):
            at = rng.integers(len(values.zero_points))
            values.zero_points[at] = _one(rng, (*INTEGERS, 1 << 40, -(1 << 63), (1 << 63) - 1))
    elif kind == 2:
        values.axis = int(_one(rng, INTEGERS))
    elif kind == 3:
        size = rng.integers(0, len(values.scales) + 3)
        values.scales = np.resize(values.scales, size)
        values.zero_points = np.resize(values.zero_points, _one(rng, (size, size + 1, 1)))
    else:
        tensor.quantization = None
    return f"{tensor.name} {tensor.quantization}"


def _drop_operator(model, rng):
    graph, operator = _operator(model, rng)
    if operator is not None:
        graph.operators.remove(operator)
        return operator.op
    return "nothing"


CHANGES = (
    *(3 * (_change_shape, _change_options, _change_edges, _change_quantization)),
    *(2 * (_change_type, _change_constant)),
    *(_change_operator, _change_version, _change_ends_of_graph, _drop_operator, _forget_constant),
)


def run(content, rng):
    """Everything an interpreter does with a file: as it is, then twice with inputs resized.

    The first error is raised at the end, if it came before anything was resized.
    """
    interpreter = Interpreter(model_content=content, num_threads=int(rng.integers(1, 4)))
    failure = None
    for turn in range(3):
        details = interpreter.get_input_details()
        if turn and details:
            detail = _one(rng, details)
            shape = [int(_one(rng, (n, n, n, 0, 1, 2, n + 1))) for n in detail["shape"]]
            interpreter.resize_tensor_input(detail["index"], shape)
        try:
            use(interpreter, rng)
        except TooLong:
            raise
        except ALLOWED as error:
            failure = failure if turn else error
    try:
        if failure is not None:
            raise failure
    finally:
        del failure  # it knows this frame: a cycle that would hold the interpreter's memory


def use(interpreter, rng):
    """One call with random inputs."""
    interpreter.allocate_tensors()
    for detail in interpreter.get_input_details():
        interpreter.set_tensor(detail["index"], _values(detail, rng))
    interpreter.invoke()
    for detail in interpreter.get_output_details():
        interpreter.get_tensor(detail["index"])


def _values(detail, rng):
    dtype, shape = np.dtype(detail["dtype"]), detail["shape"]
    if np.prod(shape, dtype=object) > LARGE:
        raise MemoryError("too much for a test")
    if dtype.kind == "V":
        return np.zeros(shape, dtype)
    if dtype.kind in "OS":
        return np.full(shape, b"word", object)
    values = rng.standard_normal(shape) * _one(rng, (1, 1, 10, 1e5, 1e38))
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        low, high = float(limits.min), float(limits.max) - (512 if dtype.itemsize == 8 else 0)
        return np.clip(values, low, high).astype(dtype)
    if dtype.kind == "b":
        return values > 0
    if rng.integers(3) == 0:
        values = np.where(rng.random(shape) < 0.2, _one(rng, (np.nan, np.inf, -np.inf, 0)), values)
    return values.astype(dtype)


def guard_everything(side):
    """Every tensor ends, or starts, at a page that faults when it is touched."""
    init, plain = program.Program.__init__, stages.aligned

    def guarded_init(self, memory_limit=None, guard=False, threads=1):
        init(self, memory_limit or MEMORY // 4, side, threads)

    def aligned(shape, dtype):
        if dtype.hasobject:
            return plain(shape, dtype)
        n_bytes = int(np.prod(shape, dtype=object)) * dtype.itemsize
        return guard.guarded(n_bytes, side).view(dtype).reshape(shape)

    for module in (stages, plan, plan_cache):
        module.aligned = aligned
    program.Program.__init__ = guarded_init


def outcome(model, number):
    """What became of spoilt model `number`."""
    try:
        content = schema_model.save(model)
    except (ModelError, ValueError, TypeError, OverflowError):
        return "no file"
    faulthandler.dump_traceback_later(SECONDS + GRACE, exit=True)
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        run(content, np.random.default_rng([abs(number), 1]))
        return "ran"
    except ALLOWED as error:
        return f"{type(error).__name__}: {error}".replace("\n", " ")
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        faulthandler.cancel_dump_traceback_later()


def main(side, first, stop, *paths):
    """Runs spoilt models; a line for each."""
    os.environ["FLATLITE_PLANS"] = ""  # none is kept
    faulthandler.enable()
    signal.signal(signal.SIGALRM, _ring)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    np.seterr(all="ignore")
    guard_everything(side)
    models = {}
    for number in range(int(first), int(stop)):
        path = paths[number % len(paths)]
        if path not in models:
            models[path] = schema_model.load(Path(path).read_bytes())
        model, words = spoilt(models[path], number)
        print(number, path, "; ".join(words).replace("\n", " "), end=" | ", flush=True)
        print(outcome(model, number), flush=True)


def _ring(number, frame):
    raise TooLong("time is up")


if __name__ == "__main__":
    main(*sys.argv[1:])
