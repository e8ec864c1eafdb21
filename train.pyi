# What editors and type checkers see of this module; tests/write_stubs.py writes it.
"""The names of `tf.train`: optimizers, schedules, checkpoints."""

from .training.checkpoints import NewCheckpointReader as NewCheckpointReader
from .training.checkpoints import checkpoint_exists as checkpoint_exists
from .training.checkpoints import generate_checkpoint_state_proto as generate_checkpoint_state_proto
from .training.checkpoints import get_checkpoint_mtimes as get_checkpoint_mtimes
from .training.checkpoints import get_checkpoint_state as get_checkpoint_state
from .training.checkpoints import latest_checkpoint as latest_checkpoint
from .training.checkpoints import list_variables as list_variables
from .training.checkpoints import load_checkpoint as load_checkpoint
from .training.checkpoints import load_variable as load_variable
from .training.checkpoints import remove_checkpoint as remove_checkpoint
from .training.checkpoints import update_checkpoint_state as update_checkpoint_state
from .training.global_step import assert_global_step as assert_global_step
from .training.global_step import create_global_step as create_global_step
from .training.global_step import get_global_step as get_global_step
from .training.global_step import get_or_create_global_step as get_or_create_global_step
from .training.global_step import global_step as global_step
from .training.meta_graph import export_meta_graph as export_meta_graph
from .training.meta_graph import import_meta_graph as import_meta_graph
from .training.optimizer import Optimizer as Optimizer
from .training.optimizers import AdamOptimizer as AdamOptimizer
from .training.optimizers import GradientDescentOptimizer as GradientDescentOptimizer
from .training.optimizers import MomentumOptimizer as MomentumOptimizer
from .training.saver import Saver as Saver
from .training.schedules import cosine_decay as cosine_decay
from .training.schedules import exponential_decay as exponential_decay
from .training.schedules import inverse_time_decay as inverse_time_decay
from .training.schedules import natural_exp_decay as natural_exp_decay
from .training.schedules import piecewise_constant as piecewise_constant
from .training.schedules import polynomial_decay as polynomial_decay
