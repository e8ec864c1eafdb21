"""What a program is made of: kernel calls and Python steps."""

from __future__ import annotations

from .. import abi
from .buffer import CONSTANT

CHUNKS = 32  # of a row that may take long, as long as nobody knows
LONG = 1 << 18  # bytes touched by a row that may take long; it takes 5 us for certain
SHARED = 2_000  # nanoseconds from which on a row is shared; handing one over costs 500
UNEVEN = 30_000  # nanoseconds from which on threads may help each other out with a row
PART = 10_000_000  # nanoseconds a chunk should not exceed, so that a run can be interrupted


class Row:
    """A kernel call in a program.

    Attributes:
        alike: the position of the result among the buffers, and those of the operands as large as
            it that it may lie on, where the kernel declares that; else None.
    """

    __slots__ = (
        *("alike", "arguments", "buffers", "entry", "key", "name", "numbers"),
        *("reads", "record", "split", "tag", "writes"),
    )
    once = True

    def __init__(self, name, buffers, numbers, split, tag):
        self.name, self.buffers, self.numbers = name, buffers, numbers
        self.split, self.tag = split, tag
        self.record = self.entry = None

    @property
    def wanted(self):
        """The request for the row's code (image.py)."""
        if self.record is not None:
            return f"{self.name.partition('.')[0]}.{self.key}"
        return f"{self.name}({','.join(buffer.dtype.name for buffer in self.buffers)})"

    def bind(self, found):
        """Checks the arguments against the declaration in the image of the kernel's module.

        The code need not be compiled yet; `entry` is None then.
        """
        module, _, kernel = self.name.partition(".")
        declaration = found.declaration(kernel)
        if declaration is None:
            known = ", ".join(found.kernels)
            raise ValueError(f"no kernel '{self.name}'; {module} has {known}")
        self.key, self.record = declaration.bind(self.buffers, self.numbers)
        if self.split is not None and self.split < 0:
            raise ValueError(f"{self.name}: split must not be negative, got {self.split}")
        self.record[abi.ITEMS] = 1 if self.split is None else self.split
        self.entry = found.addresses.get(self.key)
        self.arguments = declaration.arrays
        self.alike = self._alike() if declaration.in_place else None
        self.attach()
        if len({buffer.storage for buffer in self.buffers}) < len(self.buffers):
            self._check_overlap()

    def attach(self):
        """Notes which storages are read and which are written."""
        pairs = [*zip(self.arguments, self.buffers, strict=True)]
        self.reads = [buffer.storage for argument, buffer in pairs if argument.reads]
        self.writes = [buffer.storage for argument, buffer in pairs if argument.writes]

    def _alike(self):
        names = [argument.name for argument in self.arguments]
        result = next(i for i, argument in enumerate(self.arguments) if argument.over)
        size = self.buffers[result].size
        operands = [names.index(name) for name in self.arguments[result].over]
        return result, tuple(i for i in operands if self.buffers[i].size == size)

    def _check_overlap(self):
        """Refuses to write what the row also reads, unless it is the very same bytes."""
        spans = [(b.storage, b.offset, b.offset + b.nbytes) for b in self.buffers]
        for argument, (storage, first, end) in zip(self.arguments, spans, strict=True):
            for other, (like, start, stop) in zip(self.arguments, spans, strict=True):
                same = like is storage and argument.writes and argument is not other
                if same and first < stop and start < end and (first, end) != (start, stop):
                    raise ValueError(
                        f"{self.name}: '{argument.name}' must not overlap '{other.name}',"
                        f" got bytes {first} to {end} and {start} to {stop} of one storage"
                    )

    @property
    def nbytes(self):
        """Bytes of all that it touches."""
        return sum(buffer.nbytes for buffer in self.buffers)

    def chunks(self, threads=1, time=None):
        """How many parts `threads` threads do the row in; results do not depend on it.

        `time` is the nanoseconds the row took before, if that is known.
        """
        if self.split is None or self.split < 2:
            return 1
        if time is None:
            long = self.nbytes >= LONG
            turns = -(-CHUNKS // threads) if long else 0
        else:
            turns = -(-time // PART) if time >= SHARED else 0
            if turns and threads > 1 and time >= UNEVEN:
                turns = max(turns, abi.EACH)
        return min(self.split, max(turns * threads, 1))


class Step:
    """A Python function in a program, between native rows."""

    __slots__ = ("function", "inputs", "outputs", "reads", "tag", "writes")
    name = "host"
    once = False
    alike = None

    def __init__(self, function, inputs, outputs, tag):
        self.function, self.inputs, self.outputs, self.tag = function, inputs, outputs, tag
        self.reads = [buffer.storage for buffer in inputs]
        self.writes = [buffer.storage for buffer in outputs]
        if any(storage.kind == CONSTANT for storage in self.writes):
            raise ValueError(f"a host step must not write to a constant: {outputs}")

    @property
    def buffers(self):
        """Everything the function is given."""
        return (*self.inputs, *self.outputs)
