"""What children do with a file: run it in our interpreter, in LiteRT."""

import numpy as np


def ours(job):
    """Outputs of flatlite's interpreter for (content, feeds), or an error's text."""
    from running import answers

    from flatlite.lite import Interpreter

    content, feeds = job
    try:
        return [np.array(a) for a in answers(Interpreter(model_content=content), *feeds)]
    except (ValueError, RuntimeError, TypeError, NotImplementedError) as error:
        return f"{type(error).__name__}: {error}"


def litert(job):
    """Outputs of LiteRT for (content, feeds, resolver), or an error's text."""
    from ai_edge_litert.interpreter import Interpreter, OpResolverType

    from litert import run

    content, feeds, resolver = job
    try:
        kind = OpResolverType[resolver]
        interpreter = Interpreter(
            model_content=content, num_threads=1, experimental_op_resolver_type=kind
        )
        return run(interpreter, feeds)
    except (ValueError, RuntimeError, TypeError) as error:
        return f"{type(error).__name__}: {error}"
