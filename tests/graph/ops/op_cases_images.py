"""Images resampled by windows and areas, and their colours adjusted."""

import numpy as np
from op_cases import CASES, c, case, f

BEFORE = len(CASES)
PHOTO = f(1, 5, 4, 3, low=0.0, high=1.0)
for _name, _value in (("AdjustHue", 0.3), ("AdjustHue", -0.8), ("AdjustSaturation", 1.7)):
    case(f"{_name}/{_value}", _name, PHOTO, c(_value, np.float32), rtol=1e-5)
KINDS = ("lanczos1", "lanczos3", "lanczos5", "gaussian", "box", "triangle", "keyscubic")
for _kind in (*KINDS, "mitchellcubic"):
    for _antialias in (False, True):
        case(
            f"ScaleAndTranslate/{_kind}_{_antialias}",
            "ScaleAndTranslate",
            f(1, 7, 5, 2),
            c([4, 8]),
            c([0.6, 1.5], np.float32),
            c([0.2, -0.3], np.float32),
            kernel_type=_kind.encode(),
            antialias=_antialias,
            rtol=1e-5,
        )
for _corners in (False, True):
    case(
        f"ResizeArea/{_corners}",
        "ResizeArea",
        f(1, 7, 5, 2),
        c([4, 8]),
        align_corners=_corners,
        rtol=1e-5,
    )
IMAGE_CASES = CASES[BEFORE:]
