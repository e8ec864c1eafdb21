"""Calls of functions of strings and of parsing, and how what they give is written down."""

from __future__ import annotations

import json

import numpy as np

CALLS = r"""
tf.strings.length(['a','é',''],unit='UTF8_CHAR')
tf.strings.length(b'\xff\xfe',unit='UTF8_CHAR')
tf.strings.length(['a'],unit='X')
tf.strings.length(3)
tf.strings.substr(['hello','é'],1,2)
tf.strings.substr(['hello'],[-3],[2])
tf.strings.substr('hello',6,1)
tf.strings.substr('hello',-6,1)
tf.strings.substr('hello',5,1)
tf.strings.substr('hello',0,-1)
tf.strings.substr(['héllo','日本語'],1,1,unit='UTF8_CHAR')
tf.strings.substr(['héllo','日本語'],-2,9,unit='UTF8_CHAR')
tf.strings.substr('日本',3,1,unit='UTF8_CHAR')
tf.strings.substr('日本',-3,1,unit='UTF8_CHAR')
tf.strings.substr(['ab','cd'],[0,1],[1,1])
tf.strings.substr(['ab','cd'],[[0],[1]],[[1],[1]])
tf.strings.substr(['ab','cd'],[0],[1,1])
tf.strings.substr('ab',[0,1],[1,1])
tf.strings.substr(['ab'],0,1.5)
tf.strings.substr(b'\xff\xfea',0,2,unit='UTF8_CHAR')
tf.strings.lower('ÀB')
tf.strings.lower('ÀB',encoding='utf-8')
tf.strings.upper(['straße','ñ'],encoding='utf-8')
tf.strings.upper('a',encoding='latin1')
tf.strings.strip([' a\t\n','\x0b b','\u00a0c'])
tf.strings.join(['a','b'],separator='-')
tf.strings.join([['a','b'],'x'])
tf.strings.join([['a','b'],['c']])
tf.strings.join([])
tf.strings.join(['a',1])
tf.strings.join([[['a'],['b']],['c','d']])
tf.strings.reduce_join([['a','b'],['c','d']],axis=-1,separator='+')
tf.strings.reduce_join([['a','b'],['c','d']],axis=[1,0])
tf.strings.reduce_join([['a','b']],axis=2)
tf.strings.reduce_join([['a','b']],axis=[0,0])
tf.strings.reduce_join('a',axis=0)
tf.strings.reduce_join(tf.zeros([2,0],tf.string),axis=1)
tf.strings.reduce_join([['a','b']],keep_dims=True,axis=1)
tf.reduce_join([['a','b'],['c','d']],[0],separator=',')
tf.strings.regex_replace('a.b','.','x')
tf.strings.regex_replace('abc','(','x')
tf.strings.regex_replace('abab','(a)(b)',r'\2\1\0')
tf.strings.regex_replace('abc','b',r'\3')
tf.strings.regex_replace('aaa','a','b',replace_global=False)
tf.strings.regex_replace('héé','é','e')
tf.strings.regex_replace('abc','','-')
tf.strings.regex_replace('a b','\\s','_')
tf.strings.regex_replace('ABC','(?i)b','x')
tf.strings.regex_replace('abc','(?<n>b)','x')
tf.strings.regex_replace('abc','a(?=b)','x')
tf.strings.regex_replace('a1b22','[[:digit:]]+','#')
tf.strings.regex_replace('日本','\\p{Han}','x')
tf.strings.regex_replace('a\nb','a.b','x')
tf.strings.regex_replace('a\nb','(?s)a.b','x')
tf.strings.regex_replace('ab\ncd','^c','x')
tf.strings.regex_replace('ab\ncd','(?m)^c','x')
tf.strings.regex_replace('aab','a{2,}','x')
tf.strings.regex_replace('abc','\\C','x')
tf.strings.regex_replace('a-b_c','\\W','.')
tf.strings.regex_replace('abc','b\\','x')
tf.strings.regex_replace('aXbX','X$','y')
tf.strings.regex_replace('foo.bar',tf.constant('\\.'),tf.constant(' '))
tf.strings.regex_replace('aBc abC','a(?i)b|C','x')
tf.strings.regex_replace('aBc abC','(?i:AB)c','x')
tf.strings.regex_replace('xaxx','x*','-')
tf.strings.regex_replace('日本','.','x')
tf.strings.regex_replace('é1٣','\\d','x')
tf.strings.regex_replace('aéb','\\w','x')
tf.strings.regex_replace('a-b','[^\\w]','x')
tf.strings.regex_replace('a1 é','[\\D]','x')
tf.strings.regex_replace('a1','[^[:^alpha:]]','x')
tf.strings.regex_replace('aaa','(?U)a+','x')
tf.strings.regex_replace('aaa','a+?','x')
tf.strings.regex_replace('a.b+c','\\Q.b+\\E','x')
tf.strings.regex_replace('aaa','a++','x')
tf.strings.regex_replace('aaa','a**','x')
tf.strings.regex_replace('aaa','*a','x')
tf.strings.regex_replace('aaa','a{1,1001}','x')
tf.strings.regex_replace('a{,2}','a{,2}','x')
tf.strings.regex_replace('abcabc','(abc)\\1','x')
tf.strings.regex_replace('abc','\\y','x')
tf.strings.regex_replace('abc',')','x')
tf.strings.regex_replace('abc','(?P<q>b)(?:c)','<\\1>')
tf.strings.regex_replace('ab','(a)|(b)','[\\1\\2]')
tf.strings.regex_replace('a\\b','\\\\','/')
tf.strings.regex_replace('ab','b','\\\\')
tf.strings.regex_replace('a]b','[]]','x')
tf.strings.regex_replace('a-b','[a-]','x')
tf.strings.regex_replace('abc','[c-a]','x')
tf.strings.regex_replace('a[b','[[]','x')
tf.strings.regex_replace('aéz','[à-ü]','x')
tf.strings.regex_replace('ÀB1','\\p{Lu}','x')
tf.strings.regex_replace('ÀB1','\\PL','x')
tf.strings.regex_replace(b'a\xffb','.','x')
tf.strings.regex_replace('a\n','a$','x')
tf.strings.regex_replace('foo bar','\\bb','x')
tf.strings.regex_replace('A','\\x41','x')
tf.strings.regex_replace('☃','\\x{2603}','x')
tf.strings.regex_full_match(['日本','日本語'],'..')
tf.strings.regex_full_match(['ab','abc',''],'a.*')
tf.strings.regex_full_match(['ab\n'],'ab')
tf.strings.regex_full_match('a','[')
tf.strings.regex_full_match(['a'],['a','b'])
tf.strings.split(['a b  c',' d '])
tf.strings.split(['a b'],sep='')
tf.strings.split(['a,b,,c',''],sep=',')
tf.strings.split(['a<>b<>c'],sep='<>',maxsplit=1)
tf.strings.split([' a  b c '],maxsplit=1)
tf.strings.split('a b')
tf.strings.split([['a b']])
tf.strings.split(['a b'],result_type='X')
tf.strings.split(['a,b'],sep=',',result_type='RaggedTensor')
tf.strings.split([['a b','c']],result_type='RaggedTensor')
tf.string_split(['a b',' c'])
tf.string_split(['a,b;c'],',;',skip_empty=False)
tf.string_split(['abc'],'')
tf.string_split('a b')
tf.string_split(['a b'],delimiter=[' ',','])
tf.string_split(['a b'],result_type='RaggedTensor')
tf.string_split([''],skip_empty=False)
tf.strings.bytes_split(['ab','é'])
tf.strings.bytes_split('ab')
tf.strings.bytes_split([['ab'],['c']])
tf.strings.to_number([' 1','2.5','-inf','nan','1e3','0x10'])
tf.strings.to_number('abc')
tf.strings.to_number('')
tf.strings.to_number(['1',' 2 ','+3'],tf.int32)
tf.strings.to_number('1.5',tf.int32)
tf.strings.to_number('3000000000',tf.int32)
tf.strings.to_number('9223372036854775808',tf.int64)
tf.strings.to_number('1e400',tf.float64)
tf.strings.to_number('1e40')
tf.strings.to_number('1_0')
tf.strings.to_number('1',tf.bool)
tf.strings.to_number('1f')
tf.strings.to_number('infinity')
tf.strings.to_number('0x1p3')
tf.strings.to_hash_bucket(['a',''],10)
tf.strings.to_hash_bucket_fast(['a',''],10)
tf.strings.to_hash_bucket_strong(['a',''],10,key=[1,2])
tf.strings.to_hash_bucket_strong(['a',''],10,key=[1])
tf.strings.to_hash_bucket_fast(['a'],0)
tf.strings.to_hash_bucket_fast([1],2)
tf.as_string([1.5,float('inf'),float('nan'),-0.])
tf.as_string([1,-2],width=4)
tf.as_string([1,-2],width=4,fill='0')
tf.as_string([1,-2],width=4,fill='-')
tf.as_string([1,-2],fill='x')
tf.as_string([1.5],precision=3,scientific=True,shortest=True)
tf.as_string([1],precision=2)
tf.as_string([1e-7,1e20,123456.789],shortest=True)
tf.as_string([1e-7,1e20,123456.789],scientific=True)
tf.as_string([1e-7,1e20,123456.789],precision=0)
tf.as_string(tf.constant([1+2j,0.5-1e-9j],tf.complex128))
tf.as_string(tf.constant([1.5],tf.float16))
tf.as_string(tf.constant([1.5],tf.bfloat16))
tf.as_string(tf.constant([255],tf.uint8))
tf.as_string([True],width=6)
tf.as_string(['a'])
tf.as_string(['a'],width=3)
tf.strings.format('{} {}',[1,2])
tf.strings.format('{}',[[1,2]])
tf.strings.format('%t %t',[tf.constant(1.5),tf.constant(['a'])],placeholder='%t')
tf.strings.format('{}',tf.range(10),summarize=2)
tf.strings.format('a',[])
tf.strings.format('a',3)
tf.strings.format('{}',tf.constant('a"b'))
tf.strings.format('{}',tf.constant(True))
tf.strings.format('{}',tf.zeros([2,0]))
tf.strings.format('{}',tf.constant([1e-10,1e10,1.]))
tf.strings.unicode_decode('a\u00e9','UTF-8')
tf.strings.unicode_decode(b'a\xff','UTF-8')
tf.strings.unicode_decode(b'a\xff','UTF-8',errors='strict')
tf.strings.unicode_decode(b'a\xff','UTF-8',errors='ignore')
tf.strings.unicode_decode(b'a\xff','UTF-8',replacement_char=-1)
tf.strings.unicode_decode('a','UTF-9')
tf.strings.unicode_decode(b'\x82\xa0','shift_jis')
tf.strings.unicode_decode(b'\xe9','latin1')
tf.strings.unicode_encode([97,55296],'UTF-8')
tf.strings.unicode_encode([97,55296],'UTF-8',errors='strict')
tf.strings.unicode_encode([[97]],'UTF-7')
tf.strings.unicode_encode(97,'UTF-8')
tf.strings.unicode_transcode(['\u00e9'],'UTF-8','UTF-16-BE')
tf.strings.unicode_transcode([b'\xff'],'UTF-8','UTF-8',errors='strict')
tf.strings.unicode_transcode([b'a\x01'],'UTF-8','UTF-8',replace_control_characters=True)
tf.strings.unicode_transcode(['a'],'nope','UTF-8')
tf.strings.unicode_transcode(['a'],'UTF-8','latin1')
tf.strings.unicode_split('héa','UTF-8')
tf.strings.unicode_split_with_offsets(['hé'],'UTF-8')[1]
tf.strings.ngrams(['a','b','c'],2)
tf.strings.ngrams(['a','b','c'],[2,5])
tf.strings.ngrams(['a','b'],3,pad_values='p')
tf.strings.ngrams(['a','b'],3,preserve_short_sequences=True)
tf.strings.ngrams(['a','b'],0)
tf.strings.ngrams(['a','b'],2,pad_values=1)
tf.strings.ngrams(['a','b'],2,padding_width=-1)
tf.strings.unsorted_segment_join(['a','b','c'],[1,0,1],2,separator='-')
tf.strings.unsorted_segment_join(['a','b'],[0,2],2)
tf.strings.unsorted_segment_join(['a','b'],[0,-1],2)
tf.strings.unsorted_segment_join(['a','b'],[0],2)
tf.encode_base64(['','a?','\u00ff'])
tf.encode_base64('ab',pad=True)
tf.decode_base64('YQ')
tf.decode_base64('YQ==')
tf.decode_base64('Y')
tf.decode_base64('a+b/')
tf.decode_base64('YR')
tf.io.decode_raw(['abcd'],tf.int16)
tf.io.decode_raw(['abc'],tf.int16)
tf.io.decode_raw(['ab','abcd'],tf.uint8)
tf.io.decode_raw(['ab'],tf.int16,little_endian=False)
tf.io.decode_raw(['\x00\x01'],tf.bool)
tf.io.decode_raw([],tf.uint8)
tf.io.decode_raw(['abcd'],tf.string)
tf.io.decode_raw(['abcdefgh'],tf.complex64)
tf.io.decode_csv(['1,2.5,a','3,,"b,c"'],[[0],[1.],['x']])
tf.io.decode_csv('1,2',[[0],[0]],field_delim=',')
tf.io.decode_csv('1;2',[[0],[0]],field_delim=';')
tf.io.decode_csv('1,2',[[0]])
tf.io.decode_csv('"a',[['x']])
tf.io.decode_csv('"',[['x']])
tf.io.decode_csv('"a"b',[['x']])
tf.io.decode_csv('1,a',[[0],[0]])
tf.io.decode_csv('1,',[[0],tf.constant([],tf.int32)])
tf.io.decode_csv('1,NA',[[0],[7]],na_value='NA')
tf.io.decode_csv('1,2,3',[[0],[0]],select_cols=[0,2])
tf.io.decode_csv('1,2,3',[[0],[0]],select_cols=[2,0])
tf.io.decode_csv('1,2,3',[[0],[0]],select_cols=[0,5])
tf.io.decode_csv('"a""b",c',[[''],['']])
tf.io.decode_csv('"a"b,c',[[''],['']])
tf.io.decode_csv('a"b,c',[[''],['']])
tf.io.decode_csv('a"b,c',[[''],['']],use_quote_delim=False)
tf.io.decode_csv('1,2',[[0],[True]])
tf.io.decode_csv('1,2',[[0],[0]],field_delim=',,')
tf.io.decode_csv('1,2',[])
tf.io.decode_csv('3000000000',[[0]])
tf.io.decode_csv('',[['d']])
tf.io.decode_csv(['1','2'],[tf.constant([],tf.int64)])
tf.io.decode_compressed([b'a'],'')
tf.io.decode_compressed([b'a'],'GZIP')
tf.io.decode_compressed([b'a'],'BZ')
tf.io.decode_json_example('{"features": {"feature": {"a": {"int64List": {"value": [1]}}}}}')
tf.io.decode_json_example('{')
tf.io.parse_tensor(tf.io.serialize_tensor([1,2]),tf.int32)
tf.io.parse_tensor(tf.io.serialize_tensor([1,2]),tf.int64)
tf.io.parse_tensor('zz',tf.int64)
tf.io.parse_tensor(['zz'],tf.int64)
P([X(a=[1,2])],{'a':F([2],tf.int64)})
P([X(a=[1])],{'a':F([2],tf.int64)})
P([X(a=[1.])],{'a':F([1],tf.int64)})
P([X()],{'a':F([1],tf.int64)})
P([X()],{'a':F([1],tf.int64,default_value=5)})
P([X()],{'a':F([2],tf.int64,default_value=5)})
P([X()],{'a':F([2],tf.int64,default_value=[5,6])})
P([X(a=[1,2]),X()],{'a':tf.io.VarLenFeature(tf.int64)})
P([X(a=[b'x'])],{'a':tf.io.VarLenFeature(tf.float32)})
P([X(a=[1,2,3]),X(a=[4])],{'a':tf.io.FixedLenSequenceFeature([],tf.int64,allow_missing=True)})
P([X(a=[1,2,3])],{'a':tf.io.FixedLenSequenceFeature([2],tf.int64,allow_missing=True)})
P([X(a=[1])],{'a':tf.io.FixedLenSequenceFeature([],tf.int64)})
P([X(i=[0,3],v=[1.,2.])],{'a':tf.io.SparseFeature('i','v',tf.float32,5)})
P([X(i=[0,9],v=[1.,2.])],{'a':tf.io.SparseFeature('i','v',tf.float32,5)})
P([X(i=[0],v=[1.,2.])],{'a':tf.io.SparseFeature('i','v',tf.float32,5)})
P([X(i=[3,0],v=[1.,2.])],{'a':tf.io.SparseFeature('i','v',tf.float32,5,already_sorted=True)})
P([X(i=[1],j=[2],v=[1.])],{'a':tf.io.SparseFeature(['i','j'],'v',tf.float32,[4,5])})
P([X(a=[1,2],s=[0,1,2])],{'a':tf.io.RaggedFeature(tf.int64)})
P([X(a=[1,2],s=[0,1,2])],{'a':tf.io.RaggedFeature(tf.int64,'a',[tf.io.RaggedFeature.RowSplits('s')])})
P([X(a=[1,2],s=[1,1])],{'a':tf.io.RaggedFeature(tf.int64,'a',[tf.io.RaggedFeature.RowLengths('s')])})
P([X(a=[1,2])],{'a':tf.io.RaggedFeature(tf.int64,'a',[tf.io.RaggedFeature.UniformRowLength(2)])})
P([b'junk'],{'a':F([1],tf.int64)})
P([],{'a':F([1],tf.int64)})
P([X(a=[1])],{})
P([X(a=[1])],None)
P([X(a=[1])],{'a':F([None],tf.int64)})
P([X(a=[1])],{'a':F([1],tf.int32)})
P([X(a=[1])],{'a':3})
P([X(a=[1])],[1])
P('x',{'a':F([1],tf.int64)})
P([X(a=[1])],{'a':F([1],tf.int64)},example_names=['n'])
P([X()],{'a':F([1],tf.int64)},example_names=['n'])
P([X(a=[1])],{'a':F([],tf.int64),'b':tf.io.VarLenFeature(tf.string)})
P([X(a=[b'x',b'y'])],{'a':F([2,1],tf.string)})
P1(X(a=[1,2]),{'a':F([2],tf.int64)})
P1(X(a=[1,2]),{'a':tf.io.VarLenFeature(tf.int64)})
P1(X(),{'a':F([2],tf.int64)})
P1([X()],{'a':F([2],tf.int64)})
P1('junk',{'a':F([2],tf.int64)})
PS([Q(c=[1],l=[[1],[2,3]])],{'c':F([],tf.int64)},{'l':tf.io.VarLenFeature(tf.int64)})
PS([Q(l=[[1],[2]]),Q(l=[[3]])],None,{'l':tf.io.FixedLenSequenceFeature([],tf.int64)})
PS([Q(l=[[1,2],[2]])],None,{'l':tf.io.FixedLenSequenceFeature([],tf.int64)})
PS([Q()],None,{'l':tf.io.FixedLenSequenceFeature([],tf.int64)})
PS([Q()],None,{'l':tf.io.FixedLenSequenceFeature([],tf.int64,allow_missing=True)})
PS([Q()],{'c':F([],tf.int64)},None)
PS([Q(l=[[1]])],None,{'l':F([],tf.int64)})
PS([Q(l=[[1],[2,3]])],None,{'l':tf.io.RaggedFeature(tf.int64)})
PS1(Q(c=[1],l=[[1],[2]]),{'c':F([],tf.int64)},{'l':tf.io.FixedLenSequenceFeature([],tf.int64)})
PS1(Q(l=[[1],[2,3]]),None,{'l':tf.io.VarLenFeature(tf.int64)})
PS1(Q(l=[[1.]]),None,{'l':tf.io.VarLenFeature(tf.int64)})
PS1(Q(),None,None)
PS1('junk',{'c':F([],tf.int64)},None)
""".strip().split("\n")
OTHERWISE = {
    r"tf.strings.regex_replace('日本','\\p{Han}','x')": "scripts of Unicode are not known",
    "tf.string_split('a b')": "takes a scalar, too",
    "tf.strings.format('a',3)": "the error says how many tensors there must be",
    "tf.strings.format('{}',tf.zeros([2,0]))": "no dots where nothing is left out",
    "tf.strings.ngrams(['a','b'],2,padding_width=-1)": "another of two errors comes first",
    "tf.io.decode_compressed([b'a'],'GZIP')": "a cut file is an error",
    "tf.io.decode_compressed([b'a'],'BZ')": "ZSTD is not read",
    (
        """tf.io.decode_json_example('{"features": {"feature": {"a": {"int64List": {"value": [1]"""
        "}}}}}')"
    ): "the same message with its numbers packed",
    "P([b'junk'],{'a':F([1],tf.int64)})": "what is no message is an error",
    "tf.io.decode_json_example('{')": "what is wrong with JSON is said in Python's words",
    "P([X(i=[0],v=[1.,2.])],{'a':tf.io.SparseFeature('i','v',tf.float32,5)})": "without the counts",
    "P1('junk',{'a':F([2],tf.int64)})": "what is no message is an error",
    "PS([Q()],{'c':F([],tf.int64)},None)": "the error says that the feature is not there",
    "PS1('junk',{'c':F([],tf.int64)},None)": "what is no message is an error",
}
"""Calls for which flatlite does otherwise on purpose, and why."""


