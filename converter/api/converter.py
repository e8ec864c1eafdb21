"""TFLiteConverter: a source model in, the bytes of a `.tflite` file out."""

from __future__ import annotations

import logging
import os
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from ...schema.errors import ConverterError, noted
from ..callers import caller
from ..sources.kinds import reading
from ..sources.positions import SOURCE, arranged, difference
from ..sources.repeated_boxes import repeated_boxes
from ..sources.source import (
    EndsError,
    PlaceholdersError,
    Shapes,
    Source,
    naming,
    short_name,
    some,
)
from .arguments import check_kinds, known_shapes, path_of, tensors_of
from .conversion import Conversion
from .live import frozen_sources, function_sources, keras_sources, loaded_with
from .options import constants
from .results import Results

if TYPE_CHECKING:
    from .samples import Sample
    from .settings import Settings

_LOGGER = logging.getLogger("flatlite")


class TFLiteConverter(Results):
    """Converts a TensorFlow model to a TensorFlow Lite flatbuffer, without TensorFlow.

    Make one with `from_saved_model`, `from_keras_model_file`, `from_frozen_graph`,
    `from_session`, `from_onnx_model` or `from_tflite_model`, set its attributes, call `convert()`.

    Args:
        graph_def: a frozen GraphDef: a message, its serialized bytes, or the path of a file; or
            concrete functions in a list, as of `from_concrete_functions`.
        input_tensors: tensors with `.name`, and `.shape` where it adds to the graph's.
        output_tensors: tensors of which only `.name` is used.
        input_arrays_with_shape: (name, shape) of each input, where there are no `input_tensors`.
        output_arrays: names of the outputs, where there are no `output_tensors`.
        trackable_obj: the owner of concrete functions, which may be the second argument, too.

    Raises:
        TypeError, ValueError: as `from_frozen_graph`; what is wrong with names alone, without
            tensors, is an error of `convert`.

    Attributes:
        optimizations: a list of Optimize members; [] converts to float, [Optimize.DEFAULT] stores
            large weights in 8 bits and, with a representative_dataset, everything.
        representative_dataset: RepresentativeDataset or a callable that gives samples; what ranges
            are measured on, and what the written file is verified on.
        target_spec: TargetSpec, the device to convert for.
        inference_type: type of real-number arrays, np.float32.
        inference_input_type, inference_output_type: types of real-number inputs and outputs; None
            takes `inference_type`. np.int8 and np.uint8 need a representative_dataset.
        output_format: constants.TFLITE, or GRAPHVIZ_DOT for a drawing of the converted graph.
        quantization_recipe: a dict, or the path of a JSON file, that says all of it at once:
            scheme, exceptions for layers, calibrator (docs/quantization.md).
        quantization_algorithms: names of algorithms for accuracy, or dicts with their parameters
            (docs/quantization.md); a recipe's "algorithms" are done, too.
        accuracy_budget: an AccuracyBudget: layers that the model is sensitive to stay in int16x8 or
            float, as few as its metric allows; `pareto_front` has what was tried.
        strict_int8: whether operators without an integer kernel are an error; else they stay
            float, with a warning where only integer operators are asked for.
        calibration_workers: how many processes run the model on representative_dataset; the ranges
            are the same as those of one.
        quantized_input_stats: {input name: (mean, standard deviation)}, for quantized inputs.
        default_ranges_stats: (min, max) for tensors without a known range.
        drop_control_dependency: whether control dependencies are dropped silently; TFLite has none,
            so that False only makes `convert` say that it changes nothing.
        allow_custom_ops: whether operations TFLite lacks become custom operators.
        conversion_summary_dir: a folder for logs of the operators before and after, and a page.
        dump_graphviz_dir: a folder for drawings of the graph before and after the passes.
        dump_graphviz_video: whether to draw it there after every pass that changes it, too.
        reorder_across_fake_quant: whether FakeQuant gives way to a bias, a normalisation or an
            activation behind it, which move into the convolution before it.
        change_concat_input_ranges: whether what is concatenated gets the range of the result.
        exclude_conversion_metadata: leaves out what converted the model, from what and how.
        serialize_debug_metadata: whether the file says from which node of the source each operator
            comes, in its entry debug_metadata.
        experimental_lower_to_saved_model: False freezes a function or Keras model in memory where
            it would be saved: inputs are called as its arguments, outputs Identity, Identity_1 and
            so on, and the file has no signature.
        experimental_new_quantizer: False leaves inputs and outputs that only operators in float
            touch in float, whatever inference_input_type asks for, as TensorFlow's first quantizer.
        io_order: positions of inputs and outputs in the file: "source", or "tensorflow" for those
            that TensorFlow 2.21's converter gives them, which sorts by name or by a hash.
        target: the runtime that the file is for: "litert", "tf-2.14" and the like for LiteRT as it
            was in that release, "tflm" for TensorFlow Lite Micro, "edgetpu" for Coral's compiler
            (docs/targets.md). What it lacks is written otherwise, or an error.
        unfold_batchmatmul: whether float32 products of computed matrices become FULLY_CONNECTED
            operators, one for each pair of matrices, for runtimes without BATCH_MATMUL.
        verify_inputs: a dict of arrays by input name, a list of arrays in input order, or a list
            of such: inputs that source and file are compared on first.
        verify: whether `convert` runs source and result on the same inputs and compares (default).

    >>> converter = TFLiteConverter.from_saved_model("models/digits/saved_model")
    >>> converter.get_input_arrays()
    ['serving_default_image']
    >>> content = converter.convert()
    >>> converter.verified
    True
    """

    drop_control_dependency: bool
    _api_version = 2

    def __init__(
        self,
        graph_def: Any,
        input_tensors: Sequence[Any] | None = None,
        output_tensors: Sequence[Any] | None = None,
        input_arrays_with_shape: Iterable[tuple[str, Sequence[int | None]]] | None = None,
        output_arrays: Sequence[str] | None = None,
        *,
        trackable_obj: Any = None,
    ) -> None:
        from ..sources import frozen

        if isinstance(graph_def, list | tuple):
            owner = trackable_obj if input_tensors is None else input_tensors
            self._start(function_sources(graph_def, owner), None, 2)
            self._frozen = cache(lambda: frozen_sources(graph_def))
            return
        for kind, tensors, name, arrays in (
            ("input", input_tensors, "input_arrays_with_shape", input_arrays_with_shape),
            ("output", output_tensors, "output_arrays", output_arrays),
        ):
            if tensors is not None and arrays is not None:
                text = "%s will be ignored when both the given %s_tensors and %s are not None."
                _LOGGER.warning(text, name, kind, name)
        if input_tensors is not None and output_tensors:
            input_tensors = tensors_of("input_tensors", input_tensors)
            inputs = [tensor.name for tensor in input_tensors]
            outputs = [tensor.name for tensor in tensors_of("output_tensors", output_tensors)]
            shapes = known_shapes(input_tensors)
        elif input_arrays_with_shape and output_arrays:
            shapes = dict(input_arrays_with_shape)
            inputs, outputs = list(shapes), list(output_arrays)
        else:
            raise ValueError(
                "If input_tensors and output_tensors are None, both input_arrays_with_shape and "
                "output_arrays|control_output_arrays must be defined."
            )
        path_of("graph_def", graph_def, "GraphDef")
        try:
            self._start([frozen.load(graph_def, inputs, outputs, shapes)], None, 1)
        except EndsError as error:  # which TensorFlow finds when it converts
            if input_tensors is not None:
                raise
            self._defer(error, inputs)

    @classmethod
    def _of(
        cls, sources: Sequence[Source], path: str | os.PathLike | None, api_version: int
    ) -> TFLiteConverter:
        converter = cls.__new__(cls)
        converter._start(sources, path, api_version)
        return converter

    def _defer(self, error: ValueError, input_arrays: Sequence[str]) -> None:
        """Has `convert` raise an error as ConverterError."""
        self._start([], None, 1)
        self._deferred = error, [short_name(name) for name in input_arrays]

    def _start(
        self, sources: Sequence[Source], path: str | os.PathLike | None, api_version: int
    ) -> None:
        self._sources, self._path, self._api_version = sources, path, api_version
        self._deferred: tuple[ValueError, list[str]] | None = None
        self._frozen: Callable[[], Sequence[Source]] | None = None
        Results.__init__(self)

    @classmethod
    def from_frozen_graph(
        cls,
        graph_def_file: Any,
        input_arrays: Sequence[str] | None = None,
        output_arrays: Sequence[str] | None = None,
        input_shapes: Shapes | None = None,
    ) -> TFLiteConverter:
        """A converter for a file with a frozen GraphDef, binary or text.

        Args:
            graph_def_file: the file, its bytes, or a GraphDef message.
            input_arrays: names of the input tensors; None takes the placeholders that the outputs
                need.
            output_arrays: names of the output tensors; None takes those of operations that nobody
                reads.
            input_shapes: {input name: shape} for what the graph does not say; None or -1 for a
                dimension that is to stay unknown.

        Raises:
            TypeError: something else is given for a file, names or shapes.
            OSError: the file does not exist or cannot be parsed.
            ValueError: the graph is not frozen, a name is not in it, a shape contradicts it; or
                nobody named inputs or outputs and the graph does not tell them.
        """
        from ..sources import frozen

        path = path_of("graph_def_file", graph_def_file, "GraphDef")
        check_kinds(input_shapes)
        with reading("frozen", path):
            source = frozen.load(graph_def_file, input_arrays, output_arrays, input_shapes)
        return cls._of([source], path, 1)

    @classmethod
    def from_saved_model(
        cls,
        saved_model_dir: str | os.PathLike,
        input_arrays: Sequence[str] | None = None,
        input_shapes: Shapes | None = None,
        output_arrays: Sequence[str] | None = None,
        tag_set: Iterable[str] | None = None,
        signature_key: str | None = None,
        *,
        signature_keys: Sequence[str] | None = None,
        tags: Iterable[str] | None = None,
    ) -> TFLiteConverter:
        """A converter for a SavedModel of TensorFlow 1 or 2.

        Args:
            saved_model_dir: the folder with saved_model.pb.
            input_arrays: names of the input tensors; None takes the signature's.
            input_shapes: {input name: shape} for what the model does not say, None or -1 for a
                dimension that is to stay unknown.
            output_arrays: names of the output tensors; None takes the signature's.
            tag_set: tags of the MetaGraph, default {"serve"}. `tags` is TF2's name for it.
            signature_key: TF1's way to name a signature, one.
            signature_keys: TF2's way; each becomes a signature of the file. Without either all
                are converted; "serving_default", or the only one there is, where input_arrays,
                input_shapes or output_arrays are given, and of what Keras' `export` wrote.

        Raises:
            TypeError: something else is given for a path, names or shapes.
            OSError: there is no SavedModel, or it cannot be read.
            ValueError: unknown tags, signature or tensor names.
        """
        from ..sources import saved_model

        if signature_key is not None and signature_keys is not None:
            raise ValueError("Give either signature_key or signature_keys, not both.")
        if tag_set is not None and tags is not None:
            raise ValueError("Give either tag_set or tags, not both.")
        version_1_arguments = (input_arrays, input_shapes, output_arrays, tag_set, signature_key)
        api_version = (
            1 if any(argument is not None for argument in version_1_arguments) else cls._api_version
        )
        path_of("saved_model_dir", saved_model_dir)
        check_kinds(
            input_shapes,
            input_arrays=input_arrays,
            tag_set=tag_set,
            signature_keys=signature_keys,
            tags=tags,
        )
        try:
            with reading("saved_model", saved_model_dir):
                sources = saved_model.load(
                    saved_model_dir,
                    tags=tag_set if tag_set is not None else tags,
                    signature_keys=[signature_key] if signature_key is not None else signature_keys,
                    input_arrays=input_arrays,
                    output_arrays=output_arrays,
                    input_shapes=input_shapes,
                    api_version=api_version,
                )
        except PlaceholdersError as error:  # which TensorFlow finds when it converts
            converter = cls.__new__(cls)
            converter._defer(error, list(input_arrays or ()))
            return converter
        converter = cls._of(sources, saved_model_dir, api_version)
        converter.saved_model_dir = os.fspath(saved_model_dir)
        return converter

    @classmethod
    def from_keras_model_file(
        cls,
        model_file: str | os.PathLike,
        input_arrays: Sequence[str] | None = None,
        input_shapes: Shapes | None = None,
        output_arrays: Sequence[str] | None = None,
        custom_objects: Mapping[str, Any] | None = None,
        weights_file: str | os.PathLike | None = None,
    ) -> TFLiteConverter:
        """A converter for a Keras model in a `.keras` or `.h5` file, of Keras 2 (tf_keras) or 3.

        Args:
            model_file: the file, with the architecture; or what model.to_json() gave, in a file.
            input_arrays: names of the inputs, in another order; None takes the model's.
            input_shapes: {input name: shape} for what the model does not say, None or -1 for a
                dimension that is to stay unknown.
            output_arrays: names of outputs or of layers; None takes the model's outputs.
            custom_objects: {name of a class: a layer of Keras that does the same}: its name, or a
                class derived from it. A class with a `call` of its own is read by the Keras that
                it belongs to, with TensorFlow or JAX as its backend, and converted whole.
                {name of an activation function: a function}: of the program's Keras, or, where
                there is none, of flatlite's operations; or the name of an activation.
            weights_file: what model.save_weights() wrote, beside an architecture in JSON.

        Raises:
            TypeError: something else is given for a path or shapes.
            OSError: the file cannot be read.
            UnsupportedOps: the model has layers that flatlite does not know; all are listed.
            ConverterError: a layer is used in a way that is not supported.
            ValueError: the file is malformed; unknown names, shapes that contradict the model.
        """
        from ..sources import keras

        path_of("model_file", model_file)
        check_kinds(input_shapes)
        if not isinstance(custom_objects, Mapping | None):
            raise TypeError(
                "custom_objects must be a dict of layers by the names of classes, got "
                f"{type(custom_objects).__name__}"
            )
        is_whole = input_arrays is None and not input_shapes and output_arrays is None
        if custom_objects and is_whole and weights_file is None:
            model = loaded_with(model_file, custom_objects)
            if model is not None:
                return cls._of(keras_sources(model), model_file, cls._api_version)
        with reading("keras", model_file):
            source = keras.load(
                model_file, input_arrays, output_arrays, input_shapes, custom_objects, weights_file
            )
        return cls._of([source], model_file, source.api_version)

    @classmethod
    def from_onnx_model(
        cls,
        model_file: Any,
        input_arrays: Sequence[str] | None = None,
        input_shapes: Shapes | None = None,
        output_arrays: Sequence[str] | None = None,
        io_layout: str | Mapping[str, str] | None = None,
    ) -> TFLiteConverter:
        """A converter for an ONNX model of any operator set.

        The file's inputs and outputs keep the model's layout (channels second for images) unless
        io_layout changes it; inside, channels come last. Only builtins are written.

        Args:
            model_file: the file, its bytes, or an onnx.ModelProto; weights stored beside the file
                must lie in its folder, and `onnx.load` puts them into the message.
            input_arrays: names of the inputs, in another order; None takes the model's.
            input_shapes: {input name: shape} for what the model does not say, None or -1 for a
                dimension that is to stay unknown.
            output_arrays: names of tensors; None takes the model's outputs.
            io_layout: "channels_last" moves the channels of images, inputs and outputs of 4 or 5
                dimensions, to the end; {name: "channels_last"} does so for some, of 3 dimensions,
                too. Shapes in `input_shapes` are the model's all the same.

        Raises:
            TypeError: something else is given for a model or shapes.
            OSError: the file, or one with its weights, cannot be read.
            ConverterError: the operator set or a construct of the model is not supported; `convert`
                raises UnsupportedOps when there are operators that TFLite lacks.
            ValueError: the file is malformed; unknown names, shapes that contradict the model.
        """
        from ..sources import onnx

        path = path_of("model_file", model_file, "ModelProto")
        check_kinds(input_shapes)
        with reading("onnx", path):
            source = onnx.load(model_file, input_arrays, output_arrays, input_shapes, io_layout)
        return cls._of([source], path, cls._api_version)

    @classmethod
    def from_tflite_model(cls, model: str | os.PathLike | bytes) -> TFLiteConverter:
        """A converter for a `.tflite` file, whoever wrote it: to quantize or to shorten it.

        A file that is quantized already is quantized anew where samples measure it; without them
        that is an error of `convert`. Converted plainly it keeps its operators as they are, but for
        those that nobody reads.

        Args:
            model: the file, or its bytes.

        Raises:
            TypeError: something else is given.
            OSError: the file does not exist.
            ValueError: it is damaged, or no `.tflite` file.
        """
        from ..sources import tflite

        path = path_of("model", model, "")
        with reading("tflite", path):
            sources = tflite.load(model)
        return cls._of(sources, path, cls._api_version)

    @classmethod
    def from_session(
        cls, sess: Any, input_tensors: Sequence[Any], output_tensors: Sequence[Any]
    ) -> TFLiteConverter:
        """A converter for the graph of a session, with the values its variables have now.

        Args:
            sess: a Session of flatlite, or of a TensorFlow in this process.
            input_tensors: the tensors that are fed; any tensors, placeholders as a rule.
            output_tensors: the tensors to compute.

        Raises:
            TypeError: `sess` is no Session, or something else is given for a tensor.
            ValueError: a tensor is of another graph; the outputs need a placeholder that is not
                among the inputs.
            FailedPreconditionError: a variable that is needed has no value.
        """
        from ..sources import running_tensorflow, session

        inputs = tensors_of("input_tensors", input_tensors)
        outputs = tensors_of("output_tensors", output_tensors)
        is_theirs = running_tensorflow.is_session(sess)
        load = running_tensorflow.from_session if is_theirs else session.load
        return cls._of([load(sess, inputs, outputs, known_shapes(inputs))], None, 1)

    @classmethod
    def from_keras_model(cls, model: Any) -> TFLiteConverter:
        """A converter for a Keras model in memory, of Keras 3 with any backend or of Keras 2.

        The model is read through its own configuration and weights. One that these do not describe,
        as classes with a `call` of their own, is exported as a SavedModel by its own method where
        TensorFlow is its backend.

        Raises:
            TypeError: `model` is a path, or no model of Keras.
            UnsupportedOps: it has layers that flatlite does not know; all are listed.
            ConverterError: a layer is used in a way that is not supported.
            ValueError: the model is not built.

        What Keras raises when it cannot export the model follows the error that led there.
        """
        if isinstance(model, str | os.PathLike):
            raise TypeError(
                f"from_keras_model takes a Keras model in memory, got {type(model).__name__}; "
                "from_keras_model_file reads a .keras or .h5 file"
            )
        converter = cls._of(keras_sources(model), None, 2)
        converter._frozen = cache(lambda: keras_sources(model, is_frozen=True))
        return converter

    @classmethod
    def from_concrete_functions(cls, funcs: Any, trackable_obj: Any = None) -> TFLiteConverter:
        """A converter for concrete functions of a TensorFlow in this process.

        With `trackable_obj` TensorFlow saves them as a SavedModel, and each becomes a signature:
        "serving_default" for a single one, else named like the function. Without it a single
        function is frozen, with the values its variables have now, and the file has no signature.

        Args:
            funcs: the concrete functions, in a list.
            trackable_obj: the object that owns the variables and tables they use.

        Raises:
            ValueError: there are no functions, they are not concrete, or several without a
                `trackable_obj` with which TensorFlow can save them.
            TypeError: they are not of a TensorFlow in this process.

        Warns:
            UserWarning: TensorFlow cannot save a single function with `trackable_obj`, so that it
                is frozen.
        """
        converter = cls._of(function_sources(funcs, trackable_obj), None, 2)
        converter._frozen = cache(lambda: frozen_sources(funcs))
        return converter

    def _chosen_sources(self) -> Sequence[Source]:
        """What `experimental_lower_to_saved_model` asks for."""
        if self.experimental_lower_to_saved_model or self._frozen is None:
            return self._sources
        return self._frozen()

    def get_input_arrays(self) -> list[str]:
        """The names of the input tensors, in order; of the first signature where several are."""
        if self._deferred is not None:
            return self._deferred[1]
        sources = arranged(self._chosen_sources(), self.io_order)
        return [short_name(port.name) for port in sources[0].inputs]

    def convert(self) -> bytes:
        """The flatbuffer, or the drawing that `output_format` asks for.

        Raises:
            UnsupportedOps: some operations have no TFLite form; all of them are listed.
            ConverterError: the model cannot be converted or quantized as asked for, or (with
                `verify`) the written file does not give the source's answers; the first operator
                that differs is named.
            ValueError: the shape of an input is not known; attributes that contradict each other or
                that this version does not know; samples that do not fit (CalibrationError).

        Warns:
            UserWarning: the result was not verified, and why; an attribute has no effect; the model
                has nothing to quantize.
        """
        from ..quantize.settings_recipe import check_ranges_of_inputs

        if self._deferred is not None:
            raise ConverterError(str(self._deferred[0])) from self._deferred[0]
        self.check_kinds()
        self._check_statistics()
        if self._api_version == 1:
            check_ranges_of_inputs(self)
        self.check()
        if not self.experimental_lower_to_saved_model and self._frozen is None:
            warnings.warn(
                "experimental_lower_to_saved_model has no effect: only functions and Keras models "
                "in memory can be frozen instead of saved",
                stacklevel=caller(),
            )
        with naming(self._path):
            if self.accuracy_budget is not None:
                last, content = self._searched()
            else:  # here, as warnings count the frames to whoever called
                last = Conversion(self, self._chosen_sources(), self._api_version)
                content = last.run()
        self._last = last
        if self.output_format == constants.TFLITE:
            order = difference(last.sources) if self.io_order == SOURCE else None
            for line in (order, repeated_boxes(last.sources)):
                if line is not None:
                    _LOGGER.warning("flatlite: %s", line)
        return content

    def _converted(self, settings: Settings) -> tuple[Conversion, bytes]:
        """One run with some settings."""
        conversion = Conversion(settings, self._chosen_sources(), self._api_version)
        return conversion, conversion.run()

    def _searched(self) -> tuple[Conversion, bytes]:
        """The runs that find which layers accuracy_budget needs wider."""
        from ..quantize.accuracy.budget import Search
        from .progress import Progress
        from .samples import Samples

        def samples(last: Conversion) -> Iterable[Sample]:
            return Samples(self.representative_dataset, last.sources).each()

        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            with Progress("measuring the sensitivity of layers") as progress:
                search = Search(self, self._converted, samples)
                last, content, self._pareto_front = search.run(progress.advance)
        for row in warned:
            warnings.warn(row.message, row.category, stacklevel=caller())
        return last, content

    def _check_statistics(self) -> None:
        """Raises ValueError when an input has no `quantized_input_stats` and others have."""
        from ..quantize.settings_recipe import input_statistics

        stats = input_statistics(self, self._chosen_sources())
        missing = [name for name in self.get_input_arrays() if name not in stats]
        if stats and missing:
            raise noted(
                ValueError(
                    "Quantization input stats are not available for input tensors "
                    f"'{','.join(missing)}'."
                ),
                f"quantized_input_stats has {some(stats)}.",
            )
