"""Writes tests/corpus, the project's own spread of a larger acceptance corpus.

    python tests/select_corpus.py FOLDER

FOLDER holds a manifest.json of the form described in tests/corpus/README.md. Whole rows are taken
by the rules below, largest cases left out, until the spread stays under 15 MB; a file left out of a
row is named in its `files_left_out`.
"""

import json
import shutil
import sys
from collections import Counter
from pathlib import Path

HERE = Path(__file__).parent / "corpus"
LIMIT = 15_000_000
ROWS_OF_A_FAMILY = 1  # op_test: the first row of each operator family and quantization
CASE_BYTES = 13_000  # a tflite_case with more than this stays out
OP_BYTES = 20_000  # the same of an op_test
OPTIMIZERS = ("sgd", "momentum", "adam")  # that there are so far
DROPPED = {  # files of whole models that no test of the project's own run needs
    "C/mobilenet_v2_k3": ("keras", "frozen_graphdef", "int8"),
    "C/lenet_k3": ("weights_h5", "architecture_json", "saved_model_tffn"),
    "C/lenet_tfk": ("weights_h5", "architecture_json", "tf2_weights_checkpoint"),
    "C/lstm_text_k3": ("keras", "saved_model", "saved_model_batch1"),
    "C/lstm_text_tfk": ("keras", "saved_model", "frozen_graphdef", "int8"),
}
WHOLE_KINDS = (
    "handmade_tflite",
    "model_source",
    "model_tflite",
    "tf1_checkpoint",
    "tf1_expr",
    "tf1_grad",
    "tf1_schedule",
    "third_party_tflite",
    "third_party_tflite_sequence",
    "third_party_saved_model",
    "third_party_onnx",
)


def size(path: Path) -> int:
    """Bytes of a file, or of all files below a folder."""
    files = [p for p in path.rglob("*") if p.is_file()] if path.is_dir() else [path]
    return sum(p.stat().st_size for p in files)


def chosen(rows, root):
    """The rows of the spread, in manifest order."""
    seen = Counter()
    for row in rows:
        kind = row["kind"]
        if kind == "op_test":
            key = (row["family"], row.get("quant", ""))
            small = sum(size(root / f) for f in row["files"].values()) < OP_BYTES
            seen[key] += small
            if small and seen[key] <= ROWS_OF_A_FAMILY:
                yield row
        elif kind == "tf1_optimizer":
            if any(name in row["id"] for name in OPTIMIZERS):
                yield row
        elif kind == "tflite_case":
            case = row["id"].rsplit("/", 1)[0]
            first = seen.setdefault(("case", row["family"]), case)
            if first == case and sum(size(root / f) for f in row["files"].values()) < CASE_BYTES:
                yield row
        elif kind in WHOLE_KINDS:
            yield row


def main(folder: str) -> None:
    """Copies the chosen rows and writes the manifest."""
    root = Path(folder)
    manifest = json.loads((root / "manifest.json").read_text())
    rows, copied = [], set()
    for row in chosen(manifest["rows"], root):
        dropped = DROPPED.get("/".join(row["id"].split("/")[:2]), ())
        if row.get("variant") in dropped:
            continue
        inputs = row.get("files", {})  # none where only an error or a number is recorded
        left_out = [name for name in inputs if name in dropped]
        files = {name: path for name, path in inputs.items() if name not in dropped}
        rows.append({**row, "files": files, **({"files_left_out": left_out} if left_out else {})})
        copied.update(files.values())
    for old in HERE.iterdir() if HERE.exists() else ():
        if old.is_dir():
            shutil.rmtree(old)
    for path in sorted(copied):
        target = HERE / path
        target.parent.mkdir(parents=True, exist_ok=True)
        if (root / path).is_dir():
            shutil.copytree(root / path, target, dirs_exist_ok=True)
            continue
        for source in (root / path).parent.glob(
            target.name + "*"
        ):  # a checkpoint is named by prefix
            if source.name == target.name or not (root / path).exists():
                shutil.copyfile(source, target.parent / source.name)
    out = {"oracles": manifest["oracles"], "rows": rows}
    (HERE / "manifest.json").write_text(json.dumps(out, separators=(",", ":")) + "\n")
    for path in HERE.rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o644)
    total = size(HERE)
    print(f"{len(rows)} rows, {total:,} bytes")
    if total > LIMIT:
        raise SystemExit(f"the spread is over {LIMIT:,} bytes")


if __name__ == "__main__":
    main(sys.argv[1])
