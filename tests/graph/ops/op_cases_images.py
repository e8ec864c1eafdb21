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
TURN = [0.8, -0.6, 1.5, 0.6, 0.8, -1.0, 0.0, 0.0]
LENS = [1.1, 0.2, -2.5, -0.3, 0.9, 3.5, 0.05, -0.25]
SHIFTS = [[1, 0, 9.5, 0, 1, -7.5, 0, 0], [-1, 0, 0.5, 0, 2, -0.5, 0, 0]]
for _fill in (b"CONSTANT", b"NEAREST", b"REFLECT", b"WRAP"):
    for _way in (b"NEAREST", b"BILINEAR"):
        _id, _attrs = (
            f"{_fill.decode()}_{_way.decode()}",
            {"interpolation": _way, "fill_mode": _fill},
        )
        for _place, _moves in enumerate(([TURN], [LENS, TURN], SHIFTS)):
            case(f"ImageProjectiveTransformV2/{_id}{_place}", "ImageProjectiveTransformV2",
                 f(2, 5, 4, 3), c(_moves, np.float32), c([6, 7]), **_attrs)  # fmt: skip
            case(f"ImageProjectiveTransformV3/{_id}{_place}", "ImageProjectiveTransformV3",
                 f(2, 1, 6, 1), c(_moves, np.float32), c([4, 8]), c(2.5, np.float32),
                 **_attrs)  # fmt: skip
        case(f"ImageProjectiveTransformV3/uint8{_id}", "ImageProjectiveTransformV3",
             f(1, 4, 4, 2, low=0, high=255, dtype=np.uint8), c([LENS], np.float32), c([5, 5]),
             c(7, np.float32), **_attrs)  # fmt: skip
IMAGE_CASES = CASES[BEFORE:]
