"""One run of `TFLiteConverter.convert`: from sources to the bytes of a file.

Source -> float IR -> passes -> float file, verified -> quantized IR -> file, compared
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from ...collection import collection_paused
from ...schema.errors import ConverterError
from ..sources.positions import arranged
from ..sources.source import GraphSource, Source
from .blas import limited_threads
from .graphs import Lowering
from .options import OpsSet, Optimize, constants
from .proofs import n_measured, noise_of, sampled, tried, verified_on
from .sample_statistics import warn_of_samples
from .samples import Sample, Samples, check_verify_inputs

if TYPE_CHECKING:
    import numpy as np

    from ..ir.graph import Graph, Tensor
    from ..ir.write import WrittenModel
    from ..passes.driver import PassStatistics
    from ..quantize.accuracy.budget import QuantizedLayer
    from ..quantize.islands import Island
    from ..quantize.ranges import Range
    from ..quantize.recipe import Recipe
    from ..quantize.statistics import Calibrator
    from ..verify.verification import Function, Verified
    from .settings import Settings
    from .summary import Stage


class Conversion:
    """Converts sources as settings say.

    Args:
        settings: the attributes of a converter, checked.
        sources: the signatures of one model.
        api_version: the TensorFlow whose converter the caller knows, 1 or 2.

    Attributes:
        sources: the signatures, with inputs and outputs in the order of the file's.
        verified: whether the float file was compared with its source.
        verified_on: the shapes of the inputs on which it was, and those that the source refused,
            by signature key.
        signal_to_noise: decibels of a quantized file's outputs, by signature key and output name.
        reader_signal_to_noise: the same of tensors that are read in several scales, by "tensor ->
            reader".
        measured_on: the inputs on which decibels were measured, in words, by signature key.
        is_measured: whether the float model runs on samples to be quantized.
        float_operators: how many operators of a quantized file are not, by kind.
        float_islands: these where only integer operators were asked for, with reasons.
        masked: tensors of a quantized file that are cut off far below what matters in them.
        pass_statistics: what each pass did, by name.
        scaled_inputs: the names of inputs that the model itself scales.
        files: the float file and the quantized one, with their functions.
        calibrated_ranges: what was measured, by signature key and name of the tensor.
        layers: the layers that were quantized, by name.
        quantized_graphs: the IR of the quantized file.
        graphs: the IR of the float file.
        before: what conversion_summary_dir gets of the IR before the passes.
        is_trained: whether the source states the ranges that it was trained with.
    """

    def __init__(self, settings: Settings, sources: Sequence[Source], api_version: int) -> None:
        self.settings = settings
        self.sources = arranged(sources, settings.io_order)
        self.api_version = api_version
        self.verified = False
        self.verified_on: dict[str, Verified] = {}
        self.signal_to_noise: dict[str, dict[str, float]] = {}
        self.reader_signal_to_noise: dict[str, dict[str, float]] = {}
        self.measured_on: dict[str, str] = {}
        self.is_measured = False
        self.float_operators: dict[str, int] = {}
        self.float_islands: list[Island] = []
        self.masked: frozenset[Tensor] = frozenset()
        self.pass_statistics: dict[str, PassStatistics] = {}
        self.scaled_inputs: set[str] = set()
        self.files: tuple[tuple[WrittenModel, list[Function]], ...] = ()
        self.calibrated_ranges: dict[str, dict[str, Range]] = {}
        self.layers: dict[str, QuantizedLayer] = {}
        self.quantized_graphs: list[Graph] = []
        self.graphs: list[Graph] = []
        self.before: Stage | None = None
        self.is_trained = False
        self._range_names: dict[Tensor, str] = {}

    def run(self) -> bytes:
        """The flatbuffer, or the drawing that `output_format` asks for; errors as of `convert`."""
        with limited_threads():
            content = self._run()
        folder = self.settings.conversion_summary_dir
        if folder is not None and self.before is not None:
            from .summary import stage_after, write_summary

            if self.settings.output_format == constants.TFLITE:
                after = stage_after(content, self.quantized_graphs or self.graphs)
                write_summary(folder, self.before, after, bool(self.quantized_graphs))
        return content

    def _run(self) -> bytes:
        """What `run` gives."""
        from ..ir.write import all_subgraphs
        from ..lowering.fake_quant import has_fake_quant
        from ..passes import finish
        from ..quantize.settings_recipe import (
            check_ranges_of_inputs,
            measured_or_stated,
            of_quantized_source,
            recipe_of,
            with_algorithms,
            with_stated_ranges,
        )

        recipe = with_algorithms(recipe_of(self.settings), self.settings)
        if recipe is not None:
            self.sources = as_float(self.sources, recipe)
        lowering = Lowering(self.settings, self.sources)
        lowering.check_sources()
        verify_inputs = check_verify_inputs(self.settings.verify_inputs, self.sources)
        self.is_measured = recipe is not None and bool(recipe.calibrates or recipe.algorithms)
        is_read = self.is_measured or self.settings.verify
        dataset = self.settings.representative_dataset if is_read else None
        samples = Samples(dataset, self.sources)
        self.pass_statistics = lowering.pass_statistics
        graphs = self.graphs = lowering.graphs("float32" if recipe is None else recipe.numbers)
        self.before, self.scaled_inputs = lowering.before, lowering.scaled_inputs
        self.is_trained = self._is_tensorflow() and has_fake_quant(graphs)
        if self.api_version == 1:
            check_ranges_of_inputs(self.settings, graphs)
        if self.settings.output_format == constants.GRAPHVIZ_DOT:
            from ..ir.graphviz import drawing

            return drawing(graphs).encode()
        if recipe is None:
            self._encode_sparse_weights(graphs)
        else:
            recipe = measured_or_stated(recipe.with_output_names(graphs), graphs, self.settings)
            self._name_ranges(graphs)
            prepare_for_integers(graphs, recipe)
        stated = None
        if recipe is None and self.sources[0].kind == "onnx":  # whose FAKE_QUANT are QDQ pairs
            stated = of_quantized_source(graphs)
        if recipe is stated is None:
            for graph in graphs:
                finish(graph)
        written, functions = self._write(graphs)
        recipe = recipe or stated
        if recipe is None:
            self._verify(graphs, functions, samples, verify_inputs)
            return self._for_target(graphs, self._with_integer_inputs(graphs, functions[0].content))
        recipe = with_stated_ranges(recipe, graphs, self.settings)
        ranges: list[dict[Tensor, Range]]
        if recipe.algorithms:
            has_data = self.settings.representative_dataset is not None
            rows = list(samples.each()) if has_data else []
            self._warn_of(samples)
            self._verify(graphs, functions, samples, verify_inputs)
            plain, ranges = self._tuned(graphs, recipe, (written, functions), rows)
            return self._quantized(graphs, recipe, ranges, plain, samples)
        from ..quantize.range_file import named_ranges, ranges_of, read_ranges

        subgraphs = all_subgraphs(graphs)
        ranges = [{} for _ in subgraphs]
        if recipe.calibrates:
            ranges = self._calibrate(functions, written, samples.each(), recipe.calibrator)
            self._warn_of(samples)
        elif recipe.ranges is not None:
            ranges = ranges_of(
                self._keys(), subgraphs, read_ranges(recipe.ranges), self._range_names
            )
        self.calibrated_ranges = named_ranges(self._keys(), subgraphs, ranges, self._range_names)
        self._verify(graphs, functions, samples, verify_inputs)
        return self._quantized(graphs, recipe, ranges, (written, functions), samples)

    def _with_integer_inputs(self, graphs: list[Graph], content: bytes) -> bytes:
        """The file of a float model, with inputs of integers where they are asked for."""
        from ..quantize.settings_recipe import input_statistics, integer_scheme, takes_integers

        if not takes_integers(self.settings):
            return content
        from ..quantize.fake_quant import take_integers

        scheme = integer_scheme(self.settings.inference_input_type)
        for graph in graphs:
            take_integers(graph, scheme, input_statistics(self.settings, self.sources))
        return self._write(graphs)[1][0].content

    def _for_target(self, graphs: list[Graph], content: bytes) -> bytes:
        """The file as the target runs it; a quantized source may round otherwise then, and was
        verified as it is.
        """
        from ..passes.targets import rewrite_for_target
        from ..targets import target_of

        target = target_of(self.settings.target)
        changes = sum(rewrite_for_target(graph, target) for graph in graphs if graph.is_final)
        target.check(graphs)
        return self._write(graphs)[1][0].content if changes else content

    def _tuned(
        self,
        graphs: list[Graph],
        recipe: Recipe,
        plain: tuple[WrittenModel, list[Function]],
        rows: list[Sample],
    ) -> tuple[tuple[WrittenModel, list[Function]], list[dict[Tensor, Range]]]:
        """Applies a recipe's algorithms; the float file before weights are rounded, and ranges.

        Algorithms read the samples several times, so that `rows` holds all of them.
        """
        from ..ir.write import all_subgraphs
        from ..quantize.accuracy.tuning import Tuning
        from ..quantize.range_file import named_ranges, ranges_of, read_ranges
        from .progress import Progress

        tuning = Tuning(graphs, recipe, self._write, rows)
        plain = tuning.preserve(*plain)
        subgraphs = all_subgraphs(graphs)
        ranges: list[dict[Tensor, Range]] = [{} for _ in subgraphs]
        if recipe.calibrates:
            ranges = self._calibrate(plain[1], plain[0], rows, recipe.calibrator)
        elif recipe.ranges is not None:
            ranges = ranges_of(
                self._keys(), subgraphs, read_ranges(recipe.ranges), self._range_names
            )
        self.calibrated_ranges = named_ranges(self._keys(), subgraphs, ranges, self._range_names)
        with Progress("rounding weights") as progress:
            tuning.round(progress.advance)
        return plain, ranges

    def _name_ranges(self, graphs: list[Graph]) -> None:
        """Names what is measured, before a recipe writes operators in other forms."""
        from ..ir.write import all_subgraphs
        from ..quantize.range_file import range_names

        for graph in all_subgraphs(graphs):
            self._range_names |= range_names(graph)

    def _keys(self) -> list[str]:
        """The signature keys, "" for a model without."""
        return [source.key or "" for source in self.sources]

    def _write(
        self, graphs: list[Graph], recipe: Recipe | None = None
    ) -> tuple[WrittenModel, list[Function]]:
        """The file of some graphs, and its functions, one for each source."""
        from ...schema.model import save
        from ..ir.litert_rules import check_runs
        from ..ir.write import all_subgraphs, write
        from ..verify.verification import Function, rounding_of

        unchecked = (graph for graph in graphs if not graph.is_final)
        check_runs(unchecked, in_litert=self.settings.target != "flatlite")
        # what ONNX calls infinite is, but has no range; TensorFlow's converter bounds it
        bounds = bool(self.settings.canonicalizing_inf_as_min_max_float)
        bounded = bounds and (self._is_tensorflow() or self.is_measured)
        with collection_paused():
            written = write(graphs, metadata=self._metadata(graphs, recipe), bounded=bounded)
        if self.settings.serialize_debug_metadata:
            from . import debug_metadata

            rows = [[op.origin or op.kind for op in g.ops] for g in all_subgraphs(graphs)]
            written.model.metadata[debug_metadata.NAME] = debug_metadata.debug_metadata(rows)
        written.model.associated_files = dict(getattr(self.sources[0], "associated_files", {}))
        content = save(written.model)
        functions = [
            Function(
                content,
                graph.signature,
                written.origins[i],
                i,
                tuple(t.sizes for t in graph.inputs),
                written.is_bounded,
                keeps_state(graph),
                rounding_of(graph),
            )
            for i, graph in enumerate(graphs)
        ]
        return written, functions

    def _encode_sparse_weights(self, graphs: list[Graph]) -> None:
        """Stores what is not zero of weights, where that is asked for."""
        if Optimize.EXPERIMENTAL_SPARSITY in self.settings.optimizations:
            from ..quantize.sparsity import encode_sparse_weights

            encode_sparse_weights(graphs)

    def _quantized(
        self,
        graphs: list[Graph],
        recipe: Recipe,
        ranges: list[dict[Tensor, Range]],
        plain: tuple[WrittenModel, list[Function]],
        samples: Samples,
    ) -> bytes:
        """The quantized file, compared with the float one."""
        from ..passes import finish
        from ..passes.targets import rewrite_for_target
        from ..quantize.accuracy.budget import quantized_layers
        from ..quantize.quantizer import Statements, quantize
        from ..quantize.settings_recipe import input_statistics
        from ..targets import target_of

        self.layers = quantized_layers(graphs, recipe)
        calibrated = recipe.calibrates  # so that the float file has run on the samples
        stated = Statements(
            input_statistics(self.settings, self.sources),
            self.settings.default_ranges_stats,
            bool(self.settings.reorder_across_fake_quant),
            bool(self.settings.change_concat_input_ranges),
        )
        outcome = quantize(graphs, recipe, ranges, stated)
        self.float_operators = dict(outcome.float_operators)
        self.float_islands, self.masked = list(outcome.float_islands), outcome.masked
        target = target_of(self.settings.target)
        for graph in graphs:
            rewrite_for_target(graph, target)
            finish(graph)
        self._encode_sparse_weights(graphs)
        target.check(graphs)
        quantized = self._write(graphs, recipe)
        self.quantized_graphs = graphs
        self.files = plain, quantized
        if self.verified or (self.settings.verify and calibrated):
            self._compare(graphs, plain, quantized, samples, recipe)
        return quantized[1][0].content

    def debug_functions(self, recipe: Recipe) -> list[Function]:
        """The functions of the quantized file, each operator with a float one beside it."""
        from ...schema.model import save
        from ..quantize.numeric_verify import float_constants, insert_numeric_verify

        plain, quantized = (written for written, _ in self.files)
        constants = [
            float_constants(plain.model.subgraphs[i], plain.tensors[i])
            for i in range(len(self.quantized_graphs))
        ]
        names = [
            {tensor: subgraph.tensors[k].name for k, tensor in enumerate(tensors)}
            for subgraph, tensors in zip(quantized.model.subgraphs, quantized.tensors, strict=True)
        ]
        verified = list(map(insert_numeric_verify, self.quantized_graphs, constants))
        written, functions = self._write(self.quantized_graphs, recipe)
        for i, rows in enumerate(verified):
            tensors, subgraph = written.tensors[i], written.model.subgraphs[i]
            numbers = {tensor: k for k, tensor in enumerate(tensors)}
            for difference, result in rows.items():
                k = numbers[result]
                subgraph.tensors[k].name = names[i][result]
                subgraph.tensors[numbers[difference]].name = f"{difference.name}:{k}"
        content = save(written.model)
        return [dataclasses.replace(function, content=content) for function in functions]

    def _is_tensorflow(self) -> bool:
        """Whether the sources are graphs of TensorFlow's operations, as Keras models are, too."""
        return all(isinstance(source, GraphSource) for source in self.sources)

    def _metadata(self, graphs: list[Graph], recipe: Recipe | None = None) -> dict[str, bytes]:
        """The entries of a source that is a file, and what TensorFlow's tools read of a
        conversion.
        """
        from ... import __version__
        from ...schema.targets.versions import METADATA_NAME
        from .metadata import NAME, conversion_metadata, optimization_modes

        entries = dict(getattr(self.sources[0], "metadata", {}))
        for written_anew in (NAME, METADATA_NAME):
            entries.pop(written_anew, None)
        if self.settings.exclude_conversion_metadata:
            return entries
        settings = self.settings
        is_quantized = settings.optimizations or settings.quantization_recipe is not None
        recipe_or_none = recipe if is_quantized or not self._is_tensorflow() else None
        content = conversion_metadata(
            self.sources[0].kind,
            writer=f"flatlite {__version__}",
            api_version=self.api_version,
            optimizations=optimization_modes(recipe_or_none, self.is_trained, graphs),
            allow_custom_ops=bool(self.settings.allow_custom_ops),
            select_tf_ops=OpsSet.SELECT_TF_OPS in self.settings.target_spec.supported_ops,
            only_tf_ops=set(self.settings.target_spec.supported_ops) == {OpsSet.SELECT_TF_OPS},
        )
        return entries | {NAME: content}

    def _calibrate(
        self,
        functions: list[Function],
        written: WrittenModel,
        samples: Iterable[Sample],
        calibrator: Calibrator,
    ) -> list[dict[Tensor, Range]]:
        """The ranges of the tensors of the float file's subgraphs over the samples."""
        from ..quantize.calibrate import calibrate
        from .progress import Progress

        with Progress("calibrating") as progress:
            return calibrate(
                functions,
                written.tensors,
                samples,
                progress.advance,
                calibrator,
                self.settings.calibration_workers,
            )

    def _warn_of(self, samples: Samples) -> None:
        """Warns of what is suspicious in the samples that were read."""
        for statistics in samples.statistics:
            warn_of_samples(statistics, self.scaled_inputs)

    def _verify(
        self,
        graphs: list[Graph],
        functions: list[Function],
        samples: Samples,
        verify_inputs: Sequence[list[list[np.ndarray]]],
    ) -> None:
        """Compares every function of the float file with its source, unless told not to."""
        from ..verify.verification import runs_custom_ops

        if self.settings.verify and runs_custom_ops(graphs):
            self.verified_on = verified_on(self.sources, functions, samples, verify_inputs)
            self.verified = all(self.verified_on.values())

    def _compare(
        self,
        graphs: list[Graph],
        plain: tuple[WrittenModel, list[Function]],
        quantized: tuple[WrittenModel, list[Function]],
        samples: Samples,
        recipe: Recipe,
    ) -> None:
        """Compares the functions of the quantized file with those of the float one."""
        from ..quantize.check import SAVED_ADVICE, STATED_ADVICE

        for i, (source, graph) in enumerate(zip(self.sources, graphs, strict=True)):
            key, is_random = source.key or "", self.settings.verify_inputs is None
            inputs = sampled(samples.first(i, n_measured(graph)))
            doubt = STATED_ADVICE if recipe.states_ranges else ""
            if not inputs.rows:
                inputs = tried(self.verified_on[key], graph, is_random, recipe.states_ranges)
                if is_random and recipe.ranges is not None:
                    doubt = SAVED_ADVICE
            noise = noise_of(graph, i, plain, quantized, inputs, doubt)
            self.signal_to_noise[key], self.reader_signal_to_noise[key] = (
                noise.outputs,
                noise.readers,
            )
            self.measured_on[key] = noise.inputs


