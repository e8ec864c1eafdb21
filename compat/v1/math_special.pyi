# What editors and type checkers see of this module; tests/write_stubs.py writes it.
"""The names of `tf.math.special`: Bessel functions and integrals."""

from ...graph.functions.math.special import bessel_i0 as bessel_i0
from ...graph.functions.math.special import bessel_i0e as bessel_i0e
from ...graph.functions.math.special import bessel_i1 as bessel_i1
from ...graph.functions.math.special import bessel_i1e as bessel_i1e
from ...graph.functions.math.special import bessel_j0 as bessel_j0
from ...graph.functions.math.special import bessel_j1 as bessel_j1
from ...graph.functions.math.special import bessel_k0 as bessel_k0
from ...graph.functions.math.special import bessel_k0e as bessel_k0e
from ...graph.functions.math.special import bessel_k1 as bessel_k1
from ...graph.functions.math.special import bessel_k1e as bessel_k1e
from ...graph.functions.math.special import bessel_y0 as bessel_y0
from ...graph.functions.math.special import bessel_y1 as bessel_y1
from ...graph.functions.math.special import dawsn as dawsn
from ...graph.functions.math.special import expint as expint
from ...graph.functions.math.special import fresnel_cos as fresnel_cos
from ...graph.functions.math.special import fresnel_sin as fresnel_sin
from ...graph.functions.math.special import spence as spence
