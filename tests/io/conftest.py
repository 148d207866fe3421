"""Small files to read."""

import pytest


@pytest.fixture
def write(tmp_path):
    def make(name, content):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return make


@pytest.fixture
def save(tmp_path):
    """Write a dict of columns as any table format."""

    def make(name, columns):
        import pyarrow as pa
        from pyarrow import feather, parquet

        table = columns if isinstance(columns, pa.Table) else pa.table(columns)
        path = tmp_path / name
        if name.endswith(".parquet"):
            parquet.write_table(table, path)
        elif name.endswith(".feather"):
            feather.write_feather(table, path)
        else:
            with pa.ipc.new_stream(path, table.schema) as writer:
                writer.write_table(table)
        return path

    return make
