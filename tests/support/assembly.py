"""The instructions a microkernel of a kernel becomes on processors this machine need not have."""

import re

import llvmlite.binding as llvm
import llvmlite.ir as ir
from numba.core import types
from numba.core.registry import cpu_target

from flatlite.engine.build.kernel import MICROKERNELS
from flatlite.engine.build.simd import widest_simd

PROCESSORS = {
    "x86-64-v2": ("x86_64-unknown-linux-gnu", "x86-64-v2", ""),
    "x86-64-v3": ("x86_64-unknown-linux-gnu", "x86-64-v3", ""),
    "x86-64-v3-vnni": ("x86_64-unknown-linux-gnu", "x86-64-v3", "+avxvnni"),
    "x86-64-v4-vnni": ("x86_64-unknown-linux-gnu", "x86-64-v4", "+avx512vnni"),
    "cortex-a76": ("aarch64-unknown-linux-gnu", "cortex-a76", ""),
    "apple-m1": ("aarch64-unknown-linux-gnu", "apple-m1", ""),
}
"""Name -> triple, processor and features as LLVM names them."""

FEATURES = {
    "x86-64-v2": (),
    "x86-64-v3": ("avx2", "fma"),
    "x86-64-v3-vnni": ("avx2", "fma", "avxvnni"),
    "x86-64-v4-vnni": ("avx2", "fma", "avx512f", "avx512vnni"),
    "cortex-a76": ("neon", "dotprod"),
    "apple-m1": ("neon", "dotprod"),
}
_VECTOR = re.compile(r"%[xyz]mm\d+|\b[qv]\d+\b")
_STACK = re.compile(r"\(%rsp[,)]|\[sp\b")


def listing(symbol, processor):
    """The lines of assembly of one microkernel."""
    triple, cpu, features = PROCESSORS[processor]
    module = llvm.parse_assembly(_written(symbol, widest_simd(FEATURES[processor]), triple))
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    machine = llvm.Target.from_triple(triple).create_target_machine(
        cpu=cpu, features=features, opt=3, reloc="pic", codemodel="small"
    )
    builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=3))
    builder.getModulePassManager().run(module, builder)
    return [line.split("#")[0].strip() for line in machine.emit_assembly(module).splitlines()]


def _written(symbol, wide, triple):
    kernel = MICROKERNELS[symbol]
    context = cpu_target.target_context
    returns = kernel.signature.return_type
    kind = ir.VoidType() if returns == types.void else context.get_value_type(returns)
    arguments = [context.get_value_type(argument) for argument in kernel.signature.args]
    module = ir.Module(symbol)
    module.triple = triple
    function = ir.Function(module, ir.FunctionType(kind, arguments), symbol)
    builder = ir.IRBuilder(function.append_basic_block())
    value = kernel.emit(builder, wide, *function.args)
    builder.ret_void() if value is None else builder.ret(value)
    return str(module)


def loops(lines):
    """The lines of each loop that has no other inside: from a label to the jump back to it."""
    labels = {line[:-1]: i for i, line in enumerate(lines) if line.endswith(":")}
    addresses = []
    for i, line in enumerate(lines):
        words = re.split(r"[\s,]+", line)
        start = labels.get(words[-1]) if words[0].startswith(("j", "b", "cb", "tb")) else None
        if start is not None and start < i:
            addresses.append((start, i))
    inner = [
        (a, b)
        for a, b in addresses
        if not any(a <= c and d < b for c, d in addresses if (a, b) != (c, d))
    ]
    return [lines[a : b + 1] for a, b in inner]


def spills(lines):
    """How often vectors are written to the stack or read from it."""
    return sum(bool(_VECTOR.search(line) and _STACK.search(line)) for line in lines)
