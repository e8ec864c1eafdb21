"""Expressions of `tf.distributions`, which is `d`; `F` is a placeholder of the named shape."""

from __future__ import annotations

import re

import numpy as np

DISTRIBUTIONS = {
    "d.Normal([0., 1.], [[1.], [2.]])": "[[-3., .5]]",
    "d.Normal(np.float64(1), np.float64(.25))": "np.array([-40., -9., .9, 1.1, 4.])",
    "d.Laplace([0., 1.], 2.)": "[[-3., .5], [1., 40.]]",
    "d.Uniform([0., 1.], 2.)": "[[-3., .5], [1., 2.]]",
    "d.StudentT([.5, 1.5, 3.], 1., [1., 2., -2.])": "[-3., .5, 7.]",
    "d.Gamma([.5, 1., 3.], 2.)": "[[.1], [2.]]",
    "d.Gamma(np.float64([2.5]), np.float64([[1.], [3.]]))": "np.float64(1.5)",
    "d.Exponential([.5, 3.])": "[[.1], [2.]]",
    "d.Beta([.5, 2., 4.], [3., 1.5, 2.])": "[.25, .5, .9]",
    "d.Beta(2., 3., allow_nan_stats=False)": ".1",
    "d.Bernoulli(logits=[-1., 0., 2.])": "[[0], [1]]",
    "d.Bernoulli(probs=[.2, .7], dtype=tf.float32)": "[1., 0.]",
    "d.Categorical(logits=[[1., 2., 3.], [0., 0., -5.]])": "[2, 0]",
    "d.Categorical(probs=[.2, .3, .5], dtype=tf.int64)": "np.int64([0, 1, 2, 2])",
    "d.Categorical(logits=np.zeros([2, 1, 3]))": "[1., 2.]",
    "d.Dirichlet([1.5, 2., 3.])": "[[.2, .3, .5], [.1, .1, .8]]",
    "d.Dirichlet(np.float64([[1.5, 2.], [5., 3.]]))": "np.float64([.25, .75])",
    "d.Multinomial(4., probs=[.2, .3, .5])": "[[1., 1., 2.], [0., 0., 4.]]",
    "d.Multinomial([3., 5.], logits=[1., 0.])": "[[1., 2.], [4., 1.]]",
    "d.DirichletMultinomial(4., [1., 2., 3.])": "[[1., 1., 2.], [0., 4., 0.]]",
    "d.DirichletMultinomial([[3.], [5.]], [[1., 2.], [.5, .5]])": "[[1., 2.], [4., 1.]]",
    "d.Normal(F([None, 2]), 2., validate_args=True)": "[.5, 3.]",
    "d.Laplace(F(None), [2., 1.], validate_args=True)": "[.5, 3.]",
    "d.Uniform(0., F([None]), validate_args=True)": "[[.5], [3.]]",
    "d.StudentT(F([None]), 0., 1., validate_args=True)": "[.5, -3.]",
    "d.Gamma(F(None), [2., 1.], validate_args=True)": "[.5, 3.]",
    "d.Exponential(F([None]), validate_args=True)": "[[.5], [3.]]",
    "d.Beta(F([None]), [2., 1.], validate_args=True)": "[.5, .25]",
    "d.Bernoulli(probs=F([None]) / 4., validate_args=True)": "[[0], [1]]",
    "d.Bernoulli(logits=F(None), dtype=tf.int64)": "[0, 1]",
    "d.Categorical(F([None, None]), validate_args=True)": "[[0], [1]]",
    "d.Categorical(probs=F([None, 4]) / 10., dtype=tf.float64)": "np.float64([0, 1])",
    "d.Dirichlet(F([None, 3])[:1] + 1.0, validate_args=True)": "[.25, .25, .5]",
    "d.Multinomial(F([]) + 2., probs=[.25, .75], validate_args=True)": "[1., 2.]",
    "d.DirichletMultinomial(3., F([None, 2]), validate_args=True)": "[1., 2.]",
    "d.Normal(np.float16(0), np.float16([1, 2]))": "np.float16([.5, 3])",
    "d.Laplace(np.float16(0), np.float16([1, 2]))": "np.float16([.5, 3])",
    "d.Uniform(np.float16(0), np.float16([1, 2]))": "np.float16([.5, 3])",
    "d.Bernoulli(np.float16([1, 2]), dtype=tf.float16)": "np.float16([0, 1])",
}
"""Distributions, and what their functions of a value are shown."""
OF_A_VALUE = ("log_prob", "prob", "cdf", "log_cdf", "survival_function", "log_survival_function")
STATISTICS = ("mean", "variance", "stddev", "mode", "entropy", "covariance")
SHAPE_TENSORS = ("batch_shape_tensor", "event_shape_tensor", "is_scalar_batch", "is_scalar_event")
FACTS = (
    *("batch_shape", "event_shape", "dtype", "name", "reparameterization_type"),
    *("allow_nan_stats", "validate_args"),
)
PARAMETERS = (
    *("loc", "scale", "low", "high", "df", "concentration", "rate", "concentration1"),
    *("concentration0", "total_concentration", "logits", "probs", "total_count", "event_size"),
)

