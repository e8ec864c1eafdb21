"""Broken Keras files, with words that their errors must have."""

import json
import zipfile
from pathlib import Path

import h5py
import numpy as np
from keras_files import h5, keras_file, model, one

MODELS = Path(__file__).parents[1] / "converter/keras/models"
X = [["x", 0, 0]]
DENSE = model(one("Dense", "d", X, units=2), x=[None, 3])
KERNEL, BIAS = np.ones((3, 2), np.float32), np.zeros(2, np.float32)
VARS = "layers/dense/vars"
GOOD = {f"{VARS}/0": KERNEL, f"{VARS}/1": BIAS}
DEEP = "[" * 90_000 + "]" * 90_000
WRITE_AGAIN = "write it again"


def archive(config=DENSE, weights=None, edit=None, **options):
    """A maker of a `.keras` file."""
    return lambda folder: keras_file(folder, config, weights, edit, **options)


def content(suffix, of):
    """A maker of a file with `of(good content)`."""

    def make(folder):
        path = folder / f"model.{suffix}"
        path.write_bytes(of((MODELS / f"nested_keras3.{suffix}").read_bytes()))
        return path

    return make


def cut(size):
    return lambda data: data[:size]


def bytes_at(*changes):
    def change(data):
        changed = bytearray(data)
        for offset, value in changes:
            changed[offset] = value
        return bytes(changed)

    return change


def edited_h5(edit):
    """A maker of a good `.h5` file that `edit(file)` has changed."""

    def make(folder):
        path = content("h5", lambda data: data)(folder)
        with h5py.File(path, "a") as file:
            edit(file)
        return path

    return make


def doubling(levels):
    """A model that calls a nested one twice, which does so, too."""
    spec = model(one("ReLU", "a", X), x=[None, 3])
    for _ in range(levels):
        inner = one("Functional", "m", X)
        inner["inbound_nodes"] += one("Functional", "m", [["m", 0, 0]])["inbound_nodes"]
        spec = model({**inner, "config": {**spec["config"], "name": "m"}}, x=[None, 3])
        spec["config"]["output_layers"] = ["m", 2, 0]
    return spec


def both_ways(levels):
    """A layer that reads backwards and forwards, which consists of such layers."""
    spec = {"class_name": "LSTM", "config": {"name": "l", "units": 1, "return_sequences": True}}
    for _ in range(levels):
        spec = {"class_name": "Bidirectional", "config": {"name": "b", "layer": spec}}
    return model({**one("Bidirectional", "b", X), **spec}, x=[None, 3, 1])


def json_file(text):
    def make(folder):
        path = folder / "model.json"
        path.write_text(text)
        return path

    return make


def linked(link):
    def edit(file):
        file["elsewhere"] = KERNEL
        file[f"{VARS}/0"] = link

    return edit


def virtual(file):
    layout = h5py.VirtualLayout((3, 2), "f4")
    layout[:] = h5py.VirtualSource("other.h5", "kernel", (3, 2))
    file.create_virtual_dataset(f"{VARS}/0", layout)


def outside(file):
    file.create_dataset(f"{VARS}/0", (3, 2), "f4", external=[("/etc/hostname", 0, 24)])


def filtered(file):
    dataset = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    dataset.set_chunk((3, 2))
    dataset.set_filter(4242, h5py.h5z.FLAG_OPTIONAL, (1,))
    space, group = h5py.h5s.create_simple((3, 2)), file.require_group(VARS)
    h5py.h5d.create(group.id, b"0", h5py.h5t.IEEE_F32LE, space, dataset)


def sized(n):
    def edit(file):
        file.create_dataset(f"{VARS}/0", (3, n), "f4", chunks=(3, 1024), fillvalue=1)

    return edit


def no_config(file):
    del file.attrs["model_config"]


def config_number(file):
    file.attrs["model_config"] = 3


def other_names(file):
    layer = next(name for name, group in file["model_weights"].items() if len(group))
    file[f"model_weights/{layer}"].attrs["weight_names"] = [b"kernel"]


