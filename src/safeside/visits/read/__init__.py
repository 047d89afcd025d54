"""Visits from files and dataframes of any engine, as one lazy table whose columns are called by their roles.

`format` is what the owner declares, `roles` which column is what; `paths`, `files`, `csv_bytes` and `parquet`
open files, `dataframes` takes those of other engines, `text_values` and `identifiers` say how values are read
and compared; `source` puts it together, and `engines` runs queries on it.
"""