DIVERGENCES = """
d.Normal([0., 1.], 2.).kl_divergence(d.Normal(.5, [[1.], [3.]]))
d.Normal([0., 1.], 2.).cross_entropy(d.Normal(.5, [[1.], [3.]]))
d.kl_divergence(d.Gamma([.5, 2.], 3.), d.Gamma(1., [2., .5]))
d.kl_divergence(d.Exponential([.5, 2.]), d.Gamma(1.5, [2., .5]))
d.Exponential(2.).cross_entropy(d.Exponential(3.))
d.kl_divergence(d.Beta([.5, 2.], 3.), d.Beta(1., [2., .5]))
d.kl_divergence(d.Bernoulli(probs=[.2, .7]), d.Bernoulli(logits=.5))
d.Bernoulli(probs=[.2, .7]).cross_entropy(d.Bernoulli(logits=.5))
d.kl_divergence(d.Categorical(probs=[.2, .3, .5]), d.Categorical(logits=[1., 0., 1.]))
d.kl_divergence(d.Dirichlet([.5, 2.]), d.Dirichlet([[1., 1.], [2., 3.]]))
d.kl_divergence(d.Laplace(0., 1.), d.Laplace(0., 1.))
d.kl_divergence(d.Normal(F([]), 1.), d.Normal(0., 1.), allow_nan_stats=False)
d.Normal(F([]) - 1., 1., allow_nan_stats=False).kl_divergence(d.Normal(0., -1.))
d.RegisterKL(d.Normal, d.Normal)(lambda a, b, name=None: None)
d.RegisterKL(d.Uniform, d.Laplace)(3)
"""
SHAPES = """
d.Multinomial(np.float64(4), np.float64([.5, 1.])).log_prob(np.float64([1, 3]))
d.Normal([0., 1.], 2.).sample().shape
d.Normal([0., 1.], 2.).sample(3).shape
d.Normal([0., 1.], 2.).sample([3, 4]).shape
d.Normal([0., 1.], 2.).sample([[3, 4]])
d.Normal(F([None, 2]), 1.).batch_shape
d.Normal(F([None, 2]), 1.).batch_shape_tensor()
d.Normal(F([None, 2]), 1.).sample([5]).shape
tf.shape(d.Normal(F([None, 2]), 1.).sample([5]))
tf.shape(d.Categorical(F([None, 3])).sample(5))
d.Categorical(F([None, 3])).sample(5).shape
d.Categorical(F([None, None])).event_size
d.Categorical(F([None, 3])).log_prob([1, 2])
d.Dirichlet(F([None, 3])).event_shape
d.Dirichlet(F([None, None])).event_shape_tensor()
d.Normal(F(None), 1.).batch_shape
d.Normal(F(None), 1.).is_scalar_batch()
str(d.Normal(F(None), 1.))
str(d.Dirichlet([[1., 2.]]))
repr(d.Normal([0., 1.], 2., name='n'))
[d.Normal(0., 1.).name, d.Normal(0., 1.).name]
sorted(d.Normal(0., 1.).parameters.items())
sorted(d.Exponential(2.).parameters.items())
d.Normal(0., 1.).copy(scale=3.).stddev()
sorted(d.Normal(0., 1.).copy(scale=3., name='m').parameters.items())
d.Normal.param_shapes([3])['loc']
sorted(d.StudentT.param_shapes([3]))
d.Bernoulli.param_static_shapes([3, 2])['logits']
d.Uniform.param_static_shapes(tf.TensorShape([3, 2]))['low']
d.Uniform.param_static_shapes(tf.TensorShape([3, None]))
d.Categorical.param_shapes([3])
[d.FULLY_REPARAMETERIZED, d.NOT_REPARAMETERIZED, d.FULLY_REPARAMETERIZED == d.FULLY_REPARAMETERIZED]
d.Normal(0., 1.).loc.name
d.Normal(0., 1.).log_prob(0.).name.split('/')[:2]
d.Uniform([0., 1.], 3.).range()
"""
ERRORS = """
d.Normal(1, 2)
d.Normal(1., np.float64(2))
d.Normal(0., -1., validate_args=True)
d.Normal(0., F([]) - 5., validate_args=True).sample()
d.Normal(0., 1.).prob('a')
d.Gamma(-1., 1., validate_args=True)
d.Gamma(1., 1., validate_args=True).log_prob(-1.)
d.Gamma(1., 1.).log_prob(np.float64(1))
d.Gamma([1., 2.], 1., allow_nan_stats=False).mode()
d.Exponential(-1., validate_args=True)
d.Laplace(0., -1., validate_args=True)
d.StudentT(-1., 0., 1., validate_args=True)
d.StudentT(1., 0., 1., allow_nan_stats=False).mean()
d.StudentT(1., 0., 1., allow_nan_stats=False).variance()
d.Uniform(2., 1., validate_args=True)
d.Beta(-1., 1., validate_args=True)
d.Beta(1., 2., allow_nan_stats=False).mode()
d.Beta(2., 1., allow_nan_stats=False).mode()
d.Beta(2., 1., validate_args=True).prob(1.5)
d.Beta(2., 1., validate_args=True).prob(-.5)
d.Bernoulli()
d.Bernoulli(logits=1., probs=.5)
d.Bernoulli(probs=1)
d.Bernoulli(logits=1)
d.Bernoulli(probs=1.5, validate_args=True)
d.Bernoulli(probs=-.5, validate_args=True)
d.Bernoulli(probs=.5, validate_args=True).prob(2)
d.Bernoulli(probs=.5, validate_args=True).prob(.5)
d.Bernoulli(probs=.5, validate_args=True).prob(1.)
d.Categorical()
d.Categorical(logits=1.)
d.Categorical(logits=[1.], validate_args=True)
d.Categorical(probs=[.5, .6], validate_args=True).mode()
d.Categorical(probs=[.5, .5], validate_args=True).prob(-1)
d.Categorical(probs=[.5, .5], validate_args=True).prob(.5)
d.Categorical(probs=[.5, .5]).prob([True])
d.Categorical(F([None, None])[:, :1], validate_args=True).mode()
d.Categorical(probs=[.5, .5]).mean()
d.Dirichlet([1.], validate_args=True).mean()
d.Dirichlet(1., validate_args=True)
d.Dirichlet([-1., 2.], validate_args=True)
d.Dirichlet([1., 2.], allow_nan_stats=False).mode()
d.Dirichlet([1., 2.], validate_args=True).prob([.5, .6])
d.Dirichlet([1., 2.], validate_args=True).prob([-.5, 1.5])
d.Multinomial(-1., probs=[.5, .5], validate_args=True)
d.Multinomial(1.5, probs=[.5, .5], validate_args=True)
d.Multinomial(3., probs=[.5, .5], validate_args=True).prob([1., 1.])
d.Multinomial(3., probs=[.5, .5], validate_args=True).prob([1.5, 1.5])
d.Multinomial(3., probs=[.5, .5], validate_args=True).prob([1., 2.])
d.DirichletMultinomial(3., [.5, -.5], validate_args=True)
d.DirichletMultinomial(3., [.5], validate_args=True)
d.DirichletMultinomial(3., [.5, .5], validate_args=True).prob([1., 1.])
d.Distribution(tf.float32, d.FULLY_REPARAMETERIZED, False, True, graph_parents=[3])
d.Distribution(tf.float32, d.FULLY_REPARAMETERIZED, False, True).log_prob(1.)
d.Distribution(tf.float32, d.FULLY_REPARAMETERIZED, False, True).sample()
d.Distribution(tf.float32, d.FULLY_REPARAMETERIZED, False, True).variance()
d.Distribution(tf.float32, d.FULLY_REPARAMETERIZED, False, True).batch_shape_tensor()
"""
QUANTILES = """
d.Normal([0., 1.], 2.).quantile([[.25], [.999]])
d.Normal([0., 1.], 2.).quantile([0., 1.])
d.Normal(np.float64(0), np.float64(2)).quantile(np.float64([1e-9, .5, .875]))
d.Normal(0., 1.).quantile([-.5, 1.5])
"""
DRAWS = """
d.Categorical(logits=[[[1., 2.]], [[0., 1.]]]).sample([2, 2], seed=3)
d.Categorical(logits=F([None, 3]), dtype=tf.float32).sample(4, seed=3)
d.Multinomial(6., logits=[[1., 2., 0.]]).sample(3, seed=3)
d.Bernoulli(logits=F([None, 2]), dtype=tf.bool).sample(4, seed=3)
d.Exponential(np.float64([.5, 2.])).sample(3, seed=3)
d.Laplace(np.float64([.5, 2.]), np.float64(1)).sample(3, seed=3)
d.Beta(F([None, 2]), 2.).sample([2, 1], seed=3)
"""


