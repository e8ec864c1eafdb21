"""Programs of TF1 about where operations stand, given `tf`; core_programs.py has the others.

What TensorFlow gives is stored in core_programs.json. Each gives what JSON can hold.
"""

from __future__ import annotations

PROGRAMS = []


def program(function):
    """Lists a program."""
    PROGRAMS.append(function)
    return function


def error(call):
    """The type and the first words of what a call raises, or what it gives."""
    try:
        result = call()
    except Exception as caught:
        words = getattr(caught, "message", None) or str(caught)
        words = words.removeprefix("Graph execution error:\n\n")
        return [type(caught).__name__, words]
    return ["nothing", str(result)]


def places(graph):
    """Type, device and neighbours of each operation that is no constant, by name."""
    return {
        op.name: [op.type, op.device, [group.decode() for group in op.colocation_groups()]]
        for op in graph.get_operations()
        if op.type != "Const"
    }


@program
def devices(tf):
    """Nested devices, functions of them, and names."""
    rows = []
    with tf.Graph().as_default() as graph:
        for device in ("/cpu", "cpu:0", "/job:a/gpu:1", tf.DeviceSpec(job="z", device_type="CPU")):
            with graph.device(device):
                rows.append(tf.constant(1).op.device)
        with graph.device("/job:ps"), graph.device(lambda op: "/device:CPU:0"):
            rows.append(tf.constant(1).op.device)
        with graph.device(lambda op: "/device:CPU:0"), graph.device("/job:ps"):
            rows.append(tf.constant(1).op.device)
        with graph.device("/job:ps/cpu:0"), graph.device("/job:worker"), tf.device(None):
            rows.append(tf.constant(1).op.device)
        block = graph.device("/cpu:0")
        block.__enter__()
        with graph.device("/cpu:1"):
            rows.append(error(lambda: block.__exit__(None, None, None))[0])
    return rows


@program
def device_specs(tf):
    """What names of devices say, and how they are merged."""
    spec = tf.DeviceSpec.from_string("/job:foo/replica:0")
    spec.merge_from(tf.DeviceSpec.from_string("/task:1/gpu:2"))
    merged = spec.make_merged_spec(tf.DeviceSpec(job="bar", device_type="cpu", device_index=0))
    names = ["/cpu", "/cpu:*", "/device:A:3", "/job:a/replica:1/task:2/device:GPU:3", ""]
    return {
        "names": [tf.DeviceSpec.from_string(name).to_string() for name in names],
        "merged": [spec.to_string(), merged.to_string(), spec.replace(task=None).to_string()],
        "fields": [merged.job, merged.replica, merged.task, merged.device_type],
        "equal": [spec == tf.DeviceSpec.from_string(spec.to_string()), spec == merged],
        "errors": [
            error(lambda text=text: tf.DeviceSpec.from_string(text))
            for text in ("/foo:0", "/job:a/device:GPU:2/cpu:0")
        ],
    }


@program
def colocation(tf):
    """Variables, slots and updates stand where the variable does."""
    with tf.Graph().as_default() as graph:
        with graph.device("/job:ps"):
            v = tf.get_variable("v", initializer=tf.zeros_initializer(), shape=[2])
            tf.Variable([1.0], name="u")
            tf.Variable(lambda: tf.zeros([2]), name="w")
        with graph.device("/job:worker/task:7"):
            v.assign([1.0, 2.0])
            tf.scatter_add(v, [0], [1.0])
            gradient = tf.ones([2])
            tf.train.MomentumOptimizer(0.1, 0.9).apply_gradients([(gradient, v)])
            with tf.colocate_with(v.op):
                tf.identity(gradient, name="beside")
                with graph.colocate_with(gradient.op, ignore_existing=True):
                    tf.identity(gradient, name="elsewhere")
        rows = places(graph)
        rows.pop("Momentum")  # its device is TensorFlow's own choice
        return rows


@program
def no_colocation(tf):
    """None needs to be said to be meant."""
    with tf.Graph().as_default() as graph:
        a = tf.constant(1.0, name="a")

        def enter():
            with graph.colocate_with(None):
                pass

        with graph.colocate_with(a.op), graph.colocate_with(None, ignore_existing=True):
            b = tf.identity(a)
        return [error(enter), [group.decode() for group in b.op.colocation_groups()]]


@program
def colocated_gradients(tf):
    """Gradients stand where their operations do, sums over devices where the tensor does."""
    answers = []
    for devices_of_products in (("/task:1", "/task:2"), ("/task:1", "/task:1")):
        with tf.Graph().as_default() as graph:
            with graph.device("/device:GPU:1"):
                w = tf.constant(1.0, shape=[1, 1])
            products = []
            for device in devices_of_products:
                with graph.device(device):
                    products.append(tf.matmul(w, tf.constant(1.0, shape=[1, 2])))
            with graph.device("/device:GPU:0"):
                z = products[0] + tf.tanh(products[1])
            (total,) = tf.gradients(z, [w], colocate_gradients_with_ops=True)
            inputs = (tensor.op for tensor in total.op.inputs)
            parts = sorted(inputs, key=lambda op: op.colocation_groups())
            groups = [sorted(group.decode() for group in op.colocation_groups()) for op in parts]
            answers.append([total.op.device, [op.device for op in parts], groups])
            (free,) = tf.gradients(z, [w])
            answers.append([free.op.type, free.op.device])
    return answers
