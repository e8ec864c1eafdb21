"""What is needed to make a session ready: `tf.train.Scaffold`."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from ...graph.core.scopes import GraphKeys, add_to_collection, get_collection, get_default_graph
from ...graph.functions.flow.control_flow import group
from ...graph.functions.summaries import merge_all
from ...graph.session.session import Session
from ...graph.variables.variable_lists import (
    global_variables,
    global_variables_initializer,
    local_variables_initializer,
    report_uninitialized_variables,
)
from ...graph.variables.variables import Variable
from ..checkpoints.object_graph import object_graph
from ..checkpoints.saver import Saver

LOGGER = logging.getLogger("flatlite")


class Scaffold:
    """The operations that make a model ready, and its saver and summaries.

    What is not given is taken from the graph's collections, or made, by `finalize`.

    Args:
        init_op: Initialises global variables.
        init_feed_dict: For its run.
        init_fn: Called as `init_fn(scaffold, session)` after it.
        ready_op: Names what is not initialised.
        ready_for_local_init_op: The same, of global variables.
        local_init_op: Initialises local variables and tables.
        summary_op: All summaries.
        saver: A Saver.
        copy_from_scaffold: Another Scaffold, for what is not given.
        local_init_feed_dict: For the run of `local_init_op`.

    Raises TypeError when `copy_from_scaffold` is none.
    """

    def __init__(
        self,
        init_op=None,
        init_feed_dict=None,
        init_fn: Callable[[Scaffold, Session], object] | None = None,
        ready_op=None,
        ready_for_local_init_op=None,
        local_init_op=None,
        summary_op=None,
        saver: Saver | None = None,
        copy_from_scaffold: Scaffold | None = None,
        local_init_feed_dict=None,
    ):
        other = copy_from_scaffold
        if other is not None and not isinstance(other, Scaffold):
            raise TypeError("copy_from_scaffold is not a Scaffold instance.")
        self.init_op = init_op
        self.init_feed_dict = init_feed_dict
        self.ready_op = ready_op
        self.ready_for_local_init_op = ready_for_local_init_op
        self.local_init_op = local_init_op
        self.local_init_feed_dict = local_init_feed_dict
        self.summary_op = summary_op
        self.saver: Any = saver
        self._user_init_fn = init_fn
        for name, value in vars(other).items() if other is not None else ():
            if getattr(self, name) is None:
                setattr(self, name, value)

    @property
    def init_fn(self) -> Callable[[Session], object] | None:
        """A function of a session, called after `init_op`."""
        function = self._user_init_fn
        return None if function is None else lambda session: function(self, session)

    def finalize(self) -> Scaffold:
        """Makes what is missing, and lets nothing be added to the graph any more."""
        defaults = {
            "init_op": (GraphKeys.INIT_OP, _default_init_op),
            "ready_op": (GraphKeys.READY_OP, report_uninitialized_variables),
            "ready_for_local_init_op": (
                GraphKeys.READY_FOR_LOCAL_INIT_OP,
                lambda: report_uninitialized_variables(global_variables()),
            ),
            "local_init_op": (GraphKeys.LOCAL_INIT_OP, Scaffold.default_local_init_op),
            "summary_op": (GraphKeys.SUMMARY_OP, merge_all),
            "saver": (GraphKeys.SAVERS, lambda: Saver(sharded=True, allow_empty=True)),
        }
        for name, (key, make) in defaults.items():
            if name == "saver" and self.saver is None and len(get_collection(key)) > 1:
                raise RuntimeError(
                    f"More than one item in collection {key}. Please indicate which one to use by "
                    "passing it to the constructor."
                )
            if getattr(self, name) is None:
                setattr(self, name, Scaffold.get_or_default(name, key, make))
        if not isinstance(self.saver, Saver):
            values = object_graph(self.saver).with_values()  # a Checkpoint's
            variables = {key: item for _, item, key in values if isinstance(item, Variable)}
            self.saver = Saver(variables, sharded=True)
        self.saver.build()
        get_default_graph().finalize()
        LOGGER.info("Graph was finalized.")
        return self

    @staticmethod
    def get_or_default(
        arg_name: str, collection_key: str, default_constructor: Callable[[], Any]
    ) -> Any:
        """The only item of a collection, or a new one, which is added to it.

        Raises RuntimeError when there are several.
        """
        items = get_collection(collection_key)
        if len(items) > 1:
            raise RuntimeError(
                f'More than one item in the collection "{collection_key}". Please indicate which '
                f"one to use by passing it to the tf.Scaffold constructor as:  "
                f"tf.Scaffold({arg_name}=item to use)"
            )
        if items:
            return items[0]
        default = default_constructor()
        if default is not None:
            add_to_collection(collection_key, default)
        return default

    @staticmethod
    def default_local_init_op():
        """What initialises local variables and tables."""
        tables = get_collection(GraphKeys.TABLE_INITIALIZERS)
        return group(local_variables_initializer(), *tables)


def _default_init_op():
    return group(global_variables_initializer(), *get_collection("saved_model_initializers"))
