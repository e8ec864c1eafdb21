"""`tf.config.threading`: how many threads new Sessions use."""

from ...facade import facade

HOMES = {
    "graph.session.devices": (
        "get_inter_op_parallelism_threads get_intra_op_parallelism_threads "
        "set_inter_op_parallelism_threads set_intra_op_parallelism_threads"
    )
}
__all__, __getattr__, __dir__ = facade(__name__, HOMES)
