"""Programs with `tf.distributions`, given `tf`; TensorFlow's losses are beside them."""

from __future__ import annotations

import numpy as np

from . import distribution_expressions as expressions

PROGRAMS = []
STEPS = 6


def program(function):
    """Lists a program."""
    PROGRAMS.append(function)
    return function


def weights(tf, name, *shape):
    """A variable that starts with numbers which no generator draws."""
    numbers = np.sin(np.arange(np.prod(shape), dtype=np.float32) * 1.7).reshape(shape)
    return tf.get_variable(name, initializer=numbers * np.float32(0.5))


def losses(tf, loss, train, fed):
    """The loss before each step."""
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return [float(session.run([loss, train], fed)[0]) for _ in range(STEPS)]


@program
def variational_autoencoder(tf):
    """Bernoulli pixels of a Normal code, whose draws carry the gradient to the encoder."""
    d = tf.distributions
    images = tf.placeholder(tf.float32, [None, 12])
    hidden = tf.nn.relu(images @ weights(tf, "encoder", 12, 8))
    scale = tf.nn.softplus(hidden @ weights(tf, "scale", 8, 3)) + 1e-3
    posterior = d.Normal(hidden @ weights(tf, "loc", 8, 3), scale)
    code = posterior.sample(2, seed=5)
    hidden = tf.tanh(tf.tensordot(code, weights(tf, "decoder", 3, 8), 1))
    pixels = d.Bernoulli(logits=tf.tensordot(hidden, weights(tf, "pixels", 8, 12), 1))
    likelihood = tf.reduce_mean(tf.reduce_sum(pixels.log_prob(images), -1), 0)
    divergence = tf.reduce_sum(d.kl_divergence(posterior, d.Normal(0.0, 1.0)), -1)
    loss = -tf.reduce_mean(likelihood - divergence)
    train = tf.train.AdamOptimizer(0.05).minimize(loss)
    shown = (np.arange(48).reshape(4, 12) * 7 % 5 > 2).astype(np.float32)
    return losses(tf, loss, train, {images: shown})


@program
def policy_gradient(tf):
    """Actions of a Categorical, their log_prob times the reward, and an entropy bonus."""
    d = tf.distributions
    states = tf.placeholder(tf.float32, [None, 4])
    policy = d.Categorical(logits=states @ weights(tf, "policy", 4, 3))
    actions = policy.sample(seed=9)
    rewards = tf.cast(tf.equal(actions, tf.argmax(states, 1, output_type=tf.int32) % 3), tf.float32)
    value = tf.squeeze(states @ weights(tf, "value", 4, 1), 1)
    advantage = tf.stop_gradient(rewards - value)
    loss = -tf.reduce_mean(policy.log_prob(actions) * advantage + 0.01 * policy.entropy())
    loss += 0.5 * tf.losses.mean_squared_error(rewards, value)
    train = tf.train.RMSPropOptimizer(0.05).minimize(loss)
    return losses(tf, loss, train, {states: np.cos(np.arange(32, dtype=np.float32)).reshape(8, 4)})


@program
def continuous_actions(tf):
    """PPO's clipped ratio of two Gaussian policies over actions of two dimensions."""
    d = tf.distributions
    states = tf.placeholder(tf.float32, [None, 4])
    deviation = tf.exp(tf.get_variable("deviation", initializer=np.float32([-0.5, 0.2])))
    new = d.Normal(tf.tanh(states @ weights(tf, "new", 4, 2)), deviation)
    old = d.Normal(tf.tanh(states @ tf.constant(0.1, shape=[4, 2])), [0.7, 0.9])
    actions = tf.stop_gradient(old.sample(seed=4))
    ratio = tf.exp(tf.reduce_sum(new.log_prob(actions) - old.log_prob(actions), 1))
    advantage = tf.reduce_sum(states * [1.0, -1.0, 0.5, 0.0], 1)
    clipped = tf.clip_by_value(ratio, 0.8, 1.2)
    loss = -tf.reduce_mean(tf.minimum(ratio * advantage, clipped * advantage))
    loss += 0.1 * tf.reduce_mean(old.kl_divergence(new))
    train = tf.train.AdamOptimizer(0.05).minimize(loss)
    return losses(tf, loss, train, {states: np.cos(np.arange(32, dtype=np.float32)).reshape(8, 4)})


@program
def registered_class(tf):
    """A class of the program's, by what it says itself, and its divergence."""
    d = tf.distributions

    class Triangular(d.Distribution):
        """2 x / high^2 up to `high`."""

        def __init__(self, high, name="Triangular"):
            with tf.name_scope(name) as scope:
                self.high = tf.convert_to_tensor(high)
            super().__init__(
                dtype=self.high.dtype,
                reparameterization_type=d.FULLY_REPARAMETERIZED,
                validate_args=False,
                allow_nan_stats=True,
                parameters={"high": high, "name": name},
                graph_parents=[self.high],
                name=scope,
            )

        def _batch_shape(self):
            return self.high.shape

        def _event_shape(self):
            return tf.TensorShape([])

        def _sample_n(self, n, seed=None):
            shape = tf.concat([[n], tf.shape(self.high)], 0)
            return self.high * tf.sqrt(tf.random.uniform(shape, seed=seed))

        def _prob(self, value):
            return 2.0 * value / tf.square(self.high)

        def _cdf(self, value):
            return tf.square(value / self.high)

        def _variance(self):
            return tf.square(self.high) / 18.0

    @d.RegisterKL(Triangular, d.Uniform)
    def divergence(p, q, name=None):
        with tf.name_scope(name, "divergence"):
            return tf.math.log(q.range() / p.high)

    x = Triangular([1.0, 2.0])
    tensors = [
        *(x.log_prob(0.5), x.prob(0.5), x.cdf(0.5), x.log_cdf(0.5), x.survival_function(0.5)),
        *(x.log_survival_function(0.5), x.stddev(), x.copy(high=[4.0]).variance()),
        *(x.sample([2, 2], seed=3), x.kl_divergence(d.Uniform(0.0, 3.0)), x.batch_shape_tensor()),
    ]
    with tf.Session() as session:
        return [array.tolist() for array in session.run(tensors)] + [str(x), sorted(x.parameters)]


def outcomes(tf):
    """What expressions, members of distributions and programs give, floats to eight digits."""
    results = {text: expressions.outcome(tf, text) for text in expressions.TEXTS}
    for text, value in expressions.DISTRIBUTIONS.items():
        results[text] = expressions.members(tf, text, value)
    for function in PROGRAMS:
        with tf.Graph().as_default():
            results[function.__name__] = function(tf)
    return {name: rounded(result) for name, result in results.items()}


def rounded(value):
    """The value with floats of eight digits, which is what the test looks at."""
    if isinstance(value, dict):
        return {name: rounded(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [rounded(item) for item in value]
    return float(f"{value:.8g}") if isinstance(value, float) else value
