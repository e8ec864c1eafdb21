"""Expressions of `tf.signal`."""

WAVES = "tf.concat([a, p, a * p, a - p], 1)"
COMPLEX = "tf.complex(m, spd)"
EXPRESSIONS = [
    "tf.signal.fft3d(tf.complex(tf.reshape(a, [2, 2, 3]), tf.reshape(p, [2, 2, 3])))",
    "tf.signal.rfft(tf.placeholder_with_default(a, [None, None]))",
    "tf.signal.irfft2d(tf.placeholder_with_default(tf.complex(a, p), None)[:, :3], [5, 6])",
    "tf.signal.fftshift(m)",
    "tf.signal.fftshift(a, axes=1)",
    "tf.signal.ifftshift(m, axes=[0, -1])",
    "tf.signal.vorbis_window(7)",
    "tf.signal.vorbis_window(6, tf.float64)",
    "tf.signal.kaiser_window(9, 5.)",
    "tf.signal.kaiser_window(1)",
    "tf.signal.kaiser_bessel_derived_window(8, 3.)",
    (
        f"tf.signal.inverse_stft(tf.signal.stft({WAVES}, 8, 4), 8, 4, "
        "window_fn=tf.signal.inverse_stft_window_fn(4))"
    ),
    f"tf.signal.inverse_stft(tf.signal.stft({WAVES}, 6, 3, 12), 6, 3, 4, None)",
    "tf.signal.inverse_stft_window_fn(3, tf.signal.hamming_window)(8, tf.float32)",
    f"tf.signal.inverse_mdct(tf.signal.mdct({WAVES}, 8))",
    f"tf.signal.inverse_mdct(tf.signal.mdct({WAVES}, 8, norm='ortho'), norm='ortho')",
    "tf.signal.mfccs_from_log_mel_spectrograms(a)",
    "tf.signal.idct(a, type=3, n=6)",
    "tf.spectral.idct(a, norm='ortho')",
    "tf.signal.dct(tf.placeholder_with_default(a, [None, None]), 4)",
    "tf.signal.dct(tf.cast(a, tf.float64), 2, n=3)",
]
GRADIENTS = [
    "tf.signal.rfft(a)",
    "tf.signal.rfft(a, [6])",
    "tf.signal.rfft2d(a)",
    "tf.signal.irfft(tf.complex(a, p))",
    "tf.signal.irfft(tf.complex(a, p), [7])",
    "tf.signal.irfft2d(tf.complex(a, p))",
    "tf.signal.fft3d(tf.complex(tf.reshape(a, [2, 2, 3]), tf.reshape(p, [2, 2, 3])))",
    "tf.signal.ifft3d(tf.complex(tf.reshape(a, [2, 2, 3]), tf.reshape(p, [2, 2, 3])))",
    f"tf.abs(tf.signal.stft({WAVES}, 8, 4, pad_end=True))",
    f"tf.signal.mdct({WAVES}, 8, None)",
    f"tf.signal.mdct({WAVES}, 4, norm='ortho', pad_end=True)",
    "tf.signal.dct(a, 1)",
    "tf.signal.dct(a, 2)",
    "tf.signal.dct(a, 2, norm='ortho')",
    "tf.signal.dct(a, 3, n=5)",
    "tf.signal.dct(a, 3, norm='ortho')",
    "tf.signal.dct(a, 4)",
    "tf.signal.dct(a, 4, norm='ortho')",
]
