"""No two modules import each other, be it within a function or through others.

import-linter holds the layers of folders (pyproject.toml); this holds the files. Imports that only
type checkers see do not count.
"""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
NOT_THE_PRODUCT = ("tests", "benchmarks", "examples", "models", "docs", "typings", "build", "out")


def product_modules() -> dict[str, Path]:
    """Dotted name, from the root -> file."""
    modules = {}
    for top in ROOT.iterdir():
        if top.name.startswith((".", *NOT_THE_PRODUCT)):
            continue
        for path in [top] if top.suffix == ".py" else top.rglob("*.py"):
            parts = path.relative_to(ROOT).with_suffix("").parts
            modules[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return modules


def imported_names(tree: ast.AST, folder: tuple[str, ...]):
    """Dotted names that the code may import when it runs, from the root."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.expr):
            continue
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        if isinstance(node, ast.ImportFrom) and node.level:
            home = (*folder[: len(folder) - node.level + 1], *(node.module or "").split("."))
            module = ".".join(filter(None, home))
            yield module
            yield from (f"{module}.{name.name}".lstrip(".") for name in node.names)
        yield from imported_names(node, folder)


def import_graph(modules: dict[str, Path]) -> dict[str, set[str]]:
    """Module -> the modules it imports."""
    graph = {}
    for name, path in modules.items():
        folder = path.relative_to(ROOT).parts[:-1]
        names = set(imported_names(ast.parse(path.read_text()), folder))
        targets = {target for target in names if target in modules and target != name}
        packages = {t for t in targets if modules[t].name == "__init__.py"}
        inner = {t for t in targets if t.rpartition(".")[0] in packages}
        graph[name] = targets - {t.rpartition(".")[0] for t in inner}
    return graph


def first_circle(graph: dict[str, set[str]]) -> list[str]:
    """Modules that import each the next, the last the first; empty where there are none."""
    done: set[str] = set()
    path: list[str] = []

    def visit(module: str) -> list[str]:
        if module in path:
            return path[path.index(module) :]
        if module in done:
            return []
        path.append(module)
        for target in sorted(graph[module]):
            if circle := visit(target):
                return circle
        path.pop()
        done.add(module)
        return []

    return next((circle for module in sorted(graph) if (circle := visit(module))), [])


def test_no_modules_import_each_other():
    modules = product_modules()
    assert len(modules) > 500
    assert first_circle(import_graph(modules)) == []


@pytest.mark.parametrize(
    ("graph", "circle"),
    [
        ({"a": {"b"}, "b": set()}, []),
        ({"a": {"b"}, "b": {"c"}, "c": {"b"}}, ["b", "c"]),
        ({"a": {"c"}, "b": {"a"}, "c": {"b"}}, ["a", "c", "b"]),
    ],
)
def test_circles_are_found(graph, circle):
    assert first_circle(graph) == circle


def test_imports_are_read():
    code = """
from ..schema import model
from .rows import table
if TYPE_CHECKING:
    from .. import never
def late():
    from ..engine.run import stages
"""
    names = set(imported_names(ast.parse(code), ("graph", "functions")))
    assert {"graph.schema.model", "graph.functions.rows", "graph.engine.run.stages"} <= names
    assert not any("never" in name for name in names)
