import operator
import os
import re
import subprocess
import sys

import llvmlite.binding as llvm
import numpy as np
import pytest
from llvmlite import ir
from numba import float32
from numba.core import ir as numba_ir

from flatlite.engine.build import cache, compiler, driver, image, lowering, target
from flatlite.engine.build.declaration import Declaration
from flatlite.engine.build.independent import independent
from flatlite.engine.build.kernel import KERNELS, Kernel, inline, kernel, set_fault
from flatlite.engine.plan.buffer import arena, bound
from flatlite.engine.plan.program import Program
from flatlite.engine.records import Axis
from flatlite.engine.run.faults import INDEX_OUT_OF_RANGE


def compiled(function, text="x:float32[1] out:float32[1]", **sets):
    kernel = Kernel(function.__name__, function, Declaration(function.__name__, text, sets))
    return compiler.compile_kernels("testing", [kernel])


def steps(x, out, first, last, fault):
    for i in range(0, x.shape[0], x.shape[0] // 2):
        out[i] = x[i]


def allocates(x, out, first, last, fault):
    room = np.empty(x.shape[0], np.float32)
    for i in range(first, last):
        room[i] = x[i]
        out[i] = room[last - i - 1]


def writes_input(x, out, first, last, fault):
    x[0] = out[0]


def gives_result(x, out, first, last, fault):
    return x[0]


@inline
def _raise_if(value):
    if value > 1:
        raise ValueError("too large")


def raises(x, out, first, last, fault):
    _raise_if(x[0])
    out[0] = x[0]


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (steps, "testing.steps may raise an exception: write `while`"),
        (raises, "testing.raises may raise an exception"),
        (allocates, "testing.allocates does not compile"),
        (writes_input, "testing.writes_input does not compile"),
        (gives_result, "testing.gives_result must return none, returns float32"),
    ],
)
def test_what_the_engine_cannot_run_is_refused(function, message):
    with pytest.raises(compiler.KernelError, match=message):
        compiled(function)


@inline
def _largest(x, i, n):
    while i > 0 and n > 0:
        if x[i - 1] > x[i] or (n == 3 and x[i] > 2):
            i -= 1
        n -= 1
    return x[i], n


def branches(x, out, first, last, fault):
    for i in range(first, last):
        largest, n = _largest(x, i, 4)
        out[i] = largest if n < x.shape[0] else np.exp(x[i])


def lowered(function):
    declaration = Declaration(function.__name__, "x:float32[1] out:float32[1]", {})
    kernel = Kernel(function.__name__, function, declaration)
    compiler.compile_kernels("testing", [kernel])
    (content,) = kernel.lowered.values()
    text = str(llvm.parse_bitcode(content))
    return re.sub(r"B\dv\d+B", "", text)  # which counts the functions numba has compiled


def test_shortcuts_in_numba_change_no_code(monkeypatch):
    with_shortcuts = lowered(branches)
    calls = [row for row in lowering._CHEAPER if row[1] == "get_call_type"]
    monkeypatch.setattr(lowering, "_CHEAPER", calls)
    _largest.overloads.clear()
    assert with_shortcuts == lowered(branches)


def test_variables_of_an_instruction_are_those_numba_finds():
    where = numba_ir.Loc("here", 1)
    x, y, z = (numba_ir.Var(None, name, where) for name in "xyz")
    parts = [x, {"a": (y, [z, x]), "b": 7}, numba_ir.Expr.binop(operator.add, z, y, where), None]
    call = numba_ir.Expr.call(x, [y, z], (("key", x),), where)
    for value in (parts, call, numba_ir.Assign(call, z, where).__dict__):
        assert lowering._variables(call, value) == call._rec_list_vars(value)


def test_sizes_of_types_are_llvms():
    context = compiler.cpu_target.target_context
    byte, word = ir.IntType(8), ir.IntType(64)
    kinds = [byte, word, byte.as_pointer(), ir.LiteralStructType([byte, word])]
    kinds += [ir.ArrayType(kinds[-1], 3), ir.ArrayType(byte, 3)]
    for _ in range(2):
        sizes = [lowering._size_of(context, kind) for kind in kinds]
        assert sizes == [1, 8, 8, 16, 48, 3]


def test_numba_is_as_before_after_lowering():
    before = [getattr(owner, name) for owner, name, _ in lowering._CHEAPER]
    with pytest.raises(ZeroDivisionError), lowering.economy():
        assert [getattr(owner, name) for owner, name, _ in lowering._CHEAPER] != before
        raise ZeroDivisionError
    assert [getattr(owner, name) for owner, name, _ in lowering._CHEAPER] == before


def by_numbers(x, out, size, stride, first, last, fault):
    for i in range(first, last):
        out[i] = x[i * stride] if i < size else float32(0.0)


def by_record(x, out, steps, first, last, fault):
    for i in range(first, last):
        out[i] = x[i * steps.stride] if i < steps.size else float32(0.0)


def test_a_record_compiles_to_the_code_of_its_numbers():
    arrays, texts = "x:float32[1] out:float32[1]", []
    for function, words, records in (
        (by_numbers, "size:i stride:i", {}),
        (by_record, "steps.size:i steps.stride:i", {"steps": Axis}),
    ):
        declaration = Declaration("kernel", f"{arrays} {words}", {})
        kernel = Kernel("kernel", function, declaration, records=records)
        code = compiler.compile_kernels("testing", [kernel])
        texts.append(code.machine.emit_assembly(code.module))
    assert texts[0] == texts[1]


