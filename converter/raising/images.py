"""Images of another size, and boxes in them."""

from ...graph.core.build import ops
from .registry import raises


@raises("RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR")
def resize(node, x, size):
    """Each pixel is a mean of the four around its place, or the nearest one."""
    function = ops.ResizeBilinear if node.kind == "RESIZE_BILINEAR" else ops.ResizeNearestNeighbor
    names = ("align_corners", "half_pixel_centers")
    return function(x, size, **{name: bool(getattr(node.options, name)) for name in names})


@raises("NON_MAX_SUPPRESSION_V4")
def non_max_suppression(node, *operands):
    """The best of boxes that overlap, and how many they are."""
    return ops.NonMaxSuppressionV4(*operands, pad_to_max_output_size=True)


@raises("NON_MAX_SUPPRESSION_V5")
def soft_non_max_suppression(node, *operands):
    """The same, with scores that overlap makes smaller; TensorFlow has no threshold for that."""
    sigma, overlap = node.known(5), node.known(3)
    node.require(
        (sigma is not None and not sigma.any()) or (overlap is not None and (overlap >= 1).all()),
        "soft_nms_sigma must be 0, or iou_threshold 1: TensorFlow's operation has no threshold "
        "where scores shrink",
    )
    return ops.NonMaxSuppressionV5(*operands, pad_to_max_output_size=True)
