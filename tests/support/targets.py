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


@contextmanager
def compiled_for(aim, *modules):
    """A block in which these kernel modules are compiled for `aim`, not for this processor.

    Skips the test where the processor cannot run them.
    """
    if not aim.needs <= flags():
        pytest.skip("this processor does not have these vectors")
    with pytest.MonkeyPatch.context() as patch:
        for module in modules if aim is not HOST else ():
            loaded_image = image.in_memory(*driver.compile_flat(module, aim))
            patch.setitem(image._images, module, loaded_image)
        yield
