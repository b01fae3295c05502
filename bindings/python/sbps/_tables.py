"""What a user may hand over as a table, and how the library gets it."""
from __future__ import annotations

import contextlib
import csv
import ctypes
import os
import tempfile
from ctypes import c_char_p, c_void_p, py_object
from typing import Any, Iterator, Mapping, Optional, Sequence

from . import _columns
from . import _library as lib
from .errors import BadArg


class Table:
    """A table as a user gave it: nothing of it is read before `open` or `as_file`."""

    def open(self, options: c_void_p, watch: Any) -> c_void_p:
        """The library's table, to be destroyed."""
        raise NotImplementedError

    @contextlib.contextmanager
    def as_file(self) -> Iterator[bytes]:
        """Its name as a file, for what the library reads row by row."""
        raise NotImplementedError
        yield


class FileTable(Table):
    def __init__(self, names: Sequence[Any]) -> None:
        self.path = b"\n".join(os.fsencode(name) for name in names)

    def open(self, options: c_void_p, watch: Any) -> c_void_p:
        return lib.made("table_read_watched", self.path, options, watch, None)

    @contextlib.contextmanager
    def as_file(self) -> Iterator[bytes]:
        yield self.path


class ColumnTable(Table):
    """Columns in memory; what reads files gets them as CSV with every digit."""

    def __init__(self, columns: Sequence[_columns.Column]) -> None:
        self.columns = columns

    def open(self, options: c_void_p, watch: Any) -> c_void_p:
        structs, keep = _columns.for_library(self.columns)
        try:
            return lib.made("table_from_columns", self.columns[0].rows, len(structs), structs, options, watch, None)
        finally:
            del keep

    @contextlib.contextmanager
    def as_file(self) -> Iterator[bytes]:
        with tempfile.TemporaryDirectory(prefix="sbps-") as folder:
            path = os.path.join(folder, "table.csv")
            with open(path, "w", encoding="utf-8", newline="") as file:
                self.write(file)
            yield os.fsencode(path)

    def write(self, file: Any) -> None:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([column.name for column in self.columns])
        cells = [map(cell, plain_values(column.source)) for column in self.columns]
        writer.writerows(zip(*cells))


class ArrowTable(Table):
    """Anything that speaks Arrow's C stream interface; read once."""

    def __init__(self, producer: Any) -> None:
        self.producer = producer

    def open(self, options: c_void_p, watch: Any) -> c_void_p:
        capsule = self.producer.__arrow_c_stream__()
        find = ctypes.pythonapi.PyCapsule_GetPointer
        find.restype, find.argtypes = c_void_p, [py_object, c_char_p]
        return lib.made("table_from_arrow", find(capsule, b"arrow_array_stream"), options, watch, None)

    @contextlib.contextmanager
    def as_file(self) -> Iterator[bytes]:
        with ColumnTable(self.columns()).as_file() as path:
            yield path

    def columns(self) -> list[_columns.Column]:
        """By way of pandas, where the producer knows it."""
        for way in ("to_pandas", "df"):  # pyarrow and polars; DuckDB
            if callable(getattr(self.producer, way, None)):
                return _columns.from_frame(getattr(self.producer, way)())
        if hasattr(self.producer, "__dataframe__"):
            return _columns.from_interchange(self.producer)
        raise BadArg("an Arrow stream serves to fit: here want a file, columns or a data frame")


class NoTable(Table):
    """For models that are a density by themselves."""

    def open(self, options: c_void_p, watch: Any) -> c_void_p:
        return lib.made("table_none")

    @contextlib.contextmanager
    def as_file(self) -> Iterator[bytes]:
        raise BadArg("which rows? The fit has no table of its own: name one")
        yield


def plain_values(source: Any) -> Any:
    """Python's own numbers in the place of numpy's, which take longer one by one."""
    return source.tolist() if hasattr(source, "tolist") else source


def cell(value: Any) -> str:
    """As text that reads back to the last bit; "" for what is missing."""
    if value is None or value != value:
        return ""
    if isinstance(value, bool):
        return _columns.LEVELS_OF_BOOL[value]
    return value if isinstance(value, str) else repr(value)


def is_path(value: Any) -> bool:
    return isinstance(value, (str, bytes, os.PathLike))


def take(data: Any, names: Optional[Sequence[str]] = None) -> Table:
    """The table that `data` stands for."""
    if data is None:
        return NoTable()
    if isinstance(data, Table):
        return data
    if is_path(data):
        return FileTable([data])
    if isinstance(data, (list, tuple)) and data and all(is_path(one) for one in data):
        return FileTable(data)
    if isinstance(data, Mapping):
        return ColumnTable(_columns.from_mapping(data))
    if _columns.is_of(data, "pandas") and hasattr(data, "columns"):
        return ColumnTable(_columns.from_frame(data))
    if _columns.is_of(data, "numpy") and hasattr(data, "ndim"):
        return ColumnTable(_columns.from_matrix(data, names))
    if _columns.is_of(data, "scipy") and hasattr(data, "tocsc"):
        return ColumnTable(_columns.from_sparse(data, names))
    if hasattr(data, "__arrow_c_stream__"):
        return ArrowTable(data)
    if hasattr(data, "__dataframe__"):
        return ColumnTable(_columns.from_interchange(data))
    raise BadArg(f"{type(data).__name__} is no table: want a file name, a dict of columns, a data frame, a numpy array "
                 "or scipy.sparse matrix with names, or what has __arrow_c_stream__ or __dataframe__")
