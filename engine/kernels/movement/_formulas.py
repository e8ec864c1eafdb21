"""What an element and one that is scattered to it become."""

from ...build.kernel import inline


@inline
def sum_of(a, b):
    """a + b"""
    return a + b


@inline
def product_of(a, b):
    """a * b"""
    return a * b


@inline
def larger_of(a, b):
    """The larger one; a where either is nan."""
    return b if a < b else a


@inline
def smaller_of(a, b):
    """The smaller one; a where either is nan."""
    return b if b < a else a
