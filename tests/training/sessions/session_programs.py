"""Trainings with hooks, coordinators and supervisors as programs: what happens is recorded."""

import os
import re
import tempfile
import threading
from pathlib import Path


def build(tf):
    """A training of ten steps to the goal; the operation of a step, and the loss."""
    step = tf.train.get_or_create_global_step()
    w = tf.get_variable("w", [3], initializer=tf.zeros_initializer())
    local = tf.get_local_variable("local", [], initializer=tf.ones_initializer())
    loss = tf.reduce_sum(tf.square(w - local), name="loss")
    tf.summary.scalar("shown", loss)
    train = tf.train.GradientDescentOptimizer(0.1).minimize(loss, step, name="train")
    return train, loss


def recording(tf, log: list, name: str = "hook"):
    """A hook that notes what is called."""

    class Recording(tf.train.SessionRunHook):
        def begin(self):
            log.append(f"{name} begin")

        def after_create_session(self, session, coord):
            log.append(f"{name} created {type(coord).__name__}")

        def before_run(self, run_context):
            log.append(f"{name} before {type(run_context.original_args.fetches).__name__}")
            return tf.train.SessionRunArgs("loss:0")

        def after_run(self, run_context, run_values):
            log.append(f"{name} after {run_values.results:.4f} {run_context.stop_requested}")

        def end(self, session):
            log.append(f"{name} end {session.run('loss:0'):.4f}")

    return Recording()


def listener(tf, log: list):
    """A listener that notes what is called, and stops at step 6."""

    class Listener(tf.train.CheckpointSaverListener):
        def begin(self):
            log.append("begin")

        def before_save(self, session, global_step_value):
            log.append(f"before {global_step_value}")

        def after_save(self, session, global_step_value):
            log.append(f"after {global_step_value}")
            return global_step_value >= 6

        def end(self, session, global_step_value):
            log.append(f"end {global_step_value}")

    return Listener()


def events_of(tf, folder) -> list:
    """Step, kind and tags of the events of a folder, but for those that tell the time."""
    tf.summary.FileWriterCache.clear()
    rows = []
    for path in sorted(Path(folder).glob("events*")):
        for event in tf.train.summary_iterator(str(path)):
            tags = [value.tag for value in event.summary.value]
            kind = event.WhichOneof("what")
            if kind == "session_log":
                tags = [event.session_log.status]
            rows.append([event.step, kind, tags])
    return rows


def checkpoints(tf, folder) -> list:
    """The steps of the checkpoints that are there."""
    state = tf.train.get_checkpoint_state(str(folder))
    paths = [] if state is None else state.all_model_checkpoint_paths
    return [re.sub(r".*ckpt", "", path) for path in paths]


def monitored(tf, folder):
    """A training that is interrupted and goes on, with all the usual hooks."""
    rows = []
    for last in (5, 12):
        with tf.Graph().as_default() as graph:
            train, loss = build(tf)
            hooks = [tf.train.StopAtStepHook(last_step=last)]
            with tf.train.MonitoredTrainingSession(
                checkpoint_dir=str(folder),
                hooks=hooks,
                save_checkpoint_steps=4,
                save_summaries_steps=3,
                log_step_count_steps=2,
            ) as session:
                rows.append([graph.finalized, session.graph is graph])
                while not session.should_stop():
                    rows.append(f"{session.run([train, loss])[1]:.5f}")
            rows.append([graph.finalized, session.should_stop(), session.graph])
        # Summaries are left out: in TensorFlow the step that says when one is due is read before or
        # after it is raised, by chance.
        rows.append([row for row in events_of(tf, folder) if row[2] != ["shown"]])
        rows.append(checkpoints(tf, folder))
    return rows


def called(tf, folder):
    """What hooks are called, and with what."""
    log = []
    with tf.Graph().as_default():
        train, _ = build(tf)
        hooks = [recording(tf, log), tf.train.StopAtStepHook(num_steps=2), recording(tf, log, "b")]
        with tf.train.MonitoredSession(hooks=hooks) as session:
            while not session.should_stop():
                log.append(session.run({"t": train, "l": ["loss:0"]})["t"])
    return log


