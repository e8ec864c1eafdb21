"""Runs MediaPipe's operators in MediaPipe: mediapipe_goldens.npz.

    pip download --no-deps mediapipe==0.10.21       (and unzip it)
    PYTHONPATH=tests/support PYTHON tests/interpreter/make_mediapipe_goldens.py FOLDER

PYTHON has MediaPipe and flatlite.
FOLDER has `.tflite` files of MediaPipe's: those of its package, hair_segmentation.tflite of its
repository at v0.8.9. Each runs in MediaPipe's graph and in flatlite on one picture; the largest
difference is printed as a share of the output's largest value. What its custom operators had for
inputs and gave within that graph becomes a golden, cut to a corner and a few channels; so do the
operators alone with other options.
"""

from __future__ import annotations

import struct
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path

import mediapipe
import numpy as np
from building import Builder
from flatbuffers import flexbuffers
from mediapipe.python._framework_bindings import calculator_graph

import flatlite
from flatlite.schema import model as schema

HERE = Path(__file__).parent
RANDOM = np.random.default_rng(0)
GRAPH = """
input_stream: "image"
node {{ calculator: "ImageToTensorCalculator" input_stream: "IMAGE:image"
  output_stream: "TENSORS:x" options {{ [mediapipe.ImageToTensorCalculatorOptions.ext] {{
    output_tensor_float_range {{ min: 0 max: 1 }} }} }} }}
node {{ calculator: "TfLiteCustomOpResolverCalculator" output_side_packet: "OP_RESOLVER:ops" }}
node {{ calculator: "InferenceCalculator" input_stream: "TENSORS:x"
  input_side_packet: "OP_RESOLVER:ops" output_stream: "TENSORS:y"
  options {{ [mediapipe.InferenceCalculatorOptions.ext] {{
    model_path: "{path}" delegate {{ tflite {{}} }} }} }} }}
node {{ calculator: "SplitTensorVectorCalculator" input_stream: "y" {streams}
  options {{ [mediapipe.SplitVectorCalculatorOptions.ext] {{ {ranges} }} }} }}
{floats}
"""
OUTPUT = """
node {{ calculator: "TensorsToFloatsCalculator" input_stream: "TENSORS:y{i}"
  output_stream: "FLOATS:out{i}" }}
"""
SAME, VALID = 1, 2
"""TfLitePadding."""
ACTIVATIONS = {"NONE": 0, "RELU": 1, "RELU_N1_TO_1": 2, "RELU6": 3}
"""TfLiteFusedActivation."""
UNSIZED = np.zeros(1, np.float32)
"""A result whose shape the operator says."""


def in_mediapipe(model: schema.Model, image: np.ndarray) -> list[np.ndarray]:
    """The outputs of a model that takes one picture, as MediaPipe computes them."""
    path = HERE / "mediapipe_model.tflite"
    path.write_bytes(schema.save(model))
    graph = model.subgraphs[0]
    n = len(graph.outputs)
    config = GRAPH.format(
        path=path,
        streams=" ".join(f'output_stream: "y{i}"' for i in range(n)),
        ranges=" ".join(f"ranges {{ begin: {i} end: {i + 1} }}" for i in range(n)),
        floats="".join(OUTPUT.format(i=i) for i in range(n)),
    )
    outputs: dict[int, np.ndarray] = {}

    def listener(i):
        def keep(_, packet):
            outputs[i] = np.float32(mediapipe.packet_getter.get_float_list(packet))

        return keep

    running = calculator_graph.CalculatorGraph(graph_config=config)
    for i in range(n):
        running.observe_output_stream(f"out{i}", listener(i))
    running.start_run()
    packet = mediapipe.packet_creator.create_image_frame(
        image, image_format=mediapipe.ImageFormat.SRGB
    )
    running.add_packet_to_input_stream("image", packet.at(0))
    running.close_all_packet_sources()
    running.wait_until_done()
    path.unlink()
    shapes = [graph.tensors[index].shape for index in graph.outputs]
    return [outputs[i].reshape(shape) for i, shape in enumerate(shapes)]


def picture(height: int, width: int) -> np.ndarray:
    """Soft blobs and a little noise, uint8 [height, width, 3]."""
    down, across = np.mgrid[:height, :width].astype(np.float32)
    image = RANDOM.normal(0, 6, (height, width, 3)) + 90
    for _ in range(12):
        y, x = RANDOM.uniform(0, height), RANDOM.uniform(0, width)
        radius = RANDOM.uniform(0.05, 0.3) * height
        blob = np.exp(-((down - y) ** 2 + (across - x) ** 2) / radius**2)
        image += blob[..., None] * RANDOM.uniform(-90, 90, 3)
    return np.clip(image, 0, 255).astype(np.uint8)


