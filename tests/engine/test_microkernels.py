"""Microkernels: functions written as LLVM instructions."""

import numpy as np
import pytest
from llvmlite import ir
from numba import types

from flatlite.engine.build import compiler, driver, image
from flatlite.engine.build.kernel import KERNELS, address, choose, kernel, microkernel
from flatlite.engine.build.vector import WORD
from flatlite.engine.plan.buffer import arena
from flatlite.engine.plan.program import Program


def storing(value: int):
    """A microkernel that stores a number plus its second argument at an address."""

    def emit(builder, simd, target, more):
        pointer = builder.inttoptr(target, ir.PointerType())
        builder.store(builder.add(more, WORD(value)), pointer)

    emit.__name__ = f"store_{value}"
    return microkernel(types.void(types.int64, types.int64))(emit)


store = choose(storing(10), storing(20), storing(30))


@kernel("out:int64[n]")
def chosen(out, first, last, fault):
    for i in range(first, last):
        store(i, address(out[i:]), i)


@pytest.fixture(scope="module")
def microkernels():
    compiled = compiler.compile_kernels("microkernels", KERNELS[__name__].values())
    return image.provide("microkernels", image.in_memory(*driver.link(compiled)))


def test_choose_calls_the_one_with_the_number(microkernels):
    program, out = Program(), arena((5,), np.int64)
    program.call("microkernels.chosen", out, split=5)
    program.keep(out)
    program.close({})
    program.run()
    assert program.array(out).tolist() == [10, 21, 32, 33, 34]