def names(tf) -> dict[str, object]:
    """What calls are written with: messages of features, and the functions that parse them."""

    def feature(values):
        kind = {bytes: "bytes_list", int: "int64_list", float: "float_list"}[type(values[0])]
        return tf.train.Feature(**{kind: {"value": values}})

    def message(**lists):
        features = {key: feature(values) for key, values in lists.items()}
        whole = tf.train.Example(features=tf.train.Features(feature=features))
        return whole.SerializeToString()

    def sequence(c=None, **lists):
        context = {} if c is None else {"c": feature(c)}
        features = {
            key: tf.train.FeatureList(feature=[*map(feature, rows)]) for key, rows in lists.items()
        }
        return tf.train.SequenceExample(
            context=tf.train.Features(feature=context),
            feature_lists=tf.train.FeatureLists(feature_list=features),
        ).SerializeToString()

    return {
        "tf": tf,
        "np": np,
        "X": message,
        "Q": sequence,
        "F": tf.io.FixedLenFeature,
        "P": tf.io.parse_example,
        "P1": tf.io.parse_single_example,
        "PS": tf.io.parse_sequence_example,
        "PS1": tf.io.parse_single_sequence_example,
    }


def outcome(tf, call: str) -> object:
    """What a call gives, or the name of its error with the first words."""
    with tf.Graph().as_default(), tf.Session() as session:
        try:
            value = eval(call, names(tf))
            value = list(value) if isinstance(value, tuple) else value
            return json.loads(json.dumps(_listed(tf, session.run(value))))
        except Exception as error:
            return ["raises", type(error).__name__, _words(str(error))]