def without(member, *contents):
    """A maker of an archive in which a member is missing, or has other contents."""

    def make(folder):
        good, path = keras_file(folder, DENSE, GOOD), folder / "cut.keras"
        with zipfile.ZipFile(good) as old, zipfile.ZipFile(path, "w") as new:
            for name in old.namelist():
                for data in contents if name == member else (old.read(name),):
                    new.writestr(name, data)
        return path

    return make


def twice(folder):
    path = keras_file(folder, DENSE, GOOD, extra={"model.weights.h6": b"noise"})
    path.write_bytes(path.read_bytes().replace(b"model.weights.h6", b"model.weights.h5"))
    return path


def bomb(folder):
    path = folder / "bomb.keras"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("config.json", json.dumps(DENSE))
        file.writestr("model.weights.h5", bytes(32 << 20))
    return path


def config_bomb(folder):
    path = folder / "bomb.keras"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("config.json", b" " * (65 << 20))
        file.writestr("model.weights.h5", h5(GOOD))
    return path


def encrypted(data):
    """Sets the mark of encryption in each header of an archive."""
    changed = bytearray(data)
    for mark, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        start = changed.find(mark)
        while start >= 0:
            changed[start + offset] |= 1
            start = changed.find(mark, start + 1)
    return bytes(changed)


def layer(kind, shape=(1, 4, 4, 3), name="layer", **config):
    """A maker of a model of one layer."""
    return archive(model(one(kind, name, X, **config), x=list(shape)))


