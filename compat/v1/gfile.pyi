# What editors and type checkers see of this module; tests/write_stubs.py writes it.
"""`tf.gfile`: files and folders."""

from ...schema.gfile import Copy as Copy
from ...schema.gfile import DeleteRecursively as DeleteRecursively
from ...schema.gfile import Exists as Exists
from ...schema.gfile import FastGFile as FastGFile
from ...schema.gfile import GFile as GFile
from ...schema.gfile import Glob as Glob
from ...schema.gfile import IsDirectory as IsDirectory
from ...schema.gfile import ListDirectory as ListDirectory
from ...schema.gfile import MakeDirs as MakeDirs
from ...schema.gfile import MkDir as MkDir
from ...schema.gfile import Open as Open
from ...schema.gfile import Remove as Remove
from ...schema.gfile import Rename as Rename
from ...schema.gfile import Stat as Stat
from ...schema.gfile import Walk as Walk
