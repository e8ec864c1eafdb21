"""Says which of the models in a folder a runtime runs; with that runtime's own Python.

    python tests/schema/runtime_child.py tflite_runtime FOLDER
    python tests/schema/runtime_child.py tflite_micro FOLDER

A model is NAME.tflite, its inputs NAME.npz with arrays "0", "1" and so on. What runs gets its
results in NAME.out.npz; the names that do are printed. Every model has a process of its own: some
abort.
"""

import os
import signal
import sys
from pathlib import Path

import numpy as np

ARENA = 1 << 24  # bytes
SECONDS = 60  # after which a model that does not end counts as one that does not run


def plain(array: np.ndarray) -> np.ndarray:
    """An array that a file holds without pickling."""
    return array.astype(np.bytes_) if array.dtype.hasobject else array


def tflite_runtime(content: bytes, feeds: list) -> list:
    """The results of LiteRT as it was called before."""
    from tflite_runtime.interpreter import Interpreter

    interpreter = Interpreter(model_content=content, num_threads=1)
    details = interpreter.get_input_details()
    for detail, array in zip(details, feeds, strict=True):
        if tuple(detail["shape"]) != array.shape:
            interpreter.resize_tensor_input(detail["index"], array.shape)
    interpreter.allocate_tensors()
    for detail, array in zip(details, feeds, strict=True):
        interpreter.set_tensor(detail["index"], array)
    interpreter.invoke()
    details = interpreter.get_output_details()  # again: the shapes are those of this run
    return [
        plain(interpreter.get_tensor(d["index"]))
        if d["shape"].all()
        else np.zeros(d["shape"], d["dtype"])
        for d in details
    ]


def tflite_micro(content: bytes, feeds: list) -> list:
    """The results of TensorFlow Lite Micro."""
    from tflite_micro import runtime

    interpreter = runtime.Interpreter.from_bytes(content, arena_size=ARENA)
    for i, array in enumerate(feeds):
        interpreter.set_input(array, i)
    interpreter.invoke()
    model = runtime.convert_bytearray_to_object(content)
    outputs = range(len(model.subgraphs[0].outputs))
    return [np.array(interpreter.get_output(i)) for i in outputs]


RUNTIMES = {"tflite_runtime": tflite_runtime, "tflite_micro": tflite_micro}


def runs(runtime: str, path: Path) -> bool:
    """Whether a model runs, in a forked process."""
    child = os.fork()
    if child == 0:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        os.dup2(null, 2)
        status = 1
        signal.alarm(SECONDS)  # ends the process
        try:
            arrays = np.load(path.with_suffix(".npz"), allow_pickle=False)
            feeds = [arrays[str(i)] for i in range(len(arrays.files))]
            results = RUNTIMES[runtime](path.read_bytes(), feeds)
            named = {str(i): array for i, array in enumerate(results)}
            np.savez(path.with_suffix(".out.npz"), **named)
            status = 0
        finally:
            os._exit(status)
    return os.waitpid(child, 0)[1] == 0


def main(runtime: str, folder: str) -> None:
    """Prints the names of the models that run."""
    __import__({"tflite_runtime": "tflite_runtime.interpreter"}.get(runtime, runtime))
    for path in sorted(Path(folder).glob("*.tflite")):
        if runs(runtime, path):
            print(path.stem, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
