"""The kinds of tables that a user may pass, and their conversion for the library."""
from __future__ import annotations

import ctypes
import os
from ctypes import c_char_p, c_void_p, pointer, py_object
from typing import Any, Mapping, NamedTuple, Optional, Sequence

from . import _columns
from . import _library as lib
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
    """A sparse matrix: only its nonzero entries are passed on."""

    def __init__(self, entries: _columns.Entries) -> None:
        self.entries = entries

    def open(self, options: c_void_p, watch: Any) -> c_void_p:
        matrix, keep = self.entries.for_library()
        try:
            return lib.made("table_from_sparse", self.entries.rows, matrix, 0, None, options, watch, None)
        finally:
            del keep

    def rows(self) -> Rows:
        matrix, keep = self.entries.for_library()
        return Rows(None, pointer(lib.Frame(rows=self.entries.rows, sparse=pointer(matrix))), keep)


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
    return find(capsule, b"arrow_array_stream")


def is_path(value: Any) -> bool:
    return isinstance(value, (str, bytes, os.PathLike))


def take(data: Any, names: Optional[Sequence[str]] = None) -> Table:
    """The table for `data`."""
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
