"""Models of IF, WHILE, CASE, COMPOSITE, CALL_ONCE and variables with drawn states and subgraphs.

No tensor is two results of a subgraph, of which LiteRT writes the second alone; no constant string
is a result of IF or COMPOSITE, which ends LiteRT's process or gives the strings of the run before.
"""

import random

import numpy as np
from building import Builder, save

from flatlite.schema.dtypes import TENSOR_TYPES

NUMBERS = ("FLOAT32", "INT32", "INT64", "BOOL", "INT8", "UINT8", "INT16", "FLOAT16", "UINT32")
TYPES = (*NUMBERS, "STRING", "COMPLEX64", "FLOAT64")
SHAPES = ((), (3,), (3,), (2, 2), (0,), (1,))
REVERSED = ("FLOAT32", "INT32", "INT64", "BOOL", "INT8", "UINT8", "INT16")
"""Types that REVERSE_V2 takes in LiteRT."""


class Draw:
    """What a seed draws: states that go into subgraphs, and what these make of them."""

    def __init__(self, seed: int) -> None:
        self.random, self.numbers = random.Random(seed), np.random.default_rng(seed)
        types = self.random.sample(TYPES, 2)
        count = self.random.randint(1, 4)
        self.states = [(self.one_of(types), self.one_of(SHAPES)) for _ in range(count)]
        self.grows = self.random.random() < 0.3
        self.swaps = self.gives_text = True

    def one_of(self, choices):
        return self.random.choice(choices)

    def value(self, dtype, shape):
        kind = TENSOR_TYPES[dtype]
        if dtype == "STRING":
            texts = np.empty(shape, object)
            texts.flat = [b"x%d" % n for n in self.numbers.integers(0, 99, texts.size)]
            return texts
        if dtype == "BOOL" or kind.kind in "iu":
            return self.numbers.integers(0, 2 if dtype == "BOOL" else 100, shape).astype(kind)
        real = np.asarray(self.numbers.normal(0, 3, shape))
        return np.asarray(real * (1 + 2j) if kind.kind == "c" else real).astype(kind)

    def values(self):
        return [self.value(*state) for state in self.states]

    def constant(self, b, dtype, shape):
        return b.tensor("constant", shape, dtype, data=self.value(dtype, shape))

    def inputs(self, b):
        return [b.input(f"x{i}", shape, dtype) for i, (dtype, shape) in enumerate(self.states)]

    def results(self, b):
        """Outputs for the states, of an unknown length where one may grow."""
        lengths = [(None,) if self.grows and len(shape) == 1 else shape for _, shape in self.states]
        return [
            b.tensor(f"y{i}", shape, dtype)
            for i, ((dtype, _), shape) in enumerate(zip(self.states, lengths, strict=True))
        ]

    def body(self, b=None):
        """A subgraph from the states to as many results of their types."""
        b = b or Builder("body")
        inputs = self.inputs(b)
        results = [self.step(b, i, inputs) for i in range(len(inputs))]
        return b.outputs(*b.subgraph.outputs, *results)

    def step(self, b, i, inputs):
        """One result: an input, a constant, or of an operator."""
        dtype, shape = self.states[i]
        alike = [inputs[j] for j, state in enumerate(self.states) if state == self.states[i]]
        how = self.one_of(["input", "constant", "operator", "operator", "swapped"])
        if how in ("input", "swapped"):
            return self.one_of(alike) if how == "swapped" and self.swaps else inputs[i]
        if how == "constant" and (self.gives_text or dtype != "STRING"):
            return self.constant(b, dtype, shape)
        if self.grows and len(shape) == 1 and dtype in REVERSED:
            out = b.tensor("longer", (None,), dtype)
            more = self.constant(b, dtype, (1,))
            return b.op("CONCATENATION", [inputs[i], more], [out], axis=0)
        out = b.tensor("out", shape, dtype)
        if dtype in ("FLOAT32", "INT32"):
            return b.op("ADD", [inputs[i], self.one_of(alike)], [out])
        if not shape:
            return inputs[i]
        if dtype in REVERSED:
            return b.op("REVERSE_V2", [inputs[i], b.constant("axis", np.int32([0]))], [out])
        return b.op("RESHAPE", [inputs[i], b.constant("shape", np.int32(shape))], [out])

    def if_(self):
        self.gives_text = False
        main, flag = Builder("main"), self.one_of([(), (1,), (1, 1)])
        inputs = [main.input("flag", flag, "BOOL"), *self.inputs(main)]
        results = self.results(main)
        main.op("IF", inputs, results, then_subgraph_index=1, else_subgraph_index=2)
        steps = [[np.full(flag, n), *self.values()] for n in (True, False, True)]
        return save(main.outputs(*results), self.body(), self.body()), steps

    def case(self):
        self.grows = False
        self.states = [(self.states[0][0], shape) for _, shape in self.states]  # as LiteRT has it
        main, count = Builder("main"), self.one_of([1, 2, 3])
        inputs = [main.input("index", (), "INT32"), *self.inputs(main)]
        results, branches = self.results(main), np.arange(1, count + 1, dtype=np.int32)
        main.op("STABLEHLO_CASE", inputs, results, branch_subgraph_indices=branches)
        steps = [[np.int32(n), *self.values()] for n in (0, count - 1, count, -1)]
        return save(main.outputs(*results), *(self.body() for _ in range(count))), steps

    def while_(self):
        """As many rounds as are left of a limit."""
        self.swaps = False  # LiteRT writes a state before it reads it for another
        limit = self.one_of([0, 1, 2, 3])
        main, condition, body = Builder("main"), Builder("condition"), Builder("body")
        inputs = [main.input("n", (), "INT32"), *self.inputs(main)]
        results = [main.tensor("n_end", (), "INT32"), *self.results(main)]
        main.op("WHILE", inputs, results, cond_subgraph_index=1, body_subgraph_index=2)
        n = condition.input("n", (), "INT32")
        condition.subgraph.inputs += self.results(condition)
        less = condition.tensor("less", (), "BOOL")
        condition.op("LESS", [n, condition.constant("limit", np.int32(limit))], [less])
        n, more = body.input("n", (), "INT32"), body.tensor("more", (), "INT32")
        body.op("ADD", [n, body.constant("one", np.int32(1))], [more])
        self.body(body.outputs(more))
        steps = [[np.int32(n), *self.values()] for n in (0, 1, 0)]
        return save(main.outputs(*results), condition.outputs(less), body), steps

    def composite(self):
        self.grows = self.gives_text = False
        main = Builder("main")
        inputs, results = self.inputs(main), self.results(main)
        options = {
            "name": "its.own",
            "composite_attributes": np.frombuffer(b"\x00\x00\x01", np.uint8),
            "decomposition_subgraph_index": 1,
        }
        main.op("STABLEHLO_COMPOSITE", inputs, results, **options)
        return save(main.outputs(*results), self.body()), [self.values(), self.values()]

    def variable(self):
        """A variable that is initialised once, read, assigned, and perhaps read again."""
        dtype, shape = self.states[0]
        main, first, container = Builder("main"), Builder("first"), self.one_of(["", "box"])

        def handle(b, shape):
            names = {"shared_name": "v", "container": container}
            return b.op("VAR_HANDLE", [], [b.tensor("handle", shape, "RESOURCE")], **names)

        start = self.constant(first, dtype, shape)
        first.op("ASSIGN_VARIABLE", [handle(first, self.one_of([(), (1,)])), start], [])
        x = main.input("x", shape, dtype)
        for _ in range(self.one_of([1, 2])):
            main.op("CALL_ONCE", [], [], init_subgraph_index=1)
        variable, results = handle(main, (1,)), [main.tensor("y", shape, dtype)]
        main.op("READ_VARIABLE", [variable], results)
        main.op("ASSIGN_VARIABLE", [variable, x], [])
        if self.one_of([False, True]):
            results.append(main.tensor("again", shape, dtype))
            main.op("READ_VARIABLE", [variable], results[1:])
        return save(main.outputs(*results), first), [[self.value(dtype, shape)] for _ in range(3)]


KINDS = {
    "if": Draw.if_,
    "case": Draw.case,
    "while": Draw.while_,
    "composite": Draw.composite,
    "variable": Draw.variable,
}
