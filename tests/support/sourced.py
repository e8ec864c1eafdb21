"""Sources of models, looked at and run on the reference kernels."""

from flatlite.graph.core.evaluate import evaluate


def keys(ports):
    return [port.key for port in ports]


def run(source, feeds):
    inputs = {port.tensor: feeds[port.key] for port in source.inputs}
    results = evaluate(source.graph, [port.tensor for port in source.outputs], inputs)
    return dict(zip(keys(source.outputs), results, strict=True))


def types(source):
    return {op.type for op in source.graph.operations}