def _words(text: str) -> str:
    """The first words of an error, without where it happened."""
    lines = text.splitlines() or [""]
    if "Graph execution error" in text:
        nodes = [i for i, line in enumerate(lines) if line.startswith("Node:")]
        lines = lines[nodes[-1] + 1 :] if nodes else lines
    return lines[0].removeprefix("assertion failed: [")[:60]


def _listed(tf, value: object) -> object:
    if isinstance(value, tf.ragged.RaggedTensorValue):
        return ["ragged", _texts(value.to_list())]
    if isinstance(value, tf.SparseTensorValue):
        return ["sparse", *(_listed(tf, np.asarray(part)) for part in value)]
    if isinstance(value, dict):
        return {key: _listed(tf, item) for key, item in sorted(value.items())}
    if isinstance(value, (list, tuple)):
        return [_listed(tf, item) for item in value]
    array = np.asarray(value)
    kind = "string" if array.dtype.kind in "SO" else array.dtype.name
    return [kind, list(array.shape), _texts(array.tolist())]


def _texts(value: object) -> object:
    if isinstance(value, list):
        return [_texts(item) for item in value]
    if isinstance(value, complex) or (isinstance(value, float) and value != value):
        return str(value)
    return value.decode("latin1") if isinstance(value, bytes) else value


def outcomes(tf):
    """What each call gives."""
    return {call: outcome(tf, call) for call in CALLS}
