"""`do_quantize_training_on_graphdef`: a graph in which products round what they take.

x, w -> MatMul -> y
    becomes
x -> QuantizeAndDequantizeV2 -> x', w -> QuantizeAndDequantizeV2 -> w', x', w' -> MatMul -> y

The ranges are those of activations that have one, else moving averages, in variables.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from ..graph.core.signatures import attributes
from ..graph.core.signatures.attributes import AttributeReader
from ..schema import proto

if TYPE_CHECKING:
    from ..graph.format.messages import GraphDef, NodeDef

REWRITTEN = ("MatMul", "Conv2D")
MAX_BITS = 63
MAX_UNKNOWN = 2  # tensors that no row below knows, which are taken for inputs of the model
DECAY = 0.999
GRADIENTS = "gradients"
SAVE = "SaveV2"
FLOAT32, INT32 = np.dtype(np.float32), np.dtype(np.int32)


class Kind(NamedTuple):
    """What is known of the tensors that an operation gives.

    Attributes:
        signed: whether they may be negative.
        ends: their range, None where it is learned.
    """

    signed: bool
    ends: tuple[float, float] | None = None


KINDS = {
    "Const": Kind(True),
    "Variable": Kind(True),
    "VariableV2": Kind(True),
    "Relu": Kind(False),
    "Relu6": Kind(False, (0.0, 6.0)),
    "Sigmoid": Kind(False, (0.0, 1.0)),
    "Tanh": Kind(True, (-1.0, 1.0)),
}
PASSING = ("Reshape", "ConcatV2", "Identity", "MaxPool", "AvgPool", "MaxPool3D", "AvgPool3D")
"""Operations whose results are like their first input."""


def do_quantize_training_on_graphdef(input_graph: Any, num_bits: int) -> GraphDef:
    """The graph with what MatMul and Conv2D take rounded to integers, for training.

    The ranges that are learned are variables; a Saver of the graph saves them, too. Gradients that
    the graph has already are left as they are. `TFLiteConverter.from_session` makes integers of
    the ranges that were learned.

    Args:
        input_graph: a GraphDef message.
        num_bits: how many bits the integers have.

    Raises:
        IndexError: `num_bits` is not in [1, 63].
        NotImplementedError: more than two tensors are of operations whose range is not known.
        ValueError: the graph has several SaveV2, or one that no restore_all belongs to.
    """
    if not 1 <= num_bits <= MAX_BITS:
        raise IndexError(f"num_bits should be in range [1, {MAX_BITS}] but is: {num_bits}")
    content = input_graph.SerializeToString()
    graph = cast("GraphDef", proto.GraphDef.FromString(content))
    rewriting = _Rewriting(graph, num_bits)
    rewriting.run()
    return graph


class _Rewriting:
    """A graph being rewritten.

    Attributes:
        nodes: those of the graph, by name.
        rounded: what stands for tensors that were rounded.
        variables: the names of the variables that were added.
    """

    def __init__(self, graph: GraphDef, num_bits: int) -> None:
        self.graph, self.num_bits = graph, num_bits
        self.nodes = {node.name: node for node in graph.node}
        self.rounded: dict[str, str] = {}
        self.variables: list[str] = []
        self._n_names = 0

    def run(self) -> None:
        """Rewrites all products, and what saves variables."""
        products = [node for node in self.graph.node if node.op in REWRITTEN]
        products = [node for node in products if not node.name.startswith(GRADIENTS)]
        edges = [(node, i) for node in products for i in _data_inputs(node)]
        kinds = [self._kind(node.input[i]) for node, i in edges]
        unknown = [edge for edge, kind in zip(edges, kinds, strict=True) if kind is None]
        if len(unknown) > MAX_UNKNOWN:
            node, i = unknown[MAX_UNKNOWN]
            source = self._source(node.input[i])
            raise NotImplementedError(
                f"Found an unknown op: {source.name} with type: {source.op}; Unknown ops are "
                f"considered as model input for now and only {MAX_UNKNOWN} inputs are supported "
                "currently."
            )
        for (node, i), kind in zip(edges, kinds, strict=True):
            node.input[i] = self._round(node.input[i], kind or Kind(True))
        self._save()

    def _source(self, text: str) -> NodeDef:
        """The node that gives a tensor."""
        name = text.partition(":")[0]
        if name not in self.nodes:
            raise ValueError(f"Node input '{text}' is not in the graph")
        return self.nodes[name]

    def _kind(self, text: str) -> Kind | None:
        """What is known of a tensor; None where nothing is."""
        node = self._source(text)
        for _ in self.nodes:
            if node.op not in PASSING or not node.input:
                break
            node = self._source(node.input[0])
        return KINDS.get(node.op)

    def _round(self, x: str, kind: Kind) -> str:
        """The tensor that stands for `x`, rounded."""
        x = x.removesuffix(":0")
        if x not in self.rounded:
            prefix = x.replace(":", "_")
            if kind.ends is None:
                ends = self._learned(prefix, x)
            else:
                names = (f"{prefix}/InputMin", f"{prefix}/InputMax")
                values = zip(names, kind.ends, strict=True)
                ends = [self._constant(name, np.float32(end)) for name, end in values]
            self.rounded[x] = self._add(
                f"{prefix}/QuantizeAndDequantizeV2",
                "QuantizeAndDequantizeV2",
                [x, *ends],
                T=("type", FLOAT32),
                signed_input=("bool", kind.signed),
                num_bits=("int", self.num_bits),
                range_given=("bool", True),
                round_mode=("string", b"HALF_TO_EVEN"),
                narrow_range=("bool", False),
                axis=("int", -1),
            )
        return self.rounded[x]

    def _learned(self, prefix: str, x: str) -> list[str]:
        """The moving averages of the smallest and the largest element of `x`."""
        decay = self._constant(f"{prefix}/Decay", np.float32(DECAY))
        axes = f"{prefix}/ReductionAxes"
        bounds = [
            self._constant(f"{axes}/RangeStart", np.int32(0)),
            self._add(f"{axes}/InputRank", "Rank", [x], T=("type", FLOAT32)),
            self._constant(f"{axes}/RangeDelta", np.int32(1)),
        ]
        self._add(f"{axes}/ReductionAxes", "Range", bounds, Tidx=("type", INT32))
        names = [
            self._add(
                f"{prefix}/{kind}",
                kind,
                [x, f"{axes}/ReductionAxes"],
                T=("type", FLOAT32),
                Tidx=("type", INT32),
                keep_dims=("bool", False),
            )
            for kind in ("Min", "Max")
        ]
        return [self._average(name, decay) for name in names]

    def _average(self, value: str, decay: str) -> str:
        """The moving average of a scalar, in a variable that begins with the first value."""
        real = {"T": ("type", FLOAT32)}
        variable = self._add(
            f"{value}/Variable",
            "VariableV2",
            [],
            shape=("shape", ()),
            dtype=("type", FLOAT32),
            container=("string", b""),
            shared_name=("string", b""),
        )
        self.variables.append(variable)
        is_set = f"{value}/IsInitialized"
        self._add(is_set, "IsVariableInitialized", [variable], dtype=("type", FLOAT32))
        switch = self._add(f"{value}/Switch", "Switch", [value, is_set], **real)
        ema = f"{value}/EMA"
        one = self._constant(f"{ema}/OneConst", np.float32(1))
        self._add(f"{ema}/DecayComplement", "Sub", [one, decay], **real)
        self._add(f"{ema}/ValueDiff", "Sub", [variable, f"{switch}:1"], **real)
        factors = [f"{ema}/ValueDiff", f"{ema}/DecayComplement"]
        self._add(f"{ema}/UpdateValue", "Mul", factors, **real)
        self._add(f"{ema}/EMAValue", "Sub", [variable, f"{ema}/UpdateValue"], **real)
        parts = [switch, f"{ema}/EMAValue"]
        merge = self._add(f"{value}/Merge", "Merge", parts, N=("int", 2), **real)
        return self._assign(f"{value}/AssignValue", variable, merge)

    def _save(self) -> None:
        """Lets the SaveV2 of the graph save the new variables, and restore_all restore them."""
        savers = [node for node in self.graph.node if node.op == SAVE]
        if len(savers) > 1:
            raise ValueError("Input graph has multiple SaveV2 ops.")
        if not savers:
            return
        save = savers[0]
        prefix = save.name.rpartition("/")[0]
        restore_all = self.nodes.get(f"{prefix}/restore_all")
        if restore_all is None:
            raise ValueError("graph has SaveOp, but no restore_all NoOp")
        path, names, slices = list(save.input)[:3]
        for variable in self.variables:
            restore = self._unique(f"{prefix}/RestoreV2")
            assign = self._unique(f"{prefix}/Assign")
            inputs = [
                path,
                self._constant(f"{restore}/tensor_names", np.array([variable.encode()], object)),
                self._constant(f"{restore}/shape_and_slices", np.array([b""], object)),
            ]
            self._add(restore, "RestoreV2", inputs, dtypes=("list(type)", [FLOAT32]))
            restore_all.input.append(f"^{self._assign(assign, variable, restore)}")
        added = [variable.encode() for variable in self.variables]
        self._extend(self._source(names), added)
        self._extend(self._source(slices), [b""] * len(added))
        save.input.extend(self.variables)
        types = [*_read(save, "dtypes", "list(type)"), *[FLOAT32] * len(added)]
        save.attr["dtypes"].CopyFrom(attributes.write(types, "list(type)"))

    def _extend(self, node: NodeDef, texts: list[bytes]) -> None:
        """Lets a constant list of texts have more of them."""
        before = np.asarray(_read(node, "value", "tensor")).ravel().tolist()
        value = np.array([*before, *texts], object)
        node.attr["value"].CopyFrom(attributes.write(value, "tensor"))

    def _unique(self, prefix: str) -> str:
        """A name as TensorFlow's rewriter makes them."""
        self._n_names += 1
        return f"{prefix}/_{self._n_names - 1}_qt"

    def _assign(self, name: str, variable: str, value: str) -> str:
        """A node that writes a variable."""
        return self._add(
            name,
            "Assign",
            [variable, value],
            T=("type", FLOAT32),
            validate_shape=("bool", True),
            use_locking=("bool", True),
        )

    def _constant(self, name: str, value: np.ndarray | np.generic) -> str:
        """A node with a value."""
        dtype = np.asarray(value).dtype
        return self._add(name, "Const", [], dtype=("type", dtype), value=("tensor", value))

    def _add(self, name: str, op: str, inputs: Iterable[str], **attrs: tuple[str, Any]) -> str:
        """Adds a node; its name."""
        if name in self.nodes:
            raise ValueError(f"Node '{name}' is not unique")
        node = self.graph.node.add(name=name, op=op)
        node.input.extend(inputs)
        for key, (kind, value) in attrs.items():
            node.attr[key].CopyFrom(attributes.write(value, kind))
        self.nodes[name] = node
        return name


def _data_inputs(node: NodeDef) -> Iterator[int]:
    """The positions of what a node reads, not of what it waits for."""
    return (i for i, text in enumerate(node.input) if not text.startswith("^"))


def _read(node: NodeDef, name: str, kind: str) -> Any:
    """The value of an attribute."""
    return AttributeReader().read(node.attr[name], kind, f"Node '{node.name}': {name}")
