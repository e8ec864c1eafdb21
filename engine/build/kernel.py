'''How kernels are written. Imports numba, so only files of kernels/ and the compiler import this.

A kernel is a plain Python function that numba can compile, in a file of kernels/:

    from numba import int32, int64

    from ..faults import INDEX_OUT_OF_RANGE
    from ..kernel import WIDTHS, kernel, set_fault

    @kernel("params:T3 indices:I1 out:T3", T=WIDTHS, I=(int32, int64))
    def slices(params, indices, out, first, last, fault):
        """out[o, i, :] = params[o, indices[i], :]"""
        for o in range(first, last):
            for i in range(indices.size):
                index = indices[i]
                if not 0 <= index < params.shape[1]:
                    return set_fault(fault, INDEX_OUT_OF_RANGE, i, index, params.shape[1])
                for k in range(params.shape[2]):
                    out[o, i, k] = params[o, index, k]

declaration.py says what may stand in the declaration. After the declared arguments always come
`first`, `last` and `fault`: the kernel does the items [first, last) of what its caller splits
(0 and 1 when nothing is split) and must give the same bytes however the items are dealt out.
The caller writes `program.call("gather.slices", params, indices, out, split=params.shape[0])`.

What holds inside:

* No allocation, exceptions, strings or objects. Reading outside an array is not noticed: check
  what comes from data and `set_fault`; shapes are the caller's to check.
* A kernel that could raise is refused when it is built. `range` with a step that is no literal
  raises: use `while`. `x / 0` gives inf or nan, `i // 0` and `i % 0` give 0.
* float32 stays float32 only among float32: write `float32(0.5)`; `alpha:f` arrives as float64.
* Helpers carry `@inline` and lie in the same file, vector.py or fixedpoint.py.
* A result declared as `out~x` may lie on `x`: declaration.py says what must hold then. Its loops
  are compiled as parallel ones, so no turn may read what another stores. Each such kernel is tested
  (tests/engine/test_in_place.py), and rows of them may be run together (fusion.py).
* Storing to an array that is not called out..., inout... or scratch... does not compile. All
  items of a call share the scratch array: an item may use only the part that is its own.
* A helper or math function may only end in libm and libc (the list is in linker.py).
* Each combination of dtypes costs 0.1 to 1 s to compile: prefer `WIDTHS`, keep the sets small.
* What LLVM does not vectorise by itself is a `microkernel` (vector.py): a function written as LLVM
  instructions, for the vectors of the processor the image is made for.
* More than a few numbers that belong together are a record, which kernel and helpers read by the
  names of its fields: `@kernel("x:float32[1] window:PoolWindow", PoolWindow=PoolWindow)`.
* Kernels that differ by one expression are rows: `kernel("x:float32[1] out:float32[1]",
  name="exp")(unary(exp_of))`, where `unary` returns a function around `exp_of`.
'''

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

from llvmlite import ir
from numba import int64, njit, types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np.arrayobj import make_array

from .declaration import WIDTHS, WIDTHS16, Declaration, expanded
from .lowering import Lowering

if TYPE_CHECKING:
    from numba.core.base import BaseContext
    from numba.core.typing import Context, Signature

    from .declaration import Dtypes
    from .simd import Simd

    Function = Callable[..., object]
    """What numba compiles."""
    Emit = Callable[..., ir.Value | None]
    """Writes the body of a microkernel: called with a builder, the vectors and the arguments."""

F = TypeVar("F", bound="Function")

__all__ = ["KERNELS", "MICROKERNELS", "WIDTHS", "WIDTHS16", "Kernel", "Microkernel", "address"]
__all__ += ["choose", "inline", "kernel", "microkernel", "native", "set_fault", "stack_buffer"]

KERNELS: dict[str, dict[str, Kernel]] = {}
"""What the decorators have met: module name -> kernels and native functions, by name."""

MICROKERNELS: dict[str, Microkernel] = {}
"""Symbol -> what `microkernel` has declared."""

_PREFIX = "flatlite_microkernel_"

OPTIONS = {
    "error_model": "numpy",
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
    "_nrt": False,  # no reference counts: allocating an array does not compile
    "pipeline_class": Lowering,
}


class Kernel:
    """A function for the compiler, with its declaration (None for a native function).

    `records` are the classes of its records, by the names of the parameters.
    """

    def __init__(
        self,
        name: str,
        function: Function,
        declaration: Declaration | None,
        arity: int = 0,
        records: Mapping[str, type[tuple[int, ...]]] | None = None,
    ) -> None:
        self.name, self.function, self.declaration, self.arity = name, function, declaration, arity
        self.records = records or {}
        self.lowered: dict[str, bytes] = {}  # the bitcode made of it, by key of a specialisation


def kernel(
    declaration: str, *, name: str | None = None, **sets: Dtypes | type[tuple[int, ...]]
) -> Callable[[Function], Kernel]:
    """Declares a kernel; `name` is the function's unless given.

    `sets` are the dtypes by letter, and the records that the declaration names (records.py).
    """
    classes = {key: value for key, value in sets.items() if isinstance(value, type)}
    dtypes = {key: value for key, value in sets.items() if not isinstance(value, type)}
    pairs = [word.partition(":")[::2] for word in declaration.split()]
    records = {name: classes[kind] for name, kind in pairs if kind in classes}

    def declare(function: Function) -> Kernel:
        label = name or function.__name__
        words = Declaration(label, expanded(declaration, classes), dtypes)
        return _register(Kernel(label, function, words, records=records))

    return declare


