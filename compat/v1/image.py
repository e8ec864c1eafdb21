"""The names of `tf.image`."""

from ...facade import facade

HOMES = {
    "graph.functions.image.boxes": (
        "combined_non_max_suppression crop_and_resize draw_bounding_boxes extract_glimpse "
        "extract_patches non_max_suppression non_max_suppression_overlaps "
        "non_max_suppression_padded non_max_suppression_with_scores"
    ),
    "graph.functions.image.colors": (
        "adjust_brightness adjust_contrast adjust_gamma adjust_hue adjust_saturation "
        "convert_image_dtype grayscale_to_rgb hsv_to_rgb per_image_standardization "
        "rgb_to_grayscale rgb_to_hsv rgb_to_yiq rgb_to_yuv yiq_to_rgb yuv_to_rgb"
    ),
    "graph.functions.image.cropping": (
        "central_crop crop_to_bounding_box flip_left_right flip_up_down pad_to_bounding_box "
        "resize_image_with_crop_or_pad resize_with_crop_or_pad=resize_image_with_crop_or_pad "
        "rot90 transpose=transpose_image transpose_image"
    ),
    "graph.functions.image.files": (
        "adjust_jpeg_quality decode_and_crop_jpeg decode_bmp decode_gif decode_image decode_jpeg "
        "decode_png encode_jpeg encode_png extract_jpeg_shape is_jpeg"
    ),
    "graph.functions.image.quality": (
        "image_gradients psnr sobel_edges ssim ssim_multiscale total_variation"
    ),
    "graph.functions.image.random_changes": (
        "random_brightness random_contrast random_flip_left_right random_flip_up_down random_hue "
        "random_jpeg_quality random_saturation sample_distorted_bounding_box"
    ),
    "graph.functions.image.resizing": (
        "ResizeMethod=ResizeMethodV1 resize resize_area resize_bicubic resize_bilinear "
        "resize_image_with_pad resize_images resize_nearest_neighbor"
    ),
    "graph.functions.nn.windows": "extract_image_patches",
    "graph.functions.random": "random_crop",
}
__all__, __getattr__, __dir__ = facade(__name__, HOMES)
