"""Programs with tf.train.Checkpoint that TensorFlow and flatlite both run."""

import numpy as np


def state_class(tf):
    class Numbers(tf.train.experimental.PythonState):
        def __init__(self, numbers):
            self.numbers = numbers

        def serialize(self):
            return ",".join(map(str, self.numbers))

        def deserialize(self, string_value):
            text = string_value.decode() if isinstance(string_value, bytes) else string_value
            self.numbers = [int(number) for number in text.split(",")]

    return Numbers


def trained(tf, use_resource):
    """Variables by several ways, an optimizer with slots, Python state; three steps trained."""
    with tf.variable_scope("net", use_resource=use_resource):
        w = tf.get_variable("w", initializer=np.float32([[1, 2], [3, 4]]))
        b = tf.get_variable("b.part", initializer=np.float32([0.5, -0.5]))
        names = tf.get_variable("names", initializer=np.array([b"a", b"bc"], object), dtype=None)
        counts = tf.get_variable("counts", initializer=np.int64([7]), trainable=False)
    optimizer = tf.train.AdamOptimizer(0.1)
    momentum = tf.train.MomentumOptimizer(0.1, 0.9, name="other")
    loss = tf.reduce_sum(tf.square(tf.matmul(w, w) + b))
    checkpoint = tf.train.Checkpoint(
        optimizer=optimizer,
        model=tf.train.Checkpoint(kernel=w),
        parts=[b, {"names": names, "a/b.c": counts, "empty": []}],
        state=state_class(tf)([1, 2, 3]),
    )
    checkpoint.again = w
    checkpoint.momentum = momentum
    train = tf.group(optimizer.minimize(loss), momentum.minimize(loss, var_list=[b]))
    return checkpoint, train


def single(tf, use_resource):
    with tf.variable_scope("", use_resource=use_resource):
        return tf.train.Checkpoint(v=tf.get_variable("v", initializer=np.float32([3, 1]))), None


PROGRAMS = {"trained": trained, "single": single}


def grown(tf):
    """One more variable than `single` has."""
    checkpoint, _ = single(tf, False)
    checkpoint.more = tf.get_variable("more", initializer=1.0)
    return checkpoint


def shrunk(tf):
    return tf.train.Checkpoint()


def misfit(tf):
    return tf.train.Checkpoint(v=tf.get_variable("v", initializer=np.float32([3, 1, 2])))


def other_dtype(tf):
    return tf.train.Checkpoint(v=tf.get_variable("v", initializer=np.int32([3, 1])))


def list_in_place(tf):
    return tf.train.Checkpoint(v=[tf.get_variable("v", initializer=np.float32([3, 1]))])


def same(tf):
    return single(tf, False)[0]


def renamed(tf):
    return tf.train.Checkpoint(u=tf.get_variable("v", initializer=np.float32([3, 1])))


RESTORING = {
    f.__name__: f for f in (grown, shrunk, misfit, other_dtype, list_in_place, same, renamed)
}
ASSERTIONS = (
    "assert_consumed",
    "assert_existing_objects_matched",
    "assert_nontrivial_match",
    "run_restore_ops",
    "initialize_or_restore",
)


def outcomes(tf, prefix):
    """What each assertion says of each program, with a checkpoint that `single` has written."""
    rows = {}
    for name, program in RESTORING.items():
        for assertion in ASSERTIONS:
            with tf.Graph().as_default(), tf.Session() as session:
                checkpoint = program(tf)
                session.run(tf.global_variables_initializer())
                try:
                    status = checkpoint.restore(prefix)
                    with session.as_default():
                        getattr(status, assertion)()
                    rows[f"{name} {assertion}"] = ["", ""]
                except Exception as error:  # recorded: what TensorFlow raises is the question
                    text = getattr(error, "message", None) or str(error)
                    rows[f"{name} {assertion}"] = [type(error).__name__, text.split("\n")[0]]
    return rows


def managed(tf, folder):
    """Names that a manager keeps, as it saves, is made again, and saves on."""
    log = []
    with tf.Graph().as_default(), tf.Session() as session, session.as_default():
        step = tf.get_variable("step", initializer=np.int64(0), trainable=False)
        checkpoint = tf.train.Checkpoint(step=step)
        session.run(step.initializer)
        manager = tf.train.CheckpointManager(checkpoint, folder, max_to_keep=2)
        log.append([manager.latest_checkpoint, manager.restore_or_initialize()])
        log += [[manager.save(), manager.checkpoints] for _ in range(3)]
        log.append([manager.save(checkpoint_number=40), manager.checkpoints])
        log.append([manager.save(checkpoint_number=step), manager.checkpoints])
        again = tf.train.CheckpointManager(checkpoint, folder, max_to_keep=3, checkpoint_name="x")
        log.append([again.latest_checkpoint, again.checkpoints])
        log.append([again.save(), again.checkpoints])
        every = tf.train.CheckpointManager(
            checkpoint, folder, 2, step_counter=step, checkpoint_interval=3
        )
        for _ in range(6):
            log.append([every.save(), every.checkpoints])
            session.run(step.assign_add(1))
        log.append([every.save(check_interval=False), every.save(check_interval=False)])
        log.append([int(session.run(checkpoint.save_counter))])
    return log