def as_float(sources: Sequence[Source], recipe: Recipe) -> list[Source]:
    """Sources that can be quantized: quantized files as float ones, to be measured anew.

    Raises ConverterError when a file's integers cannot be chosen, or nothing measures it.
    """
    from ..sources.tflite import FileSource

    files = [source for source in sources if isinstance(source, FileSource)]
    reason = next(filter(None, (source.reason for source in files)), "")
    if not reason:
        return list(sources)
    from ..sources.dequantize import dequantized

    is_measured = recipe.calibrates or recipe.ranges is not None
    files_or_reason = dequantized(files) if is_measured else reason
    if not isinstance(files_or_reason, str):
        return list(files_or_reason)
    needs = "" if is_measured else ", or a representative_dataset that measures it anew"
    raise ConverterError(
        f"the file is quantized already: {files_or_reason}; give its float form{needs}, or the "
        "model it was made from, or convert it without optimizations"
    )


def prepare_for_integers(graphs: list[Graph], recipe: Recipe) -> None:
    """Writes what a recipe quantizes in operators that integers have kernels for."""
    from ..quantize.cells import show_inner
    from ..quantize.directions import split_directions
    from ..quantize.integer_formulas import write_formulas
    from ..quantize.softplus import rewrite_softplus
    from ..quantize.unroll import unroll_cells
    from ..quantize.unroll_loops import unroll_loops

    integers_only = recipe.strict or recipe.warns
    split_directions(graphs, recipe.integer_schemes_of, integers_only, recipe.strict)
    if integers_only:
        unroll_cells(graphs, recipe.integer_schemes_of, recipe.strict)
    if recipe.strict:
        unroll_loops(graphs, recipe.integer_schemes_of)
    write_formulas(graphs, recipe.integer_schemes_of, integers_only)
    rewrite_softplus(graphs, recipe.integer_schemes_of)
    show_inner(graphs, recipe.integer_schemes_of)


def keeps_state(graph: Graph) -> bool:
    """Whether a run of `graph` may leave something for the next one: values of variables."""
    ops = [op for called in graph.reachable() for op in called.ops]
    return any(op.kind == "CALL_ONCE" for op in graph.ops) or any(
        tensor.is_variable and tensor.producer is None for op in ops for tensor in op.present_inputs
    )
