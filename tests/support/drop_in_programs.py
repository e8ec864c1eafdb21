"""Short programs as people write them for LiteRT, one function each.

    python drop_in_programs.py MODULE FOLDER

prints as JSON, program by program, what it computed with MODULE: ["", results], or
["ValueError", "words"] of what it raised. Functions take the module and the folder of the models
that test_drop_in_programs.py writes.
"""

import importlib
import json
import queue
import sys
import threading
from pathlib import Path

import numpy as np

PROGRAMS = {}


def program(function):
    """Puts a program into the table, under its own name."""
    PROGRAMS[function.__name__] = function
    return function


def image(shape, seed=0):
    """A picture with pixels from 0 to 255."""
    return np.random.default_rng(seed).integers(0, 256, shape).astype(np.uint8)


def allocated(tflite, path, **options):
    interpreter = tflite.Interpreter(model_path=str(path), **options)
    interpreter.allocate_tensors()
    return interpreter


@program
def label_an_image(tflite, folder):
    """label_image.py"""
    interpreter = allocated(tflite, folder / "scores.tflite", num_threads=2)
    input_details = interpreter.get_input_details()
    output_details = interpreter.get_output_details()
    height, width = input_details[0]["shape"][1:3]
    input_data = np.expand_dims(image((height, width, 3)), axis=0)
    if input_details[0]["dtype"] == np.float32:
        input_data = (np.float32(input_data) - 127.5) / 127.5
    interpreter.set_tensor(input_details[0]["index"], input_data)
    interpreter.invoke()
    results = np.squeeze(interpreter.get_tensor(output_details[0]["index"]))
    top_k = results.argsort()[-3:][::-1]
    return [(int(i), float(results[i])) for i in top_k]


@program
def label_a_quantized_image(tflite, folder):
    """The input's scale is applied, the output's undone."""
    interpreter = allocated(tflite, folder / "quantized.tflite")
    input_detail, output_detail = (
        interpreter.get_input_details()[0],
        interpreter.get_output_details()[0],
    )
    scale, zero_point = input_detail["quantization"]
    picture = np.float32(image(input_detail["shape"])) / 255
    quantized = np.round(picture / scale + zero_point).astype(input_detail["dtype"])
    interpreter.set_tensor(input_detail["index"], quantized)
    interpreter.invoke()
    output = interpreter.get_tensor(output_detail["index"])[0].astype(np.int64)
    parameters = output_detail["quantization_parameters"]
    real = (output - parameters["zero_points"][0]) * parameters["scales"][0]
    return real, output_detail["dtype"].__name__, parameters["quantized_dimension"]


@program
def detect_objects(tflite, folder):
    """Boxes, classes, scores and a count; those above a threshold are drawn."""
    interpreter = allocated(tflite, folder / "detector.tflite")
    boxes, classes, scores, count = (d["index"] for d in interpreter.get_output_details())
    detections = []
    for frame in range(3):
        generator = np.random.default_rng(frame)
        for detail in interpreter.get_input_details():
            values = generator.uniform(0, 1, detail["shape"]).astype(np.float32)
            interpreter.set_tensor(detail["index"], values)
        interpreter.invoke()
        n = int(interpreter.get_tensor(count)[0])
        for i in range(n):
            if interpreter.get_tensor(scores)[0][i] > 0.6:
                label = int(interpreter.get_tensor(classes)[0][i])
                detections.append((frame, label, interpreter.get_tensor(boxes)[0][i]))
    return detections


@program
def stream_frames(tflite, folder):
    """A variable keeps the sum of all frames, until it is reset."""
    interpreter = allocated(tflite, folder / "stream.tflite")
    index_in = interpreter.get_input_details()[0]["index"]
    index_out = interpreter.get_output_details()[0]["index"]
    sums = []
    for frame in np.arange(12, dtype=np.float32).reshape(3, 4):
        interpreter.set_tensor(index_in, frame)
        interpreter.invoke()
        sums.append(interpreter.get_tensor(index_out))
    return sums


@program
def stream_through_a_cell(tflite, folder):
    """The state of an LSTM lasts from call to call, and ends with reset_all_variables."""
    interpreter = allocated(tflite, folder / "lstm.tflite")
    (detail,) = interpreter.get_input_details()
    states = []
    for step in range(4):
        if step == 2:
            interpreter.reset_all_variables()
        interpreter.set_tensor(detail["index"], np.full(detail["shape"], 0.5, np.float32))
        interpreter.invoke()
        output = interpreter.get_tensor(interpreter.get_output_details()[0]["index"])
        states.append(float(output.sum()))
    return states


