"""`write_graph`: a graph as a file."""

from __future__ import annotations

import os
from typing import Any

from ...graph.core.graph import Graph
from ...schema.files import make_folder, write_atomic


def write_graph(graph_or_graph_def: Graph | Any, logdir, name: str, as_text: bool = True) -> str:
    """Writes a graph to `logdir/name`; the path.

    Args:
        graph_or_graph_def: A Graph, or a GraphDef message.
        logdir: The folder; made when it is missing.
        name: Of the file.
        as_text: Whether it is text.
    """
    message = graph_or_graph_def
    if isinstance(message, Graph):
        message = message.as_graph_def()
    path = os.path.join(os.fspath(logdir), name)
    make_folder(logdir)
    content = str(message).encode() if as_text else message.SerializeToString(deterministic=True)
    write_atomic(path, content)
    return path
