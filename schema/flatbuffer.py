"""TFLite flatbuffers: a reader that verifies every byte it relies on, a writer.

    parse(bytes) -> Model record          build(Model record) -> bytes

What records are is said in record.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .record import Record as Record
from .record import options_class as options_class
from .record import record as record
from .record import same as same

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


def parse(buffer: ReadableBuffer) -> Record:
    """The Model record of a flatbuffer, with every offset, length, index and size verified.

    Bytes outside the flatbuffer that Buffer.offset or Operator.large_custom_options_offset name are
    found in `data` and `custom_options`, as if they had been inside. The first buffer is that of
    tensors without a constant and comes out empty. A signature that names a tensor which is not
    there is left out, with a warning.

    Args:
        buffer: The whole file, as bytes or anything that has a buffer; views of it stay alive in
            the result.

    Raises:
        ModelError: The first thing that is wrong, and the byte or the tensor where it is.
    """
    from .checks import check, leave_out_stale_signatures
    from .reader import read

    data = memoryview(buffer).toreadonly().cast("B")
    model = read(data)
    leave_out_stale_signatures(model)
    check(model, n_operands=2 * len(data))
    return model


def build(model: Record) -> bytes:
    """The bytes of a Model record: equal records give equal bytes.

    Raises ModelError when a field holds what its type cannot, or the file would exceed 2 GB.
    """
    from .writer import write

    return write(model)
