"""Drawn models of StableHLO's operators that move, fold and sort, with the answers of their
definitions, element by element.

Source: The StableHLO specification.
"""

import random

import numpy as np
from building import Builder
from declared import body, model, type_of

NUMBERS = (
    *("float32", "float64", "int8", "int16", "int32", "int64"),
    *("uint8", "uint16", "uint32", "uint64"),
)
OF_NUMBERS = {
    "STABLEHLO_ADD": np.add,
    "STABLEHLO_MULTIPLY": np.multiply,
    "STABLEHLO_MAXIMUM": np.maximum,
    "STABLEHLO_MINIMUM": np.minimum,
}
OF_BOOLS = {"STABLEHLO_AND": np.logical_and, "STABLEHLO_OR": np.logical_or}
SECOND = {"second": lambda a, b: b}


class Draw:
    """What a seed draws."""

    def __init__(self, seed: int) -> None:
        self.random, self.numbers = random.Random(seed), np.random.default_rng(seed)
        self.rank = self.random.randint(1, 4)
        self.shape = tuple(self.random.randint(1, 5) for _ in range(self.rank))

    def some_of(self, n, share=0.5):
        return [d for d in range(n) if self.random.random() < share]

    def array(self, dtype, shape, low=-50):
        kind = np.dtype(dtype)
        if kind.kind == "b":
            return self.numbers.integers(0, 2, shape).astype(bool)
        if kind.kind in "fc":
            real = np.asarray(self.numbers.normal(size=shape))
            return (real if kind.kind == "f" else real * (2 - 1j)).astype(kind)
        limits = np.iinfo(kind)
        return self.numbers.integers(max(limits.min, low), 50, shape).astype(kind)

    def indices(self):
        """Indices, where their vectors lie, the dimensions they are of, and the batch's shape."""
        count = self.random.randint(1, self.rank)
        axes = self.random.sample(range(self.rank), count)
        batch = [self.random.randint(1, 3) for _ in range(self.random.randint(0, 2))]
        axis = self.random.randint(0, len(batch))
        shape = [*batch[:axis], count, *batch[axis:]]
        if count == 1 and self.random.random() < 0.3:
            axis, shape = len(batch), batch
        dtype = self.random.choice(["int32", "int64"])
        return self.array(dtype, shape, -2) % 9 - 1, axis, axes, batch

    def spread(self, outer, inner):
        """(which dimensions of a result the inner ones are, its shape)."""
        rank = len(outer) + len(inner)
        dims = sorted(self.random.sample(range(rank), len(inner)))
        sizes_outside = iter(outer)
        sizes = dict(zip(dims, inner, strict=True))
        return dims, tuple(sizes[i] if i in sizes else next(sizes_outside) for i in range(rank))

    def gather(self):
        dtype = self.random.choice([*NUMBERS, "bool", "complex64", "complex128"])
        x = self.array(dtype, self.shape)
        indices, axis, axes, batch = self.indices()
        sizes = [self.random.choice([n, self.random.randint(1, n), 1]) for n in self.shape]
        collapsed = [d for d in self.some_of(self.rank) if sizes[d] == 1]
        remaining = [d for d in range(self.rank) if d not in collapsed]
        dims, shape = self.spread(batch, [sizes[d] for d in remaining])
        want = np.empty(shape, dtype)
        vectors = indices[..., None] if axis == indices.ndim else np.moveaxis(indices, axis, -1)
        for place in np.ndindex(shape):
            outer = tuple(n for i, n in enumerate(place) if i not in dims)
            at = np.zeros(self.rank, int)
            for d, start in zip(axes, vectors[outer], strict=True):
                at[d] = min(max(start, 0), self.shape[d] - sizes[d])
            at[remaining] += np.array([place[i] for i in dims], int)
            want[place] = x[tuple(at)]
        options = {"offset_dims": dims, "collapsed_slice_dims": collapsed, "slice_sizes": sizes,
                   "start_index_map": axes, "index_vector_dim": axis}  # fmt: skip
        file = model("GATHER", [x, indices], [(shape, dtype)], **options)
        return file, [x, indices], [want]

    def scatter(self):
        dtype = self.random.choice([*NUMBERS, "bool"])
        functions = SECOND | (OF_BOOLS if dtype == "bool" else OF_NUMBERS)
        kind = self.random.choice(sorted(functions))
        x = self.array(dtype, self.shape)
        indices, axis, axes, batch = self.indices()
        inserted = self.some_of(self.rank, 0.4)
        remaining = [d for d in range(self.rank) if d not in inserted]
        box = [self.random.randint(1, self.shape[d]) for d in remaining]
        dims, shape = self.spread(batch, box)
        updates, want = self.array(dtype, shape), x.copy()
        vectors = indices[..., None] if axis == indices.ndim else np.moveaxis(indices, axis, -1)
        outer_axes = [i for i in range(len(shape)) if i not in dims]
        ordered = updates.transpose([*outer_axes, *dims])
        for place in np.ndindex(ordered.shape):
            at = np.zeros(self.rank, int)
            at[axes] = vectors[place[: len(batch)]]
            at[remaining] += np.array(place[len(batch) :], int)
            if (at >= 0).all() and (at < self.shape).all():
                with np.errstate(over="ignore"):
                    want[tuple(at)] = functions[kind](want[tuple(at)], ordered[place])
        options = {"update_window_dims": dims, "inserted_window_dims": inserted,
                   "scatter_dims_to_operand_dims": axes, "index_vector_dim": axis,
                   "update_computation_subgraph_index": 1}  # fmt: skip
        operands = [x, indices, updates]
        file = model("SCATTER", operands, [(x.shape, dtype)], body(kind, dtype), **options)
        return file, operands, [want]

    def reduce_window(self):
        dtype = self.random.choice([*NUMBERS, "bool"])
        functions = OF_BOOLS if dtype == "bool" else OF_NUMBERS
        kind = self.random.choice(sorted(functions))
        x, start = self.array(dtype, self.shape), self.array(dtype, ())
        window, strides = ([self.random.randint(1, 3) for _ in self.shape] for _ in range(2))
        spread, inside = ([self.random.choice([1, 1, 2]) for _ in self.shape] for _ in range(2))
        dilated = [(n - 1) * step + 1 for n, step in zip(self.shape, spread, strict=True)]
        padding = [
            self.random.choice([0, 0, 1, 2, *([-1] if n > 2 else [])])
            for n in np.repeat(dilated, 2)
        ]
        sizes = np.add(dilated, np.reshape(padding, (-1, 2)).sum(1))
        shape = tuple(
            max((size - (k - 1) * step - 1) // stride + 1, 0)
            for size, k, step, stride in zip(sizes, window, inside, strides, strict=True)
        )
        want = np.full(shape, start)
        for place in np.ndindex(shape):
            for tap in np.ndindex(*window):
                at = np.multiply(place, strides) + np.multiply(tap, inside) - padding[::2]
                source, is_gap = at // spread, at % spread
                value = start
                if not is_gap.any() and (source >= 0).all() and (source < self.shape).all():
                    value = x[tuple(source)]
                with np.errstate(over="ignore"):
                    want[place] = functions[kind](want[place], value)
        names = ("window_dimensions", "window_strides", "base_dilations", "window_dilations")
        options = dict(zip(names, (window, strides, spread, inside), strict=True))
        options |= {"padding": padding, "body_subgraph_index": 1}
        operands, folded = [x, start], body(kind, dtype)
        file = model("REDUCE_WINDOW", operands, [(shape, dtype)], folded, **options)
        return file, operands, [want]

    def sort(self):
        dtype, count = self.random.choice(NUMBERS), self.random.randint(1, 3)
        arrays = [np.round(self.array(dtype, self.shape) % 7).astype(dtype) for _ in range(count)]
        key, axis = self.random.randrange(count), self.random.randrange(self.rank)
        b = Builder("comparator")
        inputs = [b.input(f"x{i}", (), type_of(dtype)) for i in range(2 * count)]
        pair, falls = inputs[2 * key : 2 * key + 2], self.random.random() < 0.5
        less = b.tensor("less", (), "BOOL")
        if self.random.random() < 0.5:
            b.op("STABLEHLO_COMPARE", pair, [less], comparison_direction=3 if falls else 5)
        else:  # b < a says that a > b
            b.op("LESS", pair[::-1] if falls else pair, [less])
        column = arrays[key].astype(float)
        order = np.argsort(-column if falls else column, axis=axis, kind="stable")
        want = [np.take_along_axis(x, order, axis) for x in arrays]
        results = [(self.shape, dtype)] * count
        options = {"dimension": axis, "is_stable": True, "comparator_subgraph_index": 1}
        return model("SORT", arrays, results, b.outputs(less), **options), arrays, want


KINDS = {
    "gather": Draw.gather,
    "scatter": Draw.scatter,
    "reduce_window": Draw.reduce_window,
    "sort": Draw.sort,
}