def calls_out(x, out, first, last, fault):
    for i in range(first, last):
        out[i] = np.exp(x[i])


def test_foreign_functions_are_refused(monkeypatch):
    built = compiled(calls_out)
    monkeypatch.setattr("flatlite.engine.build.linker.EXTERNALS", frozenset(["memset"]))
    message = "testing.calls_out calls expf, which is not a function of libc or libm"
    with pytest.raises(compiler.KernelError, match=message):
        driver.link(built)


def test_simple_loops_become_vector_code():
    @kernel("x:float32[1] out:float32[1]")
    def double(x, out, first, last, fault):
        for i in range(first, last):
            out[i] = x[i] + x[i]

    built = KERNELS[__name__]["double"]
    aim = target.find("x86-64-v3")
    code = str(compiler.compile_kernels("testing", [built], aim).module)
    assert "<8 x float>" in code
    assert "gather" not in code


def test_kernels_may_be_made_from_rows():
    def power(exponent):
        def function(x, out, first, last, fault):
            for i in range(first, last):
                value = float32(1)
                for _ in range(exponent):
                    value *= x[i]
                out[i] = value

        return function

    for name, exponent in {"square": 2, "cube": 3}.items():
        kernel("x:float32[1] out:float32[1]", name=name)(power(exponent))
    built = [KERNELS[__name__][name] for name in ("square", "cube")]
    image.provide("powers", driver.just_in_time(compiler.compile_kernels("powers", built)))
    x = np.array([1, 2, 3], np.float32)
    for name, expected in {"square": x**2, "cube": x**3}.items():
        program, source, out = Program(), bound((3,), np.float32), arena((3,), np.float32)
        program.call(f"powers.{name}", source, out, split=3)
        program.keep(out)
        program.close({source: x})
        program.run()
        np.testing.assert_array_equal(program.array(out), expected)


def test_a_name_is_declared_once():
    def twice(x, out, first, last, fault):
        out[0] = x[0]

    kernel("x:float32[1] out:float32[1]")(twice)
    with pytest.raises(ValueError, match="kernel 'twice' is declared twice"):
        kernel("x:float32[1] out:float32[1]")(twice)


def test_every_kernel_is_part_of_an_image():
    """A kernel made of another file's function would be declared there, where no image has it."""
    modules = {compiler.import_kernels(name) for name in cache.modules()}
    folder = compiler.import_kernels("copy").partition(".kernels.")[0]
    declared = {name for name in KERNELS if name.startswith(f"{folder}.kernels.")}
    assert declared <= modules


def reports(x, out, first, last, fault):
    for i in range(first, last):
        out[i] = x[i]
        if x[i] > 1:
            set_fault(fault, INDEX_OUT_OF_RANGE, i, 0)


def test_what_works_in_place_reports_no_fault():
    compiled(reports)
    with pytest.raises(compiler.KernelError, match="reports must report no fault: its result may"):
        compiled(reports, "x:float32[1] out~x:float32[1]")


LOOP = """
define void @"f"(ptr %x, ptr %out, i64 %n) {
B0:
  %room = alloca i64
  br label %B8
B8:
  %i = phi i64 [ 0, %B0 ], [ %next, %B8 ]
  %from = getelementptr float, ptr %x, i64 %i
  %value = load float, ptr %from, align 4
  %square = fmul float %value, %value
  %to = getelementptr float, ptr %out, i64 %i
  store float %square, ptr %to, align 4
  %next = add i64 %i, 1
  store i64 %next, ptr %room, align 8
  %more = icmp slt i64 %next, %n
  br i1 %more, label %B8, label %B9
B9:
  ret void
}
!0 = !{}
"""


@pytest.mark.parametrize("block", ["B8", "B8.i4.i", '"f::line.exit.i"'])
def test_loops_in_place_are_vectors_whatever_the_addresses(block):
    """Also those of functions that numba has written into the kernel's."""
    loop = LOOP.replace("%B8", f"%{block}").replace("B8:", f"{block}:")
    texts = []
    for code in (loop, independent(loop)):
        built = compiler.compile_kernels("testing", [])
        built.module.link_in(compiler.llvm.parse_assembly(code))
        compiler._optimise(built)
        texts.append(str(built.module))
    assert all("x float>" in text for text in texts)
    assert ["diff.check" in text for text in texts] == [True, False]


COMPARED = """
from flatlite.engine.build import cache, compiler, kernel
from flatlite.engine.kernels.elementwise import {module}
made = kernel.KERNELS[{module}.__name__]["{name}"]
text = str(compiler.compile_kernels("{module}", [made]).module)
print("x float>" in text, "diff.check" in text or "vector.memcheck" in text)
"""


@pytest.mark.parametrize(
    ("module", "name"), [("arithmetic", "add"), ("arithmetic", "maximum"), ("compare", "less")]
)
def test_kernels_are_vectors_in_place(module, name):
    """As they are built: in a process of their own, where numba leaves all to `_optimise`."""
    done = subprocess.run(
        [sys.executable, "-c", COMPARED.format(module=module, name=name)],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "NUMBA_OPT": "0"},
    )
    assert done.stdout.split() == ["True", "False"]
