"""Programs written for LiteRT, of which only the import line is another."""

import inspect
import subprocess
import sys

import ai_edge_litert.compiled_model
import ai_edge_litert.interpreter
import numpy as np
import pytest
from building import Builder, save
from running import answers

import flatlite.lite
import flatlite.litert

PAIRS = [
    (ai_edge_litert.interpreter, flatlite.lite, "Interpreter"),
    (ai_edge_litert.interpreter, flatlite.lite, "InterpreterWithCustomOps"),
    (ai_edge_litert.interpreter, flatlite.lite, "SignatureRunner"),
    *(
        (ai_edge_litert.compiled_model, flatlite.litert, name)
        for name in (
            *("CompiledModel", "CpuKernelMode", "CpuOptions", "Environment", "EnvironmentOptions"),
            *("GpuOptions", "HardwareAccelerator", "TensorBuffer"),
        )
    ),
]
OF_NATIVE_CODE = {"capsule"}
INTERPRETERS = [
    "from ai_edge_litert.interpreter import Interpreter",
    "from flatlite.lite import Interpreter",
    "import flatlite as tf; Interpreter = tf.lite.Interpreter",
    "import flatlite.lite as tflite; Interpreter = tflite.Interpreter",
    "from flatlite.litert import Interpreter",
    "import flatlite.compat.v1 as tf; Interpreter = tf.lite.Interpreter",
]
PROGRAM = """
import sys
import numpy as np
interpreter = Interpreter(model_path=sys.argv[1], num_threads=2)
interpreter.allocate_tensors()
input_details = interpreter.get_input_details()
output_details = interpreter.get_output_details()
floating_model = input_details[0]["dtype"] == np.float32
height = input_details[0]["shape"][1]
image = np.expand_dims(np.arange(height, dtype=np.float32), axis=0) - 2
interpreter.set_tensor(input_details[0]["index"], image)
interpreter.invoke()
results = np.squeeze(interpreter.get_tensor(output_details[0]["index"]))
print(floating_model, results.argsort()[-3:][::-1].tolist(), results.tolist())
interpreter.resize_tensor_input(input_details[0]["index"], [2, height], strict=True)
interpreter.allocate_tensors()
interpreter.tensor(input_details[0]["index"])().fill(3.)
interpreter.invoke()
print(interpreter.tensor(output_details[0]["index"])())
print(interpreter.get_signature_list())
runner = interpreter.get_signature_runner("serving_default")
print(runner(image=image), sorted(runner.get_input_details()), interpreter.num_subgraphs())
for detail in (*interpreter.get_input_details(), *interpreter.get_tensor_details()):
    print(sorted(detail.items(), key=lambda item: item[0]))
for call in (
    lambda: interpreter.set_tensor(input_details[0]["index"], image.astype(np.int8)),
    lambda: interpreter.set_tensor(input_details[0]["index"], image[0]),
    lambda: interpreter.get_signature_runner("none"),
    lambda: Interpreter(model_path="/none.tflite"),
    lambda: Interpreter(model_content=None),
):
    try:
        call()
    except Exception as error:
        print(type(error).__name__, str(error).partition("\\n")[0])
"""


@pytest.mark.parametrize(("litert", "ours", "name"), PAIRS, ids=lambda x: getattr(x, "__name__", x))
def test_every_public_name_and_argument(litert, ours, name):
    theirs, ours = getattr(litert, name), getattr(ours, name)
    public = {n for n in dir(theirs) if not n.startswith("_")} - OF_NATIVE_CODE
    if not name.startswith("Environment") or name == "EnvironmentOptions":
        assert public <= set(dir(ours))
    for method in ("__init__", *sorted(public)):
        function, our_function = getattr(theirs, method), getattr(ours, method, None)
        if (
            inspect.isroutine(function)
            and our_function is not None
            and hasattr(function, "__code__")
        ):
            want = {n: p.default for n, p in inspect.signature(function).parameters.items()}
            if "c_model_ptr" in want or "capsule" in want:  # of native code
                continue
            got = {n: p.default for n, p in inspect.signature(our_function).parameters.items()}
            names = [*want]
            assert [n for n in got if n in names] == names, method
            assert {n: str(got[n]) for n in names} == {n: str(want[n]) for n in names}, method


@pytest.mark.parametrize("module", [ai_edge_litert.compiled_model, ai_edge_litert.interpreter])
def test_every_class_of_a_module(module):
    classes = [n for n, x in vars(module).items() if inspect.isclass(x) and n != "Any"]
    public = [n for n in classes if getattr(module, n).__module__.startswith("ai_edge_litert")]
    assert len(public) > 3
    assert [n for n in public if not hasattr(flatlite.litert, n)] == []


def test_options_of_npus_are_refused():
    arguments = inspect.signature(ai_edge_litert.compiled_model.Options).parameters
    assert [*inspect.signature(flatlite.litert.Options).parameters] == [*arguments]
    for name in "QualcommOptions", "IntelOpenVinoOptions":
        with pytest.raises(NotImplementedError, match=f"{name} are of NPUs that only LiteRT's"):
            getattr(flatlite.litert, name)(enable_weight_sharing=True)
    with pytest.raises(NotImplementedError, match="intel_openvino_options are of NPUs"):
        flatlite.litert.Options(intel_openvino_options=object())


def test_a_program(tmp_path):
    b = Builder()
    x, y = b.input("image", (None, 5)), b.tensor("scores", (None, 5))
    b.op("RELU", [x], [y])
    path = tmp_path / "m.tflite"
    signature = ("serving_default", {"image": x}, {"scores": y}, 0)
    path.write_bytes(save(b.outputs(y), signatures=[signature]))
    printed = {}
    for line in INTERPRETERS:
        done = subprocess.run(
            [sys.executable, "-c", line + PROGRAM, str(path)], capture_output=True, text=True
        )
        assert not done.returncode, done.stderr
        printed[line] = done.stdout
    assert "ValueError Cannot set tensor: Got value of type INT8" in printed[INTERPRETERS[0]]
    for line in INTERPRETERS[1:]:
        assert printed[line] == printed[INTERPRETERS[0]], line


@pytest.mark.parametrize(
    "value", [np.float32(0.5), np.int64(-3), np.True_, np.complex64(2j), np.array(b"ab", object)]
)
def test_results_without_dimensions(value, litert):
    """Numbers come as numpy scalars, a string as an array."""
    dtype = "STRING" if value.dtype == object else value.dtype.name.upper()
    b = Builder()
    x, y = b.input("x", (), dtype), b.tensor("y", (), dtype)
    b.op("RESHAPE", [x, b.tensor("shape", (0,), "INT32", data=np.zeros(0, np.int32))], [y])
    content = save(b.outputs(y))
    ((theirs,),) = litert.run(content, [[np.asarray(value)]])
    interpreter = flatlite.lite.Interpreter(model_content=content)
    (ours,) = answers(interpreter, np.asarray(value))
    assert (type(ours), ours.dtype, ours) == (type(theirs), theirs.dtype, theirs)
