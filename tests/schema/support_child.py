"""TensorFlow Lite Support's own code on models' metadata; with its own Python.

    make support                # makes .venv-support
    .venv-support/bin/python tests/schema/support_child.py record   # writes metadata/ beside this
    .venv-support/bin/python tests/schema/support_child.py show FOLDER

`record` packs metadata and files into a model, as its MetadataPopulator does, and says in
recorded.json what its MetadataDisplayer reads of the results, and the versions that its checker
finds for one feature of the schema each. `show` prints what the displayer reads of every .tflite
file in a folder, as JSON.
"""

import base64
import ctypes
import json
import sys
from pathlib import Path

import flatbuffers
import libusb_package

# the wheel links with it and does not have it
ctypes.CDLL(str(libusb_package.get_library_path()), ctypes.RTLD_GLOBAL)

from tensorflow_lite_support.metadata import metadata_schema_py_generated as fb  # noqa: E402
from tensorflow_lite_support.metadata.cc.python import _pywrap_metadata_version  # noqa: E402
from tensorflow_lite_support.metadata.python import metadata  # noqa: E402

FOLDER = Path(__file__).with_name("metadata")
MODEL = Path(__file__).parents[1] / "interpreter" / "composites" / "l2_norm.tflite"
"""A model of one input and one output."""


def packed(table) -> bytes:
    """The bytes of a ModelMetadataT."""
    builder = flatbuffers.Builder(0)
    builder.Finish(table.Pack(builder), b"M001")
    return bytes(builder.Output())


def instance(class_, **fields):
    """An object of the generated schema with some fields."""
    result = class_()
    for name, value in fields.items():
        assert hasattr(result, name), name
        setattr(result, name, value)
    return result


def file(name, type_, **fields):
    """An AssociatedFileT."""
    return instance(fb.AssociatedFileT, name=name, type=type_, **fields)


def unit(options):
    """A ProcessUnitT."""
    name = type(options).__name__.removesuffix("T")
    return instance(
        fb.ProcessUnitT, optionsType=getattr(fb.ProcessUnitOptions, name), options=options
    )


def content(properties, *limits):
    """A ContentT; the limits are those of a ValueRange."""
    name = type(properties).__name__.removesuffix("T")
    result = instance(
        fb.ContentT,
        contentPropertiesType=getattr(fb.ContentProperties, name),
        contentProperties=properties,
    )
    if limits:
        result.range = instance(fb.ValueRangeT, min=limits[0], max=limits[1])
    return result


def model(inputs, outputs, **fields):
    """A ModelMetadataT of one subgraph."""
    names = vars(fb.SubGraphMetadataT()).keys() - {"name", "description"}
    fields_here = {name: fields.pop(name) for name in names & fields.keys()}
    graph = instance(
        fb.SubGraphMetadataT,
        inputTensorMetadata=inputs,
        outputTensorMetadata=outputs,
        **fields_here,
    )
    return instance(fb.ModelMetadataT, subgraphMetadata=[graph], **fields)


def tensor(name, **fields):
    """A TensorMetadataT."""
    return instance(fb.TensorMetadataT, name=name, **fields)


FILES = {
    "labels.txt": b"cat\ndog\nbird\n",
    "labels_de.txt": "Katze\nHund\nVögel\n".encode(),
    "scores.txt": b"0.5,1,0,0.1\n\n",
    "vocab.txt": b"[PAD]\n[UNK]\nhello\n",
    "spm.model": bytes(range(256)),
    "notes.md": b"free text",
}