def of_a_picture(model: schema.Model) -> schema.Model:
    """The model with an input of three channels: a fourth is padded with zeros."""
    graph = model.subgraphs[0]
    x = graph.inputs[0]
    n, height, width, channels = graph.tensors[x].shape
    if channels == 4:
        front = Builder()
        front.subgraph = graph
        graph.inputs = []
        image = front.input("image", (n, height, width, 3))
        pads = front.constant("channel", np.int32([[0, 0], [0, 0], [0, 0], [0, 1]]))
        front.op("PAD", [image, pads], [x])
        graph.operators.insert(0, graph.operators.pop())
    return model


def real_models(folder: Path) -> Iterator[tuple[str, schema.Model, np.ndarray]]:
    """(name, model, picture) of each file."""
    for path in sorted(folder.glob("*.tflite")):
        model = of_a_picture(schema.load(path.read_bytes()))
        graph = model.subgraphs[0]
        yield path.stem, model, picture(*graph.tensors[graph.inputs[0]].shape[1:3])


def outputs_of(model: schema.Model, *inputs: np.ndarray) -> list[np.ndarray]:
    """What flatlite gives."""
    interpreter = flatlite.lite.Interpreter(model_content=schema.save(model))
    interpreter.allocate_tensors()
    for row, x in zip(interpreter.get_input_details(), inputs, strict=True):
        interpreter.set_tensor(row["index"], x)
    interpreter.invoke()
    return [interpreter.get_tensor(row["index"]) for row in interpreter.get_output_details()]


def difference(ours: Sequence[np.ndarray], theirs: Sequence[np.ndarray]) -> float:
    """The largest difference, a share of the output's largest value."""
    pairs = zip(ours, theirs, strict=True)
    return max(float(np.abs(a - b).max() / max(np.abs(b).max(), 1e-6)) for a, b in pairs)


@dataclass(frozen=True)
class Case:
    """An operator alone: its options, inputs and results."""

    kind: str
    version: int
    options: bytes
    inputs: list[np.ndarray]
    outputs: list[np.ndarray]

    def model(self, constant: bool) -> schema.Model:
        """A file of it; with constant inputs, its only input is a picture of one pixel."""
        b = Builder()
        if constant:
            b.input("image", (1, 1, 1, 3))
        put = b.constant if constant else lambda name, x: b.input(name, x.shape)
        xs = [put(f"x{i}", x) for i, x in enumerate(self.inputs)]
        ys = [b.tensor(f"y{i}", y.shape) for i, y in enumerate(self.outputs)]
        b.op("CUSTOM", xs, ys, custom_code=self.kind, custom_options=self.options)
        b.subgraph.operators[-1].version = self.version
        return schema.Model([b.outputs(*ys).subgraph])

    def as_mediapipe(self) -> Case:
        """With the results that MediaPipe gives, of the shapes that flatlite does."""
        shaped = replace(self, outputs=outputs_of(self.model(False), *self.inputs))
        pixel = np.zeros((1, 1, 3), np.uint8)
        return replace(shaped, outputs=in_mediapipe(shaped.model(True), pixel))


def operators_of(model: schema.Model, image: np.ndarray) -> Iterator[Case]:
    """Each custom operator of a model with what MediaPipe computes for and with it."""
    graph = model.subgraphs[0]
    custom = [o for o in graph.operators if o.op == "CUSTOM"]
    exposed = sorted({i for o in custom for i in (*o.inputs, *o.outputs)})
    values = {i: graph.tensors[i].data for i in exposed}
    computed = [i for i in exposed if values[i] is None]
    graph.outputs = computed
    if computed:
        values.update(zip(computed, in_mediapipe(model, image), strict=True))
    for o in custom:
        sides = [[values[i] for i in part] for part in (o.inputs, o.outputs)]
        yield Case(str(o.custom_code), o.version, bytes(o.custom_options or b""), *sides)


def cut(case: Case) -> Case:
    """The same weights, points and matrix over a corner of the image and its first channels."""
    x, *others = case.inputs
    if x.ndim < 4:
        return case
    if case.kind == "TransformTensorBilinear":
        return replace(
            case,
            inputs=[x[..., :2], *others],
            outputs=[np.zeros((1, 16, 16, 2), np.float32)],
        )
    corner = np.s_[:, 4:12, 4:10]
    if case.kind == "Convolution2DTransposeBias":
        return replace(case, inputs=[x[corner], *others])
    return replace(case, inputs=[y[corner][..., :4] for y in case.inputs])


def normal(*shape: int) -> np.ndarray:
    return RANDOM.normal(size=shape).astype(np.float32)


def pool_params(padding: int, stride: Sequence[int], size: Sequence[int], activation: int = 0):
    """TfLitePoolParams: the width first."""
    return struct.pack("<6i", padding, *stride[::-1], *size[::-1], activation) + bytes(16)


def convolutions() -> Iterator[Case]:
    """Windows beside and over each other; MediaPipe does not look at the activation."""
    for padding, (size, stride, activation) in product(
        (SAME, VALID),
        (((2, 2), (2, 2), 0), ((3, 3), (2, 2), 1), ((3, 4), (2, 3), 0), ((4, 2), (1, 3), 0)),
    ):
        options = struct.pack("<5i", padding, *stride[::-1], activation, 0)
        inputs = [normal(2, 4, 3, 5), normal(3, *size, 5), normal(3)]
        yield Case("Convolution2DTransposeBias", 1, options, inputs, [UNSIZED])


