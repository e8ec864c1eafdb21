"""Small models tensor by tensor, for tests."""

import numpy as np

from flatlite.schema import model as schema
from flatlite.schema.flatbuffer import options_class


class Builder:
    """One subgraph, tensor by tensor; `save` makes a file of one or several."""

    def __init__(self, name="main"):
        self.subgraph = schema.Subgraph(name)

    def tensor(self, name, shape, dtype="FLOAT32", **fields):
        """Index of a new tensor; None in `shape` is an unknown dimension."""
        sizes = tuple(1 if n is None else n for n in shape)
        signature = tuple(-1 if n is None else n for n in shape)
        if signature != sizes:
            fields["shape_signature"] = signature
        self.subgraph.tensors.append(schema.Tensor(name, sizes, dtype, **fields))
        return len(self.subgraph.tensors) - 1

    def input(self, name, shape, dtype="FLOAT32", **fields):
        """Index of a new input."""
        index = self.tensor(name, shape, dtype, **fields)
        self.subgraph.inputs.append(index)
        return index

    def constant(self, name, array):
        """Index of a new constant."""
        array = np.asarray(array)
        return self.tensor(name, array.shape, array.dtype.name.upper(), data=array)

    def op(self, kind, inputs, outputs, custom_code=None, custom_options=None, **options):
        """Appends an operator."""
        cls = None if custom_code else options_class(kind)
        self.subgraph.operators.append(
            schema.Operator(
                kind,
                list(inputs),
                list(outputs),
                cls(**options) if cls else None,
                custom_code=custom_code,
                custom_options=custom_options,
            )
        )
        return outputs[0] if outputs else None

    def outputs(self, *tensors):
        """Declares the outputs."""
        self.subgraph.outputs = list(tensors)
        return self


def doubling(n_levels):
    """The bytes of a model whose subgraphs each call the next one twice: 2 ** n_levels ADDs."""
    builders = []
    for level in range(n_levels + 1):
        b = Builder(f"level{level}")
        x = b.input("x", (1, 2))
        for name in "yz" if level < n_levels else ():
            x = b.op("CALL", [x], [b.tensor(name, (1, 2))], subgraph=level + 1)
        if level == n_levels:
            x = b.op("ADD", [x, b.constant("one", np.float32(1))], [b.tensor("y", (1, 2))])
        builders.append(b.outputs(x))
    return save(*builders)


def save(*builders, signatures=()):
    """The bytes of a model with a subgraph for each builder."""
    return schema.save(
        schema.Model([b.subgraph for b in builders], signatures=[*map(_signature, signatures)])
    )


def _signature(fields):
    return schema.Signature(*fields)
