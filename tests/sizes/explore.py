"""Draws programs over shapes, converts them and compares the files with the sources.

    python tests/sizes/explore.py --count 100000 --jobs 2 --log build/explore.txt
    python tests/sizes/explore.py --wider --count 20000

Says what differs as it goes. The log holds what is done, so that the same command goes on where it
was stopped; a program of it again: --only tf/17.
"""

from __future__ import annotations

import argparse
import random
import sys
import warnings
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))

import numpy as np
from draw import draw
from programs_run import converter_of, wrong_answers
from stored import feeds, sample

from flatlite.converter.sources.onnx import load
from flatlite.errors import OpError
from flatlite.graph.core.evaluate import evaluate
from flatlite.graph.format.graphdef import import_graph_def
from flatlite.schema import proto
from litert import LiteRT

FIRST = 10_000  # number of a program; those before may be recorded ones
CHUNK = 100  # programs that a process does at a time
N_ROUNDED = 4  # answers to inputs that are rounded otherwise
ROUNDINGS = 8  # as large as that of the inputs, on the way to an answer
REFUSALS = (OpError, ValueError, RuntimeError, TypeError, IndexError)


def source_of(program):
    """A function of the inputs that gives the source's own outputs."""
    if program.kind == "onnx":
        oracle = load(program.content).oracle()  # that of onnx, with the places of ONNX Runtime
        return lambda arrays: oracle.run(oracle.outputs, arrays)
    graph = import_graph_def(proto.parse("GraphDef", program.content))
    outputs = [graph.get_tensor(f"out{i}:0") for i in range(program.n_outputs)]
    inputs = [graph.get_tensor(f"{name}:0") for name, *_ in program.inputs]
    return lambda arrays: evaluate(graph, outputs, dict(zip(inputs, arrays, strict=True)))


def rounding_of(run, arrays) -> list[float]:
    """How far rounding may move each output of the source: where large numbers cancel, far more
    than a share of what is left of them.

    As far as the outputs move when each input does by the least that float32 can tell, times
    `ROUNDINGS`.
    """
    generator, moved = np.random.default_rng(5), []
    expected = run(arrays)
    for _ in range(N_ROUNDED):
        near = [
            np.nextafter(x, generator.choice(np.float32([-2, 2]), x.shape))
            if x.dtype.kind == "f"
            else x
            for x in arrays
        ]
        pairs = zip(run(near), expected, strict=True)
        moved.append([np.abs(np.subtract(x, y, dtype=float)).max(initial=0) for x, y in pairs])
    return [
        ROUNDINGS * float(np.nan_to_num(one, posinf=0).max()) for one in zip(*moved, strict=True)
    ]


def check(kind: str, number: int, litert, n_sizes: int) -> list[str]:
    """What is wrong of the file of one program, at some of its sizes."""
    program = draw(kind, number)
    sizes = list(program.sizes)
    random.Random(number).shuffle(sizes)
    run, rows = source_of(program), []
    for row in sizes:
        arrays = feeds(program.inputs, program.shapes(row))
        try:
            with np.errstate(all="ignore"):
                outputs = run(arrays)
        except REFUSALS:
            continue
        rows.append((arrays, [(np.shape(x), sample(x)) for x in outputs]))
        if len(rows) == n_sizes:
            break
    if not rows:
        return ["the source refuses every size"]
    converter = converter_of(program.kind, program.content, program.inputs, program.n_outputs)
    converter.verify = False
    content = converter.convert()
    wrong = wrong_answers(content, rows, litert)
    if not wrong:
        return []
    with np.errstate(all="ignore"):
        rows = [
            (arrays, [(*w, r) for w, r in zip(want, rounding_of(run, arrays), strict=True)])
            for arrays, want in rows
        ]
    return wrong_answers(content, rows, litert)


def report(name: str, litert, n_sizes: int = 20) -> str:
    """ "" when a program's file is right, else what is wrong, in a line."""
    kind, number = name.split("/")
    try:
        wrong = check(kind, int(number), litert, n_sizes)
    except Exception as error:  # whatever it is, it is a finding
        wrong = [f"{type(error).__name__}: {error}"]
    return " | ".join(wrong).replace("\n", " ")[:500]


def chunk(start: int, kinds=("tf", "onnx")) -> tuple[int, list[str]]:
    """The findings of some programs of two kinds."""
    warnings.simplefilter("ignore")
    litert, numbers = LiteRT(), range(start, start + CHUNK // 2)
    names = [f"{kind}/{i}" for i in numbers for kind in kinds]
    reports = [(name, report(name, litert)) for name in names]
    litert.close()
    return start, [f"{name}: {text}" for name, text in reports if text]


def main() -> None:
    """Explores until `count` programs are done."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--start", type=int, default=FIRST, help="number of the first program")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--log", type=Path)
    parser.add_argument("--wider", action="store_true", help="with the steps of wider_steps.py")
    parser.add_argument("--only", metavar="KIND/NUMBER")
    arguments = parser.parse_args()
    if arguments.only:
        litert = LiteRT()
        print(report(arguments.only, litert) or "right")
        litert.close()
        return
    kinds = ("wider_tf", "wider_onnx") if arguments.wider else ("tf", "onnx")
    log, lines = arguments.log, []
    if log and log.exists():
        lines = log.read_text().splitlines()
    done = {int(line.split()[1]) for line in lines if line.startswith("done ")}
    starts = range(arguments.start, arguments.start + arguments.count // 2, CHUNK // 2)
    n_wrong = sum(not line.startswith("done ") for line in lines)
    with ProcessPoolExecutor(arguments.jobs) as pool:
        left = [pool.submit(chunk, start, kinds) for start in starts if start not in done]
        for start, wrong in (future.result() for future in as_completed(left)):
            print(*wrong, sep="\n", end="\n" * bool(wrong), flush=True)
            n_wrong += len(wrong)
            if log:
                with log.open("a") as file:
                    file.writelines(f"{line}\n" for line in [*wrong, f"done {start}"])
    print(f"{n_wrong} of {len(starts) * CHUNK} programs are wrong")


if __name__ == "__main__":
    main()
