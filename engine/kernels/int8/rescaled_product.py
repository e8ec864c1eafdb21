"""A product of two int8 operands in float32, where that gives what scaling it in 64 bits gives.

    out = round((a - a_zero) * (b - b_zero) * scale + zero)  within limits

The product is exact in float32. What it is rounded from is a little larger than its multiple, since
that is rounded twice, the first time to a fraction of some bits. `fit` tries some scales next to
the exact one, goes through all pairs, and says whether one is right.
"""

from numba import int64

from ...build.kernel import address, inline, kernel
from ...tiling import FORM, PRODUCT_FORM
from ._rescaled_sum import products
from ._rescaling import HIGH, LOW, RESCALING, exact

_SCALE, _A_ZERO, _B_ZERO, _BIAS = 0, 2, 3, 4  # what `guess` has of the numbers of `products`
_products = products[0]
_LIMITS = 4  # where these have limits
_CANDIDATES = 7  # scales: the nearest one, and some units in the last place to each side


@inline
def _fit(rescaling, guess, scratch, out_form):
    for i in range(_LIMITS):
        out_form[i] = guess[i]
    out_form[_LIMITS], out_form[_LIMITS + 1] = rescaling[LOW], rescaling[HIGH]
    out_form[FORM + 1] = guess[_BIAS]
    values, a_value, results = address(scratch), address(scratch[256:]), address(scratch[257:])
    for k in range(_CANDIDATES):
        out_form[FORM] = PRODUCT_FORM
        out_form[_SCALE] = guess[_SCALE] + ((k + 1) // 2) * (2 * (k % 2) - 1)
        for i in range(256):
            scratch[256] = i - 128
            _products(a_value, values, results, address(out_form), 1, 256, 0, 256, 0, 1)
            wrong, a = int64(0), i - 128 - guess[_A_ZERO]
            for j in range(256):
                product = a * (j - 128 - guess[_B_ZERO])
                wrong += int64(scratch[257 + j] != exact(product, rescaling))
            if wrong:
                out_form[FORM] = 0
                break
        if out_form[FORM]:
            return


@kernel("parameters:int64[products,*] scratch:int8[*] out_forms:int64[products,*]")
def fit(parameters, scratch, out_forms, first, last, fault):
    """The numbers of `products`, and PRODUCT_FORM if they are right for all pairs, else 0.

    Each of `parameters` begins with what makes a product a result, as rescaled_sum.py has it; the
    others are where to begin. There is scratch for all b, one a, and the results of these.
    """
    for i in range(256):
        scratch[i] = i - 128
    for product in range(parameters.shape[0]):
        numbers = parameters[product]
        _fit(numbers[:RESCALING], numbers[RESCALING:], scratch, out_forms[product])
