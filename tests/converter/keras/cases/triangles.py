"""Triangles of matrices of unknown sizes, and of numbers that are not finite."""

from __future__ import annotations

from .registry import THREE, case


def triangles(ops, x):
    return [f(x, k) for f in (ops.tril, ops.triu) for k in (0, 2, -1)]


@case("triangles", THREE)
def rows(k):
    x = k.Input((None, 3))
    return k.Model(x, triangles(k.ops, x))


@case("triangles", THREE)
def rows_and_columns(k):
    x = k.Input((2, None, None))
    return k.Model(x, triangles(k.ops, x))


@case("triangles", THREE)
def integers(k):
    x = k.Input((3, None), dtype="int32")
    return k.Model(x, triangles(k.ops, x))


@case("triangles", THREE)
def infinite(k):
    x = k.Input((3, 4))
    return k.Model(x, triangles(k.ops, 1 / k.ops.relu(x)))