GRADIENTS = """
grad(lambda a, b: d.Normal(a, b).log_prob([.5, 3.]), [0., 1.], [1., 2.])
grad(lambda a, b: d.Normal(a, b).sample(3, seed=2), [0., 1.], [1., 2.])
grad(lambda a, b, x: d.Normal(a, b).cdf(x), [0., 1.], [1., 2.], [.5, 3.])
grad(lambda a, b, x: d.Normal(a, b).log_cdf(x), [0., 1., 2.], [1., 2., .1], [.5, 3., 0.])
grad(lambda a, b: d.Normal(a, b).quantile([.25, .75]), [0., 1.], [1., 2.])
grad(lambda a, b: d.kl_divergence(d.Normal(a, b), d.Normal(0., 1.)), [0., 1.], [1., 2.])
grad(lambda a, b: d.Laplace(a, b).log_prob([.5, 3.]), [0., 1.], [1., 2.])
grad(lambda a, b: d.Laplace(a, b).sample(3, seed=2), [0., 1.], [1., 2.])
grad(lambda a, b: d.Uniform(a, b).sample(3, seed=2), [0., 1.], [1., 2.])
grad(lambda a, b: d.Uniform(a, b).prob([.5, 3.]), [0., 1.], [1., 2.])
grad(lambda n, a, b: d.StudentT(n, a, b).log_prob([.5, 3.]), [3., 4.], [0., 1.], [1., 2.])
grad(lambda a, b: d.StudentT(3., a, b).sample(3, seed=2), [0., 1.], [1., 2.])
grad(lambda a, b: d.Gamma(a, b).log_prob([.5, 3.]), [2., 1.], [1., 2.])
grad(lambda a, b: d.Gamma(a, b).sample(3, seed=2), [2., 1.], [1., 2.])
grad(lambda a: d.Exponential(a).sample(3, seed=2), [2., 1.])
grad(lambda a: d.Exponential(a).log_survival_function([.5, 3.]), [2., 1.])
grad(lambda a, b: d.Beta(a, b).log_prob([.5, .3]), [2., 1.], [1., 2.])
grad(lambda a, b: d.Beta(a, b).sample(3, seed=2), [2., 1.], [1., 2.])
grad(lambda a: d.Dirichlet(a).log_prob([.5, .5]), [2., 1.])
grad(lambda a: d.Dirichlet(a).sample(3, seed=2)[:, 0], [2., 1.])
grad(lambda a: d.Bernoulli(logits=a).log_prob([1, 0]), [2., 1.])
grad(lambda a: d.Bernoulli(probs=a).log_prob([1, 0]), [.2, .9])
grad(lambda a: d.Bernoulli(probs=a).sample(3), [.2, .9])
grad(lambda a: d.Categorical(logits=a).log_prob([1]), [.2, .9])
grad(lambda a: d.Categorical(probs=a).entropy(), [.2, .8])
grad(lambda a: d.Categorical(logits=a).sample(3), [.2, .9])
grad(lambda a: d.Multinomial(3., logits=a).log_prob([1., 2.]), [.2, .9])
grad(lambda a: d.DirichletMultinomial(3., a).log_prob([1., 2.]), [.2, .9])
"""
TEXTS = [
    text
    for group in (DIVERGENCES, QUANTILES, SHAPES, ERRORS, DRAWS, GRADIENTS)
    for text in group.strip().splitlines()
]


