"""BLAS has the processors that are idle while a model is converted, and afterwards what it had."""

import os

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from flatlite.converter.api import blas


def n_threads():
    (library,) = [row for row in threadpool_info() if row["user_api"] == "blas"]
    return library["num_threads"]


@pytest.mark.parametrize(
    ("n_processors", "load", "n"),
    [(4, 0.9, 3), (4, 1.2, 3), (4, 2.0, 2), (4, 9.0, 1), (1, 1.0, 3), (8, 1.0, 3)],
)
def test_threads_are_those_of_idle_processors(n_processors, load, n, monkeypatch):
    monkeypatch.setattr(blas, "available_processors", lambda: n_processors)
    monkeypatch.setattr(os, "getloadavg", lambda: (load, 0, 0))
    with threadpool_limits(3, user_api="blas"):
        with blas.limited_threads():
            assert n_threads() == n
        assert n_threads() == 3
