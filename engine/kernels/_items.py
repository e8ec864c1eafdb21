"""Which part of a result a run of items is, where an item is a few rows of some columns."""

from typing import NamedTuple

from ..build.kernel import inline


class Panels(NamedTuple):
    """The packed weights of one matrix: where they begin, bytes from panel to panel, columns."""

    start: int
    pitch: int
    n: int


@inline
def part_of(item, last, shares, blocks):
    """(group, share, how many shares, block, how many blocks) the items from `item` begin with.

    Of each group an item has a block of rows of a share of the columns: first come all blocks of
    the first share. Whole shares are done at once. Thus runs of items may differ by one item, and
    are still done in large parts.
    """
    position = item // blocks
    block, group = item - position * blocks, position // shares
    share, n_items = position - group * shares, last - item
    if block == 0 and n_items >= blocks:
        return group, share, min(n_items // blocks, shares - share), 0, blocks
    return group, share, 1, block, min(n_items, blocks - block)


@inline
def even_rows(count, max_rows, step):
    """How many of `count` rows to do at once: at most `max_rows`, about as many each time.

    All are multiples of `step`.
    """
    times = max(1, (count + max_rows - 1) // max_rows)
    return (count + times * step - 1) // (times * step) * step
