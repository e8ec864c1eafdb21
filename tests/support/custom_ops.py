"""Custom operators for the interpreter's tests, and models run with them."""

import numpy as np


class Twice:
    """2 x, of x's shape."""

    def prepare(self, x):
        return [(x.shape, x.dtype)]

    def run(self, x):
        return 2 * x


class Positive:
    """The elements above 0, however many they are."""

    def run(self, x):
        return x[x > 0]


class Trouble:
    """Whatever `Trouble.doing` does with x."""

    doing = staticmethod(lambda x: x)

    def prepare(self, x):
        return [(x.shape, x.dtype)]

    def run(self, x):
        return self.doing(x)


class Sum:
    """The sum, as one element."""

    def prepare(self, x):
        return [((1,), x.dtype)]

    def run(self, x):
        return x.sum(keepdims=True)


class Below:
    """Whether the last dimension is less than 20."""

    def prepare(self, x):
        return [((), np.bool_)]

    def run(self, x):
        return np.array(x.shape[-1] < 20)


OPS = {kind.__name__: kind for kind in (Twice, Positive, Trouble, Sum, Below)}


def custom(builder, kind, x, shape, dtype="FLOAT32"):
    """One custom operator after tensor x."""
    y = builder.tensor(f"{kind}_{x}", shape, dtype)
    return builder.op("CUSTOM", [x], [y], custom_code=kind)
