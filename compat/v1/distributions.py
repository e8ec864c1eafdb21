"""The names of `tf.distributions`."""

from ...facade import facade

HOMES = {
    "graph.functions.distributions.base": (
        "Distribution FULLY_REPARAMETERIZED NOT_REPARAMETERIZED ReparameterizationType"
    ),
    "graph.functions.distributions.beta": "Beta Dirichlet",
    "graph.functions.distributions.classes": "Bernoulli Categorical",
    "graph.functions.distributions.counts": "DirichletMultinomial Multinomial",
    "graph.functions.distributions.divergence": "RegisterKL kl_divergence",
    "graph.functions.distributions.gamma": "Exponential Gamma",
    "graph.functions.distributions.laplace": "Laplace",
    "graph.functions.distributions.normal": "Normal StudentT",
    "graph.functions.distributions.uniform": "Uniform",
}

__all__, __getattr__, __dir__ = facade(__name__, HOMES)
