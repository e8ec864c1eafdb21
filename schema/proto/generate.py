"""Compiles the .proto files of this folder to the descriptor set that the package loads.

Run as `python -m flatlite.schema.proto.generate`; needs grpcio-tools, of the dev extra.
"""

from __future__ import annotations

import tempfile
from importlib import resources
from pathlib import Path

from ..files import write_atomic
from . import DESCRIPTORS

HERE = Path(__file__).parent


def compile_protos() -> bytes:
    """The descriptor set of all .proto files here and the well-known ones they import."""
    from grpc_tools import protoc

    sources = sorted(path.name for path in HERE.glob("*.proto"))
    well_known = resources.files("grpc_tools") / "_proto"
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder, DESCRIPTORS)
        arguments = [
            "protoc",
            f"--proto_path={HERE}",
            f"--proto_path={well_known}",
            f"--descriptor_set_out={target}",
            "--include_imports",
            *sources,
        ]
        if protoc.main(arguments) != 0:
            raise SystemExit("protoc refused the .proto files; its messages are above")
        return target.read_bytes()


if __name__ == "__main__":
    write_atomic(HERE / DESCRIPTORS, compile_protos())
