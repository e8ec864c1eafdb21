"""Kills a process at random moments while it saves; looks whether the latest checkpoint is whole.

    python tests/training/checkpoints/kill_while_saving.py --kills 1000

Each process restores the latest checkpoint and saves on, with all variables equal to the step.
After each kill: what the folder's state names is readable, all variables of it have one value, and
the latest is not older than the last that the killed process had reported. Raises AssertionError
otherwise. The kills go round the ways of saving in WAYS.
"""

import argparse
import os
import random
import signal
import tempfile
import time
import traceback
from collections import Counter
from pathlib import Path

import numpy as np

import flatlite.compat.v1 as tf

SIZES = {"small": [3], "large": [60, 500], "third": [1000]}


def by_saver(parts, folder, **options):
    """Saves with a Saver, a name for each step."""
    saver = tf.train.Saver(list(parts.values()), max_to_keep=2, **options)
    saver.recover_last_checkpoints(listed(folder))
    return lambda session, step: saver.save(session, folder / "m", step)


def over_itself(parts, folder):
    """Saves with a Saver, always under the same name."""
    saver = tf.train.Saver(list(parts.values()))
    return lambda session, step: saver.save(session, folder / "m")


def by_manager(parts, folder):
    """Saves with a CheckpointManager."""
    manager = tf.train.CheckpointManager(tf.train.Checkpoint(parts=parts), folder, max_to_keep=2)
    return lambda session, step: manager.save(checkpoint_number=step)


def by_checkpoint(parts, folder):
    """Saves with a Checkpoint, which counts on from what the folder has."""
    checkpoint = tf.train.Checkpoint(parts=parts)
    latest = tf.train.latest_checkpoint(folder)
    count = checkpoint.save_counter.assign(int(latest.rpartition("-")[2]) if latest else 0)
    tf.get_default_session().run(count)
    return lambda session, step: checkpoint.save(folder / "m")


WAYS = {
    "saver": by_saver,
    "over-itself": over_itself,
    "sharded": lambda parts, folder: by_saver(parts, folder, sharded=True),
    "version-1": lambda parts, folder: by_saver(parts, folder, write_version=1),
    "partitioned": by_saver,
    "manager": by_manager,
    "checkpoint": by_checkpoint,
}
PARTITIONERS = {"partitioned": tf.fixed_size_partitioner(3)}


def listed(folder):
    """The checkpoints that the folder's state names."""
    state = tf.train.get_checkpoint_state(folder)
    return [] if state is None else list(state.all_model_checkpoint_paths)


def step_of(path):
    """The step that all variables of a checkpoint agree on."""
    reader = tf.train.load_checkpoint(path)
    tensors = [reader.get_tensor(key) for key in reader.get_variable_to_shape_map()]
    values = [tensor for tensor in tensors if tensor.dtype == np.float32]
    assert len(values) == len(SIZES), path
    steps = np.unique(np.concatenate([value.ravel() for value in values]))
    assert len(steps) == 1, f"'{path}' has values of the steps {steps}"
    return int(steps[0])


def save_forever(way, folder, report):
    """Goes on from the latest checkpoint; reports each step that is saved."""
    latest = tf.train.latest_checkpoint(folder)
    step = step_of(latest) if latest else 0
    with tf.Graph().as_default(), tf.Session() as session, session.as_default():
        parts = {}
        for i, (name, shape) in enumerate(SIZES.items()):
            with tf.device(f"/cpu:{i % 2}"):
                parts[name] = tf.get_variable(
                    name,
                    shape,
                    initializer=tf.zeros_initializer(),
                    partitioner=PARTITIONERS.get(way),
                )
        save = WAYS[way](parts, folder)
        session.run(tf.global_variables_initializer())
        while True:
            step += 1
            for variable in tf.trainable_variables():
                variable.load(np.full(variable.shape.as_list(), step, np.float32), session)
            save(session, step)
            os.write(report, step.to_bytes(8, "little"))


def kill_once(way, folder, seconds):
    """Kills a saving process so long after its first checkpoint; the last step it reported."""
    receiver, report = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(receiver)
            save_forever(way, folder, report)
        finally:
            traceback.print_exc()  # a fault: the parent sees that it ended by itself
            os._exit(1)
    os.close(report)
    with open(receiver, "rb") as pipe:
        steps = pipe.read(8)
        time.sleep(seconds)
        os.kill(child, signal.SIGKILL)
        steps += pipe.read()
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status), f"{way}: the process ended by itself"
    return int.from_bytes(steps[len(steps) // 8 * 8 - 8 :][:8], "little")


def unfinished(folder):
    """Whether the kill came while something was being written, by what it left behind."""
    names = os.listdir(folder)
    return any(name.endswith((".tmp", "_temp")) for name in names) or any(
        f"{name.partition('.data-')[0]}.index" not in names for name in names if ".data-" in name
    )


def campaign(kills, seed, longest):
    """How many kills there were of each way, and how many left something unfinished."""
    generator, counts = random.Random(seed), Counter()
    with tempfile.TemporaryDirectory() as root:
        for i in range(kills):
            way = list(WAYS)[i % len(WAYS)]
            folder = Path(root, way)
            folder.mkdir(exist_ok=True)
            reported = kill_once(way, folder, generator.uniform(0, longest))
            counts[way] += 1
            counts[f"{way}, unfinished"] += unfinished(folder)
            latest = tf.train.latest_checkpoint(folder)
            assert latest is not None, f"{way}: no checkpoint is left"
            assert step_of(latest) >= reported, f"{way}: {latest} is older than {reported}"
            for path in listed(folder):
                step_of(path)
    return counts


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--longest", type=float, default=0.05, help="seconds until the kill")
    arguments = parser.parse_args()
    for name, count in sorted(campaign(**vars(arguments)).items()):
        print(f"{name}: {count}")
    print("every latest checkpoint was whole")
