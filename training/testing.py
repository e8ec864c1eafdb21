"""What programs' tests ask for beside `TestCase`: `tf.test`."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from functools import cache
from typing import Any
from unittest import mock as mock

from absl.testing import absltest


def main(argv: list[str] | None = None) -> None:
    """Runs all tests of the program, and ends it."""
    absltest.main(argv=argv)


@cache
def get_temp_dir() -> str:
    """A folder for the tests of this process, which removes it when it ends."""
    folder = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def test_src_dir_path(relative_path: str) -> str:
    """A path below the folder of the tests' sources."""
    return os.path.join(absltest.get_default_test_srcdir(), relative_path)


def is_gpu_available(
    cuda_only: bool = False, min_cuda_compute_capability: tuple[int, int] | None = None
) -> bool:
    """False: graphs run on the CPU; delegates of the interpreter may use a GPU."""
    return False


def gpu_device_name() -> str:
    """The empty string: sessions have no GPU."""
    return ""


def is_built_with_cuda() -> bool:
    """False."""
    return False


def is_built_with_gpu_support() -> bool:
    """False."""
    return False


def is_built_with_rocm() -> bool:
    """False."""
    return False


def is_built_with_xla() -> bool:
    """False."""
    return False


def assert_equal_graph_def(
    actual: Any,
    expected: Any,
    checkpoint_v2: bool = False,
    hash_table_shared_name: bool = False,
) -> None:
    """Two GraphDefs have the same nodes, in any order.

    Args:
        actual: a GraphDef.
        expected: another one.
        checkpoint_v2: whether the names of checkpoints' temporary files are left out.
        hash_table_shared_name: whether the shared names of hash tables are left out.

    Raises:
        AssertionError: a node lacks, is too much, or differs; it is named.
        TypeError: one of them is no GraphDef.
    """
    nodes = []
    for graph, word in ((actual, "actual"), (expected, "expected")):
        if not hasattr(graph, "node"):
            raise TypeError(f"Expected tf.GraphDef for {word}, got {type(graph).__name__}")
        copies = {node.name: type(node).FromString(node.SerializeToString()) for node in graph.node}
        for node in copies.values():
            _clear(node, checkpoint_v2, hash_table_shared_name)
        nodes.append(copies)
    first, second = nodes
    if lacking := sorted(second.keys() - first.keys()):
        raise AssertionError(f"nodes that lack: {', '.join(lacking)}")
    if surplus := sorted(first.keys() - second.keys()):
        raise AssertionError(f"nodes that are not expected: {', '.join(surplus)}")
    for name, node in first.items():
        if node != second[name]:
            raise AssertionError(f"node '{name}' differs:\n{node}\nexpected:\n{second[name]}")


def _clear(node: Any, checkpoint_v2: bool, hash_table_shared_name: bool) -> None:
    """Takes out what may differ."""
    if checkpoint_v2 and node.op == "Const" and "_temp_" in str(node.attr["value"]):
        del node.attr["value"]
    if hash_table_shared_name and node.op.startswith("HashTable") and "shared_name" in node.attr:
        del node.attr["shared_name"]
