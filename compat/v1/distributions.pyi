# What editors and type checkers see of this module; tests/write_stubs.py writes it.
"""The names of `tf.distributions`."""

from ...graph.functions.distributions.base import Distribution as Distribution
from ...graph.functions.distributions.base import FULLY_REPARAMETERIZED as FULLY_REPARAMETERIZED
from ...graph.functions.distributions.base import NOT_REPARAMETERIZED as NOT_REPARAMETERIZED
from ...graph.functions.distributions.base import ReparameterizationType as ReparameterizationType
from ...graph.functions.distributions.beta import Beta as Beta
from ...graph.functions.distributions.beta import Dirichlet as Dirichlet
from ...graph.functions.distributions.classes import Bernoulli as Bernoulli
from ...graph.functions.distributions.classes import Categorical as Categorical
from ...graph.functions.distributions.counts import DirichletMultinomial as DirichletMultinomial
from ...graph.functions.distributions.counts import Multinomial as Multinomial
from ...graph.functions.distributions.divergence import RegisterKL as RegisterKL
from ...graph.functions.distributions.divergence import kl_divergence as kl_divergence
from ...graph.functions.distributions.gamma import Exponential as Exponential
from ...graph.functions.distributions.gamma import Gamma as Gamma
from ...graph.functions.distributions.laplace import Laplace as Laplace
from ...graph.functions.distributions.normal import Normal as Normal
from ...graph.functions.distributions.normal import StudentT as StudentT
from ...graph.functions.distributions.uniform import Uniform as Uniform
