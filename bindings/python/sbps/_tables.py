"""The kinds of tables that a user may pass, and their conversion for the library."""
from __future__ import annotations

import ctypes
import os
from ctypes import c_char_p, c_void_p, pointer, py_object
from typing import Any, Mapping, NamedTuple, Optional, Sequence

from . import _columns
from . import _library as lib
from ._optional import optional_module
from .errors import BadArg


class Rows(NamedTuple):
    """Rows that the library reads one by one: a file, or columns with the objects that own them."""

    path: Optional[bytes]
    frame: Any = None
    keep: Any = None


class Table:
    """A table as the user passed it: nothing is read before `open` or `rows`."""

    def open(self, options: c_void_p, watch: Any) -> c_void_p:
        """The library's table, which the caller destroys."""
        raise NotImplementedError

    def rows(self) -> Rows:
        """For functions of the library that read the rows once, one by one."""
        raise NotImplementedError


class FileTable(Table):
    def __init__(self, names: Sequence[Any]) -> None:
        self.path = b"\n".join(os.fsencode(name) for name in names)

    def open(self, options: c_void_p, watch: Any) -> c_void_p:
        return lib.made("table_read", self.path, options, ctypes.byref(lib.Reading(watch=watch)))

    def rows(self) -> Rows:
        return Rows(self.path)


class ColumnTable(Table):
    """Columns in memory."""

    def __init__(self, columns: Sequence[_columns.Column]) -> None:
        self.columns = columns

    def open(self, options: c_void_p, watch: Any) -> c_void_p:
        structs, keep = _columns.for_library(self.columns)
        try:
            return lib.made("table_from_columns", self.columns[0].rows, len(structs), structs, options, watch, None)
        finally:
            del keep

    def rows(self) -> Rows:
        structs, keep = _columns.for_library(self.columns)
        return Rows(None, pointer(lib.Frame(rows=self.columns[0].rows, count=len(structs), columns=structs)), keep)


class SparseTable(Table):
    """A sparse matrix, of which only the nonzero entries are passed on, and columns beside it."""

    def __init__(self, entries: _columns.Entries, columns: Sequence[_columns.Column] = ()) -> None:
        self.entries, self.columns = entries, columns

    def open(self, options: c_void_p, watch: Any) -> c_void_p:
        matrix, keep = self.entries.for_library()
        structs, more = _columns.for_library(self.columns)
        try:
            return lib.made("table_from_sparse", self.entries.rows, matrix, len(structs), structs, options, watch, None)
        finally:
            del keep, more

    def rows(self) -> Rows:
        matrix, keep = self.entries.for_library()
        structs, more = _columns.for_library(self.columns)
        return Rows(None, pointer(lib.Frame(rows=self.entries.rows, sparse=pointer(matrix), count=len(structs),
                                            columns=structs)), [keep, more])


class ArrowTable(Table):
    """An object with Arrow's C stream interface; each call takes a new stream from it."""

    def __init__(self, producer: Any) -> None:
        self.producer = producer

    def open(self, options: c_void_p, watch: Any) -> c_void_p:
        capsule = self.producer.__arrow_c_stream__()
        return lib.made("table_from_arrow", stream_of(capsule), options, watch, None)

    def rows(self) -> Rows:
        capsule = self.producer.__arrow_c_stream__()
        return Rows(None, pointer(lib.Frame(stream=stream_of(capsule))), capsule)


class NoTable(Table):
    """For models without rows, which are a density in closed form."""

    def open(self, options: c_void_p, watch: Any) -> c_void_p:
        return lib.made("table_none")

    def rows(self) -> Rows:
        raise BadArg("the fit has no table of its own: pass the rows as `data`")


def stream_of(capsule: Any) -> int:
    find = ctypes.pythonapi.PyCapsule_GetPointer
    find.restype, find.argtypes = c_void_p, [py_object, c_char_p]
    return int(find(capsule, b"arrow_array_stream"))


def is_path(value: Any) -> bool:
    return isinstance(value, (str, bytes, os.PathLike))


