"""The sources of a conversion as graphs: lowered, and shortened by the passes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...collection import collection_paused
from ...schema.errors import ConverterError
from ...schema.operators import operator
from ..ophint.ophint import OpHint
from ..sources.source import GraphSource, Source, among_signatures, fix_shapes, short_name
from .options import OpsSet

if TYPE_CHECKING:
    from ..ir.graph import Graph, Op, Tensor
    from ..passes.driver import PassStatistics, Run
    from .settings import Settings
    from .summary import Stage

SCALES = ("ADD", "DIV", "MUL", "SUB")
MAX_BYTES = 2**31 - 1  # of a flatbuffer


class Lowering:
    """Makes a graph of each source.

    Args:
        settings: the attributes of a converter, checked.
        sources: the signatures of one model.

    Attributes:
        pass_statistics: what each pass did, by name.
        scaled_inputs: the names of inputs that the model itself scales.
        before: what conversion_summary_dir gets of the graphs before the passes.
    """

    def __init__(self, settings: Settings, sources: Sequence[Source]) -> None:
        self.settings, self.sources = settings, sources
        self.pass_statistics: dict[str, PassStatistics] = {}
        self.scaled_inputs: set[str] = set()
        self.before: Stage | None = None

    def check_sources(self) -> None:
        """Gives sources the sizes that old converters and static targets need.

        Raises ConverterError when constants do not fit into a file.
        """
        from ..targets import target_of

        is_static = target_of(self.settings.target).is_static
        for source in self.sources:
            if is_static or self._wants_known_shapes(source):
                fix_shapes(source)
            check_size(source)

    def graphs(self, numbers: str = "float32") -> list[Graph]:
        """The sources lowered and optimized, for the numbers that `optimize` is told."""
        from ..ir.check_sizes import check_sizes
        from ..passes import optimize
        from ..passes.targets import rewrite_for_target
        from ..quantize.settings_recipe import recipe_of
        from ..raising.relower import relower
        from ..targets import target_of

        target, stays_float = target_of(self.settings.target), recipe_of(self.settings) is None
        custom = bool(self.settings.allow_custom_ops)
        graphs = [self._lowered(source, custom) for source in self.sources]
        if self.settings.conversion_summary_dir is not None:
            from .summary import stage_before

            self.before = stage_before(graphs)
        self._draw("before_passes", graphs)
        self.scaled_inputs = {name for graph in graphs for name in scaled_inputs(graph)}
        for graph in graphs:
            relower(graph, target)
            optimize(graph, self._note_run, numbers, bool(self.settings.unfold_batchmatmul))
            if not graph.is_final:
                rewrite_for_target(graph, target, stays_float)
                check_sizes(graph)
        if target.name == "litert" and stays_float:  # before such a file is written
            target.check(graphs)
        self._draw("after_passes", graphs)
        return graphs

    def _draw(self, name: str, graphs: list[Graph]) -> None:
        """Draws graphs, where a folder for drawings is set."""
        folder = self.settings.dump_graphviz_dir
        if folder is not None:
            from ..ir.graphviz import write_drawing

            write_drawing(folder, name, graphs)

    def _note_run(self, run: Run) -> None:
        """Notes one run of a pass, and draws what it changed where a video is asked for."""
        from ..passes.driver import PassStatistics

        before = self.pass_statistics.get(run.name, PassStatistics())
        self.pass_statistics[run.name] = before.after(run)
        if run.changes and self.settings.dump_graphviz_video:
            number = sum(statistics.runs for statistics in self.pass_statistics.values())
            self._draw(f"pass_{number:05}_{run.name}", [run.graph])

    def _lowered(self, source: Source, allow_custom_ops: bool) -> Graph:
        keys = [str(signature.key) for signature in self.sources]
        with among_signatures(keys, source.key), collection_paused():
            if isinstance(source, GraphSource):
                from ..tf.flex import SelectOps

                spec = self.settings.target_spec
                user_ops = frozenset(spec.experimental_select_user_tf_ops)
                select = SelectOps(OpsSet.SELECT_TF_OPS in spec.supported_ops, user_ops)
                return source.lower(allow_custom_ops, select)
            return source.lower(allow_custom_ops)

    def _wants_known_shapes(self, source: Source) -> bool:
        """Whether TensorFlow's old converter would be used, which knew no unknown dimensions."""
        return (
            not self.settings.experimental_new_converter
            or self.settings.conversion_summary_dir is not None
            or has_op_hints(source)
        )


def scaled_inputs(graph: Graph) -> set[str]:
    """The names of inputs that only arithmetic with constants reads, such as x / 255."""
    return {short_name(tensor.name) for tensor in graph.inputs if is_scaled(tensor)}


def is_scaled(tensor: Tensor) -> bool:
    """Whether only arithmetic with constants reads a tensor, or what it is moved to."""
    return bool(tensor.readers) and all(
        all(map(is_scaled, op.outputs))
        if is_move(op)
        else op.kind in SCALES and any(operand.is_constant for operand in op.present_inputs)
        for op in tensor.readers
    )


def is_move(op: Op) -> bool:
    """Whether an operator, which may be a pseudo-operator, gives the numbers that it takes."""
    row = operator(op.kind)
    return op.kind == "CAST" or (row is not None and "moves" in row.traits)


def has_op_hints(source: Source) -> bool:
    """Whether functions are marked by an OpHint in a source."""
    graph = getattr(source, "graph", None)
    mark = OpHint.FUNCTION_INPUT_INDEX_ATTR
    return graph is not None and any(mark in op.attrs for op in graph.operations)


def check_size(source: Source) -> None:
    """Raises ConverterError when the constants of a source do not fit into a flatbuffer."""
    sizes = source.constants()
    total = sum(sizes.values())
    if total > MAX_BYTES:
        largest = max(sizes, key=sizes.__getitem__)
        raise ConverterError(
            f"the constants of the source have {total} bytes, a .tflite file at most {MAX_BYTES}; "
            f"the largest is '{largest}' with {sizes[largest]}; make it smaller, or cut the model "
            "with input_arrays and output_arrays and convert its parts"
        )
