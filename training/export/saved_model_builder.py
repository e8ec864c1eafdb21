"""SavedModels written: graphs with signatures, the values of their variables, their files."""

from __future__ import annotations

import filecmp
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ...graph.core.graph import Operation, Tensor
from ...graph.core.scopes import (
    GraphKeys,
    add_to_collection,
    control_dependencies,
    get_collection,
    get_default_graph,
)
from ...graph.functions.flow.control_flow import group
from ...graph.session.session import Session
from ...graph.variables.variable_lists import (
    global_variables,
    global_variables_initializer,
    local_variables_initializer,
)
from ...schema import proto
from ...schema.files import listed, make_folder, read_bytes, write_atomic
from ...schema.tensorflow.saved_model import (
    ASSET_COLLECTION,
    ASSETS,
    BINARY,
    CHECKPOINT,
    MAIN_OPS,
    TEXT,
)
from ..checkpoints.saver import Saver
from .saved_model_constants import (
    DEFAULT_SERVING_SIGNATURE_DEF_KEY,
    INIT_OP_SIGNATURE_KEY,
    SAVED_MODEL_SCHEMA_VERSION,
    SERVING,
    TRAIN_OP_SIGNATURE_KEY,
)
from .signature_defs import predict_signature_def

RESERVED = {
    INIT_OP_SIGNATURE_KEY: "initialization",
    TRAIN_OP_SIGNATURE_KEY: "the train op",
}