def failing(tf, folder):
    """An exception goes through the block, and no hook comes to its end."""
    log = []
    with tf.Graph().as_default():
        build(tf)
        try:
            with tf.train.MonitoredSession(hooks=[recording(tf, log)]) as session:
                session.run("w:0")
                raise KeyError("mine")
        except KeyError as error:
            log.append(repr(error))
        for error in (tf.errors.OutOfRangeError(None, None, "end"), StopIteration()):
            with tf.train.MonitoredSession() as session:
                raise error
            log.append(session.should_stop())
    return log


def recovered(tf, folder):
    """A lost session is made anew, and the run is done again."""
    log = []

    class Losing(tf.train.SessionRunHook):
        def __init__(self):
            self.n = 0

        def after_create_session(self, session, coord):
            log.append("created")

        def after_run(self, run_context, run_values):
            self.n += 1
            if self.n == 2:
                raise tf.errors.AbortedError(None, None, "lost")

    with tf.Graph().as_default():
        train, loss = build(tf)
        with tf.train.MonitoredSession(hooks=[Losing()]) as session:
            log += [f"{session.run([train, loss])[1]:.4f}" for _ in range(3)]
    return log


def recovered_from_threads(tf, folder):
    """A loss that a thread reports counts where a run fails for another reason."""
    log = []

    class Losing(tf.train.SessionRunHook):
        def after_create_session(self, session, coord):
            log.append("created")
            self.coord = coord

        def after_run(self, run_context, run_values):
            if len(log) == 1:
                with self.coord.stop_on_exception():
                    raise tf.errors.UnavailableError(None, None, "lost")
                raise tf.errors.CancelledError(None, None, "stuck")

    with tf.Graph().as_default():
        train, _ = build(tf)
        with tf.train.MonitoredSession(hooks=[Losing()]) as session:
            log.append(session.run(train))
            log.append(session.should_stop())
    return log


def step_function(tf, folder):
    """Functions of a step context."""
    log = []
    with tf.Graph().as_default():
        train, _ = build(tf)

        def twice(step_context):
            step_context.session.run(train)
            return f"{step_context.run_with_hooks([train, 'loss:0'])[1]:.4f}"

        def stopping(step_context):
            step_context.request_stop()

        with tf.train.MonitoredSession(hooks=[recording(tf, log)]) as session:
            log.append(session.run_step_fn(twice))
            session.run_step_fn(stopping)
        log.append(session.should_stop())
    return log


def listened(tf, folder):
    """Listeners of checkpoints."""
    log = []
    with tf.Graph().as_default():
        train, _ = build(tf)
        hook = tf.train.CheckpointSaverHook(
            str(folder),
            save_steps=3,
            saver=tf.train.Saver(),
            checkpoint_basename="my.ckpt",
            listeners=[listener(tf, log)],
        )
        with tf.train.MonitoredSession(hooks=[hook]) as session:
            while not session.should_stop():
                session.run(train)
    return [*log, checkpoints(tf, folder), sorted(map(str, [p.suffix for p in folder.iterdir()]))]


def others(tf, folder):
    """Feeds, final operations, and a stop at the loss that is none."""
    log = []
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [], "x")
        y = tf.identity(x * 2.0, "y")
        numbers = iter([1.0, 2.0, float("nan")])
        final = tf.train.FinalOpsHook({"a": tf.constant(3.0)})
        hooks = [
            tf.train.FeedFnHook(lambda: {x: next(numbers)}),
            tf.train.NanTensorHook(y, fail_on_nan_loss=False),
            final,
        ]
        with tf.train.SingularMonitoredSession(hooks=hooks) as session:
            log.append(isinstance(session.raw_session(), tf.Session))
            while not session.should_stop():
                log.append(f"{session.run(y):.1f}")
        log.append(str(final.final_ops_values))
    return log


