"""What `CompiledModel` is told: accelerators, threads, environments, as in LiteRT 2."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum, IntFlag

_NPU = (
    "{} are of NPUs that only LiteRT's native runtime reaches, through {} libraries; flatlite runs "
    "models on the CPU, and an Interpreter with load_delegate('cuda') or ('xla') on GPUs and TPUs"
)


class HardwareAccelerator(IntFlag):
    """Where a model may run; flatlite's `CompiledModel` runs it on the CPU."""

    CPU = 1
    GPU = 2
    NPU = 4


class CpuKernelMode(IntEnum):
    """Which kernels LiteRT would take; flatlite has one set."""

    DELEGATE = 0
    XNNPACK = 0
    REFERENCE = 1
    BUILTIN = 2


@dataclass
class CpuOptions:
    """Options of the CPU: threads (0 is one); the others are accepted, without effect."""

    num_threads: int = 0
    kernel_mode: CpuKernelMode | None = None
    enable_ynnpack: bool = False
    xnnpack_flags: int | None = None
    xnnpack_weight_cache_path: str = ""


@dataclass
class GpuOptions:
    """Options of a GPU, accepted, without effect."""

    enforce_f32: bool = False
    constant_tensor_sharing: bool = False
    infinite_float_capping: bool = False
    benchmark_mode: bool = False
    allow_src_quantized_fc_conv_ops: bool = False
    hint_waiting_for_completion: bool = False


class QualcommOptions:
    """Options of Qualcomm's NPUs: flatlite does not run there, and making them raises."""

    def __init__(self, *_: object, **__: object):
        raise NotImplementedError(_NPU.format("QualcommOptions", "Qualcomm's"))


class IntelOpenVinoOptions:
    """Options of Intel's NPUs: flatlite does not run there, and making them raises."""

    def __init__(self, *_: object, **__: object):
        raise NotImplementedError(_NPU.format("IntelOpenVinoOptions", "Intel's"))


class Options:
    """Options of one compiled model, by groups.

    Args:
        hardware_accelerators: where it may run.
        cpu_options: of the CPU.
        gpu_options: of a GPU.
        qualcomm_options, intel_openvino_options: of NPUs; nothing but None, see `QualcommOptions`.

    Raises:
        NotImplementedError: there are options of an NPU.
    """

    def __init__(
        self,
        hardware_accelerators: HardwareAccelerator = HardwareAccelerator.CPU,
        cpu_options: CpuOptions | None = None,
        gpu_options: GpuOptions | None = None,
        qualcomm_options: None = None,
        intel_openvino_options: None = None,
    ):
        of_npus = {
            "qualcomm_options": qualcomm_options,
            "intel_openvino_options": intel_openvino_options,
        }
        for name, value in of_npus.items():
            if value is not None:
                raise NotImplementedError(_NPU.format(name, "their maker's"))
        self.qualcomm_options, self.intel_openvino_options = None, None
        self.hardware_accelerators = hardware_accelerators
        self.cpu_options = CpuOptions() if cpu_options is None else cpu_options
        self.gpu_options = GpuOptions() if gpu_options is None else gpu_options

    @classmethod
    def create(cls) -> Options:
        """Options of a model on the CPU."""
        return cls()


@dataclass(frozen=True)
class EnvironmentOptions:
    """Paths of LiteRT's libraries, accepted, without effect."""

    runtime_path: str | None = None
    compiler_plugin_path: str = ""
    dispatch_library_path: str = ""


class Environment:
    """What models share in LiteRT; here it holds its options alone."""

    def __init__(self, options: EnvironmentOptions):
        self.options = options

    @classmethod
    def create(
        cls,
        *,
        options: EnvironmentOptions | str | None = None,
        runtime_path: str | None = None,
        compiler_plugin_path: str = "",
        dispatch_library_path: str = "",
    ) -> Environment:
        """An environment, from options or from paths.

        Raises ValueError when both are given.
        """
        if isinstance(options, str):
            if runtime_path is not None:
                raise ValueError("runtime_path was provided twice.")
            options, runtime_path = None, options
        paths = EnvironmentOptions(runtime_path, compiler_plugin_path, dispatch_library_path)
        if options is not None and paths != EnvironmentOptions():
            raise ValueError("Pass either options or environment path shortcuts.")
        return cls(options or paths)

    def __enter__(self) -> Environment:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Nothing is held."""


def resolve(options: Options | None, hardware_accel: HardwareAccelerator | None) -> Options:
    """The options of a model, of which one may have been given.

    Raises ValueError for both, RuntimeError where the CPU is not among the accelerators.
    """
    if options is None:
        options = Options(
            HardwareAccelerator.CPU if hardware_accel is None else hardware_accel,
            CpuOptions(num_threads=1),
        )
    elif hardware_accel is not None:
        raise ValueError("Pass either options or hardware_accel, not both.")
    accelerators = HardwareAccelerator(options.hardware_accelerators)
    if not accelerators & HardwareAccelerator.CPU:
        raise RuntimeError(
            f"CompiledModel runs on the CPU, got {accelerators!r}; add HardwareAccelerator.CPU, "
            "or give Interpreter the delegate of load_delegate('cuda')"
        )
    return options
