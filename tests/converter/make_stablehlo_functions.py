"""Writes stablehlo_functions.npz: graphs with modules of functions without operations.

    python tests/converter/make_stablehlo_functions.py modules FILE.npz    where jaxlib is
    python tests/converter/make_stablehlo_functions.py graphs FILE.npz     where TensorFlow 2.21 is

Of each case the frozen GraphDef and the names of its outputs. Those of "doubling" call each other
2 ** 30 times, which neither runs.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

T = "tensor<2xf32>"
C = f"%c = stablehlo.constant dense<[3.0, 4.0]> : {T}"
PAIR, TWO = f"({T}, {T})", f"{T}, {T}"
LEVELS = 30


def main(results: str, body: str, *functions: str) -> str:
    """A module whose main function takes %a."""
    return "\n".join([f"func.func @main(%a: {T}) -> {results} {{ {body} }}", *functions])


def called(arguments: str, results: str, body: str, name: str = "f") -> str:
    return f"func.func private @{name}({arguments}) -> {results} {{ {body} }}"


A, AB = f"%a: {T}", f"%a: {T}, %b: {T}"
MODULES = {
    "argument": main(T, f"return %a : {T}"),
    "argument_twice": main(PAIR, f"return %a, %a : {TWO}"),
    "constant": main(T, f"{C}\n return %c : {T}"),
    "constant_twice": main(PAIR, f"{C}\n return %c, %c : {TWO}"),
    "nothing": main("()", "return"),
    "call": main(
        PAIR, f"%0:2 = call @f(%a) : ({T}) -> {PAIR}\n return %0#1, %0#0 : {TWO}",
        called(A, PAIR, f"return %a, %a : {TWO}"),
    ),
    "call_of_constant": main(
        T, f"%0 = call @f() : () -> {T}\n return %0 : {T}", called("", T, f"{C}\n return %c : {T}")
    ),
    "call_of_nothing": main(
        T, f"call @f(%a) : ({T}) -> ()\n return %a : {T}", called(A, "()", "return")
    ),
    "exchange": main(
        PAIR, f"{C}\n %0:2 = call @f(%a, %c) : {PAIR} -> {PAIR}\n return %0#0, %0#1 : {TWO}",
        called(AB, PAIR, f"return %b, %a : {TWO}"),
    ),
    "loop": main(
        T, f"%0 = stablehlo.while(%i = %a) : {T} cond {{ %f = stablehlo.constant dense<false> : "
        f"tensor<i1>\n stablehlo.return %f : tensor<i1> }} do {{ stablehlo.return %i : {T} }}\n "
        f"return %0 : {T}",
    ),
    "case": main(
        T, f"%i = stablehlo.constant dense<1> : tensor<i32>\n {C}\n %0 = \"stablehlo.case\"(%i) "
        f"({{ stablehlo.return %a : {T} }}, {{ stablehlo.return %c : {T} }}) : "
        f"(tensor<i32>) -> {T}\n return %0 : {T}",
    ),
    "composite": main(
        PAIR, f"%0:2 = stablehlo.composite \"my.op\" %a {{decomposition = @f}} : ({T}) -> {PAIR}\n "
        f"return %0#0, %0#1 : {TWO}", called(A, PAIR, f"{C}\n return %a, %c : {TWO}"),
    ),
    "doubling": main(
        T, f"%0 = call @f0(%a) : ({T}) -> {T}\n return %0 : {T}",
        *(
            called(A, T, f"%0 = call @f{i + 1}(%a) : ({T}) -> {T}\n "
                   f"%1 = call @f{i + 1}(%0) : ({T}) -> {T}\n return %1 : {T}", f"f{i}")
            for i in range(LEVELS)
        ),
        called(A, T, f"return %a : {T}", f"f{LEVELS}"),
    ),
}  # fmt: skip


def modules(path: str) -> None:
    """Writes the modules as JAX stores them."""
    from jax._src.interpreters import mlir
    from jaxlib.mlir import ir
    from jaxlib.mlir.dialects import stablehlo

    contents = {}
    for name, text in MODULES.items():
        with mlir.make_ir_context():
            content = stablehlo.serialize_portable_artifact(ir.Module.parse(text), "1.8.0")
        contents[name] = np.frombuffer(content, np.uint8)
    np.savez(path, **contents)


def graphs(path: str) -> None:
    """Writes the file of the graphs that run them."""
    import tensorflow as tf
    from tensorflow.compiler.tf2xla.ops import gen_xla_ops
    from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2

    recorded = {}
    for name, module in np.load(path).items():
        first_line = MODULES[name].partition("{")[0]
        n = first_line.count(T) - 1

        content = module.tobytes()

        def call(x, content=content, n=n):
            results = gen_xla_ops.xla_call_module(
                [x], version=9, module=content, Sout=[[2]] * n, Tout=[tf.float32] * n,
                platforms=["CPU"], dim_args_spec=[], function_list=[],
            )  # fmt: skip
            return [results[i] for i in range(n)] or [x + 0.0]

        function = tf.function(lambda x, call=call: call(x))
        concrete = function.get_concrete_function(tf.TensorSpec([2], name="x"))
        frozen = convert_variables_to_constants_v2(concrete)
        content = frozen.graph.as_graph_def().SerializeToString()
        recorded[f"{name}/graph"] = np.frombuffer(content, np.uint8)
        recorded[f"{name}/outputs"] = np.array([x.name for x in frozen.outputs])
    np.savez_compressed(Path(__file__).with_name("stablehlo_functions.npz"), **recorded)


if __name__ == "__main__":
    {"modules": modules, "graphs": graphs}[sys.argv[1]](sys.argv[2])
