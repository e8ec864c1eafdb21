"""Image resizing."""

import numpy as np

from .registry import lower

RESIZES = {"ResizeBilinear": "RESIZE_BILINEAR", "ResizeNearestNeighbor": "RESIZE_NEAREST_NEIGHBOR"}


@lower(*RESIZES)
def resize(node, b):
    """Images resized to `size`; TFLite has the same two sampling options."""
    images, size = node.inputs
    if node.known(1) is not None:
        size = b.constant(node.constant(1).astype(np.int32))
    options = {name: node.attr(name) for name in ("align_corners", "half_pixel_centers")}
    if node.type == "ResizeBilinear" and images.dtype != np.float32:
        images = b.CAST(images, dtype=np.float32)
    return getattr(b, RESIZES[node.type])(images, size, **options)
