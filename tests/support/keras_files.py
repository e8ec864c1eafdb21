"""Keras files made by hand, for tests: layers, models, weights, archives."""

import io
import json
import zipfile

import h5py


def one(kind, name, reads=(), module="keras.layers", **config):
    """A layer of a Functional model, in Keras 3's form."""
    tensors = [{"class_name": "__keras_tensor__", "config": {"keras_history": r}} for r in reads]
    args = tensors if module != "keras.layers" or len(tensors) == 1 else [tensors]
    return {
        "class_name": kind,
        "module": module,
        "name": name,
        "config": {"name": name, **config},
        "inbound_nodes": [{"args": args, "kwargs": {}}] if reads else [],
    }


def model(*layers, output=None, **shapes):
    """A Functional model of these layers and inputs."""
    inputs = [one("InputLayer", name, batch_shape=shape) for name, shape in shapes.items()]
    config = {
        "name": "model",
        "layers": [*inputs, *layers],
        "input_layers": [[name, 0, 0] for name in shapes],
        "output_layers": [output or layers[-1]["name"], 0, 0],
    }
    return {"class_name": "Functional", "module": "keras.src.models.functional", "config": config}


def h5(weights, edit=None):
    """The bytes of an HDF5 file with these arrays; `edit(file)` may add more."""
    content = io.BytesIO()
    with h5py.File(content, "w") as file:
        for path, value in weights.items():
            file[path] = value
        if edit is not None:
            edit(file)
    return content.getvalue()


def keras_file(folder, config, weights=None, edit=None, extra=None, packing=zipfile.ZIP_STORED):
    """The path of a `.keras` archive of Keras 3; `extra` are further members."""
    path = folder / "model.keras"
    with zipfile.ZipFile(path, "w", packing) as archive:
        archive.writestr("metadata.json", '{"keras_version": "3.15.1"}')
        archive.writestr("config.json", config if isinstance(config, str) else json.dumps(config))
        archive.writestr("model.weights.h5", h5(weights or {}, edit))
        for name, content in (extra or {}).items():
            archive.writestr(name, content)
    return path
