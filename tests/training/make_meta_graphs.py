"""Writes meta_graphs.json: name scopes of graphs as TensorFlow exports and imports them.

Run it in an environment with TensorFlow, which the tests themselves do without:

    python tests/training/make_meta_graphs.py
"""

import json
from pathlib import Path

from meta_graph_programs import exports, imported


def main():
    import tensorflow.compat.v1 as tf

    tf.disable_v2_behavior()
    recorded = {"exports": exports(tf), "imported": imported(tf)}
    Path(__file__).with_name("meta_graphs.json").write_text(json.dumps(recorded, indent=1) + "\n")


if __name__ == "__main__":
    main()
