"""Kernels for several kinds of vectors, whatever this processor has most of."""

from contextlib import contextmanager

import pytest

from flatlite.engine.build import driver, image
from flatlite.engine.build.target import HOST, Target, find, flags

TARGETS = {
    "host": HOST,
    "avx2": find("x86-64-v3"),
    "sse2": Target("x86-64", "x86-64"),
}

WIDE = Target("wide", "x86-64-v3", needs=find("x86-64-v3").needs | {"avx512f"})
"""The kernels for vectors of 16 float32, each in two of AVX2: what AVX-512 computes, where there is
none. Only for modules without instructions of AVX-512 by name."""


@contextmanager
def compiled_for(aim, *modules):
    """A block in which these kernel modules are compiled for `aim`, not for this processor.

    Skips the test where the processor cannot run them.
    """
    needs = find(aim.cpu).needs if aim is WIDE else aim.needs
    if not needs <= flags():
        pytest.skip("this processor does not have these vectors")
    with pytest.MonkeyPatch.context() as patch:
        for module in modules if aim is not HOST else ():
            loaded_image = image.in_memory(*driver.compile_flat(module, aim))
            patch.setitem(image._images, module, loaded_image)
        yield
