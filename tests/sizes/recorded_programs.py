"""programs.npz: programs over shapes with what TensorFlow and ONNX Runtime answered."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

PATH = Path(__file__).with_name("programs.npz")


@dataclass(frozen=True)
class Recorded:
    """One program: its file's bytes, ports, and (shapes of inputs, [(shape, elements)]) by size."""

    name: str
    content: bytes
    inputs: list
    n_outputs: int
    steps: list[str]
    answers: list


def read(path: Path = PATH) -> dict[str, Recorded]:
    """All programs by name, such as "tf/17"."""
    arrays = np.load(path)
    rows = json.loads(arrays["rows"].tobytes())
    contents = arrays["contents"].tobytes()
    places = {"f": 0, "i": 0, "l": 0}
    numbers = {kind: arrays[f"elements_{kind}"] for kind in places}
    programs, start = {}, 0
    for row in rows:
        content = contents[start : start + row["bytes"]]
        start += row["bytes"]
        answers = []
        for shapes, outputs in row["answers"]:
            pairs = []
            for shape, kind, n in outputs:
                pairs.append((shape, numbers[kind][places[kind] : places[kind] + n]))
                places[kind] += n
            answers.append(([tuple(shape) for shape in shapes], pairs))
        name = row["name"]
        programs[name] = Recorded(
            name, content, row["inputs"], row["n_outputs"], row["steps"], answers
        )
    return programs


def write(programs: list[Recorded], path: Path = PATH) -> None:
    """Stores programs; all numbers of a type lie in one array, in the order of the answers."""
    kinds = {"float32": "f", "int32": "i", "int64": "l"}
    numbers: dict[str, list] = {"f": [], "i": [], "l": []}
    rows = []
    for program in programs:
        answers = []
        for shapes, outputs in program.answers:
            row = []
            for shape, elements in outputs:
                kind = kinds[elements.dtype.name]
                numbers[kind].append(elements)
                row.append([list(shape), kind, elements.size])
            answers.append([shapes, row])
        rows.append(
            {
                "name": program.name,
                "bytes": len(program.content),
                "inputs": program.inputs,
                "n_outputs": program.n_outputs,
                "steps": program.steps,
                "answers": answers,
            }
        )
    empty = {"f": np.float32([]), "i": np.int32([]), "l": np.int64([])}
    arrays = {f"elements_{k}": np.concatenate([empty[k], *v]) for k, v in numbers.items()}
    np.savez_compressed(
        path,
        rows=np.frombuffer(json.dumps(rows).encode(), np.uint8),
        contents=np.frombuffer(b"".join(p.content for p in programs), np.uint8),
        **arrays,
    )
