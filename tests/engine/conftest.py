import signal

import numpy as np
import pytest
from emulated import compiled_for_aarch64
from numba import float32, int8
from targets import BYTES, TARGETS, WIDE, compiled_for, kinds

from flatlite.engine.build import compiler, driver, image
from flatlite.engine.build.kernel import KERNELS, inline, kernel, set_fault
from flatlite.engine.plan import instruction
from flatlite.engine.plan.buffer import arena, bound
from flatlite.engine.plan.program import Program
from flatlite.engine.run import plan_runner
from flatlite.engine.run.faults import INDEX_OUT_OF_RANGE


@kernel("out:float64[1] a:i b:f c:float32 d:int8 e:bool g:uint64")
def numbers(out, a, b, c, d, e, g, first, last, fault):
    out[0] = a
    out[1] = b
    out[2] = c
    out[3] = d
    out[4] = 1 if e else 0
    out[5] = g


@kernel("low:T x:T1 out:T1", T=(int8, float32))
def at_least(low, x, out, first, last, fault):
    for i in range(first, last):
        out[i] = max(x[i], low)


@kernel("inout_x:int32[1]")
def count(inout_x, first, last, fault):
    for i in range(first, last):
        inout_x[i] += 1


@kernel("x:float32[n] scratch:float32[n] out:float32[n]")
def reverse_twice(x, scratch, out, first, last, fault):
    n = x.shape[0]
    for i in range(n):
        scratch[i] = x[n - 1 - i]
    for i in range(n):
        out[i] = scratch[n - 1 - i]


@inline
def _check(value, i, fault):
    if not 0 <= value < 10:
        set_fault(fault, INDEX_OUT_OF_RANGE, i, value, 10)
        return False
    return True


@kernel("x:int32[n] out:int32[n]")
def digits(x, out, first, last, fault):
    for i in range(first, last):
        if not _check(x[i], i, fault):
            return
        out[i] = x[i]


@kernel("out:float64[1] turns:i")
def spin(out, turns, first, last, fault):
    for i in range(first, last):
        value = 0.5
        for _ in range(turns):
            value = 3.9 * value * (1 - value)
        out[i] = value


@kernel("out:int64[n,*]")
def dealt(out, first, last, fault):
    for i in range(first, last):
        out[i, 0] = first
        out[i, 1] = last


def pytest_collection_modifyitems(items):
    """Modules say of some vectors whether their kernels are tested for them: see CHOSEN."""
    items[:] = [item for item in items if is_chosen(item)]
    for item in items:
        if is_chosen(item) == SLOW:
            item.add_marker(pytest.mark.slow)


CHOSEN = {"aarch64": "ON_AARCH64", "wide": "IN_WIDE_VECTORS", "bytes": "IN_BYTES"}
"""Vectors that a module of tests has to ask for -> by which constant: the emulator takes minutes,
and what kernels do in others they do in these, but for some. Where the constant is SLOW, so are the
tests: kernels of many instructions take a minute to be compiled with their twins."""
SLOW = "slow"


def is_chosen(item):
    """Whether the module of an item asks for its vectors, if it has to."""
    parameters = item.callspec.params if hasattr(item, "callspec") else {}
    constant = CHOSEN.get(parameters.get("vectors"))
    return True if constant is None else getattr(item.module, constant, False)


AARCH64 = pytest.param("aarch64", marks=pytest.mark.slow)


@pytest.fixture
def sigint():
    """SIGINT raises KeyboardInterrupt, also where the shell that started the tests ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="module", params=[*kinds(), WIDE.name, BYTES.name, AARCH64])
def vectors(request, tmp_path_factory):
    """The kernels of the test module's MODULES, compiled for one kind of vectors."""
    modules = request.module.MODULES
    if request.param == "aarch64":
        compiled = compiled_for_aarch64(tmp_path_factory.mktemp("aarch64"), *modules)
    else:
        aims = {**TARGETS, WIDE.name: WIDE, BYTES.name: BYTES}
        compiled = compiled_for(aims[request.param], *modules)
    with compiled:
        yield request.param


@pytest.fixture(scope="session")
def testing():
    """The kernels above as the module `testing`."""
    compiled = compiler.compile_kernels("testing", KERNELS[__name__].values())
    loaded_image = image.in_memory(*driver.link(compiled))
    return image.provide("testing", loaded_image)


@pytest.fixture
def everything_is_shared(monkeypatch):
    """Threads share instructions however short they are, and whatever alone would take."""
    monkeypatch.setattr(instruction, "MIN_PARALLEL_BYTES", 0)
    monkeypatch.setattr(instruction, "MIN_PARALLEL_TIME", 0)
    monkeypatch.setattr(plan_runner, "MIN_SHARED", 0)
    monkeypatch.setattr(plan_runner, "MAX_COMPARED", 0)


@pytest.fixture
def run_kernel():
    """Runs one kernel on arrays: run_kernel(name, *inputs, out=(shape, dtype), **numbers)."""

    def run(name, *inputs, out, split=None, **numbers):
        program = Program()
        buffers = [bound(x.shape, x.dtype) for x in inputs]
        result = arena(*out)
        program.call(name, *buffers, result, split=split, **numbers)
        program.keep(result)
        program.close(dict(zip(buffers, map(np.asarray, inputs), strict=True)))
        program.run()
        return program.array(result)

    return run