class Names(dict):
    """What expressions speak of, in the graph that is the default one."""

    def __init__(self, tf):
        super().__init__(tf=tf, d=tf.distributions, np=np, F=self._placeholder, grad=self._grad)
        self.tf, self.fed = tf, {}

    def _placeholder(self, shape):
        """One that is fed the numbers from 1 on, in a shape of twos where sizes are unknown."""
        sizes = [2 if size is None else size for size in shape or ()]
        tensor = self.tf.placeholder(self.tf.float32, shape)
        self.fed[tensor] = np.arange(1, 1 + np.prod(sizes), dtype=np.float32).reshape(sizes)
        return tensor

    def _grad(self, function, *values):
        tensors = [self.tf.constant(value) for value in values]
        gradients = self.tf.gradients(function(*tensors), tensors)
        return ["None" if gradient is None else gradient for gradient in gradients]


def shown(value: object, arrays: dict[int, object] | None = None) -> object:
    """A value as JSON says it; `arrays` are those of its tensors, by their ids."""
    value = (arrays or {}).get(id(value), value)
    if isinstance(value, (np.ndarray, np.generic)):
        return [str(value.dtype), value.tolist()]
    if isinstance(value, (list, tuple)):
        return [shown(item, arrays) for item in value]
    return value if isinstance(value, (bool, int, float, str)) else str(value)


