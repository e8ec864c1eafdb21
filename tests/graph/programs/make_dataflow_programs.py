"""Records the graphs of dataflow_programs.py and what TensorFlow's sessions give for them.

    python tests/graph/programs/make_dataflow_programs.py    # with tensorflow-cpu 2.21

Writes dataflow_programs.npz: each graph as a GraphDef, runs and answers as JSON.
"""

import json
from pathlib import Path

import numpy as np
import tensorflow.compat.v1 as tf
from dataflow_programs import PROGRAMS

HERE = Path(__file__).parent


def plain(value):
    if isinstance(value, bytes):
        return value.decode("latin1")
    return None if value is None else np.asarray(value).tolist()


def answer(session, fetches, feeds):
    try:
        values = session.run(fetches, feeds)
    except tf.errors.OpError as error:
        lines = [x for x in error.message.split("\n\t [[{{node")[0].split("\n") if x.strip()]
        behind = max((i for i, x in enumerate(lines) if x.startswith("Node: ")), default=-1)
        words = [x for x in lines[behind + 1 :] if x != "Graph execution error:"]
        return {"error": type(error).__name__, "words": words[0]}
    return [plain(x) for x in values]


def recorded(program):
    with tf.Graph().as_default() as graph:
        runs = program(tf)
        with tf.Session() as session:
            rows = [
                {
                    "fetches": [x.name for x in fetches],
                    "feeds": feeds,
                    "answer": answer(session, fetches, feeds),
                }
                for fetches, feeds in runs
            ]
    return graph.as_graph_def().SerializeToString(), rows


def main():
    tf.disable_v2_behavior()
    tf.disable_control_flow_v2()
    graphs, rows = {}, {}
    for program in PROGRAMS:
        content, rows[program.__name__] = recorded(program)
        graphs[program.__name__] = np.frombuffer(content, np.uint8)
    text = np.frombuffer(json.dumps(rows).encode(), np.uint8)
    np.savez_compressed(HERE / "dataflow_programs.npz", runs=text, **graphs)


if __name__ == "__main__":
    main()
