"""Spectrograms."""

from .registry import THREE, single

for _mode in ("log", "magnitude", "psd", "real", "imag", "angle", "stft"):
    single(
        *("audio", f"STFT_{_mode}"),
        lambda layers, m=_mode: layers.STFTSpectrogram(mode=m, frame_length=16, frame_step=6),
        (50, 2),
        versions=THREE,
    )
single(
    *("audio", "STFT_images"),
    lambda layers: layers.STFTSpectrogram(
        frame_length=12, fft_length=16, padding="same", expand_dims=True, scaling="spectrum"
    ),
    (None, 2),
    versions=THREE,
)
single(
    *("audio", "STFT_first"),
    lambda layers: layers.STFTSpectrogram(
        mode="magnitude", frame_length=16, data_format="channels_first", window="hamming"
    ),
    (2, 50),
    versions=THREE,
)
for _name, _settings in {
    "Mel": {"sequence_stride": 20},
    "Mel_power": {"sequence_stride": 16, "power_to_db": False, "mag_exp": 1.0},
    "Mel_hamming": {"sequence_length": 25, "window": "hamming", "ref_power": 2.0, "top_db": 20.0},
    "Mel_plain": {"window": None, "min_freq": 100.0, "max_freq": 3000},
}.items():
    single(
        *("audio", _name),
        lambda layers, s=_settings: layers.MelSpectrogram(
            **{
                "fft_length": 32,
                "num_mel_bins": 6,
                "sampling_rate": 8000,
                "sequence_stride": 10,
                **s,
            }
        ),
        (90,),
        versions=THREE,
    )
