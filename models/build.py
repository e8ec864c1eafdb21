"""Writes the models of `make bench` with TensorFlow's own converter.

Run in an environment of its own with `pip install tensorflow-cpu tf_keras`:

    python models/build.py [--folder build/benchmarks] [--models NAME,...] [--record]

Each network of networks.py is written as float32, dynamic (dynamic-range weights), int8 and int16x8
by write.py, in a process of its own: TensorFlow's converter can take it down. What is there and was
written by the same recipe and TensorFlow stays. FOLDER/built.json tells each file's hash, or why
TensorFlow could not write it; the hashes to expect are in benchmarks.json, which --record writes.
Networks whose statistics TensorFlow computes have other last bits on processors of another kind.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import importlib.metadata
import json
import platform
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).parent
MANIFEST = HERE / "benchmarks.json"
VARIANTS = ("float32", "dynamic", "int8", "int16x8")


def names() -> list[str]:
    """The networks in networks.py, read without importing TensorFlow."""
    for statement in ast.parse((HERE / "networks.py").read_text()).body:
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "NETWORKS":
            return [ast.literal_eval(key) for key in statement.value.keys]
    raise ValueError("networks.py must assign NETWORKS")


def recipe() -> str:
    """What the files depend on: TensorFlow's version and the two modules that write them."""
    sources = [(HERE / name).read_bytes() for name in ("networks.py", "write.py")]
    package = importlib.metadata.packages_distributions()["tensorflow"][0]
    version = importlib.metadata.version(package)
    return f"tensorflow {version}, {hashlib.sha256(b''.join(sources)).hexdigest()[:16]}"


def processor() -> str:
    """The processor's name and model number, where the system tells them."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.machine()
    fields = {
        key.strip(): value.strip() for key, _, value in (line.partition(":") for line in lines)
    }
    return f"{fields.get('model name', platform.machine())}, model {fields.get('model', 'unknown')}"


def written(folder: Path, name: str) -> Iterator[tuple[str, dict]]:
    """Writes all variants of one network; yields (variant, its hash or refusal)."""
    missing = list(VARIANTS)
    while missing:
        command = [sys.executable, str(HERE / "write.py"), str(folder), name, *missing]
        done = subprocess.run(command, capture_output=True, text=True)
        for line in done.stdout.splitlines():
            if line.startswith('{"variant"'):
                result = json.loads(line)
                missing.remove(variant := result.pop("variant"))
                yield variant, result
        if done.returncode:
            if not missing or done.returncode > 0:
                raise RuntimeError(f"{' '.join(command)} failed:\n{done.stderr}")
            word = signal.Signals(-done.returncode).name
            yield missing.pop(0), {"refused": f"TensorFlow's converter died of {word}"}


def complete(folder: Path, name: str, results: dict[str, dict]) -> bool:
    """Whether every variant of a network was refused, or is still there."""
    return set(results) == set(VARIANTS) and all(
        "refused" in result or (folder / f"{name}_{variant}.tflite").exists()
        for variant, result in results.items()
    )


def main() -> None:
    """Writes what is missing and compares it with the manifest."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", type=Path, default=HERE.parent / "build/benchmarks")
    parser.add_argument("--models", help="only these, with commas")
    parser.add_argument("--record", action="store_true", help="write the manifest of hashes")
    arguments = parser.parse_args()
    chosen = arguments.models.split(",") if arguments.models else names()
    if unknown := sorted({*chosen} - {*names()}):
        parser.error(f"--models must be of {', '.join(names())}; got {', '.join(unknown)}")
    folder = arguments.folder
    folder.mkdir(parents=True, exist_ok=True)
    record = folder / "built.json"
    built = json.loads(record.read_text()) if record.exists() else {}
    if built.get("recipe") != recipe():
        built = {"recipe": recipe(), "processor": processor(), "models": {}}
    for name in chosen:
        if complete(folder, name, built["models"].get(name, {})):
            continue
        built["models"][name] = {}
        for variant, result in written(folder, name):
            print(name, variant, result.get("refused", "written"), flush=True)
            built["models"][name][variant] = result
        record.write_text(json.dumps(built, indent=1) + "\n")
    if arguments.record:
        MANIFEST.write_text(json.dumps({"processor": processor(), **built}, indent=1) + "\n")
    manifest = json.loads(MANIFEST.read_text())
    for name, variants in built["models"].items():
        expected = manifest["models"].get(name, {})
        if other := [v for v, result in variants.items() if result != expected.get(v)]:
            print(
                f"{name} {', '.join(other)}: not the bytes of the manifest, "
                f"which was written on {manifest['processor']}"
            )


if __name__ == "__main__":
    main()
