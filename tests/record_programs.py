"""Records what TensorFlow makes of programs and calls that tests compare with.

    python tests/record_programs.py [MODULE.py ...]    # with tensorflow-cpu 2.21 and tf_keras

Each module under tests/ that has a function `outcomes(tf)` gets a file of JSON beside it, a row for
each key of its result; without arguments, all of them. A module runs in a process of its own with
TensorFlow 1's behavior, as programs change settings.
"""

# pyright: reportMissingImports=false
from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def modules() -> list[Path]:
    """All modules with `outcomes`."""
    return sorted(
        path
        for path in (ROOT / "tests").rglob("*_*.py")
        if re.search(r"^def outcomes\(tf\)", path.read_text(), re.MULTILINE)
    )


def record(path: Path) -> None:
    """Runs a module's programs with TensorFlow and writes what comes out."""
    os.environ.setdefault("TF_USE_LEGACY_KERAS", "1")
    sys.path[:0] = [str(ROOT), str(path.parent)]
    import tensorflow.compat.v1 as tf

    tf.disable_v2_behavior()
    module = import_module(".".join(path.resolve().relative_to(ROOT).with_suffix("").parts))
    recorded = module.outcomes(tf)
    rows = ",\n".join(f"{json.dumps(name)}: {json.dumps(row)}" for name, row in recorded.items())
    path.with_suffix(".json").write_text(f"{{\n{rows}\n}}\n")


def main(paths: list[str]) -> None:
    """Records modules, each in a process of its own."""
    if len(paths) == 1:
        record(Path(paths[0]))
        return
    for path in paths or map(str, modules()):
        subprocess.run([sys.executable, __file__, path], check=True)


if __name__ == "__main__":
    main(sys.argv[1:])
