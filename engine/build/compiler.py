"""Turns the kernels of one module into one LLVM module. Imports numba.

numba types and lowers each specialisation without optimising it, unless the package brings what
comes of that (bitcode.py); a small entry function around it unpacks the record; all are linked,
everything but the entries made internal, and optimised once.
"""

from __future__ import annotations

import functools
import importlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING, TypeAlias, cast

import llvmlite.binding as llvm
import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.core.errors import NumbaError
from numba.core.registry import cpu_target
from numba.np import numpy_support
from numba.np.arrayobj import make_array, populate_array

from ..abi import FAULT, FAULT_WORDS, ITEMS
from . import bitcode, target
from . import kernel as kernels
from .arrays import KernelArray
from .cache import path_of
from .declaration import READ, named
from .independent import independent
from .linker import EXTERNALS
from .lowering import economy
from .simd import Simd, widest_simd

if TYPE_CHECKING:
    from numba.core.base import BaseContext
    from numba.core.dispatcher import Dispatcher

    from .image import Kernels

    Types: TypeAlias = tuple[types.Type, ...]
    """The types of a kernel's arguments: what numba calls a signature."""
    Choice: TypeAlias = Mapping[str, str] | None
    """letter -> dtype of a specialisation; None of a native function"""

WORD = ir.IntType(64)
VERSION: int = llvm.llvm_version_info[0]
"""Of LLVM."""
RAISES = "flatlite_kernel_raises"
_ADDRESS = re.compile(r"(?<= = internal global ptr )inttoptr \(i64 \d+ to ptr\)")
_COUNT = re.compile(r"B\d+v\d+(?=B)")
_FAULTS = " cmpxchg "  # what reporting a fault comes to
_RAISING = (
    "may raise an exception: write `while` for a range() with a variable step, make no arrays,"
    " and mark what is called with @inline"
)


class KernelError(Exception):
    """A kernel that cannot be compiled as the engine needs it."""


@dataclass
class Compiled:
    """An optimised LLVM module and what it exports."""

    label: str
    module: llvm.ModuleRef
    machine: llvm.TargetMachine
    symbols: dict[str, str] = field(default_factory=dict)  # key of a specialisation -> symbol
    kernels: Kernels = field(default_factory=dict)  # name -> (declaration, sets)


def import_kernels(name: str) -> str:
    """Imports a kernel module; gives the module's whole name."""
    path = path_of(name).removesuffix(".py").replace("/", ".")
    return importlib.import_module(f"...{path}", __name__).__name__


def compile_module(
    name: str, aim: target.Target = target.HOST, selected: Iterable[str] | None = None
) -> Compiled:
    """Compiles kernel module `name`: all of it, or what `selected` says (declaration.py).

    Code that the package brings is taken from there. Raises KernelError.
    """
    declared = kernels.KERNELS.get(import_kernels(name), {})
    for key, code in bitcode.read(name, VERSION).items():
        declared[key.partition("[")[0]].lowered.setdefault(key, code)
    keys = None
    if selected is not None:
        declarations = {key: row.declaration for key, row in declared.items() if row.declaration}
        keys = {named(request, declarations) for request in selected}
    return compile_kernels(name, declared.values(), aim, keys)


def lower_module(name: str) -> bitcode.Codes:
    """What numba makes of all kernels of a module, for other processes. Raises KernelError."""
    declared = kernels.KERNELS.get(import_kernels(name), {}).values()
    return {
        key: _portable(_lowered(name, key, kernel, choice))
        for kernel in declared
        for key, choice in _specialisations(kernel)
    }


def _portable(code: bytes) -> bytes:
    """Bitcode without what means something in this process alone.

    That are the addresses of exceptions, which no kernel raises, and the numbers of functions.
    """
    text = _ADDRESS.sub("null", str(llvm.parse_bitcode(code)))
    return llvm.parse_assembly(_COUNT.sub("", text)).as_bitcode()


def import_numba() -> None:
    """Imports what numba puts off until it types a function."""
    cpu_target.typing_context.refresh()
    cpu_target.target_context.refresh()