class SavedModelBuilder:
    """Writes a SavedModel: one graph with the variables' values first, then others that share them.

    The message that makes a folder a SavedModel is written last, by `save`.

    Args:
        export_dir: The folder; made when it is missing.

    Raises:
        AssertionError: The folder has something in it.

    >>> import tempfile
    >>> import flatlite.compat.v1 as tf
    >>> with tf.Graph().as_default(), tf.Session() as session:
    ...     x = tf.placeholder(tf.float32, [None, 2], name="x")
    ...     builder = tf.saved_model.Builder(tempfile.mkdtemp())
    ...     signature = tf.saved_model.predict_signature_def({"x": x}, {"y": 2.0 * x})
    ...     builder.add_meta_graph_and_variables(session, ["serve"], {"double": signature})
    ...     path = builder.save()
    """

    def __init__(self, export_dir):
        self._folder = os.fspath(export_dir)
        if listed(self._folder):
            raise AssertionError(
                f"Export directory {self._folder} already exists, and isn't empty. Please choose "
                "a different export directory, or delete all the contents of the specified "
                "directory."
            )
        make_folder(self._folder)
        self._message = proto.SavedModel(saved_model_schema_version=SAVED_MODEL_SCHEMA_VERSION)
        self._has_variables = False

    def add_meta_graph_and_variables(
        self,
        sess: Session,
        tags: Iterable[str],
        signature_def_map: Mapping[str, Any] | None = None,
        assets_collection: Sequence[Tensor] | None = None,
        legacy_init_op: Operation | None = None,
        clear_devices: bool = False,
        main_op: Operation | None = None,
        strip_default_attrs: bool = False,
        saver: Saver | None = None,
    ) -> None:
        """Adds the default graph and writes the values its variables have in a session.

        Args:
            sess: Whose values to write.
            tags: By which the graph is found.
            signature_def_map: SignatureDef messages by name.
            assets_collection: Constants with paths of files, which are copied into the folder.
            legacy_init_op: The same as `main_op`.
            clear_devices: Whether to leave devices out.
            main_op: The operation to run when the graph is loaded.
            strip_default_attrs: Whether attributes with default values are left out.
            saver: What saves the variables; all global ones, in shards, by default.

        Raises:
            AssertionError: There is a graph already, or a signature lacks a name or dtype.
            KeyError: A signature has a reserved name.
            TypeError: `main_op` is no operation, or an asset is no constant string.
            ValueError: The graph has a main op already.
            FailedPreconditionError: A variable has no value.
        """
        if self._has_variables:
            raise AssertionError(
                "Graph state including variables and assets has already been saved. Please "
                "invoke `add_meta_graph()` instead."
            )
        _check_signatures(signature_def_map or {})
        assets = self._added_assets(assets_collection)
        _add_main_op(main_op if main_op is not None else legacy_init_op)
        prefix = os.path.join(self._folder, CHECKPOINT)
        make_folder(os.path.dirname(prefix))
        saver = _saver() if saver is None else saver
        saver.save(sess, prefix, write_meta_graph=False, write_state=False)
        self._add_graph(
            saver, tags, signature_def_map or {}, assets, clear_devices, strip_default_attrs
        )
        self._has_variables = True

    def add_meta_graph(
        self,
        tags: Iterable[str],
        signature_def_map: Mapping[str, Any] | None = None,
        assets_collection: Sequence[Tensor] | None = None,
        legacy_init_op: Operation | None = None,
        clear_devices: bool = False,
        main_op: Operation | None = None,
        strip_default_attrs: bool = False,
        saver: Saver | None = None,
    ) -> None:
        """Adds the default graph, for the variables that are written already.

        Arguments, `assets_collection` among them, and errors are those of
        `add_meta_graph_and_variables`.

        Raises:
            AssertionError: No variables are written yet.
        """
        if not self._has_variables:
            raise AssertionError(
                "Graph state including variables and assets has not been saved yet. Please "
                "invoke `add_meta_graph_and_variables()` first."
            )
        _check_signatures(signature_def_map or {})
        assets = self._added_assets(assets_collection)
        _add_main_op(main_op if main_op is not None else legacy_init_op)
        saver = _saver() if saver is None else saver
        self._add_graph(
            saver, tags, signature_def_map or {}, assets, clear_devices, strip_default_attrs
        )

    def save(self, as_text: bool = False) -> bytes:
        """Writes the message, as text or binary; the path of its file."""
        make_folder(self._folder)
        path = os.path.join(self._folder, TEXT if as_text else BINARY)
        content = (
            str(self._message).encode()
            if as_text
            else self._message.SerializeToString(deterministic=True)
        )
        write_atomic(path, content)
        return os.fsencode(path)

    def _add_graph(
        self,
        saver: Saver,
        tags: Iterable[str],
        signatures: Mapping[str, Any],
        assets: dict[str, str],
        clear_devices: bool,
        strip_default_attrs: bool,
    ) -> None:
        meta = saver.export_meta_graph(
            clear_devices=clear_devices, strip_default_attrs=strip_default_attrs
        )
        meta.meta_info_def.tags.extend([tags] if isinstance(tags, str) else tags)
        for name, signature in signatures.items():
            meta.signature_def[name].ParseFromString(signature.SerializeToString())
        for tensor, file in assets.items():
            asset = meta.asset_file_def.add(filename=file)
            asset.tensor_info.name = tensor
            meta.collection_def[ASSET_COLLECTION].any_list.value.add().Pack(asset)
        self._message.meta_graphs.add().CopyFrom(meta)

    def _added_assets(self, tensors: Sequence[Tensor] | None) -> dict[str, str]:
        """Copies files; their names in the folder of assets by the tensors with their paths."""
        names: dict[str, str] = {}
        sources: dict[str, str] = {}
        for tensor in tensors or ():
            path = _asset_path(tensor)
            name = _unique_name(path, sources)
            target = os.path.join(self._folder, ASSETS, name)
            if name not in sources:
                make_folder(os.path.dirname(target))
                write_atomic(target, read_bytes(path))
            sources[name] = path
            names[tensor.name] = name
        return names


Builder = SavedModelBuilder


