# What editors and type checkers see of this module; tests/write_stubs.py writes it.
"""The names of `tf.io.gfile`."""

from ...schema.tensorflow.gfile import GFile as GFile
from ...schema.tensorflow.gfile_v2 import copy as copy
from ...schema.tensorflow.gfile_v2 import exists as exists
from ...schema.tensorflow.gfile_v2 import glob as glob
from ...schema.tensorflow.gfile_v2 import isdir as isdir
from ...schema.tensorflow.gfile_v2 import join as join
from ...schema.tensorflow.gfile_v2 import listdir as listdir
from ...schema.tensorflow.gfile_v2 import makedirs as makedirs
from ...schema.tensorflow.gfile_v2 import mkdir as mkdir
from ...schema.tensorflow.gfile_v2 import remove as remove
from ...schema.tensorflow.gfile_v2 import rename as rename
from ...schema.tensorflow.gfile_v2 import rmtree as rmtree
from ...schema.tensorflow.gfile_v2 import stat as stat
from ...schema.tensorflow.gfile_v2 import walk as walk
