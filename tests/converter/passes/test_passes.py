from rewriting import graph_of, shown

from flatlite.converter.passes import LAST, PASSES, optimize


def test_every_pass_says_why_it_is_where_it_is():
    assert all(reason for _, reason in (*PASSES, *LAST))
    assert len({run for run, _ in PASSES}) == len(PASSES)


def test_optimize_ends_at_a_fixed_point():
    text = """graph main(x: float32[n,8,8,3]) {
        a = CONV_2D(x, float32[4,3,3,3]#w; stride_w=1, stride_h=1)
        b = MUL(a, float32[4]{2.0})
        c = ADD(b, float32[4]{1.0})
        d = RELU(c)
        s = SHAPE(d)
        n = STRIDED_SLICE(s, int32[1]{0}, int32[1]{1}, int32[1]{1}; shrink_axis_mask=1)
        p = PACK(n, int32[]{256}; values_count=2)
        e = RESHAPE(d, p)
        return e
    }"""
    graph = optimize(graph_of(text))
    assert [op.kind for op in graph.ops] == ["CONV_2D", "RESHAPE"]
    once = shown(graph)
    assert shown(optimize(graph)) == once
