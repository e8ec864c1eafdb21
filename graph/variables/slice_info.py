"""Which part of a larger variable a variable is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from ...schema import proto

if TYPE_CHECKING:
    from ..format.messages import SaveSliceInfoDef


class SaveSliceInfo:
    """Where a variable lies in a larger one, under whose name it is saved.

    Args:
        full_name: The larger variable's name.
        full_shape: Its shape.
        var_offset: Where the part begins.
        var_shape: The part's shape.
        save_slice_info_def: A SaveSliceInfoDef that says all that.
        import_scope: The name scope the name of that message lies in.
    """

    def __init__(
        self,
        full_name: str | None = None,
        full_shape: Sequence[int] | None = None,
        var_offset: Sequence[int] | None = None,
        var_shape: Sequence[int] | None = None,
        save_slice_info_def: SaveSliceInfoDef | None = None,
        import_scope: str | None = None,
    ):
        if save_slice_info_def is not None:
            proto = save_slice_info_def
            inside = f"{import_scope.rstrip('/')}/" if import_scope else ""
            full_name, full_shape = inside + proto.full_name, list(proto.full_shape)
            var_offset, var_shape = list(proto.var_offset), list(proto.var_shape)
        self.full_name = full_name
        self.full_shape = full_shape
        self.var_offset = var_offset
        self.var_shape = var_shape

    @property
    def spec(self) -> str:
        """The part as checkpoints spell it: "6 4 0,3:0,4"."""
        sizes = " ".join(map(str, self.full_shape or ()))
        pairs = zip(self.var_offset or (), self.var_shape or (), strict=True)
        return f"{sizes} {':'.join(f'{start},{size}' for start, size in pairs)}"

    @classmethod
    def from_spec(cls, spec: str) -> SaveSliceInfo:
        """The part that a text means; ValueError when it means none."""
        if not spec:
            return cls()
        sizes, separator, parts = spec.rpartition(" ")
        if not separator:
            raise ValueError("Spec string must contain space-separated full_shape info.")
        full_shape = _integers(sizes.split(), "full_shape must be a sequence of integers")
        offsets: list[int] = []
        shape: list[int] = []
        for part in parts.split(":"):
            pair = part.split(",")
            if len(pair) != 2:
                raise ValueError(
                    "Spec string must contain comma-separated pairs of offsets and shapes."
                )
            offsets += _integers(pair[:1], "var_offset must be an integer")
            shape += _integers(pair[1:], "var_shape must be an integer")
        return cls(full_shape=full_shape, var_offset=offsets, var_shape=shape)

    def to_proto(self, export_scope: str | None = None) -> SaveSliceInfoDef:
        """The SaveSliceInfoDef that says the same, the name without the scope `export_scope`."""
        outside = f"{export_scope}/" if export_scope else ""
        message = proto.SaveSliceInfoDef(
            full_name=(self.full_name or "").removeprefix(outside),
            full_shape=self.full_shape,
            var_offset=self.var_offset,
            var_shape=self.var_shape,
        )
        return cast("SaveSliceInfoDef", message)


def _integers(texts: Sequence[str], words: str) -> list[int]:
    for text in texts:
        if not text.removeprefix("-").isdecimal():
            raise ValueError(f"Spec string {words}. Found '{text}', which is not an integer.")
    return [int(text) for text in texts]
