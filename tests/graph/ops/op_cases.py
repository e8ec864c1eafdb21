"""What a case of test_ops.py is: an op, its attributes, and inputs that a seed makes.

The cases are in op_cases_*.py. make_goldens.py runs the same tables with TensorFlow; so nothing but
numpy may be imported here or there.
"""

import zlib
from dataclasses import dataclass, field

import numpy as np


@dataclass
class Case:
    id: str
    op: str
    inputs: list
    attrs: dict = field(default_factory=dict)
    rtol: float = 2e-6
    data_dependent: bool = False

    def arrays(self):
        """The inputs, the same wherever they are made."""
        rng = np.random.RandomState(zlib.crc32(self.id.encode()))

        def built(value):
            if isinstance(value, list):
                return [built(item) for item in value]
            return value(rng) if callable(value) else value

        return [built(value) for value in self.inputs]


CASES: list[Case] = []


def case(id, op, *inputs, rtol=2e-6, data_dependent=False, **attrs):
    CASES.append(Case(id, op, list(inputs), attrs, rtol, data_dependent))


def f(*shape, low=-3.0, high=3.0, dtype=np.float32):
    return lambda rng: rng.uniform(low, high, shape).astype(dtype)


def i(*shape, low=-5, high=6, dtype=np.int32):
    return lambda rng: rng.randint(low, high, shape).astype(dtype)


def b(*shape):
    return lambda rng: rng.randint(0, 2, shape).astype(bool)


def z(*shape):
    return lambda rng: (rng.randn(*shape) + 1j * rng.randn(*shape)).astype(np.complex64)


def c(values, dtype=np.int32):
    return np.array(values, dtype)


def part(values):
    """Half of the elements zero."""
    return lambda rng: values(rng) * rng.randint(0, 2, values(rng).shape).astype(values(rng).dtype)