def words(error: Exception) -> list[str]:
    """An error's type and the line of it that says what is wrong, without names of operations."""
    text = re.sub(r"Tensor\(.*?dtype=\w+\)", "a tensor", str(error))
    failed = re.search(r"assertion failed: \[([^\]]*)\]", text)
    lines = [line for line in text.splitlines() if line.strip()]
    first = failed[1] if failed else next(iter(lines), "")
    return [type(error).__name__, re.sub(r"[\w/]*:0", "", first).strip()[:70]]


def tensors_of(tf, value: object) -> list[object]:
    """The tensors of a nested list."""
    if isinstance(value, list):
        return [tensor for item in value for tensor in tensors_of(tf, item)]
    return [value] if isinstance(value, tf.Tensor) else []


def outcome(tf, text: str) -> object:
    """What an expression gives, or how it fails."""
    with tf.Graph().as_default(), tf.Session() as session:
        names = Names(tf)
        try:
            value = eval(text, names)
            tensors = tensors_of(tf, value)
            arrays = dict(zip(map(id, tensors), session.run(tensors, names.fed), strict=True))
            return shown(value, arrays)
        except Exception as error:  # whatever the library under test raises is what is compared
            return words(error)


def members(tf, made: str, value: str) -> dict[str, object]:
    """What all that a distribution has gives, and the static shapes of that."""
    calls = {name: f"{name}({value})" for name in OF_A_VALUE}
    calls |= {name: f"{name}()" for name in (*STATISTICS, *SHAPE_TENSORS)}
    calls |= {name: name for name in (*FACTS, *PARAMETERS)}
    if "[3., 5.]" not in made:  # draws of a batch from one stream, at the same time
        calls |= {"draw": "sample(seed=8)", "draws": "sample([2, 3], seed=7)"}
    results: dict[str, object] = {}
    tensors = {}
    with tf.Graph().as_default(), tf.Session() as session:
        names = Names(tf)
        names["x"] = eval(made, names)
        for name, call in calls.items():
            try:
                member = eval(f"x.{call}", names)
            except Exception as error:  # whatever the library under test raises is compared
                results[name] = words(error)
                continue
            if isinstance(member, tf.Tensor):
                tensors[name] = member
            else:
                results[name] = shown(member)
        for name, array in session.run(tensors, names.fed).items():
            results[name] = [str(tensors[name].shape), shown(array)]
    return results