def pools() -> Iterator[Case]:
    """Also equal values in one window, and windows that lie over the edge."""
    for padding, (size, stride), (activation, code) in product(
        (SAME, VALID), (((2, 2), (2, 2)), ((3, 2), (2, 1))), ACTIVATIONS.items()
    ):
        x = np.round(normal(2, 7, 6, 3) * 4) if activation == "NONE" else normal(1, 5, 4, 2) * 4
        options = pool_params(padding, stride, size, code)
        yield Case("MaxPoolingWithArgmax2D", 1, options, [x], [UNSIZED, UNSIZED])


def unpools() -> Iterator[Case]:
    """Windows of places that fit, with strides that are theirs and smaller ones."""
    for padding, (size, stride) in product((SAME, VALID), (((2, 2), (2, 2)), ((3, 2), (2, 1)))):
        places = RANDOM.integers(0, size[0] * size[1], (2, 4, 3, 2)) + np.float32(0.1)
        inputs = [normal(2, 4, 3, 2), places.astype(np.float32)]
        yield Case("MaxUnpooling2D", 1, pool_params(padding, stride, size, 1), inputs, [UNSIZED])


def landmarks() -> Iterator[Case]:
    """Images, points and matrices that turn, grow and leave the image."""
    for turn, scale, move in ((0.0, 1.0, (0, 0)), (0.7, 0.4, (1.3, -0.6)), (-2.1, 1.7, (6, 5))):
        matrix = np.eye(4, dtype=np.float32)
        cos, sin = scale * np.cos(turn), scale * np.sin(turn)
        matrix[:2, :2] = [[cos, -sin], [sin, cos]]
        matrix[:2, 3] = move
        sizes = flexbuffers.Dumps({"output_height": 5, "output_width": 9})
        image = [normal(1, 6, 7, 2), matrix[None]]
        declared = [np.zeros((1, 5, 9, 2), np.float32)]
        yield Case("TransformTensorBilinear", 2, bytes(sizes), image, declared)
        for n in (2, 3):
            yield Case("TransformLandmarks", 2, b"", [normal(1, 6, n), matrix[None]], [UNSIZED])
        for subset in ([0, 1, 2, 3, 4, 5], [4, 1, 3]):
            options = {
                "left_rotation_idx": 0,
                "right_rotation_idx": 3,
                "output_width": 20,
                "output_height": 10,
                "scale_x": scale,
                "scale_y": 1.5,
                "target_rotation_radians": turn,
            }
            packed = flexbuffers.Builder()
            with packed.Map():
                packed.TypedVectorFromElements("subset_idxs", subset)  # others end MediaPipe
                for name, value in options.items():
                    packed.Add(name, value)
            content = bytes(packed.Finish())
            yield Case("Landmarks2TransformMatrix", 2, content, [normal(1, 6, 3) * 9], [UNSIZED])


def resamplers() -> Iterator[Case]:
    """Points within, on and off the edge."""
    points = RANDOM.uniform(-1.5, 7, (2, 5, 6, 2)).astype(np.float32)
    points[0, :2] = np.round(points[0, :2])
    yield Case("Resampler", 1, b"", [normal(2, 5, 6, 3), points], [UNSIZED])


def write(cases: Sequence[Case]) -> None:
    """The golden file: for each case its operator, version, options, inputs and results."""
    arrays = {}
    for i, case in enumerate(cases):
        arrays[f"{i}:kind"] = np.array([case.kind, str(case.version)])
        arrays[f"{i}:options"] = np.frombuffer(case.options, np.uint8)
        for side, listed in (("in", case.inputs), ("out", case.outputs)):
            arrays.update((f"{i}:{side}:{k}", x) for k, x in enumerate(listed))
    np.savez_compressed(HERE / "mediapipe_goldens.npz", **arrays)


def main() -> None:
    cases = []
    for name, model, image in real_models(Path(sys.argv[1])):
        x = image.astype(np.float32)[None] * np.float32(1 / 255)
        worst = difference(outputs_of(model, x), in_mediapipe(model, image))
        print(f"{name}: {worst:.1e}", flush=True)
        for case in operators_of(model, image):
            worst = difference(outputs_of(case.model(False), *case.inputs), case.outputs)
            print(f"    {case.kind} {[x.shape for x in case.inputs]}: {worst:.1e}", flush=True)
            cases.append(cut(case))
    for family in (convolutions, pools, unpools, landmarks, resamplers):
        cases.extend(family())
    cases = [case.as_mediapipe() for case in cases]
    for case in cases:
        worst = difference(outputs_of(case.model(False), *case.inputs), case.outputs)
        if worst > 1e-6:
            print(f"differs: {case.kind} {case.options.hex()}: {worst:.1e}")
    write(cases)


if __name__ == "__main__":
    main()