def models():
    """Name -> (ModelMetadataT, names of files)."""
    types = fb.AssociatedFileType
    yield (
        "classifier",
        model(
            [
                tensor(
                    "image",
                    description="What is to be classified.",
                    dimensionNames=["batch", "height", "width", "channels"],
                    content=content(
                        instance(
                            fb.ImagePropertiesT,
                            colorSpace=fb.ColorSpaceType.RGB,
                            defaultSize=instance(fb.ImageSizeT, width=224, height=192),
                        )
                    ),
                    processUnits=[
                        unit(
                            instance(fb.NormalizationOptionsT, mean=[127.5, 0.1], std=[127.5, 3.0])
                        )
                    ],
                    stats=instance(fb.StatsT, max=[1.0, 2.5], min=[-1.0, -0.3]),
                )
            ],
            [
                tensor(
                    "probability",
                    content=content(fb.FeaturePropertiesT(), 1, 1),
                    processUnits=[
                        unit(
                            instance(
                                fb.ScoreCalibrationOptionsT,
                                scoreTransformation=fb.ScoreTransformationType.INVERSE_LOGISTIC,
                                defaultScore=0.2,
                            )
                        ),
                        unit(instance(fb.ScoreThresholdingOptionsT, globalScoreThreshold=0.7)),
                    ],
                    associatedFiles=[
                        file("scores.txt", types.TENSOR_AXIS_SCORE_CALIBRATION),
                        file("labels.txt", types.TENSOR_AXIS_LABELS, description="Names."),
                        file("labels_de.txt", types.TENSOR_AXIS_LABELS, locale="de"),
                    ],
                )
            ],
            name="Animals",
            description="Tells animals apart; Größe <5 MB",
            version="v1",
            author="flatlite",
            license="Apache-2.0",
        ),
        ["scores.txt", "labels.txt", "labels_de.txt"],
    )
    yield (
        "tokenizers",
        model(
            [
                tensor(
                    "ids",
                    processUnits=[
                        unit(
                            instance(
                                fb.BertTokenizerOptionsT,
                                vocabFile=[file("vocab.txt", types.VOCABULARY)],
                            )
                        )
                    ],
                )
            ],
            [
                tensor(
                    "boxes",
                    content=content(
                        instance(
                            fb.BoundingBoxPropertiesT,
                            index=[1, 0, 3, 2],
                            type=fb.BoundingBoxType.BOUNDARIES,
                            coordinateType=fb.CoordinateType.PIXEL,
                        ),
                        2,
                        2,
                    ),
                )
            ],
            inputProcessUnits=[
                unit(
                    instance(
                        fb.SentencePieceTokenizerOptionsT,
                        sentencePieceModel=[file("spm.model", types.UNKNOWN)],
                        vocabFile=[file("vocab.txt", types.VOCABULARY, version="3")],
                    )
                ),
                unit(instance(fb.RegexTokenizerOptionsT, delimRegexPattern=r"[^\w\']+")),
            ],
            outputTensorGroups=[instance(fb.TensorGroupT, name="result", tensorNames=["boxes"])],
            customMetadata=[instance(fb.CustomMetadataT, name="extra", data=list(b"\0\1\2\377"))],
            associatedFiles=[file("notes.md", types.DESCRIPTIONS)],
        ),
        ["vocab.txt", "spm.model", "notes.md"],
    )
    yield (
        "audio",
        model(
            [
                tensor(
                    "waveform",
                    content=content(instance(fb.AudioPropertiesT, sampleRate=16000, channels=1)),
                )
            ],
            [tensor("")],
        ),
        [],
    )


def features():
    """(what is used, a ModelMetadataT that uses nothing else)."""
    types = fb.AssociatedFileType
    yield "nothing", fb.ModelMetadataT()
    for name in ("VOCABULARY", "SCANN_INDEX_FILE", "TENSOR_VALUE_LABELS"):
        yield name, instance(fb.ModelMetadataT, associatedFiles=[file("f", getattr(types, name))])
    yield "version", instance(fb.ModelMetadataT, associatedFiles=[file("f", 0, version="")])
    for name in ("BertTokenizerOptions", "SentencePieceTokenizerOptions", "RegexTokenizerOptions"):
        units = [unit(getattr(fb, f"{name}T")())]
        yield name, model([tensor("x", processUnits=units)], [])
    yield "AudioProperties", model([tensor("x", content=content(fb.AudioPropertiesT()))], [])
    yield "inputProcessUnits", model([], [], inputProcessUnits=[])
    yield "outputProcessUnits", model([], [], outputProcessUnits=[])
    yield "inputTensorGroups", model([], [], inputTensorGroups=[])
    yield "outputTensorGroups", model([], [], outputTensorGroups=[])
    yield "customMetadata", model([], [], customMetadata=[])


def shown(content: bytes) -> dict:
    """What the displayer reads of a model."""
    displayer = metadata.MetadataDisplayer.with_model_buffer(content)
    names = displayer.get_packed_associated_file_list()
    files = {name: displayer.get_associated_file_buffer(name) for name in names}
    return {
        "json": json.loads(displayer.get_metadata_json()),
        "files": {name: base64.b64encode(data).decode() for name, data in files.items()},
    }


def record() -> None:
    """Writes the models and recorded.json."""
    FOLDER.mkdir(exist_ok=True)
    recorded = {"models": {}, "versions": []}
    for name, table, files in models():
        populator = metadata.MetadataPopulator.with_model_buffer(MODEL.read_bytes())
        populator.load_metadata_buffer(packed(table))
        populator.load_associated_file_buffers({file: FILES[file] for file in files})
        populator.populate()
        content = populator.get_model_buffer()
        (FOLDER / f"{name}.tflite").write_bytes(content)
        recorded["models"][name] = shown(content)
    for name, table in features():
        content = packed(table)
        version = _pywrap_metadata_version.GetMinimumMetadataParserVersion(content)
        row = [name, base64.b64encode(content).decode(), version]
        recorded["versions"].append(row)
    text = json.dumps(recorded, indent=1, ensure_ascii=False)
    (FOLDER / "recorded.json").write_text(text + "\n", encoding="utf-8")


def show(folder: str) -> None:
    """Prints what the displayer reads of the models in a folder."""
    paths = sorted(Path(folder).glob("*.tflite"))
    print(json.dumps({path.stem: shown(path.read_bytes()) for path in paths}))


if __name__ == "__main__":
    {"record": record, "show": show}[sys.argv[1]](*sys.argv[2:])