@program
def run_signatures(tflite, folder):
    interpreter = tflite.Interpreter(model_path=str(folder / "signatures.tflite"))
    encode = interpreter.get_signature_runner("encode")
    decode = interpreter.get_signature_runner("decode")
    code = encode(image=np.float32([[1, -2, 3]]))["code"]
    back = decode(code=code)
    details = encode.get_input_details()["image"]
    return (
        *(interpreter.get_signature_list(), code, back["image"]),
        *(details["shape"], details["name"], list(decode.get_output_details())),
    )


@program
def run_the_only_signature(tflite, folder):
    """Without its key, with another batch."""
    interpreter = tflite.Interpreter(model_path=str(folder / "scores.tflite"))
    runner = interpreter.get_signature_runner()
    output = runner(image=np.zeros((2, 4, 4, 3), np.float32))
    return output["scores"].shape, list(output)


@program
def grow_the_batch(tflite, folder):
    interpreter = tflite.Interpreter(model_path=str(folder / "scores.tflite"))
    shapes = []
    for batch in (1, 3, 3, 2):
        detail = interpreter.get_input_details()[0]
        interpreter.resize_tensor_input(detail["index"], (batch, *detail["shape"][1:]))
        interpreter.allocate_tensors()
        data = np.ones(interpreter.get_input_details()[0]["shape"], np.float32)
        interpreter.set_tensor(detail["index"], data)
        interpreter.invoke()
        output = interpreter.get_output_details()[0]
        result = interpreter.get_tensor(output["index"])
        shapes.append((output["shape"], output["shape_signature"], result.shape))
    return shapes


@program
def serve_from_threads(tflite, folder):
    """A server: every worker has an interpreter of its own."""
    results, jobs = {}, queue.Queue()

    def work():
        interpreter = allocated(tflite, folder / "scores.tflite", num_threads=1)
        detail, output = interpreter.get_input_details()[0], interpreter.get_output_details()[0]
        while (number := jobs.get()) is not None:
            interpreter.set_tensor(detail["index"], np.full(detail["shape"], number, np.float32))
            interpreter.invoke()
            results[number] = interpreter.get_tensor(output["index"])

    workers = [threading.Thread(target=work) for _ in range(4)]
    for worker in workers:
        worker.start()
    for number in (*range(16), *[None] * 4):
        jobs.put(number)
    for worker in workers:
        worker.join()
    return [results[number] for number in range(16)]


