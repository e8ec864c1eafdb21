"""CompiledModel and TensorBuffer, beside those of LiteRT 2."""

import json
import subprocess
import sys

import numpy as np
import pytest
from building import Builder, save

from flatlite.litert import (
    CompiledModel,
    CpuOptions,
    Environment,
    EnvironmentOptions,
    HardwareAccelerator,
    Options,
    TensorBuffer,
)

PROGRAM = """
def told(model):
    keys = list(model.get_signature_list())
    seen = [model.get_signature_list(), model.get_num_signatures(), model.is_fully_accelerated()]
    for index, key in enumerate(keys):
        seen += [model.get_signature_by_index(index), model.get_signature_index(key)]
        seen += [model.get_input_tensor_details(key), model.get_output_tensor_details(key)]
        seen += [model.get_input_buffer_requirements(0, index)["buffer_size"]]
        inputs = model.create_input_buffers(index)
        outputs = model.create_output_buffers(index)
        seen += [b.get_tensor_details() for b in (*inputs, *outputs)]
        for n, buffer in enumerate(inputs):
            size = int(np.prod(buffer.get_tensor_details()["shape"]))
            buffer.write(np.arange(n, n + size, dtype=np.float32))
        model.run_by_index(index, inputs, outputs)
        for buffer in outputs:
            size = int(np.prod(buffer.get_tensor_details()["shape"]))
            seen.append(buffer.read(size, np.float32).tolist())
        names = model.get_signature_by_index(index)
        by_name = [model.create_output_buffer_by_name(key, n) for n in names["outputs"]]
        model.run_by_name(
            key, dict(zip(names["inputs"], inputs)), dict(zip(names["outputs"], by_name))
        )
        seen += [buffer.read(2, np.float32).tolist() for buffer in by_name]
    return json.dumps(seen)
"""
LITERT = f"""
import json, sys
import numpy as np
from ai_edge_litert.compiled_model import CompiledModel
{PROGRAM}
print("told:" + told(CompiledModel.from_file(sys.argv[1])))
"""


def two():
    """`turn`: y = |x|; `row`: z = first - second and again = first + second, on subgraph 1."""
    main, other = Builder("main"), Builder("other")
    x, y = main.input("x", (1, 3)), main.tensor("y", (1, 3))
    main.op("ABS", [x], [y])
    b, a = other.input("b", (2,)), other.input("a", (2,))
    z, w = other.tensor("z", (2,)), other.tensor("w", (2,))
    other.op("SUB", [a, b], [z])
    other.op("ADD", [a, b], [w])
    signatures = [
        ("turn", {"x": x}, {"y": y}, 0),
        ("row", {"second": b, "first": a}, {"z": z, "again": w}, 1),
    ]
    return save(main.outputs(y), other.outputs(z, w), signatures=signatures)


def absolute(shape=(2, 3)):
    b = Builder()
    x = b.input("in", shape)
    y = b.tensor("out", shape)
    b.op("ABS", [x], [y])
    return save(b.outputs(y))


