"""SavedModels as folders: which files they have, and the message among them."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from .. import proto
from ..errors import noted
from ..files import read_bytes

if TYPE_CHECKING:
    from ..proto import Message

BINARY, TEXT = "saved_model.pb", "saved_model.pbtxt"
CHECKPOINT, ASSETS = "variables/variables", "assets"
INITIALIZER = "__saved_model_init_op"
MAIN_OPS = ("saved_model_main_op", "legacy_init_op")
"""Where models of TensorFlow 2, and of TensorFlow 1, name what initialises them."""
ASSET_COLLECTION = "saved_model_assets"
"""Where models of TensorFlow 1 list their assets."""


def read_saved_model(folder: Path) -> Message:
    """The SavedModel message of a folder; OSError when it has none."""
    for name, parse in ((BINARY, proto.parse), (TEXT, proto.parse_text)):
        path = folder / name
        if not path.is_file():
            continue
        inside(folder, name)
        try:
            saved_model = parse("SavedModel", read_bytes(path))
        except ValueError as error:
            raise OSError(
                f"Cannot parse file '{path}': it has {error}; copy or write it again."
            ) from None
        if not saved_model.meta_graphs:
            raise OSError(f"Cannot parse file '{path}': it holds no graph; write it again.")
        return saved_model
    nested = sorted(path.parent for name in (BINARY, TEXT) for path in folder.glob(f"*/{name}"))
    hint = f"; there is one in '{nested[0]}'" if nested else ""
    advice = f"Give the folder that {BINARY} lies in."
    if any(folder.glob("*.index")):
        advice = (
            "The folder has a checkpoint, which is variables without a graph: build the model, "
            "restore it and save it with tf.saved_model.save."
        )
    raise noted(
        FileNotFoundError(
            f"SavedModel file does not exist at: {os.fspath(folder)}/{{{TEXT}|{BINARY}}}{hint}"
        ),
        advice,
    )


def missing_tags(saved_model: Message, tags: Iterable[str]) -> RuntimeError:
    """The error to raise where a SavedModel has no graph with these tags."""
    sets = ", ".join(_braced(meta.meta_info_def.tags) for meta in saved_model.meta_graphs)
    asked = str(tags).strip("[]") if isinstance(tags, list) else _braced(tags)
    return RuntimeError(
        f"MetaGraphDef associated with tags {asked} could not be found in SavedModel, with "
        f"available tags '[{sets}]'. To inspect available tag-sets in the SavedModel, please use "
        "the SavedModel CLI: `saved_model_cli`."
    )


def _braced(names: Iterable[str]) -> str:
    return f"{{{', '.join(map(repr, sorted(names)))}}}"


def asset_files(meta_graph: Message) -> dict[str, str]:
    """The files of a model's folder of assets, by the names of the tensors with their paths."""
    assets = list(meta_graph.asset_file_def)
    if not assets and ASSET_COLLECTION in meta_graph.collection_def:
        packed = meta_graph.collection_def[ASSET_COLLECTION].any_list.value
        assets = [proto.parse("AssetFileDef", item.value) for item in packed]
    files = ((asset.tensor_info.name, asset.filename) for asset in assets)
    return {tensor: file for tensor, file in files if Path(file).name == file}


def inside(folder: Path, name: str) -> Path:
    """The path of a file of the model.

    Raises OSError when it, or what it belongs to, is a link that leads out of the folder.
    """
    root = Path(os.path.realpath(folder))
    for path in (folder / name).parent.glob((folder / name).name + "*"):
        if not Path(os.path.realpath(path)).is_relative_to(root):
            raise OSError(
                f"'{path}' is a link that leads out of the SavedModel; copy the folder with its "
                f"links followed (cp -rL '{folder}' COPY) and load the copy"
            )
    return folder / name
