"""Which inputs a window meets."""

from ..build.kernel import inline


@inline
def reach(position, size, stride, before, n):
    """Begin and end of the input positions under the window of output `position`."""
    start = position * stride - before
    return max(start, 0), min(start + size, n)