class Microkernel:
    """A function in LLVM instructions: numba's signature, and what writes its body."""

    def __init__(self, signature: Signature, emit: Emit, inline: bool) -> None:
        self.signature, self.emit, self.inline = signature, emit, inline


def microkernel(
    signature: Signature, *, inline: bool = False
) -> Callable[[Emit], types.ExternalFunction]:
    """Declares a function of numbers and addresses that kernels may call.

    `emit(builder, simd, *arguments)` writes its body, once for each image, and gives the value to
    return; `simd` describes the processor's vectors (simd.py). `inline` makes it part of its
    callers.
    """

    def declare(emit: Emit) -> types.ExternalFunction:
        symbol = f"{_PREFIX}{emit.__module__.rpartition('.')[2]}_{emit.__name__}"
        MICROKERNELS[symbol] = Microkernel(signature, emit, inline)
        return types.ExternalFunction(symbol, signature)

    return declare


def choose(*microkernels: types.ExternalFunction) -> types.ExternalFunction:
    """A microkernel that calls the one of `microkernels` that its first argument is the number of.

    The last one stands for all greater numbers. They take the same arguments and give nothing.
    """
    symbols = [microkernel.symbol for microkernel in microkernels]
    arguments = MICROKERNELS[symbols[0]].signature.args

    def emit(builder: ir.IRBuilder, simd: Simd, number: ir.Value, *values: ir.Value) -> None:
        after = builder.append_basic_block()
        kind = ir.FunctionType(ir.VoidType(), [value.type for value in values])
        blocks = [builder.append_basic_block() for _ in symbols]
        switch = builder.switch(number, blocks[-1])
        for i, (symbol, block) in enumerate(zip(symbols, blocks, strict=True)):
            if i < len(symbols) - 1:
                switch.add_case(ir.IntType(64)(i), block)
            builder.position_at_end(block)
            function = cgutils.get_or_insert_function(builder.module, kind, symbol)
            builder.call(function, values)
            builder.branch(after)
        builder.position_at_end(after)

    emit.__name__ = "choose_" + "_or_".join(symbol.removeprefix(_PREFIX) for symbol in symbols)
    return microkernel(types.void(types.int64, *arguments), inline=True)(emit)


def native(arity: int) -> Callable[[Function], Kernel]:
    """Declares a function of `arity` int64 that returns one int64, exported under its own name."""

    def declare(function: Function) -> Kernel:
        return _register(Kernel(function.__name__, function, None, arity))

    return declare


def _register(kernel: Kernel) -> Kernel:
    known = KERNELS.setdefault(kernel.function.__module__, {})
    if kernel.name in known:
        raise ValueError(f"{kernel.function.__module__}: kernel '{kernel.name}' is declared twice")
    known[kernel.name] = kernel
    return kernel


def inline(function: F) -> F:
    """Marks a helper that kernels call; it becomes part of their code."""
    return njit(function, forceinline=True, **OPTIONS)


@intrinsic
def _write_fault(
    typing: Context,
    fault: types.Type,
    code: types.Type,
    i: types.Type,
    value: types.Type,
    limit: types.Type,
) -> tuple[Signature, Emit]:
    """Writes the four words unless a fault is there already."""

    def emit(
        context: BaseContext,
        builder: ir.IRBuilder,
        signature: Signature,
        arguments: Sequence[ir.Value],
    ) -> ir.Value:
        word = ir.IntType(64)
        address, *words = arguments
        pointer = builder.inttoptr(address, word.as_pointer())
        swap = builder.cmpxchg(pointer, word(0), words[0], "acq_rel", "acquire")
        with builder.if_then(builder.extract_value(swap, 1)):
            for offset, content in enumerate(words[1:], 1):
                offset_address = builder.add(address, word(8 * offset))
                builder.store(content, builder.inttoptr(offset_address, word.as_pointer()))
        return context.get_dummy_value()

    return types.void(*[types.int64] * 5), emit


@inline
def set_fault(fault: int, code: int, i: int, value: int, limit: int = 0) -> None:
    """Reports that `value` at position `i` is wrong (`limit`: what it was held against).

    The first report of a row counts. The kernel should return soon after.
    """
    _write_fault(int64(fault), int64(code), int64(i), int64(value), int64(limit))


@intrinsic
def address(typing: Context, array: types.Array) -> tuple[Signature, Emit]:
    """The address of an array's first element."""

    def emit(
        context: BaseContext,
        builder: ir.IRBuilder,
        signature: Signature,
        arguments: Sequence[ir.Value],
    ) -> ir.Value:
        structure = make_array(array)(context, builder, arguments[0])
        return builder.ptrtoint(structure.data, ir.IntType(64))

    return types.int64(array), emit


def stack_buffer(n_bytes: int) -> Callable[[], int]:
    """A function without arguments that gives the address of `n_bytes` on the stack."""

    @intrinsic
    def reserve(typing: Context) -> tuple[Signature, Emit]:
        def emit(
            context: BaseContext,
            builder: ir.IRBuilder,
            signature: Signature,
            arguments: Sequence[ir.Value],
        ) -> ir.Value:
            with builder.goto_entry_block():  # numba's own helper would fill it with zeros
                memory = builder.alloca(ir.ArrayType(ir.IntType(8), n_bytes))
            memory.align = 64
            return builder.ptrtoint(memory, ir.IntType(64))

        return types.int64(), emit

    return reserve
