"""Writes tests/converter/conversion_log.pb: TensorFlow's own description of its conversion logs.

Run as `python tests/converter/make_summary.py` in an environment that has TensorFlow. Given a
folder that `conversion_summary_dir` named, it prints what TensorFlow's reader makes of it.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tensorflow.lite.toco.logging import gen_html
from tensorflow.lite.toco.logging import toco_conversion_log_pb2 as messages

TARGET = Path(__file__).with_name("conversion_log.pb")
MARKERS = (
    *("CONVERSION_STATUS", "TOTAL_OPS_BEFORE_CONVERT", "TOTAL_OPS_AFTER_CONVERT"),
    *("BUILT_IN_OPS_COUNT", "SELECT_OPS_COUNT", "CUSTOM_OPS_COUNT", "POST_TRAINING_QUANT_ENABLED"),
    *("REPEAT_TABLE1_ROWS", "REPEAT_TABLE2_ROWS", "DOT_BEFORE_CONVERT", "DOT_AFTER_CONVERT"),
    "TOCO_INFO_LOG",
)


def shown(folder: Path) -> str:
    """The page that TensorFlow's generator makes of a folder."""
    names = ("toco_log_before.pb", "toco_log_after.pb")
    contents = [(folder / name).read_bytes() for name in names]
    logs = [messages.TocoConversionLog.FromString(content) for content in contents]
    drawings = [(folder / f"toco_{name}_graph.dot").read_text() for name in ("tf", "tflite")]
    with tempfile.TemporaryDirectory() as temporary:
        template, page = Path(temporary, "template.html"), Path(temporary, "page.html")
        template.write_text("".join(f"{name}: <!--{name}-->\n" for name in MARKERS))
        gen_html.HTMLGenerator(str(template), str(page)).generate(*logs, False, *drawings)
        return page.read_text()


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(shown(Path(sys.argv[1])))
    else:
        TARGET.write_bytes(messages.DESCRIPTOR.serialized_pb)
