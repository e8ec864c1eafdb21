"""A quick suite on every Python from 3.10 to 3.14 this machine has: `make test-pythons`.

Each gets an environment .venv-3.N, and compiles its kernels itself, as numba reads its bytecode.
Pythons are looked for on PATH, then among those of pyenv.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
VERSIONS = [f"3.{minor}" for minor in range(10, 15)]
NEEDED = ["pytest>=8.2", "hypothesis>=6.100", "psutil>=5.9"]  # without LiteRT and JAX
QUICK = (
    "test_packaging.py engine/test_compiler.py engine/test_declaration.py engine/test_program.py "
    "engine/test_pairs.py engine/test_movement.py engine/test_threads.py schema/test_records.py "
    "schema/test_proto.py interpreter/test_interpreter.py interpreter/test_plan_cache.py "
    "graph/test_graph.py graph/test_session.py graph/expressions/test_expressions.py "
    "training/test_optimizers.py training/test_gradients.py"
)
ASK = "import sys; print('%d.%d' % sys.version_info[:2])"


def find(version: str) -> Path | None:
    """A Python of a version that runs; pyenv has names on PATH that do not."""
    pyenv = Path(os.environ.get("PYENV_ROOT", "~/.pyenv")).expanduser()
    places = [
        shutil.which(f"python{version}"),
        *sorted(pyenv.glob(f"versions/{version}.*/bin/python{version}")),
    ]
    for place in filter(None, places):
        done = subprocess.run([place, "-c", ASK], capture_output=True, text=True)
        if (done.returncode, done.stdout.strip()) == (0, version):
            return Path(place)
    return None


def passes(version: str, python: Path) -> bool:
    """Whether the suite passes in the environment of a Python, which is made now."""
    environment = ROOT / f".venv-{version}"
    interpreter = environment / "bin" / "python"
    if not interpreter.exists():
        subprocess.run([python, "-m", "venv", environment], check=True)
    pip = [interpreter, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    # Nothing is compiled that has a wheel.
    options = ["--prefer-binary", "--editable", ".[image]"]
    if subprocess.run([*pip, *options, *NEEDED]).returncode:
        return False
    cache = {"FLATLITE_CACHE": str(environment / "kernels")}
    tests = [f"tests/{name}" for name in QUICK.split()]
    command = [interpreter, "-m", "pytest", "-q", "-m", "not slow", "--without-litert", *tests]
    return subprocess.run(command, env={**os.environ, **cache}).returncode == 0


def main() -> int:
    """Runs the suite everywhere; 1 when it fails anywhere, or there is no Python at all."""
    os.chdir(ROOT)
    pythons = {version: find(version) for version in VERSIONS}
    results = {}
    for version, python in pythons.items():
        if python is None:
            results[version] = "not found"
            continue
        print(f"Python {version}: {python}", flush=True)
        results[version] = "passed" if passes(version, python) else "FAILED"
    for version, result in results.items():
        print(f"Python {version}: {result}")
    return 0 if {"passed"} <= {*results.values()} <= {"passed", "not found"} else 1


if __name__ == "__main__":
    sys.exit(main())