@program
def share_with_a_lock(tflite, folder):
    interpreter, lock = allocated(tflite, folder / "stream.tflite"), threading.Lock()
    totals = []

    def work():
        for _ in range(10):
            with lock:
                interpreter.set_tensor(0, np.ones(4, np.float32))
                interpreter.invoke()
                output = interpreter.get_output_details()[0]["index"]
                totals.append(float(interpreter.get_tensor(output)[0]))

    workers = [threading.Thread(target=work) for _ in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return totals


@program
def write_into_tensors(tflite, folder):
    """tensor() gives views; they must be gone before memory is allocated anew."""
    interpreter = allocated(tflite, folder / "scores.tflite")
    view = interpreter.tensor(interpreter.get_input_details()[0]["index"])
    output = interpreter.tensor(interpreter.get_output_details()[0]["index"])
    view()[...] = 0.25
    interpreter.invoke()
    total = float(output().sum())
    reference = view()
    try:
        interpreter.allocate_tensors()
    except RuntimeError as error:
        message = str(error)[:60]
    del reference
    interpreter.allocate_tensors()
    return total, message


@program
def look_at_every_tensor(tflite, folder):
    interpreter = allocated(
        tflite, folder / "scores.tflite", experimental_preserve_all_tensors=True
    )
    interpreter.set_tensor(0, np.float32(image((1, 4, 4, 3))) / 255)
    interpreter.invoke()
    return [
        (detail["name"], detail["shape"], np.sum(interpreter.get_tensor(detail["index"])))
        for detail in interpreter.get_tensor_details()
    ]


@program
def fall_back_from_a_delegate(tflite, folder):
    """Without the library of the accelerator, the processor runs the model."""
    try:
        delegates = [tflite.load_delegate("libedgetpu.so.1", {"device": "usb"})]
    except (OSError, ValueError):
        delegates = None
    interpreter = allocated(tflite, folder / "scores.tflite", experimental_delegates=delegates)
    interpreter.invoke()
    return interpreter.get_output_details()[0]["name"]


@program
def choose_a_resolver(tflite, folder):
    outputs = []
    for kind in ("AUTO", "BUILTIN", "BUILTIN_REF", "BUILTIN_WITHOUT_DEFAULT_DELEGATES"):
        resolver = getattr(tflite.OpResolverType, kind)
        interpreter = allocated(
            tflite, folder / "scores.tflite", experimental_op_resolver_type=resolver
        )
        interpreter.set_tensor(0, np.ones((1, 4, 4, 3), np.float32))
        interpreter.invoke()
        outputs.append(interpreter.get_tensor(interpreter.get_output_details()[0]["index"]))
    return outputs


@program
def pass_experimental_flags(tflite, folder):
    interpreter = allocated(
        *(tflite, folder / "scores.tflite"),
        experimental_preserve_all_tensors=False,
        experimental_disable_delegate_clustering=True,
        experimental_default_delegate_latest_features=True,
    )
    return interpreter.get_input_details()[0]["shape_signature"]


@program
def register_no_custom_operators(tflite, folder):
    """InterpreterWithCustomOps, as TensorFlow Text's users have it."""
    interpreter = tflite.InterpreterWithCustomOps(
        model_path=str(folder / "scores.tflite"), custom_op_registerers=[]
    )
    interpreter.allocate_tensors()
    return interpreter.get_input_details()[0]["name"]


@program
def load_a_delegate_that_is_not_there(tflite, folder):
    tflite.load_delegate("libnone.so", options={"a": "b", "c": 1})


@program
def read_a_tensor_that_is_not_there(tflite, folder):
    allocated(tflite, folder / "scores.tflite").get_tensor(99)


@program
def give_two_models(tflite, folder):
    path = folder / "scores.tflite"
    tflite.Interpreter(model_path=str(path), model_content=path.read_bytes())


@program
def load_from_bytes(tflite, folder):
    content = Path(folder / "scores.tflite").read_bytes()
    interpreter = tflite.Interpreter(model_content=content)
    interpreter.allocate_tensors()
    return [(d["name"], d["index"], d["dtype"].__name__) for d in interpreter.get_input_details()]


@program
def list_operators(tflite, folder):
    interpreter = tflite.Interpreter(model_path=str(folder / "scores.tflite"))
    return [detail["op_name"] for detail in interpreter._get_ops_details()]


@program
def miss_a_custom_operator(tflite, folder):
    interpreter = tflite.Interpreter(str(folder / "custom.tflite"))
    interpreter.allocate_tensors()


@program
def miss_a_file(tflite, folder):
    tflite.Interpreter(model_path="no_such_model.tflite")


@program
def load_what_is_no_model(tflite, folder):
    tflite.Interpreter(model_content=b"\0" * 100)


@program
def forget_to_allocate(tflite, folder):
    tflite.Interpreter(model_path=str(folder / "scores.tflite")).invoke()


@program
def feed_pixels_to_a_float_model(tflite, folder):
    interpreter = allocated(tflite, folder / "scores.tflite")
    interpreter.set_tensor(interpreter.get_input_details()[0]["index"], image((1, 4, 4, 3)))


@program
def forget_the_batch(tflite, folder):
    interpreter = allocated(tflite, folder / "scores.tflite")
    interpreter.set_tensor(0, np.zeros((4, 4, 3), np.float32))


@program
def feed_a_larger_batch(tflite, folder):
    interpreter = allocated(tflite, folder / "scores.tflite")
    interpreter.set_tensor(0, np.zeros((2, 4, 4, 3), np.float32))


@program
def ask_for_a_signature_that_is_not_there(tflite, folder):
    tflite.Interpreter(str(folder / "signatures.tflite")).get_signature_runner("serving_default")


@program
def ask_for_the_only_one_of_two(tflite, folder):
    tflite.Interpreter(str(folder / "signatures.tflite")).get_signature_runner()


@program
def call_a_signature_with_another_name(tflite, folder):
    interpreter = tflite.Interpreter(str(folder / "signatures.tflite"))
    interpreter.get_signature_runner("encode")(x=np.zeros((1, 3), np.float32))


@program
def resize_what_is_fixed(tflite, folder):
    interpreter = allocated(tflite, folder / "stream.tflite")
    interpreter.resize_tensor_input(0, [8], strict=True)


@program
def ask_for_no_threads(tflite, folder):
    tflite.Interpreter(str(folder / "scores.tflite"), num_threads=0)


def plain(value):
    """What JSON can hold of a result; floats to four digits."""
    if isinstance(value, (np.ndarray, np.generic)):
        value = value.tolist()
    if isinstance(value, float):
        return float(f"{value:.4g}")
    if isinstance(value, dict):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    return value


def outcome(name, tflite, folder):
    """What a program did: type and words of the exception, or "" and its results."""
    try:
        return ["", plain(PROGRAMS[name](tflite, Path(folder)))]
    except Exception as error:  # whatever it is, it is compared
        return [type(error).__name__, str(error)]


if __name__ == "__main__":
    module = importlib.import_module(sys.argv[1])
    print(json.dumps({name: outcome(name, module, sys.argv[2]) for name in PROGRAMS}))
