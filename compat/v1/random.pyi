# What editors and type checkers see of this module; tests/write_stubs.py writes it.
"""The names of `tf.random`."""

from ...compat.v1 import random_experimental as experimental
from ...graph.functions.nn.sampling import all_candidate_sampler as all_candidate_sampler
from ...graph.functions.nn.sampling import fixed_unigram_candidate_sampler as fixed_unigram_candidate_sampler
from ...graph.functions.nn.sampling import learned_unigram_candidate_sampler as learned_unigram_candidate_sampler
from ...graph.functions.nn.sampling import log_uniform_candidate_sampler as log_uniform_candidate_sampler
from ...graph.functions.nn.sampling import uniform_candidate_sampler as uniform_candidate_sampler
from ...graph.functions.random import get_seed as get_seed
from ...graph.functions.random import normal as normal
from ...graph.functions.random import set_random_seed as set_random_seed
from ...graph.functions.random import shuffle as shuffle
from ...graph.functions.random import stateless_normal as stateless_normal
from ...graph.functions.random import stateless_truncated_normal as stateless_truncated_normal
from ...graph.functions.random import stateless_uniform as stateless_uniform
from ...graph.functions.random import truncated_normal as truncated_normal
from ...graph.functions.random import uniform as uniform
from ...graph.functions.random_draws import categorical as categorical
from ...graph.functions.random_draws import fold_in as fold_in
from ...graph.functions.random_draws import multinomial as multinomial
from ...graph.functions.random_draws import random_gamma as gamma
from ...graph.functions.random_draws import random_poisson as poisson
from ...graph.functions.random_draws import split as split
from ...graph.functions.random_draws import stateless_binomial as stateless_binomial
from ...graph.functions.random_draws import stateless_categorical as stateless_categorical
from ...graph.functions.random_draws import stateless_gamma as stateless_gamma
from ...graph.functions.random_draws import stateless_multinomial as stateless_multinomial
from ...graph.functions.random_draws import stateless_poisson as stateless_poisson
