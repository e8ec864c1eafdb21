# What editors and type checkers see of this module; tests/write_stubs.py writes it.
"""`tf.graph_util`: parts of GraphDefs, and variables as constants."""

from ...graph.format.graph_util import convert_variables_to_constants as convert_variables_to_constants
from ...graph.format.graph_util import extract_sub_graph as extract_sub_graph
from ...graph.format.graph_util import must_run_on_cpu as must_run_on_cpu
from ...graph.format.graph_util import remove_training_nodes as remove_training_nodes
from ...graph.format.graph_util import tensor_shape_from_node_def_name as tensor_shape_from_node_def_name
from ...graph.format.importing import import_graph_def as import_graph_def
