"""Kernels for several kinds of vectors, whatever this processor has most of."""

from contextlib import contextmanager, nullcontext

import pytest
from twins import twins_of_instructions

from flatlite.engine.build import driver, image
from flatlite.engine.build.target import HOST, SHIPPED, Target, find, flags

TARGETS = {
    "host": HOST,
    "avx2": find("x86-64-v3"),
    "sse2": Target("x86-64", "x86-64"),
}

_BEST = next((target.name for target in SHIPPED if target.needs <= flags()), "")
ALIKE = {_BEST, "avx2"} if _BEST == "x86-64-v3" else {_BEST}
"""Names of what this processor's vectors are: "host" has them, too."""


def kinds(names=TARGETS, slow=()):
    """These kinds of vectors as parameters; "sse2", what "host" is as well and `slow` are slow."""
    marks = dict.fromkeys({*slow, *ALIKE, "sse2"}, pytest.mark.slow)
    return [pytest.param(name, marks=marks.get(name, ())) for name in names]


_V3, _V4 = find("x86-64-v3"), find("x86-64-v4-vnni")
WIDE = Target("wide", _V4.cpu, needs=_V4.needs - {"avx512_vnni"})
"""The kernels for vectors of 16 float32, where there is no AVX-512 each in two of AVX2."""

BYTES = Target("bytes", _V4.cpu, _V4.features + ",+avx512vbmi", _V4.needs | {"avx512vbmi"})
"""The same with products of four bytes, and tables of bytes in registers."""


@contextmanager
def compiled_for(aim, *modules):
    """A block in which these kernel modules are compiled for `aim`, not for this processor.

    Where that lacks the instructions of AVX-512 and AVX-VNNI, their twins take their place. Skips
    the test where it has no AVX2 for them.
    """
    has_twins = not aim.needs <= flags()
    if has_twins and not (_V3.needs <= flags() and aim.needs > _V3.needs):
        pytest.skip("this processor does not have these vectors")
    cpu, features = (_V3.cpu, "") if has_twins else (aim.cpu, aim.features)
    code = Target(aim.name, cpu, features, aim.needs)
    with pytest.MonkeyPatch.context() as patch:
        with twins_of_instructions() if has_twins else nullcontext():
            for module in modules if aim is not HOST else ():
                loaded_image = image.in_memory(*driver.compile_flat(module, code))
                patch.setitem(image._images, module, loaded_image)
        yield
