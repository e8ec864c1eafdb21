"""The names of TF2's `tf.image`."""

from ...facade import facade
from ..v1.image import HOMES as VERSION_1

OTHERS = {
    "graph.functions.image.boxes": "extract_glimpse=extract_glimpse_v2",
    "graph.functions.image.random_changes": (
        "sample_distorted_bounding_box=sample_distorted_bounding_box_v2"
    ),
    "graph.functions.image.resizing": "ResizeMethod resize=resize_v2 resize_with_pad",
}
"""What is something else here, or new."""
ONLY_VERSION_1 = frozenset(
    ("extract_image_patches", "resize_area", "resize_bicubic", "resize_bilinear", "resize_images")
    + ("resize_image_with_crop_or_pad", "resize_image_with_pad", "resize_nearest_neighbor")
    + ("transpose_image",)
)


def _without_version_1(words: str) -> str:
    return " ".join(word for word in words.split() if word.partition("=")[0] not in ONLY_VERSION_1)


HOMES = {home: _without_version_1(words) for home, words in VERSION_1.items()}
__all__, __getattr__, __dir__ = facade(__name__, HOMES, OTHERS)