def compile_kernels(
    label: str,
    declared: Iterable[kernels.Kernel],
    aim: target.Target = target.HOST,
    selected: AbstractSet[str | None] | None = None,
) -> Compiled:
    """Compiles some kernels for a processor; `label` stands before their names in errors.

    `selected` are the keys of the specialisations that are compiled; None for all.
    """
    compiled = _empty(label, aim)
    for kernel in declared:
        declaration = kernel.declaration
        if declaration is not None:
            compiled.kernels[kernel.name] = (declaration.text, declaration.described_sets())
        for key, choice in _specialisations(kernel):
            if declaration is None or selected is None or key in selected:
                _add(compiled, key, kernel, choice)
    _add_microkernels(compiled, widest_simd(aim.needs if aim.cpu else _host_features()))
    _optimise(compiled)
    _check_calls(compiled)
    return compiled


def _host_features() -> set[str]:
    return {name for name, present in llvm.get_host_cpu_features().items() if present}


def _empty(label: str, aim: target.Target) -> Compiled:
    cpu = aim.cpu or llvm.get_host_cpu_name()
    features = aim.features if aim.cpu else llvm.get_host_cpu_features().flatten()
    machine = _machine(cpu, features)
    module = llvm.parse_assembly("")
    module.triple = machine.triple
    module.data_layout = str(machine.target_data)
    return Compiled(label, module, machine)


def _machine(cpu: str, features: str) -> llvm.TargetMachine:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    target = llvm.Target.from_triple(llvm.get_process_triple())
    return target.create_target_machine(
        cpu=cpu, features=features, opt=3, reloc="pic", codemodel="small"
    )


def _specialisations(kernel: kernels.Kernel) -> Iterator[tuple[str, Choice]]:
    """The keys of all that a kernel is compiled for, and the dtypes; the name of what has none."""
    if kernel.declaration is None:
        yield kernel.name, None
        return
    for choice in kernel.declaration.specialisations():
        yield kernel.declaration.key(choice), choice


def _add(compiled: Compiled, key: str, kernel: kernels.Kernel, choice: Choice) -> None:
    """Links one specialisation into the module."""
    if key not in kernel.lowered:  # the same for all processors
        kernel.lowered[key] = _lowered(compiled.label, key, kernel, choice)
    symbol = f"flatlite_{len(compiled.symbols)}"
    code = llvm.parse_bitcode(kernel.lowered[key])
    code.triple, code.data_layout = compiled.module.triple, compiled.module.data_layout
    code.get_function(bitcode.ENTRY).name = symbol
    compiled.module.link_in(code)
    compiled.symbols[key] = symbol
    for item in [*compiled.module.functions, *compiled.module.global_variables]:
        if not item.is_declaration and item.name not in compiled.symbols.values():
            item.linkage = "internal"


def _lowered(label: str, key: str, kernel: kernels.Kernel, choice: Choice) -> bytes:
    """What numba makes of a kernel, with the function `bitcode.ENTRY` around it: bitcode."""
    signature = _signature(kernel, choice)
    module, body = _typed(f"{label}.{key}", kernel, signature)
    module.get_function(body).add_function_attribute("alwaysinline")
    emit = _record_entry if kernel.declaration else _plain_entry
    module.link_in(llvm.parse_assembly(emit(kernel, signature, body, bitcode.ENTRY)))
    for item in [*module.functions, *module.global_variables]:
        if not item.is_declaration and item.name != bitcode.ENTRY:
            item.linkage = "internal"
    passes = llvm.create_new_module_pass_manager()
    passes.add_global_dead_code_eliminate_pass()
    passes.add_strip_dead_prototype_pass()
    passes.add_strip_symbols_pass()
    passes.run(module, _inliner()[0])
    return module.as_bitcode()


def _typed(label: str, kernel: kernels.Kernel, signature: Types) -> tuple[llvm.ModuleRef, str]:
    """What numba makes of a function: LLVM code, and the function's name there."""
    dispatcher = cast("Dispatcher", njit(kernel.function, **kernels.OPTIONS))
    try:
        with economy():
            dispatcher.compile(signature)
    except NumbaError as error:
        raise KernelError(f"{label} does not compile: {error}") from error
    result = dispatcher.overloads[signature]
    returns = types.none if kernel.declaration else types.int64
    if result.signature.return_type != returns:
        got = result.signature.return_type
        raise KernelError(f"{label} must return {returns}, returns {got}")
    module = result.library.linked()
    _inline_helpers(module)
    if kernel.declaration and kernel.declaration.in_place:
        text = str(module)
        if _FAULTS in text:
            raise KernelError(f"{label} must report no fault: its result may lie on an argument")
        module = llvm.parse_assembly(independent(text))
    return module, result.fndesc.llvm_func_name


