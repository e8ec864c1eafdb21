"""Recurrent operators with drawn sizes, options and parts, for comparison with LiteRT.

Left out is what LiteRT has no answer to: cells without an activation, whose gates it leaves where
they are when an input is zeros; states of a batch that are side by side with merged results; and in
BIDIRECTIONAL_SEQUENCE_RNN a time-major sequence with weights of int8, which it runs once for each
step, and auxiliary inputs of another width, which it reads as if they had the input's.
"""

import random

from recurrent_models import BUILDERS, Sort

from flatlite.schema.model import load, save

SIZES = {
    "batch": (0, 1, 1, 2, 3, 5),
    "steps": (0, 1, 2, 4, 5),
    "depth": (1, 2, 3, 5, 8, 16, 17, 33),
    "units": (1, 2, 4, 7, 8, 16, 19, 32),
}
CLIPS = (0.05, 0.5, 3.0)
WHOLE = ("LSTM", "UNIDIRECTIONAL_SEQUENCE_LSTM", "SVDF")
"""Operators that compute in int8, too."""
CELL_ACTIVATIONS = (1, 2, 3, 4, 4, 5)


class Draw:
    """What a seed draws."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.one_of = self.random.choice

    def flag(self, chance: float = 0.4) -> bool:
        return self.random.random() < chance

    def sort(self) -> Sort:
        """A recurrent operator and its model."""
        op = self.one_of(sorted(BUILDERS))
        sizes = [self.one_of(SIZES[name]) for name in ("batch", "steps", "depth", "units", "units")]
        sizes[4] = min(sizes[3:])  # of more elements than cells LiteRT's memory is too small
        numbers = self.one_of(["float32", "hybrid", *(["int8"] if op in WHOLE else [])])
        if op == "LSTM" and self.flag(0.15):
            return self.basic(sizes)
        options = {"asymmetric_quantize_inputs": self.flag()}
        parts = {}
        if "SEQUENCE" in op:
            options["time_major"] = self.flag(0.5)
        if "LSTM" in op:
            parts |= self.cell(op, numbers, options)
        else:
            options["fused_activation_function"] = self.one_of([0, 1, 2, 3, 4])
        if op.startswith("BIDIRECTIONAL"):
            parts |= self.directions(op, numbers, options, sizes[0])
        if op == "SVDF":
            options["rank"] = self.one_of([1, 2, 3])
            parts["projected"] = self.flag()
            if numbers == "int8":  # the one activation that LiteRT takes
                options["fused_activation_function"] = 1
        return Sort(op, numbers, options=tuple(options.items()), sizes=tuple(sizes), **parts)

    def basic(self, sizes) -> Sort:
        """An LSTM with one matrix for all gates."""
        numbers = self.one_of(["float32", "uint8"])
        options = (("fused_activation_function", 4), ("kernel_type", 1))
        return Sort("LSTM", numbers, options=options, sizes=tuple(sizes))

    def cell(self, op, numbers, options):
        options["fused_activation_function"] = self.one_of(CELL_ACTIVATIONS)
        for name in ("cell_clip", "proj_clip"):
            if self.flag(0.3):
                options[name] = self.one_of(CLIPS)
        parts = {name: self.flag() for name in ("coupled", "peepholes", "projected")}
        parts["normed"] = self.flag() and op != "BIDIRECTIONAL_SEQUENCE_LSTM"
        if op == "LSTM" and numbers == "int8" and self.flag():
            parts |= {"narrow": True, "projected": True, "normed": True}
        return parts

    def directions(self, op, numbers, options, batch):
        options["merge_outputs"] = self.flag(0.5)
        auxiliary = self.one_of([None, "alike", "second", "weights"])
        if op == "BIDIRECTIONAL_SEQUENCE_RNN":
            options["time_major"] &= numbers == "float32"
            auxiliary = "alike" if auxiliary == "weights" else auxiliary
        elif batch > 1:
            options["merge_outputs"] &= options["time_major"]
        return {"auxiliary": auxiliary}


def with_weights_of_uint8(content: bytes) -> bytes:
    """The file with constants of int8 as uint8, by which older files mean the same."""
    model = load(content)
    for tensor in model.subgraphs[0].tensors:
        if tensor.dtype == "INT8" and tensor.data is not None:
            tensor.dtype, tensor.data = "UINT8", tensor.data.view("uint8")
    return save(model)
