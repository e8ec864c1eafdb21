"""Says how TensorFlow Lite Micro lays out models, in its own Python.

    python tests/schema/arena_child.py FOLDER [SIZES]

Prints JSON: for each NAME.tflite in FOLDER that it runs, the bytes of the head and the tail of its
arena, and, when SIZES has a size for the name, whether an arena of that size suffices and the least
one that does, in steps of 16. A model has a process of its own.
"""

import json
import os
import re
import sys
import tempfile
from pathlib import Path

from tflite_micro import runtime

ARENA = 1 << 24  # bytes
STEP = 16


def measured(content: bytes) -> dict:
    """The bytes of a model's arena; what cannot be allocated raises RuntimeError."""
    with tempfile.TemporaryFile() as log:
        stderr_copy = os.dup(2)
        os.dup2(log.fileno(), 2)
        interpreter = runtime.Interpreter.from_bytes(content, arena_size=ARENA)
        interpreter.print_allocations()
        os.dup2(stderr_copy, 2)
        log.seek(0)
        text = log.read().decode()
    return {key: int(n) for key, n in re.findall(r"(head|tail) (\d+) bytes", text)}


def fits(content: bytes, size: int) -> bool:
    """Whether a model is allocated in an arena of a size; when it runs, it takes no more."""
    try:
        runtime.Interpreter.from_bytes(content, arena_size=size)
    except RuntimeError:
        return False
    return True


def least(content: bytes, numbers: dict) -> int:
    """The least size that suffices, in steps of 16."""
    low, high = (numbers["head"] + numbers["tail"]) // STEP - 1, ARENA // STEP
    step = 1
    while low + step < high and not in_process(fits, content, (low + step) * STEP):
        low, step = low + step, 2 * step
    high = low + step
    while high - low > 1:
        middle = (low + high) // 2
        if in_process(fits, content, middle * STEP):
            high = middle
        else:
            low = middle
    return high * STEP


def in_process(function, *arguments):
    """What a function gives in a forked process; None when that dies or raises."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        os.dup2(null, 2)
        try:
            os.write(writer, json.dumps(function(*arguments)).encode())
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as file:
        text = file.read()
    os.waitpid(child, 0)
    return json.loads(text) if text else None


def main(folder: str, sizes: str = "{}") -> None:
    """Prints what is known of all models of a folder."""
    limits = json.loads(sizes)
    result = {}
    for path in sorted(Path(folder).glob("*.tflite")):
        content = path.read_bytes()
        numbers = in_process(measured, content)
        if numbers is None:
            continue
        if path.stem in limits:
            numbers["fits"] = in_process(fits, content, limits[path.stem]) or False
            numbers["least"] = least(content, numbers)
        result[path.stem] = numbers
    print(json.dumps(result))


if __name__ == "__main__":
    main(*sys.argv[1:])
