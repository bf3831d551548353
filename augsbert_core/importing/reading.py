"""Bytes of a file to a table, whatever format it is in."""

from augsbert_core.importing.delimited import read_delimited
from augsbert_core.importing.table import Table
from augsbert_core.options import ImportOptions

DEFAULT = ImportOptions()


def read_table(data: bytes, name: str, options: ImportOptions = DEFAULT) -> Table:
    """Read a file as the options say; what they leave open is found out, and the notes say what was found.

    Every row of the file is in the table's rows, in its header, or counted in the notes. WorkbenchError: the file is
    empty, damaged, in no format that is known, or has no row below its header.
    """
    return read_delimited(
        data,
        name,
        delimiter=options.delimiter,
        header=options.header,
        quoting=options.quoting,
        encoding=options.encoding,
    )
