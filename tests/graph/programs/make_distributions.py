"""Writes distributions.json: what TensorFlow gives for distribution_*.py. Needs tensorflow.

python tests/graph/programs/make_distributions.py
"""

import json
from pathlib import Path

import distribution_expressions as expressions
import tensorflow.compat.v1 as tf
from distribution_programs import PROGRAMS

tf.disable_v2_behavior()


def rounded(value: object) -> object:
    """Floats to eight digits, which is what the test looks at."""
    if isinstance(value, dict):
        return {name: rounded(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [rounded(item) for item in value]
    return float(f"{value:.8g}") if isinstance(value, float) else value


def main() -> None:
    """Evaluates every expression and runs every program."""
    recorded = {text: expressions.outcome(tf, text) for text in expressions.TEXTS}
    for made, value in expressions.DISTRIBUTIONS.items():
        recorded[made] = expressions.members(tf, made, value)
    for program in PROGRAMS:
        with tf.Graph().as_default():
            recorded[program.__name__] = program(tf)
    rows = ",\n".join(
        f"{json.dumps(text)}: {json.dumps(rounded(row))}" for text, row in recorded.items()
    )
    Path(__file__).with_name("distributions.json").write_text(f"{{\n{rows}\n}}\n")


if __name__ == "__main__":
    main()