def take(data: Any, names: Optional[Sequence[str]] = None, more: Optional[Mapping[str, Any]] = None) -> Table:
    """The table for `data`, with the columns `more` beside its own."""
    return with_columns(data, names, more) if more else take_alone(data, names)


def with_columns(data: Any, names: Optional[Sequence[str]], more: Mapping[str, Any]) -> Table:
    """The table with columns beside its own: arrays in the order of its rows."""
    if _columns.is_of(data, "pyarrow") and hasattr(data, "append_column"):
        for name, values in more.items():
            check_length(name, values, data.num_rows)
            data = data.append_column(name, optional_module("pyarrow").array(values))
        return take_alone(data)
    table = take_alone(as_polars_or_same(data, more), names)
    if isinstance(table, (ColumnTable, SparseTable)):
        rows = table.columns[0].rows if isinstance(table, ColumnTable) else table.entries.rows
        known = {column.name for column in table.columns}
        for name, values in more.items():
            if name not in known:
                check_length(name, values, rows)
        added = [_columns.from_values(name, values) for name, values in more.items() if name not in known]
        if isinstance(table, SparseTable):
            return SparseTable(table.entries, [*table.columns, *added])
        return ColumnTable([*table.columns, *added])
    if isinstance(table, ArrowTable) and _columns.is_of(data, "polars"):
        return table
    what = " and ".join(name.strip("()") for name in more)
    raise BadArg(f"{what}: an array goes with a table in memory (a dict, a data frame, a matrix, a pyarrow Table); for "
                 f"{type(data).__name__} pass the name of a column")


def borrowed(data: Any) -> Any:
    """A table of pyarrow or polars as its columns in place, for storage="given"; any other table as it is. Columns that
    numpy cannot share (texts, missing cells, several chunks) are copied: the library refuses them in a design."""
    if _columns.is_of(data, "pyarrow") and hasattr(data, "column_names"):
        return {name: in_place(data.column(name)) for name in data.column_names}
    if _columns.is_of(data, "polars") and hasattr(data, "get_columns"):
        return {column.name: in_place(column) for column in data.get_columns()}
    return data


def in_place(column: Any) -> Any:
    """The values of a column of pyarrow or polars: an array of numpy that shares their memory, or a list."""
    try:
        if hasattr(column, "num_chunks"):
            return column.chunk(0).to_numpy(zero_copy_only=True) if column.num_chunks == 1 else column.to_pylist()
        return column.to_numpy(allow_copy=False)
    except (RuntimeError, TypeError, ValueError, NotImplementedError):  # several chunks, missing cells, texts
        return column.to_pylist() if hasattr(column, "to_pylist") else column.to_list()


def as_polars_or_same(data: Any, more: Mapping[str, Any]) -> Any:
    """A data frame of polars with the columns; any other table as it is."""
    if not (_columns.is_of(data, "polars") and hasattr(data, "with_columns") and hasattr(data, "height")):
        return data
    polars = optional_module("polars")
    for name, values in more.items():
        check_length(name, values, data.height)
    return data.with_columns(*[polars.Series(name, values) for name, values in more.items()])


def check_length(name: str, values: Any, rows: int) -> None:
    if not hasattr(values, "__len__") or len(values) != rows:
        count = f"{len(values)} values" if hasattr(values, "__len__") else f"a single {type(values).__name__}"
        raise BadArg(f"{name.strip('()')}: {count} for {rows} rows")


def take_alone(data: Any, names: Optional[Sequence[str]] = None) -> Table:
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
        return SparseTable(_columns.from_sparse(data, names))
    if hasattr(data, "__arrow_c_stream__"):
        return ArrowTable(data)
    if hasattr(data, "__dataframe__"):
        return ColumnTable(_columns.from_interchange(data))
    raise BadArg(f"{type(data).__name__} is not a table: expected a file name, a dict of columns, a data frame, a numpy array "
                 "or scipy.sparse matrix with names, or an object with __arrow_c_stream__ or __dataframe__")
