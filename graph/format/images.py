"""Pictures from files: PNG, JPEG, GIF and BMP as arrays, and JPEG written.

JPEG is decoded by libjpeg-turbo through simplejpeg, the rest by Pillow: `pip install
flatlite[image]`. Sixteen bits of more than one channel Pillow has no form for, and BMP is read as
TensorFlow reads it, without palettes: both are read here.
"""

from __future__ import annotations

import io
import struct
import zlib
from types import ModuleType
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from .media import PNG_COLOUR_TYPES, PNG_HEAD

if TYPE_CHECKING:
    from PIL.Image import Image

JPEG_HEAD = b"\xff\xd8\xff"
FORMATS = {JPEG_HEAD: "JPEG", PNG_HEAD[:4]: "PNG", b"GIF": "GIF", b"BM": "BMP"}
"""The first bytes of each format of files."""
RATIOS = (1, 2, 4, 8)
GREY_WEIGHTS = np.array([9797, 19234, 3737], np.int64)
"""Of red, green and blue, in parts of 2^15: libpng's for 0.299, 0.587 and 0.114."""
_PNG_FILTERED = 1
_JFIF_DENSITY = slice(13, 18)
_DENSITY_UNITS = {"in": 1, "cm": 2}
_BMP_HEAD = struct.Struct("<2s8xI4xiiHH")


def format_of(content: bytes) -> str | None:
    """The format of a file by its first bytes; None for another one."""
    return next((name for head, name in FORMATS.items() if content.startswith(head)), None)


def _library(name: str) -> ModuleType:
    """Pillow or simplejpeg; ImportError that says how to install them."""
    from importlib import import_module

    try:
        return import_module(name)
    except ImportError as error:
        message = (
            f"images are read and written with {name.partition('.')[0]}, which is not installed"
        )
        raise ImportError(f"{message}: pip install flatlite[image]") from error


