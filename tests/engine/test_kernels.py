"""What holds for all files of engine/kernels."""

import ast
import importlib
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


@pytest.mark.parametrize(
    ("family", "kernel"),
    [
        *(("tiled.PANEL", f"{name}.PANEL") for name in ("_tile", "_rows")),
        *(("tiled.PANEL", f"{name}._PANEL") for name in ("packing", "dots", "recurrent")),
        ("tiled.TABLES", "product.TABLES"),
        ("tiled.TABLES", "byte_product.TABLES"),
        ("tiled.TABLES", "short_product.TABLES"),
        *(
            ("byte_products._BLOCKS", f"{name}.BLOCKS")
            for name in ("byte_product", "short_product")
        ),
        ("byte_products._HEADERS", "_byte_tile.HEADERS"),
        ("byte_products._STEP", "_matrix_tile.STEP"),
        ("byte_products.BLOCK_ROWS", "_tile.ROWS_OF_TABLE"),
        ("tiled.DEPTHWISE_TAPS", "channelwise.TAPS"),
        ("tiled._PANELS", "dots._PANELS"),
        ("tiled._DOTS", "dots._ROWS"),
        ("rescale.BLOCK", "_requantize.BLOCK"),
        ("reductions._PADDING", "_sums.PADDING"),
        ("scaled._CRITICAL", "linear_pairs.CRITICAL"),
    ],
)
def test_families_know_what_there_is_room_for(family, kernel):
    """Families must not import kernels, as these import numba: they repeat the numbers."""
    numbers = []
    for package, name in (("families", family), ("kernels", kernel)):
        module, _, attribute = name.partition(".")
        found = importlib.import_module(f"flatlite.engine.{package}.{module}")
        numbers.append(getattr(found, attribute))
    assert numbers[0] == numbers[1]


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
