"""Prints as JSON what TensorBoard reads from the event files of a folder.

python -W ignore tests/training/summaries/tensorboard_child.py FOLDER
"""

import json
import sys

from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.util import tensor_util


def read(folder: str) -> dict:
    """Tags and values of each kind."""
    events = EventAccumulator(folder, size_guidance={"images": 0, "audio": 0, "histograms": 0})
    events.Reload()
    tags = events.Tags()
    image = events.Images("picture/image")[-1]
    audio = events.Audio("wave/audio")[-1]
    histogram = events.Histograms("weights")[-1].histogram_value
    notes = [tensor_util.make_ndarray(event.tensor_proto) for event in events.Tensors("note")]
    return {
        "tags": {kind: tags[kind] for kind in sorted(tags)},
        "loss": [[event.step, event.value] for event in events.Scalars("loss")],
        "image": [image.step, image.width, image.height, len(image.encoded_image_string)],
        "audio": [audio.step, audio.sample_rate, audio.length_frames, audio.content_type],
        "histogram": [histogram.min, histogram.max, histogram.num, sum(histogram.bucket)],
        "notes": [note.item().decode() for note in notes],
        "graph": [node.name for node in events.Graph().node][:3],
        "run": len(events.RunMetadata("run 2").step_stats.dev_stats[0].node_stats) > 3,
        "note_plugin": events.SummaryMetadata("note").plugin_data.plugin_name,
    }


if __name__ == "__main__":
    sys.stdout.write(json.dumps(read(sys.argv[1])))