@pytest.mark.parametrize("content", [two, absolute], ids=["signatures", "without"])
def test_it_tells_what_litert_tells(content, tmp_path):
    path = tmp_path / "m.tflite"
    path.write_bytes(content())
    command = [sys.executable, "-c", LITERT, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    (line,) = [x for x in done.stdout.splitlines() if x.startswith("told:")]
    scope = {"json": json, "np": np}
    exec(PROGRAM, scope)
    for model in CompiledModel.from_file(path), CompiledModel.from_buffer(content()):
        assert json.loads(scope["told"](model)) == json.loads(line.removeprefix("told:"))


def test_buffers_of_the_caller_s_memory():
    model = CompiledModel.from_buffer(absolute())
    array = -np.arange(6, dtype=np.float32).reshape(2, 3)
    (output,) = model.create_output_buffers(0)
    model.run_by_index(0, [TensorBuffer.create_from_host_memory(array)], [output])
    np.testing.assert_array_equal(output.read(6, np.float32), np.arange(6))
    memory = output.array
    aligned = TensorBuffer.create_from_host_memory(memory)
    aligned.write(np.full(6, 7, np.float32))
    assert (memory == 7).all()  # the very memory of an aligned array


def test_open_dimensions():
    model = CompiledModel.from_buffer(absolute((None, 3)))
    model.resize_input_tensor(0, [4, 3])
    (x,), (y,) = model.create_input_buffers(0), model.create_output_buffers(0)
    x.write(np.arange(-6, 6, dtype=np.float32))
    model.run_by_index(0, [x], [y])
    assert y.get_tensor_details() == {"dtype": "float32", "shape": [4, 3]}
    np.testing.assert_array_equal(y.read(12, np.float32), np.abs(np.arange(-6, 6)))
    with pytest.raises(RuntimeError, match="ResizeInputTensorStrict only allows"):
        model.resize_input_tensor(0, [4, 5])
    model.resize_input_tensor(0, [1, 2], strict=False)
    with pytest.raises(RuntimeError, match=r"of input 'in' must have 8 bytes .* got 48"):
        model.run_by_index(0, [x], [y])
    with pytest.raises(ValueError, match="Unknown signature: none"):
        model.resize_input_tensor_by_name("none", "in", [1])
    with pytest.raises(ValueError, match="Unknown input 'x' for signature"):
        model.resize_input_tensor_by_name("<placeholder signature>", "x", [1])


def refused():
    model = CompiledModel.from_buffer(two())
    inputs, outputs = model.create_input_buffers(1), model.create_output_buffers(1)
    released = model.create_input_buffers(0)[0]
    released.destroy()
    f32 = np.float32
    yield RuntimeError, "Signature not found: no", lambda: model.get_input_tensor_details("no")
    yield RuntimeError, "Signature index is out of range", lambda: model.create_input_buffers(2)
    yield (
        RuntimeError,
        "Input tensor not found: x",
        lambda: model.create_input_buffer_by_name("row", "x"),
    )
    yield RuntimeError, "Input index out of range", lambda: model.resize_input_tensor(5, [1])
    yield (
        RuntimeError,
        "number of inputs:2 vs buffers:1",
        lambda: model.run_by_index(1, inputs[:1], outputs),
    )
    yield (
        RuntimeError,
        "missing some output TensorBuffers: z",
        lambda: model.run_by_name(
            "row", dict(zip(("first", "second"), inputs, strict=True)), {"again": outputs[0]}
        ),
    )
    yield RuntimeError, "source buffer is larger", lambda: inputs[0].write(np.zeros(3, f32))
    yield RuntimeError, "destination buffer is larger", lambda: inputs[0].read(3, f32)
    yield RuntimeError, "destination buffer is larger", lambda: inputs[0].read(-1, f32)
    yield RuntimeError, "invalid capsule", lambda: released.read(1, f32)
    yield ValueError, "TensorBuffer has been destroyed", released.get_tensor_details
    yield ValueError, "must be a NumPy array", lambda: inputs[0].write([1, 2])
    yield ValueError, "Unsupported dtype", lambda: inputs[0].read(1, "U4")
    yield (
        ValueError,
        "must be C-contiguous",
        lambda: TensorBuffer.create_from_host_memory(np.zeros((2, 3), f32).T),
    )
    yield RuntimeError, "Failed to load model from file", lambda: CompiledModel.from_file("/none")
    yield RuntimeError, "Failed to load model from buffer", lambda: CompiledModel.from_buffer(b"z")
    yield (
        RuntimeError,
        "add HardwareAccelerator.CPU",
        lambda: CompiledModel.from_buffer(two(), HardwareAccelerator.GPU),
    )
    yield (
        ValueError,
        "either options or hardware_accel",
        lambda: CompiledModel.from_buffer(two(), HardwareAccelerator.CPU, options=Options()),
    )


def test_refusals():
    for kind, message, call in refused():
        with pytest.raises(kind, match=message):
            call()


def test_options_and_environments():
    accelerators = HardwareAccelerator.GPU | HardwareAccelerator.CPU
    options = Options(accelerators, cpu_options=CpuOptions(num_threads=2))
    with Environment.create(runtime_path="/lib") as environment:
        model = CompiledModel.from_buffer(two(), environment=environment, options=options)
    assert model.environment is environment
    assert environment.options == EnvironmentOptions("/lib")
    with pytest.raises(ValueError, match="Pass either options or environment path shortcuts"):
        Environment.create(options=EnvironmentOptions("/a"), dispatch_library_path="/b")
    with model:
        assert model.get_num_signatures() == 2
    with pytest.raises(RuntimeError, match="CompiledModel is closed"):
        model.create_input_buffers(0)