def scaffold(tf, folder):
    """What a Scaffold finds and makes."""
    log = []
    with tf.Graph().as_default():
        build(tf)
        ready = tf.constant([], tf.string, name="mine")
        tf.add_to_collection(tf.GraphKeys.READY_OP, ready)
        hooked = tf.train.Scaffold(init_fn=lambda s, session: log.append(type(s).__name__))
        log += [hooked.init_op is None, hooked.saver is None]
        hooked.finalize()
        log += [
            hooked.ready_op is ready,
            hooked.summary_op.op.type,
            hooked.init_op.type,
        ]
        log += [tf.get_collection(tf.GraphKeys.SAVERS) == [hooked.saver]]
        copied = tf.train.Scaffold(copy_from_scaffold=hooked, local_init_op="other")
        log += [copied.init_op is hooked.init_op, copied.local_init_op]
        with tf.train.MonitoredSession(tf.train.ChiefSessionCreator(hooked)) as session:
            log.append(session.run("w:0").tolist())
    return log


def managed(tf, folder):
    """Sessions that a SessionManager makes ready."""
    log = []
    with tf.Graph().as_default():
        build(tf)
        init, local = tf.global_variables_initializer(), tf.local_variables_initializer()
        ready = tf.report_uninitialized_variables()
        manager = tf.train.SessionManager(local, ready, graph=tf.get_default_graph())
        saver = tf.train.Saver()
        _, is_ready = manager.recover_session("", saver, checkpoint_dir=str(folder))
        log.append(is_ready)
        with manager.prepare_session("", init_op=init) as session:
            session.run(tf.assign(tf.global_variables()[1], [1.0, 2.0, 3.0]))
            saver.save(session, str(folder / "m"), 7)
        session, is_ready = manager.recover_session("", saver, checkpoint_dir=str(folder))
        log += [is_ready, session.run("w:0").tolist()]
        path = str(folder / "m-7")
        session = manager.prepare_session("", saver=saver, checkpoint_filename_with_path=path)
        log.append(session.run("w:0").tolist())
        calls = []
        session = manager.prepare_session("", init_fn=lambda s: calls.append(s.run(init)))
        log.append(calls)
    return log


def coordinated(tf, folder):
    """Threads that stop together."""
    log = []
    coord = tf.train.Coordinator()
    count = []

    def work():
        count.append(1)
        if len(count) == 5:
            coord.request_stop()

    threads = [tf.train.LooperThread.loop(coord, 0.001, work)]
    coord.join(threads)
    log += [len(count), coord.joined, coord.should_stop()]
    coord.clear_stop()
    log += [coord.joined, coord.should_stop(), coord.wait_for_stop(0.01)]

    def fails():
        with coord.stop_on_exception():
            raise ValueError("mine")

    thread = threading.Thread(target=fails)
    thread.start()
    try:
        coord.join([thread])
    except ValueError as error:
        log.append(repr(error))
    coord = tf.train.Coordinator()
    with coord.stop_on_exception():
        raise tf.errors.OutOfRangeError(None, None, "end")
    coord.join()
    log.append(coord.should_stop())
    return log


def queued(tf, folder):
    """Operations that threads run until there is no more."""
    with tf.Graph().as_default(), tf.Session() as session:
        count, closed = tf.get_variable("n", initializer=0), tf.get_variable("c", initializer=0)
        session.run(tf.global_variables_initializer())

        class Queue:
            name = "queue"

        runner = tf.train.QueueRunner(
            Queue(), [count.count_up_to(7).op], tf.assign(closed, 1).op, tf.no_op("cancel")
        )
        tf.train.add_queue_runner(runner)
        threads = tf.train.start_queue_runners(session)
        for thread in threads:
            thread.join(10)
        names = [thread.name for thread in threads]
        return [names, *map(int, session.run([count, closed])), runner.exceptions_raised]


