"""SavedModels loaded into a Session: the graph, the values of its variables, its main op."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ...graph.core.graph import Operation
from ...graph.session.session import Session
from ...schema.files import is_file
from ...schema.tensorflow.saved_model import (
    ASSETS,
    BINARY,
    CHECKPOINT,
    INITIALIZER,
    MAIN_OPS,
    TEXT,
    asset_files,
    inside,
    missing_tags,
    read_saved_model,
)
from .meta_graph_import import import_meta_graph


def maybe_saved_model_directory(export_dir) -> bool:
    """Whether a folder has the file of a SavedModel."""
    folder = os.fspath(export_dir)
    return any(is_file(os.path.join(folder, name)) for name in (BINARY, TEXT))


def load(
    sess: Session,
    tags: Iterable[str],
    export_dir,
    import_scope: str | None = None,
    **saver_kwargs: Any,
):
    """Adds a graph of a SavedModel to that of a session, restores its variables, runs its main op.

    Args:
        sess: Whose graph to add to.
        tags: All tags of the graph to load.
        export_dir: The folder.
        import_scope: Put before all names.
        **saver_kwargs: Of `import_meta_graph`, such as clear_devices.

    Returns:
        The MetaGraphDef message, with the signatures; names in it are without `import_scope`.

    Raises:
        OSError: The folder has no SavedModel.
        RuntimeError: It has no graph with these tags, or that has several main ops.
        DataLossError: The values of the variables are damaged.
    """
    folder = Path(export_dir)
    saved_model = read_saved_model(folder)
    tag_set = {tags} if isinstance(tags, str) else set(tags)
    graphs = [m for m in saved_model.meta_graphs if set(m.meta_info_def.tags) == tag_set]
    if not graphs:
        raise missing_tags(saved_model, tag_set if isinstance(tags, str) else list(tags))
    meta, prefix = graphs[0], f"{import_scope}/" if import_scope else ""
    with sess.graph.as_default():
        saver = import_meta_graph(meta, import_scope=import_scope, **saver_kwargs)
        if saver is not None:
            saver.restore(sess, inside(folder, CHECKPOINT))
        feeds = {
            sess.graph.get_tensor_by_name(prefix + tensor): os.fsencode(
                inside(folder, f"{ASSETS}/{file}").absolute()
            )
            for tensor, file in asset_files(meta).items()
        }
        operation = _main_op(sess, meta, prefix)
        if operation is not None:
            sess.run(operation, feeds)
    return meta


def _main_op(sess: Session, meta: Any, prefix: str) -> Operation | None:
    """The operation to run after the variables are restored."""
    if INITIALIZER in meta.signature_def:
        (info,) = meta.signature_def[INITIALIZER].outputs.values()
        return sess.graph.get_operation_by_name(prefix + info.name.partition(":")[0])
    for key in MAIN_OPS:
        names = list(meta.collection_def[key].node_list.value) if key in meta.collection_def else []
        if len(names) > 1:
            raise RuntimeError(
                f"Expected exactly one SavedModel init op. Found {len(names)}: {names}."
            )
        if names:
            return sess.graph.get_operation_by_name(prefix + names[0])
    return None