def simple_save(
    session: Session,
    export_dir,
    inputs: Mapping[str, Any],
    outputs: Mapping[str, Any],
    legacy_init_op: Operation | None = None,
) -> None:
    """Writes a SavedModel for serving: the default graph, and a signature of these tensors.

    Args:
        session: Whose values the variables get.
        export_dir: The folder, empty or missing.
        inputs, outputs: Tensors by the names in the signature "serving_default".
        legacy_init_op: The operation to run when the graph is loaded.

    Raises:
        AssertionError: The folder has something in it.
        ValueError: There are no inputs or no outputs.
    """
    signatures = {DEFAULT_SERVING_SIGNATURE_DEF_KEY: predict_signature_def(inputs, outputs)}
    builder = SavedModelBuilder(export_dir)
    builder.add_meta_graph_and_variables(
        session,
        [SERVING],
        signatures,
        assets_collection=get_collection(GraphKeys.ASSET_FILEPATHS),
        main_op=legacy_init_op,
        clear_devices=True,
    )
    builder.save()


def main_op() -> Operation:
    """An operation that initializes all variables and tables, to be run when a graph is loaded."""
    tables = get_collection(GraphKeys.TABLE_INITIALIZERS)
    return group(global_variables_initializer(), local_variables_initializer(), *tables)


def main_op_with_restore(restore_op_name: Operation | str) -> Operation:
    """The same, and what restores the graph after it: an operation or its name."""
    graph = get_default_graph()
    element = graph.as_graph_element(restore_op_name)
    with control_dependencies([main_op()]):
        return group(element)


def _saver() -> Saver:
    """What saves all variables in shards."""
    saved = global_variables() + get_collection(GraphKeys.SAVEABLE_OBJECTS)
    return Saver(saved, sharded=True, allow_empty=True)


def _check_signatures(signatures: Mapping[str, Any]) -> None:
    for signature in signatures.values():
        for info in (*signature.inputs.values(), *signature.outputs.values()):
            _check_tensor_info(info)
    for name in RESERVED.keys() & signatures.keys():
        raise KeyError(
            f'SignatureDef map key "{name}" is reserved for {RESERVED[name]}. Please use a '
            "different key."
        )


def _check_tensor_info(info: Any) -> None:
    encoding = info.WhichOneof("encoding")
    if encoding is None:
        raise AssertionError(
            f"Invalid `tensor_info`: {info}. All TensorInfo protos used in the SignatureDefs must "
            "have one of the 'encoding' fields (e.g., name or coo_sparse) set."
        )
    for component in info.composite_tensor.components if encoding == "composite_tensor" else ():
        _check_tensor_info(component)
    if encoding != "composite_tensor" and info.dtype == 0:
        raise AssertionError(
            f"Invalid `tensor_info`: {info}. All TensorInfo protos used in the SignatureDefs must "
            "have the dtype field set."
        )


def _add_main_op(operation: Operation | None) -> None:
    """Files an operation in the default graph as the one to run when it is loaded."""
    if operation is None:
        return
    if not isinstance(operation, Operation):
        raise TypeError(
            f"Expected {operation} to be an Operation but got type {type(operation)} instead."
        )
    for key in MAIN_OPS:
        if get_collection(key):
            raise ValueError(
                f"Graph already contains one or more main ops under the collection {key}."
            )
    add_to_collection(MAIN_OPS[0], operation)


def _asset_path(tensor: Tensor) -> str:
    """The path that a constant holds."""
    if not isinstance(tensor, Tensor):
        raise TypeError(f"Asset path tensor {tensor} must be a Tensor.")
    if tensor.op.type != "Const":
        raise TypeError(
            f"Asset path tensor {tensor} must be of type constant. Has type {tensor.op.type} "
            "instead."
        )
    value = tensor.op.get_attr("value")
    if value.dtype != object:
        raise TypeError(
            f"Asset path tensor {tensor} must be of dtype string. Has type {value.dtype} instead."
        )
    if value.size != 1:
        raise TypeError(f"Asset path tensor {tensor} must be a scalar.")
    path = os.fsdecode(value.item())
    if not path:
        raise ValueError(f"Asset filepath tensor {tensor} is invalid.")
    return path


def _unique_name(path: str, sources: Mapping[str, str]) -> str:
    """The name of a file among the assets: its own, with a number where another file has that."""
    name = candidate = Path(path).name
    number = 0
    while candidate in sources and not filecmp.cmp(path, sources[candidate], shallow=False):
        number += 1
        candidate = f"{name}_{number}"
    return candidate