def supervised(tf, folder):
    """A training with a Supervisor, which writes at its start and its end."""
    log = []
    for part in ("first", "second"):
        with tf.Graph().as_default():
            train, loss = build(tf)
            supervisor = tf.train.Supervisor(
                logdir=str(folder), save_model_secs=0, save_summaries_secs=0
            )
            log += [supervisor.is_chief, os.path.basename(supervisor.save_path)]
            with supervisor.managed_session() as session:
                for _ in range(3):
                    log.append(f"{session.run([train, loss])[1]:.4f}")
                supervisor.summary_computed(session, session.run(supervisor.summary_op))
                supervisor.saver.save(session, supervisor.save_path, supervisor.global_step)
                log.append(supervisor.should_stop())
            log.append(supervisor.should_stop())
        log.append(checkpoints(tf, folder))
        if part == "first":
            log.append(events_of(tf, folder))
    return log


def supervised_failing(tf, folder):
    """What a block of a Supervisor raises comes out after the stop."""
    log = []
    with tf.Graph().as_default():
        build(tf)
        supervisor = tf.train.Supervisor()
        log += [supervisor.saver is not None, supervisor.summary_writer, supervisor.save_path]
        try:
            with supervisor.managed_session():
                raise KeyError("mine")
        except KeyError as error:
            log.append(repr(error))
        with supervisor.managed_session():
            raise tf.errors.OutOfRangeError(None, None, "end")
        log.append(supervisor.should_stop())
    return log


def timed(tf, folder):
    """When a timer is due."""
    timer = tf.train.SecondOrStepTimer(every_steps=3)
    rows = [timer.should_trigger_for_step(1), timer.update_last_triggered_step(1)]
    rows += [timer.should_trigger_for_step(step) for step in (1, 3, 4, 5)]
    rows += [timer.update_last_triggered_step(5)[1], timer.last_triggered_step()]
    return rows


PROGRAMS = (
    *(
        monitored,
        called,
        failing,
        recovered,
        recovered_from_threads,
        step_function,
        listened,
        others,
        scaffold,
        managed,
    ),
    *(coordinated, queued, supervised, supervised_failing, timed),
)
REFUSALS = {
    "both timers": "tf.train.SecondOrStepTimer(1, 2)",
    "no timer": "tf.train.SecondOrStepTimer()",
    "no last step": "tf.train.StopAtStepHook()",
    "both last steps": "tf.train.StopAtStepHook(1, 2)",
    "no global step": "tf.train.MonitoredSession(hooks=[tf.train.StopAtStepHook(1)])",
    "log never": "tf.train.LoggingTensorHook(['a'])",
    "log both": "tf.train.LoggingTensorHook(['a'], every_n_iter=1, every_n_secs=1)",
    "log every 0": "tf.train.LoggingTensorHook(['a'], every_n_iter=0)",
    "log nothing known": (
        "tf.train.MonitoredSession(hooks=[tf.train.LoggingTensorHook(['what'], every_n_iter=1)])"
    ),
    "count both": "tf.train.StepCounterHook(every_n_steps=1, every_n_secs=1)",
    "summary of nothing": "tf.train.SummarySaverHook(1)",
    "saver and scaffold": (
        "tf.train.CheckpointSaverHook(folder, 1, saver=tf.train.Saver(allow_empty=True),"
        " scaffold=tf.train.Scaffold())"
    ),
    "no scaffold": "tf.train.Scaffold(copy_from_scaffold=3)",
    "several savers": "two_savers()",
    "local without op": (
        "tf.train.SessionManager(ready_for_local_init_op=tf.constant([], tf.string))"
    ),
    "no init": "tf.train.SessionManager().prepare_session('')",
    "not initialised": "not_initialised()",
    "not initialised locally": "not_initialised(True)",
    "two places": (
        "tf.train.SessionManager().prepare_session('', saver=1, checkpoint_dir='a',"
        " checkpoint_filename_with_path='b')"
    ),
    "never ready": (
        "tf.train.SessionManager(ready_op=tf.constant(['x']), recovery_wait_secs=1)"
        ".wait_for_session('', max_wait_secs=0)"
    ),
    "fed twice": "fed_twice()",
    "run after stop": "run_after_stop()",
    "closed twice": "closed_twice()",
    "nan": "nan()",
    "wrong step function": "tf.train.MonitoredSession().run_step_fn(lambda x: x)",
    "no coordinator": "tf.train.LooperThread(3, 1)",
    "no target": "tf.train.LooperThread(tf.train.Coordinator(), 1, args=[1])",
    "live threads": "live_threads()",
    "no queue": "tf.train.QueueRunner()",
    "wrong types": "tf.train.QueueRunner(1, [2], 3, 4, queue_closed_exception_types=[KeyError])",
    "queues of no session": "tf.train.start_queue_runners()",
    "queues of something": "tf.train.start_queue_runners(3)",
    "summary without writer": "tf.train.Supervisor().summary_computed(None, b'')",
    "services of a worker": "tf.train.Supervisor(is_chief=False).start_standard_services(None)",
    "worker without devices": "worker()",
    "abstract": "tf.train.SessionCreator()",
}