KERAS = {
    "empty": (content("keras", cut(0)), "neither a .keras nor an .h5 file"),
    "archive cut": (content("keras", cut(5000)), "is a damaged archive", WRITE_AGAIN),
    "archive of noise": (content("keras", lambda data: data[:9] + bytes(3000)), "archive"),
    "no config.json": (without("config.json"), "it has no config.json"),
    "no weights": (without("model.weights.h5"), "it has no model.weights.h5"),
    "weights that are no HDF5": (
        without("model.weights.h5", b"noise"), "model.weights.h5 cannot be read as HDF5"),
    "two members of a name": (twice, "it has 4 members, some twice"),
    "member outside": (archive(extra={"../../evil": b""}), "'../../evil' leads out of it"),
    "absolute member": (archive(extra={"/evil": b""}), "'/evil' leads out of it"),
    "unknown packing": (archive(packing=zipfile.ZIP_LZMA), "packed in an unknown way"),
    "encrypted": (content("keras", encrypted), "is encrypted"),
    "weights that unpack to much": (bomb, "model.weights.h5 must be at most"),
    "architecture that unpacks to much": (config_bomb, "config.json must be at most"),
    "HDF5 cut": (content("h5", cut(3000)), "cannot be read as HDF5"),
    "HDF5 that libhdf5 crashes on": (
        content("h5", bytes_at((32106, 105), (28153, 191), (31019, 28), (13982, 135))),
        "cannot be read as HDF5"),
    "HDF5 header alone": (content("h5", cut(8)), "cannot be read as HDF5"),
    "weights alone": (edited_h5(no_config), "has no architecture, only weights; save the whole"),
    "architecture that is a number": (edited_h5(config_number), "model_config must be a text"),
    "names of other weights": (edited_h5(other_names), "has", "the file holds 1"),
    "weight missing": (
        archive(weights={f"{VARS}/0": KERNEL}), "Dense 'd': has 2 weights (kernel, bias)", "1"),
    "weight too many": (archive(weights={**GOOD, f"{VARS}/2": BIAS}), "Dense 'd'", "holds 3"),
    "weight of another shape": (
        archive(weights={**GOOD, f"{VARS}/0": KERNEL.T}),
        "Dense 'd': weight kernel must have shape (3, 2), got (2, 3)"),
    "weights of other names": (
        archive(weights={f"{VARS}/a": KERNEL, f"{VARS}/b": BIAS}),
        "Dense 'd': weight kernel (3, 2) is missing"),
    "weight of text": (
        archive(weights={**GOOD, f"{VARS}/1": [b"a", b"b"]}), "must hold numbers", VARS),
    "soft link": (
        archive(weights={f"{VARS}/1": BIAS}, edit=linked(h5py.SoftLink("/elsewhere"))),
        f"{VARS}/0' must be stored in its place"),
    "link to another file": (
        archive(weights={f"{VARS}/1": BIAS},
                edit=linked(h5py.ExternalLink("other.h5", "/kernel"))),
        f"{VARS}/0' must be stored in its place"),
    "virtual dataset": (
        archive(weights={f"{VARS}/1": BIAS}, edit=virtual), "must be in the file itself"),
    "values in another file": (
        archive(weights={f"{VARS}/1": BIAS}, edit=outside), "must be in the file itself"),
    "unknown filter": (
        archive(weights={f"{VARS}/1": BIAS}, edit=filtered), "unknown filters {4242}"),
    "weight too large": (
        archive(model(one("Dense", "d", X, units=(1 << 31) - 1), x=[None, 3]),
                {f"{VARS}/1": BIAS}, sized(1 << 33)), "Dense 'd'", "must have shape"),
    "weight that unpacks to much": (
        archive(model(one("Dense", "d", X, units=1 << 30), x=[None, 3]),
                {f"{VARS}/1": BIAS}, sized(1 << 30)), "unpacks to more than"),
    "deep architecture": (
        archive('{"class_name": "Sequential", "config": ' + DEEP + "}"), "deeper than"),
    "nested models that double": (
        archive(doubling(28)), "at most 262144 calls of layers", "got 805306367"),
    "layers that double": (archive(both_ways(20)), "must have at most 65536 layers"),
    "architecture that is a list": (archive("[]"), "must be a JSON object"),
    "architecture that is no JSON": (archive("{"), "is not JSON"),
    "layer for a model": (
        archive({"class_name": "Dense", "config": {"units": 1}}), "Sequential or Functional"),
    "subclassed model": (archive({"class_name": "MyModel", "config": {}}), "as a SavedModel"),
    "cycle": (
        archive(model(one("ReLU", "a", [["b", 0, 0]]), one("ReLU", "b", [["a", 0, 0]]),
                      x=[None, 3])), "cycle"),
    "layer that is not there": (
        archive(model(one("ReLU", "a", [["b", 0, 0]]), x=[None, 3])), "layer 'b' is read"),
    "result that is not there": (
        archive(model(one("ReLU", "a", [["x", 0, 1]]), x=[None, 3])), "result 1 of layer 'x'"),
    "two layers of a name": (
        archive(model(one("ReLU", "a", X), one("ReLU", "a", X), x=[None, 3])), "two layers", "'a'"),
    "output that is not there": (
        archive(model(one("ReLU", "a", X), output="nowhere", x=[None, 3])), "'nowhere'"),
    "image of two dimensions": (
        archive(model(one("Conv2D", "c", X, filters=1), x=[None, 3]),
                {"layers/conv2d/vars/0": KERNEL, "layers/conv2d/vars/1": BIAS}),
        "Conv2D 'c'", "must have 4 dimensions"),
    "pool of zero": (layer("MaxPooling2D", pool_size=0), "MaxPooling2D 'layer'", "got 0"),
    "shape of other elements": (
        layer("Reshape", (1, 3), target_shape=[-1, 2]), "Reshape 'layer'", "cannot take"),
    "axis out of range": (layer("Softmax", (1, 3), axis=7), "Softmax 'layer'", "7"),
    "negative cropping": (layer("Cropping2D", cropping=[[9, 9], [0, 0]]), "Cropping2D 'layer'"),
    "unknown activation": (layer("Activation", activation="swoosh"), "swoosh"),
    "activation of a program": (
        layer("Activation", activation={"class_name": "function", "config": "mine"}),
        "Activation 'layer': activation 'mine'"),
    "permutation of too few": (layer("Permute", dims=[1, 2]), "Permute 'layer'"),
    "unknown layer": (layer("Transmogrify"), "Transmogrify", "'layer'", "from_saved_model"),
    "Python code": (layer("Lambda", function="x"), "Lambda 'layer' holds Python"),
    "no data format": (layer("AveragePooling2D", data_format="nchw"), "nchw"),
    "JSON without weights": (
        json_file(json.dumps(DENSE)), "has no weights; give the weights in weights_file"),
}  # fmt: skip
