"""How many threads BLAS, numpy's products of matrices, has while a model is converted."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager, nullcontext

from ...engine.run.thread_pool import available_processors


def limited_threads() -> AbstractContextManager[object]:
    """A block in which BLAS has at most as many threads as processors are idle, and at least one.

    Its threads wait for each other at every product: where other work has the processors, two of
    them are ten times slower than one (a product of 192 x 64 x 3136 on two busy cores).
    """
    n_processors = available_processors()
    n_busy = int(os.getloadavg()[0]) if hasattr(os, "getloadavg") else 0
    if n_busy == 0 or n_processors == 1:
        return nullcontext()
    from threadpoolctl import ThreadpoolController

    libraries = ThreadpoolController().select(user_api="blas")
    n_now = max((library["num_threads"] for library in libraries.info()), default=1)
    return libraries.limit(limits=min(max(n_processors - n_busy, 1), n_now))
