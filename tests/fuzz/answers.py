"""What children do with a file: run it in our interpreter, in LiteRT."""

import numpy as np


def ours(job):
    """Outputs of flatlite's interpreter for (content, feeds, threads, repeats), or an error's text.

    What repeats must give the same once more, without its inputs being set again.
    """
    from running import answers

    from flatlite.lite import Interpreter

    content, feeds, threads, repeats = job
    try:
        interpreter = Interpreter(model_content=content, num_threads=threads)
        results = [np.array(a) for a in answers(interpreter, *feeds)]
        if not repeats:
            return results
        interpreter.invoke()
        again = [interpreter.get_tensor(d["index"]) for d in interpreter.get_output_details()]
        changed = [i for i, (a, b) in enumerate(zip(results, again, strict=True)) if not same(a, b)]
        return f"output {changed[0]} is another one when it runs again" if changed else results
    except (ValueError, RuntimeError, TypeError, NotImplementedError) as error:
        return f"{type(error).__name__}: {error}"


def same(a, b):
    """Whether two arrays have the same bits, or the same objects."""
    if a.dtype == object:
        return a.tolist() == b.tolist()
    return a.shape == b.shape and a.tobytes() == b.tobytes()


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


def our_steps(job):
    """Results of flatlite's interpreter for each step of (content, steps), or an error's text."""
    from flatlite.lite import Interpreter
    from litert import run

    content, steps = job
    try:
        interpreter = Interpreter(model_content=content)
        return [run(interpreter, step) for step in steps]
    except (ValueError, RuntimeError, TypeError, NotImplementedError) as error:
        return f"{type(error).__name__}: {error}"


def litert_steps(job):
    """Results of LiteRT for each step of (content, steps, resolver), or an error's text."""
    from litert import answered

    content, steps, resolver = job
    return answered(content, steps, resolver, None)
