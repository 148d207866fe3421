"""Reading score sets, class tables and similarities, and writing rankings.  See ``docs/files.md``."""

from repair.io.class_files import ClassFile, read_class_table
from repair.io.columns import ColumnNames
from repair.io.rankings import write_ranking
from repair.io.score_files import ScoreFile, read_score_set
from repair.io.similarity_files import read_similarity
from repair.io.table_readers import CsvFormat

__all__ = [
    "ClassFile",
    "ColumnNames",
    "CsvFormat",
    "ScoreFile",
    "read_class_table",
    "read_score_set",
    "read_similarity",
    "write_ranking",
]
