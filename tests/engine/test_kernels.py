"""What holds for all files of engine/kernels."""

import ast
from pathlib import Path

import pytest

from flatlite.engine import build, cache, image

OUTSIDE = {"contextlib", "functools", "llvmlite", "math", "numba", "numpy", "__future__"}
ENGINE = {"declaration", "faults", "fixedpoint", "kernel", "lanes", "target", "vector", "words"}
FILES = sorted(Path(cache.ENGINE, "kernels").glob("*.py"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_imports_are_those_an_image_is_named_by(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            assert {alias.name.split(".")[0] for alias in node.names} <= OUTSIDE
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            assert node.module.split(".")[0] in OUTSIDE
        elif isinstance(node, ast.ImportFrom):
            names = [node.module] if node.module else [alias.name for alias in node.names]
            allowed = ENGINE if node.level == 2 else {n for n in names if n.startswith("_")}
            assert set(names) <= allowed
            assert node.col_offset == 0


@pytest.fixture(scope="module")
def images():
    build.build_all()
    return {module: image.loaded(module) for module in cache.modules()}


@pytest.mark.parametrize("module", [m for m in cache.modules() if m not in ("crew", "launch")])
def test_every_choice_of_dtypes_is_compiled(images, module):
    made = images[module]
    declared = [made.declaration(name) for name in made.kernels]
    keys = {one.key(choice) for one in declared for choice in one.specialisations()}
    assert keys
    assert keys == set(made.addresses)
