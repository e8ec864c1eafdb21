"""Words as numbers and back: tables, hashes, and texts that are split."""

from .registry import case

VOCABULARY = ["a", "b", "ö"]


def words(k, n=4):
    return k.Input((n,), dtype="string")


def lookup(k, **settings):
    """A model of one StringLookup."""
    x = words(k)
    return k.Model(x, k.layers.StringLookup(**{"vocabulary": VOCABULARY, **settings})(x))


@case("strings")
def given(k):
    return lookup(k)


@case("strings")
def masked(k):
    return lookup(k, mask_token="", oov_token="?")


@case("strings")
def hot(k):
    return lookup(k, output_mode="multi_hot")


@case("strings")
def counted(k):
    return lookup(k, output_mode="count", mask_token="")


@case("strings")
def padded(k):
    return lookup(k, output_mode="multi_hot", max_tokens=7, pad_to_max_tokens=True)


@case("strings")
def adapted(k):
    x = words(k)
    layer = k.layers.StringLookup(mask_token="", name="lookup")
    layer.adapt(["a", "b", "b", "Hello"])
    other = k.layers.IntegerLookup(name="integers")
    other.adapt([[3], [3], [1]])
    return k.Model(x, [layer(x), other(layer(x))])


@case("strings")
def back(k):
    x = k.Input((5,), dtype="int64")
    return k.Model(x, k.layers.StringLookup(vocabulary=VOCABULARY, mask_token="", invert=True)(x))


@case("strings")
def hashed(k):
    x, y = words(k), k.Input((3,), dtype="int64")
    results = [
        k.layers.Hashing(7)(x),
        k.layers.Hashing(5, salt=[3, 9], mask_value="")(x),
        k.layers.Hashing(4)(y),
        k.layers.Hashing(4, output_mode="multi_hot", salt=7)(x),
    ]
    return k.Model([x, y], results)


@case("strings")
def unknown(k):
    return lookup(k, num_oov_indices=3)


@case("strings")
def texts(k):
    x = k.Input((1,), dtype="string")
    make = k.layers.TextVectorization
    vocabulary = ["a", "b", "hello"]
    results = [
        make(vocabulary=vocabulary)(x),
        make(vocabulary=vocabulary, output_sequence_length=3)(x),
        make(vocabulary=vocabulary, standardize=None, output_mode="multi_hot")(x),
        make(vocabulary=vocabulary, standardize="strip_punctuation", output_mode="count")(x),
    ]
    return k.Model(x, results)


@case("strings")
def whole(k):
    x = k.Input((1,), dtype="string")
    layer = k.layers.TextVectorization(standardize="lower", split=None)
    layer.adapt(["Hello", "a b", "hello"])
    return k.Model(x, layer(x))
