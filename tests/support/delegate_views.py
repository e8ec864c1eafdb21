"""What a delegate in a shared library is shown of a model: by flatlite, and by LiteRT.

    python tests/support/delegate_views.py litert LIBRARY < models > views

LIBRARY: tests/delegates/external_delegate.c, compiled; models, views: pickled lists. LiteRT runs in
a process of its own, as some models abort it.
"""

import ctypes
import importlib
import pickle
import subprocess
import sys

from flatlite.delegates.external.builtin_data import ROWS
from flatlite.delegates.external.memory import ints_at
from flatlite.delegates.external.structures import (
    AFFINE,
    MMAP_RO,
    PREPARE,
    AffineQuantization,
    Context,
    NodeStructure,
    Registration,
    Tensor,
)
from flatlite.schema.tables import BUILTIN_OPERATOR

MODULES = {"flatlite": "flatlite.lite", "litert": "ai_edge_litert.interpreter"}
KINDS = {code: kind for kind, code in BUILTIN_OPERATOR.items()}


def views(which, library, contents):
    """The nodes of each model as dictionaries, or None where the model is refused."""
    module = importlib.import_module(MODULES[which])
    nodes = []

    @PREPARE
    def prepare(context, _):
        nodes.extend(shown(context))
        return 0

    options = {"callback": ctypes.cast(prepare, ctypes.c_void_p).value}
    results = []
    for content in contents:
        nodes.clear()
        try:
            module.Interpreter(
                model_content=content,
                experimental_delegates=[module.load_delegate(str(library), options)],
            )
        except (RuntimeError, ValueError):
            results.append(None)
        else:
            results.append(list(nodes))
    return results


def litert_views(library, contents):
    """The views of LiteRT."""
    done = subprocess.run(
        [sys.executable, __file__, "litert", str(library)],
        input=pickle.dumps(contents), capture_output=True, check=True,
    )  # fmt: skip
    return pickle.loads(done.stdout)


def shown(address):
    """The nodes in a context's execution plan."""
    context, pointer = Context.from_address(address), ctypes.c_void_p
    plan, node, registration = pointer(), pointer(), pointer()
    get_plan = ctypes.CFUNCTYPE(ctypes.c_int, pointer, pointer)(context.GetExecutionPlan)
    get_node = ctypes.CFUNCTYPE(ctypes.c_int, pointer, ctypes.c_int, pointer, pointer)(
        context.GetNodeAndRegistration
    )
    get_plan(address, ctypes.addressof(plan))
    for i in ints_at(plan.value):
        get_node(address, i, ctypes.addressof(node), ctypes.addressof(registration))
        yield {
            "index": i,
            **described(
                context,
                NodeStructure.from_address(node.value),
                Registration.from_address(registration.value),
            ),
        }


def described(context, node, registration):
    """A node: its kind, options and tensors."""
    kind, data = KINDS[registration.builtin_code], bool(node.builtin_data)
    if kind in ROWS and data:
        cls = ROWS[kind].cls
        struct = cls.from_address(node.builtin_data)
        values = ((name, getattr(struct, name)) for name, *_ in cls._fields_)
        data = {name: list(x) if isinstance(x, ctypes.Array) else x for name, x in values}
    custom = None
    if kind == "CUSTOM":
        custom = (
            ctypes.string_at(registration.custom_name),
            ctypes.string_at(node.custom_initial_data, node.custom_initial_data_size),
        )
    return {
        "kind": kind,
        "version": registration.version,
        "data": data,
        "custom": custom,
        "inputs": [tensor(context, t) for t in ints_at(node.inputs)],
        "outputs": [tensor(context, t) for t in ints_at(node.outputs)],
    }


def tensor(context, index):
    """A tensor, with the content of a constant."""
    if index < 0:
        return None
    t = Tensor.from_address(context.tensors + index * ctypes.sizeof(Tensor))
    affine, is_constant = None, t.allocation_type == MMAP_RO
    if t.quantization.type == AFFINE:
        q = AffineQuantization.from_address(t.quantization.params)
        n = ctypes.c_int.from_address(q.scale).value
        scales = list((ctypes.c_float * n).from_address(q.scale + 4))
        affine = scales, ints_at(q.zero_point), q.quantized_dimension
    return {
        "name": ctypes.string_at(t.name).decode(),
        "type": t.type,
        "shape": ints_at(t.dims),
        "bytes": t.bytes,
        "affine": affine,
        "scale": t.params.scale,
        "zero_point": t.params.zero_point,
        "buffer_handle": t.buffer_handle,
        "constant": ctypes.string_at(t.data, t.bytes) if is_constant and t.data else is_constant,
    }


if __name__ == "__main__":
    models = pickle.load(sys.stdin.buffer)
    sys.stdout.buffer.write(pickle.dumps(views(sys.argv[1], sys.argv[2], models)))
