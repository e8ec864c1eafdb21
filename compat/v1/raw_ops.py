"""`tf.raw_ops`: each operation by its type, inputs and attributes by keyword."""

from ...graph.functions.raw import RawOp, raw_op, raw_op_names


def __getattr__(name: str) -> RawOp:
    try:
        return raw_op(name)
    except LookupError:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'") from None


def __dir__() -> list[str]:
    return raw_op_names()
