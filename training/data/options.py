"""`tf.data.Options`: what programs ask of pipelines beside their elements."""

from __future__ import annotations

from collections.abc import Iterable


class _Group:
    """Settings with names; those that nobody set are None."""

    names: tuple[str, ...] = ()

    def __init__(self) -> None:
        for name in self.names:
            object.__setattr__(self, name, None)

    def __setattr__(self, name: str, value: object) -> None:
        if name not in self.names:
            raise AttributeError(f"Cannot set the property {name} on {type(self).__name__}.")
        object.__setattr__(self, name, value)

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    __hash__ = None  # pyright: ignore[reportAssignmentType] - they change

    def take(self, other: _Group) -> None:
        """What is set in another one of the same kind."""
        for name, value in vars(other).items():
            if isinstance(value, _Group):
                getattr(self, name).take(value)
            elif value is not None:
                setattr(self, name, value)


class AutotuneOptions(_Group):
    """What may be tuned while elements are computed."""

    names = ("autotune_algorithm", "cpu_budget", "enabled", "initial_parallelism", "ram_budget")


class DistributeOptions(_Group):
    """How several workers share a dataset."""

    names = ("auto_shard_policy", "num_devices")


class OptimizationOptions(_Group):
    """How a pipeline may be rewritten."""

    names = (
        *("apply_default_optimizations", "filter_fusion", "filter_parallelization"),
        *("inject_prefetch", "map_and_batch_fusion", "map_and_filter_fusion", "map_fusion"),
        *("map_parallelization", "noop_elimination", "parallel_batch", "seq_interleave_prefetch"),
        "shuffle_and_repeat_fusion",
    )


class ThreadingOptions(_Group):
    """How many threads compute elements."""

    names = ("max_intra_op_parallelism", "private_threadpool_size")


class Options(_Group):
    """Settings of a pipeline. They change no element, and elements are computed one by one."""

    names = (
        *("autotune", "deterministic", "experimental_deterministic", "experimental_distribute"),
        *("experimental_external_state_policy", "experimental_optimization"),
        *("experimental_slack", "experimental_symbolic_checkpoint", "experimental_threading"),
        *("experimental_warm_start", "dataset_name", "framework_type", "threading"),
    )

    def __init__(self) -> None:
        super().__init__()
        self.autotune = AutotuneOptions()
        self.experimental_distribute = DistributeOptions()
        self.experimental_optimization = OptimizationOptions()
        self.threading = ThreadingOptions()

    def merge(self, options: Options) -> Options:
        """These and others, which win where both are set."""
        return Options.merged([self, options])

    @staticmethod
    def merged(options: Iterable[Options]) -> Options:
        """Several together; the last that is set wins."""
        result = Options()
        for item in options:
            result.take(item)
        return result
