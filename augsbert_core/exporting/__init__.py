"""Files out: rows to CSV, JSON lines, Parquet and datasets; folders and archives."""
