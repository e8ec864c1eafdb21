"""Modules of StableHLO that JAX does not write, from their text, against their definitions."""

from __future__ import annotations

import numpy as np
import pytest

from flatlite.errors import ConverterError
from flatlite.graph.core.graph import Graph
from flatlite.graph.format.graphdef import to_graph_def
from flatlite.lite import Interpreter, TFLiteConverter

mlir = pytest.importorskip("jax._src.interpreters.mlir", reason="jaxlib writes the modules")

NUMBERS = np.float32([[1, -2, 3], [4, 5, -6]])
COMPLEX = (NUMBERS + 1j * NUMBERS[::-1]).astype(np.complex128)
PRODUCT = """
func.func public @main(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %z = "stablehlo.map"(%x, %y) ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %half = stablehlo.constant dense<0.5> : tensor<f32>
      %c = stablehlo.multiply %a, %b : tensor<f32>
      %d = stablehlo.multiply %c, %half : tensor<f32>
      stablehlo.return %d : tensor<f32>
  }) { dimensions = array<i64: 0, 1> } : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %z : tensor<2x3xf32>
}"""
PARTS = """
func.func public @main(%x: tensor<2x3xcomplex<f64>>) -> (tensor<2x3xf64>, tensor<2x3xf64>) {
  %y = stablehlo.real %x : (tensor<2x3xcomplex<f64>>) -> tensor<2x3xf64>
  %z = stablehlo.imag %x : (tensor<2x3xcomplex<f64>>) -> tensor<2x3xf64>
  func.return %y, %z : tensor<2x3xf64>, tensor<2x3xf64>
}"""
CONVERTED = """
func.func public @main(%x: tensor<2x3xcomplex<f32>>) -> tensor<2x3xi1> {
  %y = stablehlo.convert %x : (tensor<2x3xcomplex<f32>>) -> tensor<2x3xi1>
  func.return %y : tensor<2x3xi1>
}"""
NO_REAL_PART = np.complex64(COMPLEX - COMPLEX[0, 0].real)
REAL_PARTS = PARTS.replace("complex<f64>", "f64")
BOOLS = """
func.func public @main(%x: tensor<8xi1>) -> tensor<ui8> {
  %y = stablehlo.bitcast_convert %x : (tensor<8xi1>) -> tensor<ui8>
  func.return %y : tensor<ui8>
}"""


def converted(text, inputs, results, tmp_path):
    """The file of a module that takes and gives arrays like these."""
    from jaxlib.mlir.dialects import stablehlo
    from jaxlib.mlir.ir import Module

    with mlir.make_ir_context():
        version = stablehlo.get_current_version()
        content = stablehlo.serialize_portable_artifact(Module.parse(text), version)
    graph = Graph()
    operands = [
        graph.add("Placeholder", f"x{i}", (), {"dtype": x.dtype, "shape": x.shape}).outputs[0]
        for i, x in enumerate(inputs)
    ]
    attrs = {"version": 9, "module": content, "platforms": [b"CPU"]}
    attrs |= {"Sout": [y.shape for y in results], "Tout": [y.dtype for y in results]}
    call = graph.add("XlaCallModule", "call", operands, attrs)
    for i, y in enumerate(call.outputs):
        graph.add("Identity", f"y{i}", [y])
    path = tmp_path / "graph.pb"
    path.write_bytes(to_graph_def(graph).SerializeToString())
    ends = [f"x{i}" for i in range(len(inputs))], [f"y{i}" for i in range(len(results))]
    return TFLiteConverter.from_frozen_graph(str(path), *ends).convert()


@pytest.mark.parametrize(
    ("text", "inputs", "expected"),
    [
        (PRODUCT, [NUMBERS, NUMBERS + 1], [NUMBERS * (NUMBERS + 1) / 2]),
        (PARTS, [COMPLEX], [COMPLEX.real, COMPLEX.imag]),
        (REAL_PARTS, [COMPLEX.real], [COMPLEX.real, np.zeros((2, 3))]),
        (CONVERTED, [NO_REAL_PART], [NO_REAL_PART.real != 0]),
    ],
    ids=["map", "parts", "parts_of_real", "bools_of_complex"],
)
def test_results(text, inputs, expected, tmp_path):
    interpreter = Interpreter(model_content=converted(text, inputs, expected, tmp_path))
    interpreter.allocate_tensors()
    for detail, x in zip(interpreter.get_input_details(), inputs, strict=True):
        interpreter.set_tensor(detail["index"], x)
    interpreter.invoke()
    for detail, y in zip(interpreter.get_output_details(), expected, strict=True):
        result = interpreter.get_tensor(detail["index"])
        assert result.dtype == y.dtype
        np.testing.assert_array_equal(result, y)


def test_bits_of_bools_are_refused(tmp_path):
    x, y = np.ones(8, np.bool_), np.uint8(255)
    with pytest.raises(ConverterError, match="bits must be those of numbers, got bool"):
        converted(BOOLS, [x], [np.asarray(y)], tmp_path)
