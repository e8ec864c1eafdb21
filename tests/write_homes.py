"""Writes which module has the row of each name, so that no other is imported: `make stubs`.

With --check, names the files that are not as they would be written, and fails.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from importlib import import_module
from pathlib import Path

from flatlite.schema.registry import Registry

ROOT = Path(__file__).parents[1]
TABLES = {
    "graph.ops": "graph.core.registry.OPS",
    "graph.derivatives": "graph.derivatives.registry.DERIVATIVES",
    "converter.tf": "converter.tf.registry.LOWERINGS",
    "converter.onnx": "converter.onnx.registry.LOWERINGS",
    "converter.keras": "converter.keras.registry.LAYERS",
}
"""Package with the modules -> registry of their rows."""
HEAD = '''"""Which module of this package has the row of each name; tests/write_homes.py writes it.

A name that is missing here is looked for in all of them.
"""
# ruff: noqa: E501

HOMES = """
'''


def modules_by_name(package: str) -> dict[str, list[str]]:
    """The modules of a package -> the names whose rows they add."""
    module, _, attribute = TABLES[package].rpartition(".")
    registry = getattr(import_module(f"flatlite.{module}"), attribute)
    names: dict[str, list[str]] = defaultdict(list)
    add = Registry.add

    def add_noted(self: Registry, name: str, row: object) -> None:
        if self is registry:
            names[_importing(package)].append(name)
        add(self, name, row)

    Registry.add = add_noted
    try:
        folder = ROOT / package.replace(".", "/")
        for path in sorted(folder.rglob("*.py")):
            module = ".".join(path.relative_to(folder).with_suffix("").parts)
            import_module(f"flatlite.{package}.{module.removesuffix('.__init__')}")
    finally:
        Registry.add = add
    missing = set(registry.names()) - {name for listed in names.values() for name in listed}
    if missing:
        raise SystemExit(f"{package}: no module of it adds {sorted(missing)}")
    return names


def _importing(package: str) -> str:
    """The module of a package that is being imported."""
    frame = sys._getframe()
    start = f"flatlite.{package}."
    while frame is not None:
        name = frame.f_globals["__name__"]
        if frame.f_code.co_name == "<module>" and name.startswith(start):
            return name.removeprefix(start)
        frame = frame.f_back
    raise RuntimeError(f"a row is added while no module of {package} is imported")


def text_of(package: str) -> str:
    """What a package's homes.py has to be."""
    lines = [
        f"{module}: {' '.join(sorted(names))}\n"
        for module, names in sorted(modules_by_name(package).items())
    ]
    return f'{HEAD}{"".join(lines)}"""\n'


def main() -> None:
    """Writes the files, or compares them."""
    wrong: list[str] = []
    for package in TABLES:
        path, text = ROOT / package.replace(".", "/") / "homes.py", text_of(package)
        if "--check" not in sys.argv[1:]:
            path.write_text(text)
        elif path.read_text() != text:
            wrong.append(str(path.relative_to(ROOT)))
    if wrong:
        raise SystemExit(f"{', '.join(wrong)}: run `make stubs`")


if __name__ == "__main__":
    main()
