# What editors and type checkers see of this module; tests/write_stubs.py writes it.
"""The names of `tf.initializers`."""

from ...graph.functions.resources.lookup import tables_initializer as tables_initializer
from ...graph.variables.initializers import constant as constant
from ...graph.variables.initializers import glorot_normal as glorot_normal
from ...graph.variables.initializers import glorot_uniform as glorot_uniform
from ...graph.variables.initializers import he_normal as he_normal
from ...graph.variables.initializers import he_uniform as he_uniform
from ...graph.variables.initializers import identity as identity
from ...graph.variables.initializers import lecun_normal as lecun_normal
from ...graph.variables.initializers import lecun_uniform as lecun_uniform
from ...graph.variables.initializers import ones as ones
from ...graph.variables.initializers import orthogonal as orthogonal
from ...graph.variables.initializers import random_normal_initializer as random_normal
from ...graph.variables.initializers import random_uniform_initializer as random_uniform
from ...graph.variables.initializers import truncated_normal as truncated_normal
from ...graph.variables.initializers import uniform_unit_scaling_initializer as uniform_unit_scaling
from ...graph.variables.initializers import variance_scaling as variance_scaling
from ...graph.variables.initializers import zeros as zeros
from ...graph.variables.variable_lists import global_variables_initializer as global_variables
from ...graph.variables.variable_lists import local_variables_initializer as local_variables
from ...graph.variables.variable_lists import variables_initializer as variables