def decode_jpeg(
    content: bytes, channels: int = 0, ratio: int = 1, is_fast: bool = True, is_fancy: bool = True
) -> np.ndarray:
    """[height, width, channels] uint8 of a JPEG file.

    Args:
        content: the file.
        channels: 1 or 3; 0 for those of the file.
        ratio: 1, 2, 4 or 8, by which the image becomes smaller.
        is_fast: whether the transform of the blocks is the fast one, which is less exact.
        is_fancy: whether colours of fewer pixels are interpolated.

    Raises ValueError for a damaged file, another number of channels or another ratio.
    """
    jpeg = _library("simplejpeg")
    if channels not in (0, 1, 3):
        raise ValueError(f"channels must be 0, 1, or 3 for JPEG, got {channels}")
    if ratio not in RATIOS:
        raise ValueError(f"ratio must be 1, 2, 4, or 8, got {ratio}")
    try:
        height, width, colours, _ = jpeg.decode_jpeg_header(content)
        colourspace = {0: "GRAY" if colours == "Gray" else "RGB", 1: "GRAY", 3: "RGB"}[channels]
        return jpeg.decode_jpeg(
            content,
            colourspace,
            fastdct=is_fast,
            fastupsample=not is_fancy,
            min_height=-(-height // ratio),
            min_width=-(-width // ratio),
        )
    except ValueError as error:
        raise ValueError(f"Invalid JPEG data, size {len(content)}: {error}") from error


def jpeg_shape(content: bytes) -> tuple[int, int, int]:
    """Height, width and channels of a JPEG file; ValueError for a damaged one."""
    try:
        height, width, colours, _ = _library("simplejpeg").decode_jpeg_header(content)
    except ValueError as error:
        raise ValueError(f"Invalid JPEG data, size {len(content)}: {error}") from error
    return height, width, 1 if colours == "Gray" else 3


class JpegOptions(NamedTuple):
    """How a JPEG file is written, in the attributes of TensorFlow's EncodeJpeg."""

    quality: int = 95
    progressive: bool = False
    optimize_size: bool = False
    chroma_downsampling: bool = True
    density_unit: Literal["in", "cm"] = "in"
    x_density: int = 300
    y_density: int = 300
    xmp_metadata: bytes = b""


def encode_jpeg(pixels: np.ndarray, options: JpegOptions) -> bytes:
    """A JPEG file of [height, width, 1 or 3] uint8; ValueError for another form or quality."""
    if pixels.ndim != 3 or pixels.shape[2] not in (1, 3):
        raise ValueError(f"image must be [height, width, 1 or 3], got {list(pixels.shape)}")
    if not 0 <= options.quality <= 100:
        raise ValueError(f"quality must be in [0,100], got {options.quality}")
    squeezed = pixels[:, :, 0] if pixels.shape[2] == 1 else pixels
    file = io.BytesIO()
    _library("PIL.Image").fromarray(np.ascontiguousarray(squeezed)).save(
        file,
        "JPEG",
        quality=max(options.quality, 1),  # 0 means the default to Pillow, and 1 to libjpeg
        progressive=options.progressive,
        optimize=options.optimize_size,
        subsampling="4:2:0" if options.chroma_downsampling and pixels.shape[2] > 1 else "4:4:4",
        dpi=(options.x_density, options.y_density),
        xmp=options.xmp_metadata,
    )
    content = bytearray(file.getvalue())
    unit = _DENSITY_UNITS[options.density_unit]
    content[_JFIF_DENSITY] = struct.pack(">BHH", unit, options.x_density, options.y_density)
    return bytes(content)


def decode_png(content: bytes, channels: int = 0, bits: int = 8) -> np.ndarray:
    """[height, width, channels] of a PNG file, uint8 or uint16 by `bits`.

    `channels` is 1, 3 or 4; 0 for those of the file, a palette being colours. Raises ValueError
    for a damaged file or another number.
    """
    if channels not in (0, 1, 3, 4):
        raise ValueError(f"`channels` must be 0, 1, 3 or 4 but got {channels}")
    try:
        pixels = _wide_png(content)
        if pixels is None:
            pixels = _of_image(_library("PIL.Image").open(io.BytesIO(content), formats=["PNG"]))
    except (OSError, SyntaxError, ValueError, zlib.error, struct.error) as error:
        raise ValueError(f"Invalid PNG data, size {len(content)}: {error}") from error
    pixels = with_channels(pixels, channels)
    if bits == 8 and pixels.itemsize == 2:
        return (pixels >> 8).astype(np.uint8)
    return pixels * np.uint16(257) if bits > 8 * pixels.itemsize else pixels


def _of_image(image: Image) -> np.ndarray:
    """The pixels of one of Pillow's images, palettes as colours."""
    if image.mode == "P":
        image = image.convert("RGBA" if "transparency" in image.info else "RGB")
    elif image.mode == "1":
        image = image.convert("L")
    pixels = np.asarray(image)
    return pixels[:, :, None] if pixels.ndim == 2 else pixels


def _wide_png(content: bytes) -> np.ndarray | None:
    """The pixels of a PNG file of 16 bits and several channels; None for others."""
    width, height, bits, colour_type, _, _, interlace = struct.unpack_from(">IIBBBBB", content, 16)
    channels = {number: n for n, number in PNG_COLOUR_TYPES.items()}.get(colour_type, 1)
    if bits != 16 or channels == 1:
        return None
    if interlace:
        raise ValueError("interlaced PNG files of 16 bits and several channels are not read")
    lines = np.frombuffer(zlib.decompress(_png_data(content)), np.uint8)
    lines = lines.reshape(height, 1 + width * channels * 2)
    rows = np.zeros((height + 1, width * channels * 2), np.uint8)
    for i, line in enumerate(lines):
        _unfilter(rows[i], line[1:], int(line[0]), 2 * channels, rows[i + 1])
    return rows[1:].view(">u2").astype(np.uint16).reshape(height, width, channels)


def _png_data(content: bytes) -> bytes:
    """The bytes of all IDAT chunks."""
    parts: list[bytes] = []
    at = len(PNG_HEAD)
    while at + 8 <= len(content):
        size, kind = struct.unpack_from(">I4s", content, at)
        if kind == b"IDAT":
            parts.append(content[at + 8 : at + 8 + size])
        at += size + 12
    return b"".join(parts)


def _unfilter(above: np.ndarray, line: np.ndarray, kind: int, step: int, row: np.ndarray) -> None:
    """A row out of its filtered bytes and the row above; `step` bytes are a pixel."""
    if kind == 0:
        row[...] = line
    elif kind == _PNG_FILTERED:
        row[...] = np.cumsum(line.reshape(-1, step), axis=0, dtype=np.uint8).ravel()
    elif kind == 2:
        row[...] = line + above
    else:
        predict = _mean if kind == 3 else _paeth
        left = np.zeros(step, np.int64)
        corner = np.zeros(step, np.int64)
        pixels = zip(line.reshape(-1, step), above.reshape(-1, step), strict=True)
        for place, (part, up) in zip(row.reshape(-1, step), pixels, strict=True):
            wide = up.astype(np.int64)
            place[...] = (part + predict(left, wide, corner)) & 0xFF
            left, corner = place.astype(np.int64), wide


def _mean(left: np.ndarray, up: np.ndarray, corner: np.ndarray) -> np.ndarray:
    return (left + up) // 2


def _paeth(left: np.ndarray, up: np.ndarray, corner: np.ndarray) -> np.ndarray:
    """The neighbour nearest to left + up - corner, which the PNG specification names so."""
    estimate = left + up - corner
    far = [np.abs(estimate - x) for x in (left, up, corner)]
    nearest_left = (far[0] <= far[1]) & (far[0] <= far[2])
    return np.select([nearest_left, far[1] <= far[2]], [left, up], corner)


def with_channels(pixels: np.ndarray, channels: int) -> np.ndarray:
    """Pixels with 1, 3 or 4 channels, as libpng makes them; 0 leaves them as they are."""
    present = pixels.shape[2]
    if channels in (0, present):
        return pixels
    is_grey, has_alpha = present < 3, present % 2 == 0
    opaque = np.iinfo(pixels.dtype).max
    alpha = pixels[:, :, -1:] if has_alpha else np.full_like(pixels[:, :, :1], opaque)
    colours = pixels[:, :, : present - has_alpha]
    if channels == 1 and not is_grey:
        half = 1 << 14 if pixels.itemsize == 2 else 0
        grey = (colours.astype(np.int64) @ GREY_WEIGHTS + half) >> 15
        return grey.astype(pixels.dtype)[:, :, None]
    if channels > 2 and is_grey:
        colours = np.repeat(colours, 3, axis=2)
    return np.concatenate([colours, alpha], 2) if channels == 4 else colours


def decode_gif(content: bytes) -> np.ndarray:
    """[frames, height, width, 3] uint8 of a GIF file; ValueError for a damaged one."""
    pillow = _library("PIL.Image")
    try:
        image = pillow.open(io.BytesIO(content), formats=["GIF"])
        frames: list[np.ndarray] = []
        for i in range(getattr(image, "n_frames", 1)):
            image.seek(i)
            frames.append(np.asarray(image.convert("RGB")))
    except (OSError, SyntaxError, EOFError, ValueError) as error:
        raise ValueError(f"Invalid GIF data (size {len(content)}), {error}") from error
    return np.stack(frames)


def decode_bmp(content: bytes, channels: int = 0) -> np.ndarray:
    """[height, width, channels] uint8 of a BMP file of 8, 24 or 32 bits, without its palette.

    Raises ValueError for a damaged file, or when `channels` is neither 0 nor that of the file.
    """
    if len(content) < _BMP_HEAD.size + 4:
        raise ValueError(f"Incomplete bmp content, requires at least 32 bytes, got {len(content)}")
    _, offset, width, height, _, bits = _BMP_HEAD.unpack_from(content)
    present, odd_bits = divmod(bits, 8)
    if odd_bits or present not in (1, 3, 4):
        raise ValueError(
            f"Number of channels inherent in the image must be 1, 3 or 4, was {bits / 8:g}"
        )
    if channels not in (0, present):
        raise ValueError(
            f"channels attribute {channels} does not match bits per pixel from file {present}"
        )
    if width <= 0 or height == 0:
        raise ValueError(f"Width must be positive and height not 0, got {width} and {height}")
    pitch = -(-width * present // 4) * 4
    size = pitch * abs(height)
    if offset + size - (pitch - width * present) > len(content):
        raise ValueError(f"Incomplete bmp content, requires at least {offset + size} bytes")
    lines = np.frombuffer(content[offset : offset + size].ljust(size, b"\0"), np.uint8)
    pixels = lines.reshape(-1, pitch)[:, : width * present].reshape(-1, width, present)
    if height > 0:  # from the bottom up
        pixels = pixels[::-1]
    order = [2, 1, 0, 3][:present] if present > 1 else [0]
    return np.ascontiguousarray(pixels[:, :, order])
