"""A TFLite model as plain data: what a file says, without how it says it.

    load(bytes) -> Model                  save(Model) -> bytes

What a Model has is said in structure.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .associated_files import read_files, with_files
from .checks import check
from .flatbuffer import build, parse
from .loader import Loader
from .structure import Model as Model
from .structure import Operator as Operator
from .structure import Quantization as Quantization
from .structure import Signature as Signature
from .structure import Subgraph as Subgraph
from .structure import Tensor as Tensor
from .structure import unique_names as unique_names
from .tensorflow.saver import Saver

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


def load(content: ReadableBuffer) -> Model:
    """The Model in the bytes of a file; constants are views of them.

    Raises ModelError for the first thing that is wrong.
    """
    model = Loader(parse(content)).model()
    model.associated_files = read_files(content)
    return model


def save(model: Model) -> bytes:
    """The bytes of a Model: equal models give equal bytes, equal constants are stored once.

    Raises ModelError, naming tensor or operator, for what no file can say.
    """
    root = Saver().model(model)
    check(root)
    return with_files(build(root), model.associated_files)
