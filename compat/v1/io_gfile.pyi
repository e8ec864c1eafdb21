# What editors and type checkers see of this module; tests/write_stubs.py writes it.
"""The names of `tf.io.gfile`."""

from ...schema.gfile import GFile as GFile
from ...schema.gfile_v2 import copy as copy
from ...schema.gfile_v2 import exists as exists
from ...schema.gfile_v2 import glob as glob
from ...schema.gfile_v2 import isdir as isdir
from ...schema.gfile_v2 import join as join
from ...schema.gfile_v2 import listdir as listdir
from ...schema.gfile_v2 import makedirs as makedirs
from ...schema.gfile_v2 import mkdir as mkdir
from ...schema.gfile_v2 import remove as remove
from ...schema.gfile_v2 import rename as rename
from ...schema.gfile_v2 import rmtree as rmtree
from ...schema.gfile_v2 import stat as stat
from ...schema.gfile_v2 import walk as walk
