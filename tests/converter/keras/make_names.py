"""Records the names of all layers of Keras 3 and tf_keras and of all operations of keras.ops.

Run as `python tests/converter/keras/make_names.py` in an environment that has both.
"""

from __future__ import annotations

import importlib
import inspect
import json
import pkgutil
from pathlib import Path

import keras
import tf_keras
from keras.src import ops
from keras.src.ops.operation import Operation


def layers(package) -> set[str]:
    """The class names of the layers that a package has under `layers`."""
    classes = (getattr(package.layers, name) for name in dir(package.layers))
    return {
        c.__name__ for c in classes if inspect.isclass(c) and issubclass(c, package.layers.Layer)
    }


def operations() -> set[str]:
    """The class names of the operations that functional models hold."""
    names = set()
    for info in pkgutil.walk_packages(ops.__path__, f"{ops.__name__}."):
        if not info.name.endswith("_test"):
            members = vars(importlib.import_module(info.name)).items()
            names |= {
                name
                for name, c in members
                if inspect.isclass(c) and issubclass(c, Operation) and c.__module__ == info.name
            }
    return names


if __name__ == "__main__":
    rows = {"keras": layers(keras), "tf_keras": layers(tf_keras), "ops": operations()}
    text = json.dumps({key: sorted(names) for key, names in rows.items()}, indent=0)
    Path(__file__).with_name("names.json").write_text(text + "\n")
