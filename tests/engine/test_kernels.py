"""What holds for all files of engine/kernels."""

import ast
from pathlib import Path

import pytest

from flatlite.engine.build import cache, driver
from flatlite.engine.run.plan_runner import loaded

OUTSIDE = {
    "collections",
    "contextlib",
    "functools",
    "llvmlite",
    "math",
    "numba",
    "numpy",
    "typing",
    "__future__",
}
ENGINE = {
    *("abi", "build.declaration", "build.fixedpoint", "build.kernel", "build.simd", "build.target"),
    *("build.vector", "records", "run.array_faults", "run.faults", "sizes", "tiling"),
}
FILES = sorted(
    path
    for folder in ("kernels", "run/native")
    for path in Path(cache.ENGINE, folder).rglob("*.py")
    if path.stem != "__init__"
)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_imports_are_those_an_image_is_named_by(path):
    depth = len(path.relative_to(cache.ENGINE).parts)
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            assert {alias.name.split(".")[0] for alias in node.names} <= OUTSIDE
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            assert node.module.split(".")[0] in OUTSIDE
        elif isinstance(node, ast.ImportFrom):
            start = f"{node.module}." if node.module else ""
            names = {node.module, *(start + alias.name for alias in node.names)}
            private = any((name or "").rpartition(".")[2].startswith("_") for name in names)
            assert private if node.level < depth else names & ENGINE
            assert node.col_offset == 0


@pytest.fixture(scope="module")
def images():
    driver.build_all()
    return {module: loaded(module) for module in cache.modules()}


@pytest.mark.parametrize("module", [m for m in cache.modules() if m not in ("launch", "threads")])
def test_every_choice_of_dtypes_is_compiled(images, module):
    built = images[module]
    declared = [built.declaration(name) for name in built.kernels]
    keys = {one.key(choice) for one in declared for choice in one.specialisations()}
    assert keys
    assert keys == set(built.addresses)