def _inline_helpers(module: llvm.ModuleRef) -> None:
    """Puts what a function calls in place of the calls.

    Each becomes values without memory first: a helper once, not wherever it is called.
    """
    passes = llvm.create_new_module_pass_manager()
    passes.add_sroa_pass()
    passes.add_always_inliner_pass()
    passes.run(module, _inliner()[0])


@functools.cache
def _inliner() -> tuple[llvm.PassBuilder, llvm.TargetMachine, llvm.PipelineTuningOptions]:
    """What passes for no processor in particular are run by, and what that needs."""
    machine, options = _machine("", ""), llvm.create_pipeline_tuning_options(speed_level=0)
    return llvm.create_pass_builder(machine, options), machine, options


def _add_microkernels(compiled: Compiled, simd: Simd) -> None:
    """Links the bodies of the microkernels the kernels call, for the vectors `simd`."""
    linked: set[str] = set()
    while symbols := _missing_microkernels(compiled.module, linked):  # these may call others
        for symbol in symbols:
            compiled.module.link_in(llvm.parse_assembly(_microkernel_text(symbol, simd)))
            compiled.module.get_function(symbol).linkage = "internal"
        linked.update(symbols)


def _missing_microkernels(module: llvm.ModuleRef, linked: AbstractSet[str]) -> list[str]:
    called = [f.name for f in module.functions if f.name in kernels.MICROKERNELS]
    return [symbol for symbol in called if symbol not in linked]


def _microkernel_text(symbol: str, simd: Simd) -> str:
    """The LLVM module of one microkernel."""
    declared, context = kernels.MICROKERNELS[symbol], _context()
    returns: ir.Type = ir.VoidType()
    if declared.signature.return_type != types.void:
        returns = context.get_value_type(declared.signature.return_type)
    arguments = [context.get_value_type(kind) for kind in declared.signature.args]
    module, builder, function = _start(returns, arguments, symbol)
    function.attributes.add("alwaysinline" if declared.inline else "noinline")
    if not declared.inline:  # spilled vectors then never cross a cache line
        function.attributes.alignstack = 4 * simd.width
    value = declared.emit(builder, simd, *function.args)
    if value is None:
        builder.ret_void()
    else:
        builder.ret(value)
    return str(module)


def _signature(kernel: kernels.Kernel, choice: Choice) -> Types:
    if kernel.declaration is None:
        return (types.int64,) * kernel.arity
    assert choice is not None
    kinds: list[types.Type] = []
    for argument in kernel.declaration.arguments:
        dtype = choice[argument.letter] if argument.letter else argument.dtype
        scalar = numpy_support.from_dtype(np.dtype(dtype))
        if argument.rank is None:
            kinds.append(scalar)
        else:
            kinds.append(KernelArray(scalar, argument.rank, argument.role == READ))
    return (*_with_records(kernel, kinds), types.int64, types.int64, types.int64)


def _with_records(kernel: kernels.Kernel, kinds: Sequence[types.Type]) -> Iterable[types.Type]:
    """The types of a kernel's parameters, from those of its declared words."""
    assert kernel.declaration is not None
    pairs = zip(kernel.declaration.arguments, kinds, strict=True)
    for name, group in groupby(pairs, lambda pair: pair[0].record or pair[0].name):
        fields, record = [kind for _, kind in group], kernel.records.get(name)
        yield types.BaseTuple.from_types(fields, record) if record else fields[0]


def _record_entry(kernel: kernels.Kernel, signature: Types, body: str, symbol: str) -> str:
    """void(ith, nth, record*): unpacks the record and calls the kernel."""
    assert kernel.declaration is not None
    module, builder, function = _start(ir.VoidType(), (WORD, WORD, WORD.as_pointer()), symbol)
    ith, nth, record = function.args

    def slot(i: int) -> ir.Value:
        return builder.load(builder.gep(record, [WORD(i)]))

    values: list[ir.Value] = []
    arguments = iter(kernel.declaration.arguments)
    for kind in signature[:-3]:
        argument = next(arguments)
        if argument.record:
            assert isinstance(kind, types.BaseTuple)
            fields = [argument, *(next(arguments) for _ in range(len(kind) - 1))]
            numbers = [slot(field.slot) for field in fields]
            values.append(_context().make_tuple(builder, kind, numbers))
        elif argument.rank is None:
            values.append(_number(builder, slot(argument.slot), kind))
        else:
            assert isinstance(kind, KernelArray)
            words = [slot(argument.slot + i) for i in range(1 + argument.rank)]
            values.append(_array(builder, kind, words))
    items = slot(ITEMS)
    values.append(builder.sdiv(builder.mul(items, ith), nth))
    values.append(builder.sdiv(builder.mul(items, builder.add(ith, WORD(1))), nth))
    for value in values[-2:]:
        _assume_not_negative(builder, value)
    report = builder.mul(ith, WORD(8 * FAULT_WORDS))  # each chunk has words of its own
    values.append(builder.add(slot(FAULT), report))
    _call(builder, body, types.none, signature, values)
    builder.ret_void()
    return str(module)


