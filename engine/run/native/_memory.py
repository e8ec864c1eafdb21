"""What the runners of plans do beyond arithmetic: memory, calls, clock, waiting. Imports numba.

Addresses are int64 and count bytes; places count words from an address.
"""

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from ...build.target import FUTEX, MACHINE, YIELDS

_WAIT, _WAKE = 128, 129  # among the threads of one process
_PAUSES = {"x86_64": ("llvm.x86.sse2.pause", ()), "aarch64": ("llvm.aarch64.hint", (1,))}
_WORD, _INT = ir.IntType(64), ir.IntType(32)


def _word(builder, address, offset):
    return builder.gep(builder.inttoptr(address, _WORD.as_pointer()), [offset])


def _of_words(arity):
    return types.int64(*[types.int64] * arity)


def _external(builder, returns, name, *arguments):
    kind = ir.FunctionType(returns, [argument.type for argument in arguments])
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), arguments)


@intrinsic
def get(typing, address, offset):
    """The word at a place."""

    def emit(context, builder, signature, arguments):
        return builder.load_atomic(_word(builder, *arguments), "monotonic", 8)

    return _of_words(2), emit


@intrinsic
def put(typing, address, offset, value):
    """Writes the word at a place; gives it."""

    def emit(context, builder, signature, arguments):
        builder.store_atomic(arguments[2], _word(builder, *arguments[:2]), "monotonic", 8)
        return arguments[2]

    return _of_words(3), emit


@intrinsic
def read(typing, address, offset):
    """The word at a place that another thread may `publish`."""

    def emit(context, builder, signature, arguments):
        return builder.load_atomic(_word(builder, *arguments), "seq_cst", 8)

    return _of_words(2), emit


@intrinsic
def publish(typing, address, offset, value):
    """Writes the word at a place for threads that `read` it; gives it.

    They then see all that was written before.
    """

    def emit(context, builder, signature, arguments):
        builder.store_atomic(arguments[2], _word(builder, *arguments[:2]), "seq_cst", 8)
        return arguments[2]

    return _of_words(3), emit


@intrinsic
def post(typing, address, offset, value):
    """Does what `publish` does, without waiting until others can see it; gives the value.

    What is read after it may be older than what they write once they have seen it.
    """

    def emit(context, builder, signature, arguments):
        builder.store_atomic(arguments[2], _word(builder, *arguments[:2]), "release", 8)
        return arguments[2]

    return _of_words(3), emit


@intrinsic
def add(typing, address, offset, value):
    """Adds to the word at a place; gives what it was."""

    def emit(context, builder, signature, arguments):
        return builder.atomic_rmw("add", _word(builder, *arguments[:2]), arguments[2], "seq_cst")

    return _of_words(3), emit


@intrinsic
def swap(typing, address, offset, old, new):
    """Replaces the word at a place if it is `old`; gives 1 if it was, else 0."""

    def emit(context, builder, signature, arguments):
        pointer = _word(builder, *arguments[:2])
        pair = builder.cmpxchg(pointer, *arguments[2:], "seq_cst", "seq_cst")
        return builder.zext(builder.extract_value(pair, 1), _WORD)

    return _of_words(4), emit


@intrinsic
def byte(typing, address):
    """The byte at an address."""

    def emit(context, builder, signature, arguments):
        pointer = builder.inttoptr(arguments[0], ir.IntType(8).as_pointer())
        return builder.zext(builder.load(pointer), _WORD)

    return _of_words(1), emit


@intrinsic
def call(typing, entry, ith, nth, record):
    """Calls the kernel whose address is `entry`; gives 0."""

    def emit(context, builder, signature, arguments):
        kind = ir.FunctionType(ir.VoidType(), [_WORD] * 3)
        builder.call(builder.inttoptr(arguments[0], kind.as_pointer()), arguments[1:])
        return _WORD(0)

    return _of_words(4), emit


@intrinsic
def call_with(typing, function, argument):
    """What the function at the address `function` gives for one word."""

    def emit(context, builder, signature, arguments):
        kind = ir.FunctionType(_WORD, [_WORD])
        return builder.call(builder.inttoptr(arguments[0], kind.as_pointer()), arguments[1:])

    return _of_words(2), emit


@intrinsic
def nanoseconds(typing, clock):
    """What the system's clock number `clock` shows."""

    def emit(context, builder, signature, arguments):
        pair = cgutils.alloca_once(builder, ir.ArrayType(_WORD, 2))
        _external(builder, _INT, "clock_gettime", builder.trunc(arguments[0], _INT), pair)
        seconds, remainder = (builder.load(builder.gep(pair, [_INT(0), _INT(i)])) for i in (0, 1))
        return builder.add(builder.mul(seconds, _WORD(1_000_000_000)), remainder)

    return _of_words(1), emit


@intrinsic
def pause(typing):
    """Tells the processor that this thread waits for another; gives 0."""

    def emit(context, builder, signature, arguments):
        if MACHINE in _PAUSES:
            name, numbers = _PAUSES[MACHINE]
            _external(builder, ir.VoidType(), name, *[_INT(n) for n in numbers])
        return _WORD(0)

    return _of_words(0), emit


@intrinsic
def give_way(typing):
    """Lets other threads have the processor; gives 0."""

    def emit(context, builder, signature, arguments):
        if YIELDS:
            _external(builder, _INT, "sched_yield")
        return _WORD(0)

    return _of_words(0), emit


@intrinsic
def system_call(typing, number, a, b, c):
    """What one of Linux's calls gives; negative where it fails."""

    def emit(context, builder, signature, arguments):
        return _external(builder, _WORD, "syscall", *arguments, _WORD(0))

    return _of_words(4), emit


@intrinsic
def sleep(typing, address, offset, value):
    """Waits for `wake` at a place, if the low half of the word there is that of `value`; gives 0.

    It may also end for no reason.
    """

    def emit(context, builder, signature, arguments):
        if FUTEX:
            here = builder.ptrtoint(_word(builder, *arguments[:2]), _WORD)
            low = builder.and_(arguments[2], _WORD(0xFFFFFFFF))
            words = [_WORD(FUTEX), here, _WORD(_WAIT), low, _WORD(0)]
            _external(builder, _WORD, "syscall", *words)
        return _WORD(0)

    return _of_words(3), emit


@intrinsic
def wake(typing, address, offset):
    """Ends the sleep of every thread at a place; gives 0."""

    def emit(context, builder, signature, arguments):
        if FUTEX:
            here = builder.ptrtoint(_word(builder, *arguments), _WORD)
            words = [_WORD(FUTEX), here, _WORD(_WAKE), _WORD(1 << 30), _WORD(0)]
            _external(builder, _WORD, "syscall", *words)
        return _WORD(0)

    return _of_words(2), emit
