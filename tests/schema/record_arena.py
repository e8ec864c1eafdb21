"""Writes what operators keep in TensorFlow Lite Micro into tools/micro/measured.py: `make arenas`.

    .venv/bin/python tests/schema/record_arena.py PYTHON

PYTHON has the wheel tflite-micro. What a model of one operator takes from the end of its arena,
less what arena.py computes of tensors and shapes, is what the operator keeps; the most that any of
its models keeps is its row. The arenas of tests/corpus are written into arenas.json beside this,
which tests/test_micro.py holds the estimates against.
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
import tempfile
from collections import defaultdict
from itertools import islice
from pathlib import Path

from record_targets import models

from flatlite.schema.model import load
from flatlite.schema.targets import types as target_types
from flatlite.tools.micro import arena, measured

ROOT = Path(__file__).parents[2]
CHILD = Path(__file__).with_name("arena_child.py")
ARENAS = Path(__file__).with_name("arenas.json")
LARGEST = 1 << 19  # bytes of a file
MODELS = 60  # of one operator
HEAD = '''"""Bytes that an operator keeps in TensorFlow Lite Micro; `make arenas` measures them."""

OPERATOR_BYTES = {
'''


def micro(python: str, folder: str, sizes: dict[str, int]) -> dict[str, dict[str, int]]:
    """What the wheel says of the models of a folder."""
    command = [python, str(CHILD), folder, json.dumps(sizes)]
    return json.loads(subprocess.run(command, capture_output=True, check=True).stdout)


def operators(python: str) -> dict[str, int]:
    """Operator -> the most bytes that it keeps."""
    measured.OPERATOR_BYTES.clear()
    measured.OPERATOR_BYTES[arena.MOST] = 0
    counts: dict[str, int] = defaultdict(int)
    kinds = [row.split()[0] for row in target_types.MICRO.splitlines() if row]
    with tempfile.TemporaryDirectory() as folder:
        contents: dict[str, bytes] = {}
        for kind in kinds:
            for i, (_, _, content, _) in enumerate(islice(models(kind), MODELS)):
                contents[f"{kind}-{i}"] = content
        for path in corpus():
            contents[name_of(path)] = path.read_bytes()
        for name, content in contents.items():
            Path(folder, f"{name}.tflite").write_bytes(content)
        result = micro(python, folder, {})
    used = {name: arena.operators_of(load(contents[name])) for name in result}
    # then what is the only one without a row in a file; then several together, each the same
    for is_selected in (_is_single, _is_only_one, any):
        known = dict(counts)
        measured.OPERATOR_BYTES.update(known)
        for name, numbers in result.items():
            unknown = [kind for kind in used[name] if kind not in known]
            if unknown and is_selected([kind not in known for kind in used[name]]):
                without = arena.arena_of(load(contents[name])).persistent + arena.RECORDER
                more = math.ceil((numbers["tail"] - without) / len(unknown))
                for kind in unknown:
                    counts[kind] = max(counts[kind], more)
    return dict(sorted(counts.items()))


def _is_single(unknown: list[bool]) -> bool:
    return unknown == [True]


def _is_only_one(unknown: list[bool]) -> bool:
    return sum(unknown) == 1


def corpus() -> list[Path]:
    """The files of the corpus."""
    paths = sorted((ROOT / "tests/corpus").rglob("*.tflite"))
    return [path for path in paths if path.stat().st_size <= LARGEST]


def name_of(path: Path) -> str:
    """A file of the corpus, in one word."""
    return str(path.relative_to(ROOT / "tests/corpus").with_suffix("")).replace("/", "+")


def main(python: str) -> None:
    """Writes the rows, and then the arenas of the corpus."""
    rows = operators(python)
    text = "".join(f'    "{op}": {size},\n' for op, size in rows.items())
    Path(measured.__file__).write_text(f"{HEAD}{text}}}\n")
    measured.OPERATOR_BYTES.clear()
    measured.OPERATOR_BYTES.update(rows)
    with tempfile.TemporaryDirectory() as folder:
        sizes = {}
        for path in corpus():
            Path(folder, f"{name_of(path)}.tflite").write_bytes(path.read_bytes())
            sizes[name_of(path)] = arena.arena_of(load(path.read_bytes())).size + arena.RECORDER
        actual = micro(python, folder, sizes)
    arenas = {n: {k: x[k] for k in ("head", "tail", "least")} for n, x in sorted(actual.items())}
    lines = ",\n".join(f" {json.dumps(n)}: {json.dumps(x)}" for n, x in arenas.items())
    ARENAS.write_text(f"{{\n{lines}\n}}\n")
    slack = sorted(sizes[n] / x["least"] for n, x in actual.items())
    print(
        f"estimates are {slack[len(slack) // 2]:.3f} (median), {slack[-1]:.3f} (most) of the least"
    )
    failed = [name for name, numbers in actual.items() if not numbers["fits"]]
    print(f"{len(rows)} operators, {len(actual)} files run, {len(failed)} not in their estimate")
    print(*failed, sep="\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