def refusal(tf, expression: str, folder) -> list[str]:
    """Type and words of what an expression raises."""

    def two_savers():
        for _ in range(2):
            saver = tf.train.Saver([tf.get_variable(f"v{_}", [])])
            tf.add_to_collection(tf.GraphKeys.SAVERS, saver)
        hook = tf.train.CheckpointSaverHook(folder, 1)
        tf.train.create_global_step()
        tf.train.MonitoredSession(hooks=[hook])

    def not_initialised(is_local=False):
        build(tf)
        ready = tf.report_uninitialized_variables()
        manager = tf.train.SessionManager(
            tf.no_op("local_init"), ready, ready if is_local else None
        )
        manager.prepare_session("", init_op=tf.no_op("nothing"))

    def fed_twice():
        x = tf.placeholder(tf.float32, [], "x")
        hook = tf.train.FeedFnHook(lambda: {x: 1.0})
        tf.train.MonitoredSession(hooks=[hook]).run(x, {x: 2.0})

    def run_after_stop():
        train, _ = build(tf)
        session = tf.train.MonitoredSession(hooks=[tf.train.StopAtStepHook(1)])
        session.run(train)
        session.run(train)

    def closed_twice():
        session = tf.train.MonitoredSession()
        session.close()
        session.close()

    def nan():
        x = tf.constant(float("nan"))
        tf.train.MonitoredSession(hooks=[tf.train.NanTensorHook(x)]).run(x)

    def live_threads():
        coord, event = tf.train.Coordinator(), threading.Event()
        thread = threading.Thread(target=event.wait, name="mine")
        thread.start()
        coord.request_stop()
        try:
            coord.join([thread], stop_grace_period_secs=0.01)
        finally:
            event.set()

    def worker():
        tf.get_variable("v", [])
        tf.train.Supervisor(is_chief=False)

    programs = (two_savers, not_initialised, fed_twice, run_after_stop, closed_twice, nan)
    programs += (live_threads, worker)
    names = {"tf": tf, "folder": folder, **{function.__name__: function for function in programs}}
    try:
        with tf.Graph().as_default():
            eval(expression, names)
    except Exception as error:
        return [type(error).__name__, str(getattr(error, "message", "") or error)]
    finally:
        tf.summary.FileWriterCache.clear()
    return ["", ""]


def outcomes(tf):
    """What programs give and what is refused, each in an empty folder."""
    results = {"programs": {}, "refusals": {}}
    for program in PROGRAMS:
        with tempfile.TemporaryDirectory() as folder:
            results["programs"][program.__name__] = program(tf, Path(folder))
    for name, expression in REFUSALS.items():
        with tempfile.TemporaryDirectory() as folder:
            results["refusals"][name] = refusal(tf, expression, folder)
    return results
