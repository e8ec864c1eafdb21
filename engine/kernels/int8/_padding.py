"""Images amid what counts as zero."""

from ...build.kernel import inline


@inline
def pad_rows(x, out, top, left, zero, flip, first, last):
    """Rows of images amid zeros, `top` rows and `left` elements from the start, with bits flipped.

    An item is a row.
    """
    rows = out.shape[1]
    for item in range(first, last):
        batch = item // rows
        row = item - batch * rows
        target, y = out[batch, row], row - top
        begin, end = left, left + x.shape[2]
        if y < 0 or y >= x.shape[1]:
            begin = end = 0
        for j in range(begin):
            target[j] = zero ^ flip
        if end > begin:
            source, middle = x[batch, y], target[begin:end]
            for j in range(source.size):
                middle[j] = source[j] ^ flip
        for j in range(end, target.size):
            target[j] = zero ^ flip