def _assume_not_negative(builder: ir.IRBuilder, word: ir.Value) -> None:
    """Lets LLVM drop numba's test for indices that count from the end."""
    kind = ir.FunctionType(ir.VoidType(), [ir.IntType(1)])
    assume = cgutils.get_or_insert_function(builder.module, kind, "llvm.assume")
    builder.call(assume, [builder.icmp_signed(">=", word, WORD(0))])


def _plain_entry(kernel: kernels.Kernel, signature: Types, body: str, symbol: str) -> str:
    """int64(int64, ...)"""
    module, builder, function = _start(WORD, (WORD,) * kernel.arity, symbol)
    builder.ret(_call(builder, body, types.int64, signature, list(function.args)))
    return str(module)


def _start(
    returns: ir.Type, arguments: Iterable[ir.Type], symbol: str
) -> tuple[ir.Module, ir.IRBuilder, ir.Function]:
    module = _context().create_module(symbol)
    function = ir.Function(module, ir.FunctionType(returns, arguments), symbol)
    return module, ir.IRBuilder(function.append_basic_block()), function


def _call(
    builder: ir.IRBuilder,
    body: str,
    returns: types.Type,
    signature: Types,
    values: Sequence[ir.Value],
) -> ir.Value:
    context = _context()
    kind = context.call_conv.get_function_type(returns, signature)
    function = cgutils.get_or_insert_function(builder.module, kind, body)
    status, value = context.call_conv.call_function(builder, function, returns, signature, values)
    raises = cgutils.get_or_insert_function(
        builder.module, ir.FunctionType(ir.VoidType(), []), RAISES
    )
    with builder.if_then(status.is_error, likely=False):
        builder.call(raises, [])
    return value


def _context() -> BaseContext:
    """numba's own description of this machine."""
    return cpu_target.target_context


def _number(builder: ir.IRBuilder, word: ir.Value, kind: types.Type) -> ir.Value:
    context = _context()
    target = context.get_value_type(kind)
    if isinstance(kind, types.Float):
        bits = builder.trunc(word, ir.IntType(kind.bitwidth)) if kind.bitwidth < 64 else word
        return builder.bitcast(bits, target)
    return word if target == WORD else builder.trunc(word, target)


def _array(builder: ir.IRBuilder, kind: types.Array, words: Sequence[ir.Value]) -> ir.Value:
    context = _context()
    itemsize = context.get_abi_sizeof(context.get_data_type(kind.dtype))
    shape = words[1:]
    strides: list[ir.Value] = []
    step: ir.Value = WORD(itemsize)
    for size in reversed(shape):
        strides.insert(0, step)
        step = builder.mul(step, size)
    array = make_array(kind)(context, builder)
    memory = builder.inttoptr(words[0], array.data.type)
    populate_array(array, memory, shape, strides, WORD(itemsize), meminfo=None)
    return array._getvalue()  # pyright: ignore[reportPrivateUsage]  numba has no other way


def _optimise(compiled: Compiled) -> None:
    options = llvm.create_pipeline_tuning_options(speed_level=3)
    options.loop_vectorization = True
    options.slp_vectorization = True
    builder = llvm.create_pass_builder(compiled.machine, options)
    compiled.module.verify()
    builder.getModulePassManager().run(compiled.module, builder)


def _check_calls(compiled: Compiled) -> None:
    """Refuses kernels that can raise or that need more than libc and libm."""
    keys = {symbol: key for key, symbol in compiled.symbols.items()}
    foreign = [
        f.name
        for f in compiled.module.functions
        if f.is_declaration and not f.name.startswith("llvm.") and f.name not in EXTERNALS
    ]
    for function in compiled.module.functions:
        text = "" if function.is_declaration or not foreign else str(function)
        for symbol in foreign:
            if f"@{symbol}(" in text:
                why = _RAISING if symbol == RAISES else f"calls {symbol}: not of libc or libm"
                raise KernelError(
                    f"{compiled.label}.{keys.get(function.name, function.name)} {why}"
                )
