"""Which part of a result a run of items is, where an item is a few rows of some columns."""

from ..build.kernel import inline


@inline
def part_of(item, last, shares, blocks):
    """(group, share, how many shares, block, how many blocks) the items from `item` begin with.

    Of each group an item has a block of rows of a share of the columns: first come all blocks of
    the first share. Whole shares are taken together. Thus runs of items may differ by one item, and
    are still done in large parts.
    """
    place = item // blocks
    block, group = item - place * blocks, place // shares
    share, left = place - group * shares, last - item
    if block == 0 and left >= blocks:
        return group, share, min(left // blocks, shares - share), 0, blocks
    return group, share, 1, block, min(left, blocks - block)


@inline
def even(count, most, step):
    """How many of `count` rows to do at once: at most `most`, about as many each time.

    All are multiples of `step`.
    """
    times = max(1, (count + most - 1) // most)
    return (count + times * step - 1) // (times * step) * step
