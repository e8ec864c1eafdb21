"""Expressions of `tf.image`, and of images in `tf.io`."""

FLOATS = "tf.constant((np.arange(594) * 37 % 101 / 101).reshape(2, 9, 11, 3).astype('f'))"
BYTES = "tf.constant((np.arange(594) * 91 % 256).reshape(2, 9, 11, 3).astype('B'))"
OTHERS = "tf.constant((np.arange(594) * 53 % 97 / 97).reshape(2, 9, 11, 3).astype('f'))"
LARGE = "tf.constant((np.arange(3072) * 37 % 101 / 101).reshape(1, 32, 32, 3).astype('f'))"
LARGER = "tf.constant((np.arange(192 * 178) * 37 % 101 / 101).reshape(192, 178, 1).astype('f'))"
FREE = f"tf.placeholder_with_default({FLOATS}, [None, None, None, 3])"
ONE = f"{FLOATS}[0]"
ONE_OF_BYTES = f"{BYTES}[1]"
BOXES = "[[0., 0., 1., 1.], [.05, 0., 1., 1.], [0., .6, 1., 1.6], [2., 2., 3., 3.]]"
DRAWN = "[[0., 0., 1., 1.], [.05, 0., .5, 1.], [0., .6, 1., 1.6], [-.5, .5, .5, 1.5]]"
SCORES = "[.9, .8, .7, .95]"
OVERLAPS = "[[1., .7, .2], [.7, 1., .1], [.2, .1, 1.]]"
MANY_BOXES = f"tf.tile(tf.reshape(tf.constant({BOXES}), [1, 4, 1, 4]), [2, 1, 1, 1])"
BOXES_OF_EACH = f"tf.tile({MANY_BOXES}, [1, 1, 3, 1])"
MANY_SCORES = "tf.reshape(tf.range(24.) * 7. % 25. / 25., [2, 4, 3])"
JPEG = f"tf.image.encode_jpeg({ONE_OF_BYTES}"
PNG = f"tf.image.encode_png({ONE_OF_BYTES})"
WIDE = "tf.constant((np.arange(140) * 7919 % 65536).reshape(5, 7, 4).astype('H'))"
METHODS = ("BILINEAR", "NEAREST_NEIGHBOR", "BICUBIC", "AREA")
BMP = "b'BM' + bytes(8) + (54).to_bytes(4, 'little') + (40).to_bytes(4, 'little')"
SIZED = f"{BMP} + (2).to_bytes(4, 'little') + (3).to_bytes(4, 'little') + bytes([1, 0, 24, 0])"
EXPRESSIONS = [
    *(f"tf.image.{name}({ONE})" for name in ("flip_left_right", "flip_up_down", "transpose")),
    *(f"tf.image.{name}({FREE})" for name in ("flip_left_right", "flip_up_down", "transpose")),
    *(f"tf.image.rot90({FLOATS}, {k})" for k in (0, 1, 2, 3, 5, -1)),
    f"tf.image.rot90({ONE}, tf.constant(3))",
    *(f"tf.image.central_crop({x}, .6)" for x in (FLOATS, FREE, ONE)),
    f"tf.image.central_crop({ONE}, 1.)",
    f"tf.image.crop_to_bounding_box({FLOATS}, 1, 2, 5, 6)",
    f"tf.image.crop_to_bounding_box({FREE}, tf.constant(1), 2, 5, tf.constant(6))",
    f"tf.image.pad_to_bounding_box({ONE}, 1, 2, 15, 16)",
    f"tf.image.pad_to_bounding_box({FREE}, tf.constant(1), 2, 15, tf.constant(16))",
    *(f"tf.image.resize_image_with_crop_or_pad({x}, 5, 14)" for x in (FLOATS, FREE, ONE)),
    f"tf.image.resize_with_crop_or_pad({ONE}, tf.constant(12), tf.constant(4))",
    *(f"tf.image.{name}({FLOATS})" for name in ("rgb_to_hsv", "hsv_to_rgb", "rgb_to_yiq")),
    *(f"tf.image.{name}({FLOATS})" for name in ("yiq_to_rgb", "rgb_to_yuv", "yuv_to_rgb")),
    f"tf.image.rgb_to_yuv(tf.cast({ONE}, tf.float64))",
    *(f"tf.image.rgb_to_grayscale({x})" for x in (FLOATS, BYTES, FREE)),
    f"tf.image.grayscale_to_rgb({BYTES}[..., :1])",
    f"tf.image.grayscale_to_rgb({FREE}[..., :1])",
    *(f"tf.image.adjust_brightness({x}, .2)" for x in (FLOATS, BYTES)),
    *(f"tf.image.adjust_contrast({x}, 1.7)" for x in (FLOATS, BYTES)),
    *(f"tf.image.adjust_gamma({x}, .6, 1.3)" for x in (FLOATS, BYTES)),
    *(f"tf.image.adjust_hue({x}, {d})" for x in (FLOATS, BYTES) for d in (0.3, -0.4)),
    *(f"tf.image.adjust_saturation({x}, 1.8)" for x in (FLOATS, BYTES)),
    *(f"tf.image.per_image_standardization({x})" for x in (FLOATS, BYTES, FREE)),
    f"tf.image.per_image_standardization(tf.cast({ONE}, tf.float64))",
    *(
        f"tf.image.convert_image_dtype({x}, tf.{dtype}, saturate={saturate})"
        for x in (FLOATS, BYTES, f"tf.cast({BYTES}, tf.int16)", f"{FLOATS} * 3 - 1")
        for dtype in ("float64", "uint8", "int8", "int16", "uint16")
        for saturate in (False, True)
        if saturate or "3 - 1" not in x
    ),
    *(
        f"tf.image.resize_images({x}, {size}, tf.image.ResizeMethod.{method}, {corners})"
        for x, size in ((FLOATS, [5, 17]), (BYTES, [13, 6]))
        for method in METHODS
        for corners in (False, True)
    ),
    *(
        f"tf.image.resize_{kind}({ONE}[None], [{size}], half_pixel_centers=True)"
        for kind in ("bilinear", "bicubic", "nearest_neighbor")
        for size in ("14, 5", "4, 22")
    ),
    f"tf.image.resize({ONE}, [20, 12], preserve_aspect_ratio=True)",
    f"tf.image.resize({FREE}, [20, 12], preserve_aspect_ratio=True)",
    f"tf.image.resize({FREE}, tf.constant([4, 6]), 'bicubic')",
    f"tf.image.resize({BYTES}, [9, 11])",
    *(f"tf.image.resize_image_with_pad({x}, 12, 7)" for x in (FLOATS, FREE, ONE)),
    f"tf.image.resize_image_with_pad({ONE}, 3, 12, tf.image.ResizeMethod.AREA)",
    *(
        f"tf.compat.v2.image.resize({x}, {size}, '{method}', antialias={antialias})"
        for x in (ONE, BYTES)
        for size in ([5, 17], [20, 4])
        for method in ("bilinear", "bicubic", "lanczos3", "lanczos5", "gaussian", "mitchellcubic")
        for antialias in (False, True)
    ),
    *(f"tf.compat.v2.image.resize({BYTES}, [5, 17], '{m}')" for m in ("nearest", "area")),
    f"tf.compat.v2.image.resize({BYTES}, [9, 11])",
    f"tf.compat.v2.image.resize({BYTES}, [30, 17], preserve_aspect_ratio=True)",
    f"tf.compat.v2.image.resize_with_pad({BYTES}, 12, 7, antialias=True)",
    *(
        f"tf.raw_ops.ScaleAndTranslate(images={BYTES}, size=[6, 8], scale=[{scale}], "
        f"translation=[.5, -2.3], kernel_type='{kind}', antialias={antialias})"
        for scale in (".5, .7", "1.5, .4")
        for kind in ("box", "lanczos1", "triangle", "keyscubic")
        for antialias in (False, True)
    ),
    f"tf.image.image_gradients({FLOATS})",
    f"tf.image.sobel_edges({FLOATS})",
    f"tf.image.sobel_edges({FREE})",
    f"tf.image.total_variation({FLOATS})",
    f"tf.image.total_variation({ONE})",
    f"tf.image.psnr({FLOATS}, {OTHERS}, 1.)",
    f"tf.image.psnr({BYTES}, 255 - {BYTES}, 255)",
    f"tf.image.ssim({LARGE}, {LARGE} * .8, 1.)",
    f"tf.image.ssim({FLOATS}, {OTHERS}, 1., 5, 1., .02, .05)",
    f"tf.image.ssim({FLOATS}, {OTHERS}, 1., 5, return_index_map=True)",
    f"tf.image.ssim_multiscale({LARGER}, {LARGER} * .7 + .1, 1.)",
    f"tf.image.ssim_multiscale({LARGE}, {LARGE} * .7, 1., [.3, .7], 5)",
    f"tf.image.crop_and_resize({BYTES}, [[.1, .9, .8, .2], [-.2, 0., 1.2, .5]], [1, 0], [4, 7])",
    (
        f"tf.image.crop_and_resize({FLOATS}, [[.1, .2, .8, .9], [0., .4, 1.3, .5]], [1, 0], "
        "[1, 7], 'nearest', 2.)"
    ),
    f"tf.image.extract_patches({FLOATS}, [1, 3, 2, 1], [1, 2, 3, 1], [1, 2, 1, 1], 'SAME')",
    f"tf.image.extract_glimpse({FLOATS}, [3, 4], [[.1, -.2], [.3, .2]])",
    f"tf.image.extract_glimpse({FLOATS}, [3, 4], [[4., 5.], [3., 6.]], False, False)",
    f"tf.image.extract_glimpse({FLOATS}, [3, 4], [[1., 2.], [-1., 0.]], True, False)",
    f"tf.image.extract_glimpse({FLOATS}, [3, 4], [[.4, .5], [.6, .4]], False, True)",
    *(
        f"tf.compat.v2.image.extract_glimpse({FLOATS}, [5, 4], [[{x}], [.3, .9]], {flags}, 'zero')"
        for x in ("-.8, -.2", "7., 5.")
        for flags in ("True, True", "True, False", "False, True", "False, False")
    ),
    f"tf.image.draw_bounding_boxes({FLOATS}, [{DRAWN}] * 2)",
    (
        f"tf.image.draw_bounding_boxes({FLOATS}, [[[.1, .2, .7, .9], [.5, 0., 1., .4]]] * 2, "
        "colors=[[.1, .2, .3]])"
    ),
    f"tf.image.draw_bounding_boxes({FLOATS}[..., :1], [[[.1, .2, .7, .9]]] * 2)",
    f"tf.image.non_max_suppression({BOXES}, {SCORES}, 3)",
    f"tf.image.non_max_suppression({BOXES}, {SCORES}, 4, .99, .75)",
    f"tf.image.non_max_suppression_with_scores({BOXES}, {SCORES}, 4, soft_nms_sigma=.5)",
    f"tf.image.non_max_suppression_padded(tf.constant({BOXES}), {SCORES}, 3, .3)",
    (
        f"tf.image.non_max_suppression_padded(tf.constant({BOXES}), {SCORES}, 6, .3, .75, "
        "pad_to_max_output_size=True)"
    ),
    (
        f"tf.image.non_max_suppression_padded(tf.constant([{BOXES}] * 2), "
        f"tf.constant([{SCORES}, [.2, .3, .9, .1]]), 3, .3, pad_to_max_output_size=True)"
    ),
    f"tf.image.non_max_suppression_overlaps({OVERLAPS}, [.5, .9, .3], 3, .3)",
    *(
        f"tf.image.combined_non_max_suppression({MANY_BOXES}, {MANY_SCORES}, {sizes}, "
        f"pad_per_class={pad}, clip_boxes={clip})"
        for sizes in ("2, 5, .3, .2", "3, 20, .9")
        for pad in (True, False)
        for clip in (True, False)
    ),
    f"tf.image.combined_non_max_suppression({BOXES_OF_EACH}, {MANY_SCORES}, 2, 4)",
    *(
        f"tf.image.decode_{kind}({PNG}, channels={channels}, dtype=tf.{dtype})"
        for kind in ("png", "image")
        for channels in (0, 1, 3, 4)
        for dtype in ("uint8", "uint16")
    ),
    *(
        f"tf.image.decode_png(tf.image.encode_png({WIDE}[..., :{n}]), {channels}, tf.{dtype})"
        for n in (1, 2, 3, 4)
        for channels in (0, 1, 3, 4)
        for dtype in ("uint8", "uint16")
    ),
    f"tf.image.decode_image({PNG}, dtype=tf.float32)",
    f"tf.image.decode_image({JPEG}), 1, expand_animations=False)",
    *(f"tf.image.decode_jpeg({JPEG}), {c}, {r})" for c in (0, 1, 3) for r in (1, 2, 4, 8)),
    f"tf.image.decode_jpeg({JPEG}), fancy_upscaling=False)",
    f"tf.image.decode_jpeg({JPEG}), dct_method='INTEGER_ACCURATE')",
    f"tf.image.decode_and_crop_jpeg({JPEG}, chroma_downsampling=False), [1, 2, 4, 6])",
    f"{JPEG}, quality=40)",
    f"{JPEG}, progressive=True, optimize_size=True)",
    f"{JPEG}, chroma_downsampling=False, density_unit='cm', x_density=7, y_density=9)",
    f"{JPEG}[..., :1], 'grayscale', 80, xmp_metadata='<x/>')",
    f"tf.image.extract_jpeg_shape({JPEG}), tf.int64)",
    f"tf.image.is_jpeg({JPEG}))",
    f"tf.image.is_jpeg({PNG})",
    *(f"tf.image.adjust_jpeg_quality({x}, {q})" for x in (ONE, ONE_OF_BYTES) for q in (0, 30, 100)),
    f"tf.image.decode_bmp({SIZED} + bytes(24) + bytes(range(24)))",
    *(
        f"tf.image.random_{flip}({x}, seed=5)"
        for flip in ("flip_left_right", "flip_up_down")
        for x in (FLOATS, ONE)
    ),
    f"tf.image.random_brightness({ONE}, .4, seed=3)",
    f"tf.image.random_contrast({ONE}, .4, 1.6, seed=3)",
    f"tf.image.random_saturation({ONE}, .4, 1.6, seed=3)",
    f"tf.image.random_hue({ONE}, .4, seed=3)",
    f"tf.image.random_crop({ONE}, [4, 5, 3], seed=3)",
    f"tf.image.random_jpeg_quality({ONE}, 20, 80, seed=3)",
    *(
        f"tf.image.sample_distorted_bounding_box([90, 110, 3], [[[.1, .2, .7, .9]]], seed={seed}, "
        f"min_object_covered={covered})"
        for seed in (1, 2, 3)
        for covered in (0.1, 0.6, 0.9)
    ),
    (
        "tf.image.sample_distorted_bounding_box([70, 64, 3], tf.zeros([1, 0, 4]), 7, 9, .3, "
        "(.5, 2.), (.3, .8), 20, True)"
    ),
]
X = "tf.tile(tf.reshape(a, [1, 3, 4, 1]), [2, 1, 1, 3])"
GRADIENTS = [
    *(f"tf.image.resize_bicubic({X}, [5, 3], half_pixel_centers={h})" for h in (False, True)),
    f"tf.image.resize_bicubic({X}, [5, 3], align_corners=True)",
    f"tf.compat.v2.image.resize({X}, [2, 6], 'lanczos3', antialias=True)",
    f"tf.image.crop_and_resize({X}, tf.abs(p[:2]) * .2, [1, 0], [3, 2])",
    f"tf.image.crop_and_resize({X}, tf.abs(p[:2]) * .2, [1, 0], [1, 3])",
    f"tf.image.rgb_to_yuv({X})",
    f"tf.image.per_image_standardization({X})",
    f"tf.image.total_variation({X})",
    f"tf.image.sobel_edges({X})",
    f"tf.image.psnr({X}, {X} * .5, 2.)",
]
ERRORS = [
    (
        "tf.image.flip_left_right([1., 2.])",
        "ValueError",
        "'image' (shape (2,)) must be at least three-dimensional.",
    ),
    (
        "tf.image.flip_up_down(tf.zeros([0, 2, 3]))",
        "ValueError",
        "inner 3 dims of 'image.shape' must be > 0: (0, 2, 3)",
    ),
    ("tf.image.flip_up_down(tf.zeros([1, 1, 4, 2, 3]))", "ValueError", "'image' (shape"),
    (
        "tf.image.rot90(tf.zeros([3, 4, 1]), tf.constant([1]))",
        "ValueError",
        "Shape (1,) must have rank 0",
    ),
    (
        "tf.image.central_crop(tf.zeros([3, 4, 1]), 0.)",
        "ValueError",
        "central_fraction must be within (0, 1]",
    ),
    (
        "tf.image.central_crop(tf.zeros([3, 4, 1]), 1.5)",
        "ValueError",
        "central_fraction must be within (0, 1]",
    ),
    (
        "tf.image.central_crop(tf.zeros([3, 4]), .5)",
        "ValueError",
        "'image' (shape (3, 4)) must be at least three-dimensional.",
    ),
    (
        "tf.image.crop_to_bounding_box(tf.zeros([3, 4, 1]), -1, 0, 2, 2)",
        "ValueError",
        "offset_height must be >= 0.",
    ),
    (
        "tf.image.crop_to_bounding_box(tf.zeros([3, 4, 1]), 0, -1, 2, 2)",
        "ValueError",
        "offset_width must be >= 0.",
    ),
    (
        "tf.image.crop_to_bounding_box(tf.zeros([3, 4, 1]), 0, 1, 0, 2)",
        "ValueError",
        "target_height must be > 0.",
    ),
    (
        "tf.image.crop_to_bounding_box(tf.zeros([3, 4, 1]), 0, 1, 2, 0)",
        "ValueError",
        "target_width must be > 0.",
    ),
    (
        "tf.image.crop_to_bounding_box(tf.zeros([3, 4, 1]), 2, 1, 2, 2)",
        "ValueError",
        "height must be >= target + offset.",
    ),
    (
        "tf.image.crop_to_bounding_box(tf.zeros([3, 4, 1]), 0, 3, 2, 2)",
        "ValueError",
        "width must be >= target + offset.",
    ),
    (
        "tf.image.pad_to_bounding_box(tf.zeros([3, 4, 1]), -1, 0, 9, 9)",
        "ValueError",
        "offset_height must be >= 0",
    ),
    (
        "tf.image.pad_to_bounding_box(tf.zeros([3, 4, 1]), 0, -1, 9, 9)",
        "ValueError",
        "offset_width must be >= 0",
    ),
    (
        "tf.image.pad_to_bounding_box(tf.zeros([3, 4, 1]), 0, 0, 2, 9)",
        "ValueError",
        "height must be <= target - offset",
    ),
    (
        "tf.image.pad_to_bounding_box(tf.zeros([3, 4, 1]), 0, 6, 9, 9)",
        "ValueError",
        "width must be <= target - offset",
    ),
    (
        "tf.image.resize_image_with_crop_or_pad(tf.zeros([3, 4, 1]), 0, 2)",
        "ValueError",
        "target_height must be > 0.",
    ),
    (
        "tf.image.resize_image_with_crop_or_pad(tf.zeros([3, 4, 1]), 2, 0)",
        "ValueError",
        "target_width must be > 0.",
    ),
    (
        "tf.image.resize_image_with_pad(tf.zeros([3, 4, 1]), 0, 2)",
        "ValueError",
        "target_height must be > 0.",
    ),
    (
        "tf.image.resize_images(tf.zeros([3, 4]), [2, 2])",
        "ValueError",
        "'images' must have either 3 or 4 dimensions.",
    ),
    (
        "tf.image.resize_images(tf.zeros([3, 4, 1]), [2])",
        "ValueError",
        "'size' must be a 1-D Tensor of 2 elements: new_height, new_width",
    ),
    (
        "tf.image.resize_images(tf.zeros([3, 4, 1]), [2, 2, 2])",
        "ValueError",
        "'size' must be a 1-D Tensor of 2 elements: new_height, new_width",
    ),
    (
        "tf.image.resize_images(tf.zeros([3, 4, 1]), [2, 2], 7)",
        "ValueError",
        "Resize method is not implemented: 7",
    ),
    (
        "tf.image.resize_images(tf.zeros([3, 4, 1]), [2., 2.])",
        "ValueError",
        "'size' must be a 1-D int32 Tensor",
    ),
    (
        "tf.image.resize_images(tf.placeholder_with_default(tf.zeros([3, 4, 1]), None), [2, 2])",
        "ValueError",
        "'images' contains no shape.",
    ),
    (
        "tf.image.adjust_gamma(tf.zeros([3, 4, 1]), -1)",
        "ValueError",
        "Gamma should be a non-negative real number.",
    ),
    (
        "tf.image.adjust_contrast(tf.zeros([3, 4]), .1)",
        "ValueError",
        "Shape must be at least rank 3 but is rank 2",
    ),
    (
        "tf.image.grayscale_to_rgb(tf.zeros([3, 4, 2]))",
        "ValueError",
        "Last dimension of a grayscale image should be size 1",
    ),
    ("tf.image.rgb_to_hsv(tf.zeros([3, 4, 2]))", "ValueError", "Dimension must be 3 but is 2"),
    (
        "tf.image.convert_image_dtype(tf.zeros([3]), tf.string)",
        "AttributeError",
        "dtype must be either floating point or integer",
    ),
    (
        "tf.image.convert_image_dtype(tf.constant(['a']), tf.float32)",
        "AttributeError",
        "image dtype must be either floating point or integer",
    ),
    (
        "tf.image.per_image_standardization(tf.zeros([3, 4]))",
        "ValueError",
        "'image' (shape (3, 4)) must be at least three-dimensional.",
    ),
    (
        "tf.image.random_brightness(tf.zeros([3, 4, 1]), -1)",
        "ValueError",
        "max_delta must be non-negative.",
    ),
    ("tf.image.random_contrast(tf.zeros([3, 4, 1]), 2, 1)", "ValueError", "upper must be > lower."),
    (
        "tf.image.random_contrast(tf.zeros([3, 4, 1]), -2, 1)",
        "ValueError",
        "lower must be non-negative.",
    ),
    ("tf.image.random_hue(tf.zeros([3, 4, 3]), .6)", "ValueError", "max_delta must be <= 0.5."),
    (
        "tf.image.random_hue(tf.zeros([3, 4, 3]), -.6)",
        "ValueError",
        "max_delta must be non-negative.",
    ),
    (
        "tf.image.random_saturation(tf.zeros([3, 4, 3]), 2, 1)",
        "ValueError",
        "upper must be > lower.",
    ),
    (
        "tf.image.random_jpeg_quality(tf.zeros([3, 4, 3]), -1, 50)",
        "ValueError",
        "jpeg encoding range must be between 0 and 100.",
    ),
    (
        "tf.image.random_jpeg_quality(tf.zeros([3, 4, 3]), 60, 50)",
        "ValueError",
        "`min_jpeg_quality` must be less than `max_jpeg_quality`.",
    ),
    (
        "tf.image.total_variation(tf.zeros([3, 4]))",
        "ValueError",
        "'images' must be either 3 or 4-dimensional.",
    ),
    (
        "tf.image.image_gradients(tf.zeros([3, 4, 1]))",
        "ValueError",
        "image_gradients expects a 4D tensor [batch_size, h, w, d], not (3, 4, 1).",
    ),
    (
        "tf.image.ssim(tf.zeros([3, 4, 1]), tf.zeros([3, 4, 1]), 1)",
        "ValueError",
        "Negative dimension size caused by subtracting 11 from 3",
    ),
    (
        "tf.image.crop_and_resize(tf.zeros([1, 4, 4, 1]), [[0., 0., 1.]], [0], [2, 2])",
        "ValueError",
        "Dimension must be 4 but is 3",
    ),
    (
        "tf.image.crop_and_resize(tf.zeros([1, 4, 4, 1]), [[0., 0., 1., 1.]], [0], [2])",
        "ValueError",
        "Dimension must be 2 but is 1",
    ),
    (
        "tf.image.crop_and_resize(tf.zeros([1, 4, 4, 1]), [[0., 0., 1., 1.]], [0], [2, 2], 'no')",
        "ValueError",
        "Attr 'method' of 'CropAndResize' Op passed string 'no' not in: \"bilinear\"",
    ),
    (
        "tf.image.extract_glimpse(tf.zeros([1, 4, 4, 1]), [2, 2], [[0., 0.], [1., 1.]])",
        "ValueError",
        "Dimensions must be equal, but are 1 and 2",
    ),
    (
        "tf.image.draw_bounding_boxes(tf.zeros([4, 4, 1]), [[[0., 0., 1., 1.]]])",
        "ValueError",
        "Shape must be rank 4 but is rank 3",
    ),
    (
        "tf.image.draw_bounding_boxes(tf.zeros([1, 4, 4, 1]), [[0., 0., 1., 1.]])",
        "ValueError",
        "Shape must be rank 3 but is rank 2",
    ),
    (
        "tf.image.non_max_suppression([[0., 0., 1., 1.]], [.5, .6], 1)",
        "ValueError",
        "Dimensions must be equal, but are 1 and 2",
    ),
    (
        "tf.image.non_max_suppression([0., 0., 1., 1.], [.5], 1)",
        "ValueError",
        "Shape must be rank 2 but is rank 1",
    ),
    (
        "tf.image.non_max_suppression_overlaps([[1., 0.]], [.5], 1)",
        "ValueError",
        "Dimensions must be equal, but are 1 and 2",
    ),
    (
        "tf.image.encode_jpeg(tf.zeros([2, 2, 3], tf.uint8), 'x')",
        "ValueError",
        "Attr 'format' of 'EncodeJpeg' Op passed string 'x' not in: \"\", \"grayscale\", \"rgb\".",
    ),
    (
        "tf.image.encode_jpeg(tf.zeros([2, 2], tf.uint8))",
        "ValueError",
        "Shape must be rank 3 but is rank 2",
    ),
    (
        "tf.image.encode_png(tf.zeros([2, 2], tf.uint8))",
        "ValueError",
        "Shape must be at least rank 3 but is rank 2",
    ),
    ("tf.image.decode_png(['a', 'b'])", "ValueError", "Shape must be rank 0 but is rank 1"),
    (
        "tf.image.sample_distorted_bounding_box([9, 9], [[[.1, .1, .2, .2]]])",
        "ValueError",
        "Dimension must be 3 but is 2",
    ),
    (
        "tf.compat.v2.image.resize(tf.zeros([3, 4, 1]), [2, 2], 'cubic')",
        "ValueError",
        "Resize method is not implemented: cubic",
    ),
    (
        "tf.image.combined_non_max_suppression(tf.zeros([1, 2, 2, 4]), tf.zeros([1, 2, 3]), 1, 1)",
        "ValueError",
        "third dimension of boxes must be either 1 or equal to the third dimension of scores",
    ),
    (
        "tf.image.ssim_multiscale(tf.zeros([3, 4, 1]), tf.zeros([3, 4, 1]), 1)",
        "ValueError",
        "Negative dimension size caused by subtracting 11 from 3",
    ),
]
