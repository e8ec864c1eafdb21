import struct

from conversion_metadata import field, follow

from flatlite.converter.api.metadata import conversion_metadata


def test_conversion_metadata_says_what_was_asked():
    content = conversion_metadata(
        "graph_def",
        writer="flatlite 1.2",
        api_version=1,
        optimizations=[1001, 1002],
        select_tf_ops=True,
    )
    root = follow(content, 0)
    environment = follow(content, field(content, root, 0))
    text = follow(content, field(content, environment, 0))
    (length,) = struct.unpack_from("<I", content, text)
    assert content[text + 4 : text + 4 + length] == b"flatlite 1.2"
    assert struct.unpack_from("<I", content, field(content, environment, 1)) == (1,)
    assert struct.unpack_from("<i", content, field(content, environment, 2)) == (4,)
    options = follow(content, field(content, root, 1))
    modes = follow(content, field(content, options, 0))
    assert struct.unpack_from("<3i", content, modes) == (2, 1001, 1002)
    assert field(content, options, 1) is None
    assert content[field(content, options, 2)] == 1


def test_same_options_same_bytes():
    assert conversion_metadata("keras", writer="w", api_version=2) == conversion_metadata(
        "keras", writer="w", api_version=2
    )
