"""Parquet, Feather and Arrow files to Arrow tables, within bounds: a small file cannot ask for gigabytes."""

from typing import TYPE_CHECKING, Any

from augsbert_core.errors import WorkbenchError
from augsbert_core.importing.json_records import MAX_CELLS, MAX_COLUMNS

if TYPE_CHECKING:
    import pyarrow as pa

PARQUET, ENCRYPTED, ARROW_FILE, ARROW_STREAM = b"PAR1", b"PARE", b"ARROW1", b"\xff\xff\xff\xff"
MAX_BYTES = 2 * 1024**3
_HARMLESS_BYTES = 64 * 1024**2
_BOMB_RATIO = 200
_BATCH_BYTES = 256 * 1024**2
_WIDTHS = {"BOOLEAN": 1, "INT32": 4, "FLOAT": 4, "INT64": 8, "DOUBLE": 8, "INT96": 12}
# A compressed buffer of an Arrow file is its size unpacked, eight bytes, and a frame of Zstandard or LZ4.
_FRAMES = (b"\x28\xb5\x2f\xfd", b"\x04\x22\x4d\x18")
_LARGEST_BUFFER = 1024**4


def open_arrow(data: bytes, name: str) -> "pa.Table":
    """The table that a Parquet, Feather or Arrow file holds, checked, its texts as dictionaries where Parquet has them.

    WorkbenchError: it is encrypted or too large. Damage shows as any other exception.
    """
    if data.startswith(ENCRYPTED):
        raise WorkbenchError(f"{name} is encrypted. Save it without encryption and import that.")
    table = _open(data, name)
    # Before anything else: broken offsets in an Arrow file would read outside its buffers.
    _validate(table)
    check_size(name, table.num_rows, table.num_columns, table.nbytes)
    return table


def check_size(name: str, n_rows: int, n_columns: int, n_bytes: int) -> None:
    """WorkbenchError when a table of this size is too large to be read at once."""
    if n_rows * n_columns > MAX_CELLS or n_columns > MAX_COLUMNS or n_bytes > MAX_BYTES:
        raise WorkbenchError(
            f"{name} is too large to be read at once: {n_rows:,} rows of {n_columns:,} columns, "
            f"{n_bytes / 1024**3:.1f} GB. Save the columns that are needed, in several files of fewer rows."
        )


def _check_ratio(name: str, n_bytes: int, packed: int) -> None:
    if n_bytes > max(_HARMLESS_BYTES, _BOMB_RATIO * packed):
        raise WorkbenchError(
            f"{name} unpacks to more than {_BOMB_RATIO} times its size, as only broken or malicious files do. "
            "If you trust it, save it without compression and import that."
        )


def _open(data: bytes, name: str) -> "pa.Table":
    import pyarrow as pa
    import pyarrow.ipc

    if data.startswith(PARQUET):
        return _open_parquet(data, name)
    _check_buffers(data, name)
    source = pa.BufferReader(data)
    if data.startswith(ARROW_FILE):
        file = pa.ipc.open_file(source)
        batches = map(file.get_batch, range(file.num_record_batches))
        return _collect(batches, file.schema, name)
    stream = pa.ipc.open_stream(source)
    return _collect(stream, stream.schema, name)


def _check_buffers(data: bytes, name: str) -> None:
    """WorkbenchError when the compressed buffers of an Arrow file say that they unpack to too much."""
    unpacked = 0
    for frame in _FRAMES:
        at = data.find(frame)
        while at >= 0:
            size = int.from_bytes(data[max(at - 8, 0) : at], "little", signed=True)
            if at % 8 == 0 and 0 < size < _LARGEST_BUFFER:
                unpacked += size
            at = data.find(frame, at + 4)
    check_size(name, 0, 0, unpacked)
    _check_ratio(name, unpacked, len(data))


def _collect(batches: Any, schema: "pa.Schema", name: str) -> "pa.Table":
    """Batches as a table; stops as soon as they are too much."""
    import pyarrow as pa

    kept = []
    n_rows = n_bytes = 0
    for batch in batches:
        n_rows += batch.num_rows
        n_bytes += batch.nbytes
        check_size(name, n_rows, len(schema), n_bytes)
        kept.append(batch)
    return pa.Table.from_batches(kept, schema)


def _open_parquet(data: bytes, name: str) -> "pa.Table":
    import pyarrow as pa
    import pyarrow.parquet as pq

    metadata = pq.ParquetFile(pa.BufferReader(data)).metadata
    groups = range(metadata.num_row_groups)
    n_encoded = sum(metadata.row_group(place).total_byte_size for place in groups)
    check_size(name, metadata.num_rows, metadata.num_columns, n_encoded)
    # Texts stay dictionaries: a few kilobytes of repeated text would else swell to gigabytes.
    fields = [metadata.schema.column(place) for place in range(metadata.num_columns)]
    texts = [
        field.path
        for field in fields
        if field.physical_type == "BYTE_ARRAY" and field.logical_type.type != "DECIMAL"
    ]
    file = pq.ParquetFile(pa.BufferReader(data), read_dictionary=texts)
    for place in groups:
        # Damage shows as an error here; asking a damaged row group about its columns would end the process.
        try:
            next(file.iter_batches(1, row_groups=[place], use_threads=False), None)
        except (OSError, NotImplementedError) as error:
            if "Not yet implemented" not in str(error):
                raise
    differences, longest = _check_chunks(metadata, fields, name, len(data))
    if differences:
        # pyarrow makes no dictionaries of these.
        texts = [path for path in texts if path not in differences]
        file = pq.ParquetFile(pa.BufferReader(data), read_dictionary=texts)
    if not longest:
        return file.read()
    n_rows = max(16, min(65_536, _BATCH_BYTES // longest))
    batches = file.iter_batches(n_rows, use_threads=False)
    return _collect(batches, file.schema_arrow, name)


def _check_chunks(metadata: Any, fields: list[Any], name: str, packed: int) -> tuple[set[str], int]:
    """The columns of texts written as differences to those before, and how long such a text can be at most.

    WorkbenchError when the columns unpack to too much, those differences aside.
    """
    differences: set[str] = set()
    n_text = n_fixed = longest = 0
    for group in map(metadata.row_group, range(metadata.num_row_groups)):
        if group.num_columns != len(fields):  # pyarrow would read outside of its memory
            raise ValueError("a row group lacks columns")
        for place, field in enumerate(fields):
            chunk = group.column(place)
            size, n_values = chunk.total_uncompressed_size, chunk.num_values
            if chunk.physical_type != "BYTE_ARRAY":
                width = _WIDTHS.get(chunk.physical_type, field.length)
                n_fixed += max(size, width * n_values)
                continue
            n_text += size
            n_fixed += 4 * n_values  # where each text stands in the dictionary
            if any(encoding.startswith("DELTA") for encoding in chunk.encodings):
                differences.add(field.path)
            if "DELTA_BYTE_ARRAY" in chunk.encodings:
                longest = max(longest, size)
                if field.max_repetition_level:  # a single row can hold all of them
                    n_fixed += size * n_values
        check_size(name, metadata.num_rows, metadata.num_columns, n_text + n_fixed)
    _check_ratio(name, n_text, packed)
    return differences, longest


def _validate(table: "pa.Table") -> None:
    """ArrowException when a table is not what it says. Days with hours in them, which some programs write, pass."""
    import pyarrow as pa

    try:
        table.validate(full=True)
    except pa.ArrowException:
        for column in table.columns:
            is_time = pa.types.is_date64(column.type) or pa.types.is_time(column.type)
            column.validate(full=not is_time)
