# What editors and type checkers see of this module; tests/write_stubs.py writes it.
"""`tf.gfile`: files and folders."""

from ...schema.tensorflow.gfile import Copy as Copy
from ...schema.tensorflow.gfile import DeleteRecursively as DeleteRecursively
from ...schema.tensorflow.gfile import Exists as Exists
from ...schema.tensorflow.gfile import FastGFile as FastGFile
from ...schema.tensorflow.gfile import GFile as GFile
from ...schema.tensorflow.gfile import Glob as Glob
from ...schema.tensorflow.gfile import IsDirectory as IsDirectory
from ...schema.tensorflow.gfile import ListDirectory as ListDirectory
from ...schema.tensorflow.gfile import MakeDirs as MakeDirs
from ...schema.tensorflow.gfile import MkDir as MkDir
from ...schema.tensorflow.gfile import Open as Open
from ...schema.tensorflow.gfile import Remove as Remove
from ...schema.tensorflow.gfile import Rename as Rename
from ...schema.tensorflow.gfile import Stat as Stat
from ...schema.tensorflow.gfile import Walk as Walk
