"""Columns in memory in the form of the library: address and type of their values.

Numpy numbers are borrowed in place, with any stride. Lists, strings and columns with missing cells other than NaN are
copied. This module works without numpy."""
from __future__ import annotations

import ctypes
import math
from array import array
from ctypes import c_char_p, sizeof
from dataclasses import dataclass
from typing import Any, Mapping, Optional, Sequence

from . import _library as lib
from .errors import BadArg

DOUBLE, FLOAT, INT8, INT16, INT32, INT64, UINT8, UINT16, UINT32, UINT64, BOOL, STRING, LEVEL = range(13)
TYPE_OF_NUMPY = {"f8": DOUBLE, "f4": FLOAT, "i1": INT8, "i2": INT16, "i4": INT32, "i8": INT64, "u1": UINT8,
                 "u2": UINT16, "u4": UINT32, "u8": UINT64, "b1": BOOL}
LEVELS_OF_BOOL = ("FALSE", "TRUE")
INT64_MAX = 2**63 - 1


@dataclass
class Column:
    """Values at `address`; `keep` owns them."""

    name: str
    type: int
    address: int
    rows: int
    keep: Any
    stride: int = 0
    levels: Sequence[str] = ()
    ordered: bool = False
    ranked: bool = True  # False: categories whose order has no meaning


def from_mapping(data: Mapping[str, Any]) -> list[Column]:
    """A column for each name, all of the same length."""
    columns = [from_values(str(name), values) for name, values in data.items()]
    if not columns:
        raise BadArg("the table has no columns")
    for column in columns:
        if column.rows != columns[0].rows:
            raise BadArg(f"column '{column.name}' has {column.rows} rows, column '{columns[0].name}' {columns[0].rows}")
    return columns


def from_matrix(data: Any, names: Optional[Sequence[str]]) -> list[Column]:
    """The columns of a numpy matrix, in place."""
    if data.ndim != 2:
        raise BadArg(f"expected an array of two dimensions, rows and columns, not of {data.ndim}")
    if names is None or len(names) != data.shape[1]:
        given = "none" if names is None else str(len(names))
        raise BadArg(f"the array has {data.shape[1]} columns: expected as many names, got {given}")
    if len(set(names)) != len(names):
        raise BadArg("two columns have the same name")
    return from_mapping({name: data[:, j] for j, name in enumerate(names)})


@dataclass
class Entries:
    """The nonzero entries of a sparse matrix, by rows or by columns, borrowed in place; `matrix` owns them."""

    names: Sequence[str]
    rows: int
    matrix: Any

    def for_library(self) -> tuple[Any, list[Any]]:
        matrix = self.matrix
        names = (c_char_p * len(self.names))(*[encode(name, name) for name in self.names])
        made = lib.Sparse(columns=len(self.names), names=names, by_columns=matrix.format == "csc",
                          wide_start=matrix.indptr.dtype.itemsize == 8, wide_index=matrix.indices.dtype.itemsize == 8,
                          start=matrix.indptr.ctypes.data, index=matrix.indices.ctypes.data,
                          values=matrix.data.ctypes.data)
        return made, [names, matrix]


def from_sparse(data: Any, names: Optional[Sequence[str]]) -> Entries:
    """A matrix of scipy.sparse: csr and csc as they are, others by rows."""
    rows, count = data.shape
    if names is None or len(names) != count:
        raise BadArg(f"the matrix has {count} columns: expected as many names, got "
                     f"{'none' if names is None else len(names)}")
    if len(set(names)) != len(names):
        raise BadArg("two columns have the same name")
    if data.dtype.kind not in "iufb":
        raise BadArg(f"the matrix is of type {data.dtype}: expected numbers")
    matrix = data if data.format in ("csr", "csc") else data.tocsr()
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    return Entries([str(name) for name in names], rows, matrix.astype("float64", copy=False))


def from_interchange(data: Any) -> list[Column]:
    """A data frame of another library, by the interchange protocol, which pandas reads."""
    try:
        from pandas.api.interchange import from_dataframe
    except ImportError:
        raise BadArg(f"{type(data).__name__} has __dataframe__, which needs pandas 1.5 or later, and that is not "
                     "installed") from None
    return from_frame(from_dataframe(data))


def from_frame(data: Any) -> list[Column]:
    """The columns of a pandas data frame."""
    if not data.columns.is_unique:
        raise BadArg("two columns of the data frame have the same name")
    return from_mapping({name: data[name] for name in data.columns})


def from_values(name: str, values: Any) -> Column:
    """One column: of pandas, of numpy, or any sequence."""
    if is_of(values, "pandas"):
        return from_pandas(name, values)
    if is_of(values, "numpy") and hasattr(values, "dtype"):
        return from_numpy(name, values)
    if isinstance(values, (str, bytes)) or not hasattr(values, "__iter__"):
        raise BadArg(f"column '{name}' is a single {type(values).__name__}, expected a value for each row")
    return from_list(name, list(values))


def is_of(value: Any, package: str) -> bool:
    return any(kind.__module__.split(".")[0] == package for kind in type(value).__mro__)


def from_pandas(name: str, values: Any) -> Column:
    if hasattr(values, "cat"):
        return from_categories(name, values)
    if hasattr(values.dtype, "newbyteorder"):  # numpy's own
        return from_numpy(name, values.to_numpy())
    if values.dtype.kind in "OUb":
        return from_list(name, values.astype(object).tolist())
    if values.dtype.kind not in "iuf":
        raise unsupported_type(name, values.dtype)
    if values.isna().any():
        return from_numpy(name, values.to_numpy(dtype="float64", na_value=math.nan))
    return from_numpy(name, values.to_numpy(dtype=getattr(values.dtype, "numpy_dtype", "float64")))


def from_categories(name: str, values: Any) -> Column:
    """Levels keep the order of the categories: the first is the reference."""
    codes = values.cat.codes.to_numpy().astype("int32")
    column = from_numpy(name, codes)
    column.type, column.levels, column.ordered = LEVEL, [str(level) for level in values.cat.categories], True
    column.ranked = bool(values.cat.ordered)
    return column


def unsupported_type(name: str, what: Any) -> BadArg:
    return BadArg(f"column '{name}' is of type {what}: expected numbers, booleans, strings or categories")


def from_numpy(name: str, values: Any) -> Column:
    if values.ndim != 1:
        raise BadArg(f"column '{name}' has {values.ndim} dimensions, expected one")
    if values.dtype.kind in "OU":
        return from_list(name, values.tolist())
    if hasattr(values, "mask"):
        if values.dtype.kind not in "iuf":
            raise unsupported_type(name, f"masked {values.dtype}")
        values = values.astype("float64").filled(math.nan)
    if values.dtype.kind == "M":
        values = as_number(values)
    if values.dtype.str[1:] == "f2":
        values = values.astype("float32")
    kind = TYPE_OF_NUMPY.get(values.dtype.str[1:])
    if kind is None:
        raise unsupported_type(name, values.dtype)
    if not values.dtype.isnative or (values.strides[0] == 0 and len(values) > 1):
        values = values.astype(values.dtype.newbyteorder("=")).copy()  # the library takes a stride of 0 for contiguous values
    stride = values.strides[0] if len(values) > 1 else 0
    return Column(name, kind, values.__array_interface__["data"][0], len(values), values, stride)


def as_number(values: Any) -> Any:
    """Dates as the library encodes them: days since 1970 if the unit is days or longer, else seconds."""
    import numpy

    unit, _ = numpy.datetime_data(values.dtype)
    if unit == "generic":
        raise BadArg("an array of datetime64 needs a unit")
    days = unit in ("D", "W", "M", "Y")
    since = values.astype("datetime64[D]") if days else values
    return (since - numpy.datetime64(0, "D")) / numpy.timedelta64(1, "D" if days else "s")


def is_missing(value: Any) -> bool:
    return value is None or type(value).__name__ in ("NAType", "NaTType") or (
        isinstance(value, float) and math.isnan(value))


def simple(value: Any) -> Any:
    """None for a missing value; numpy numbers as Python's."""
    if is_missing(value):
        return None
    return value.item() if is_of(value, "numpy") and hasattr(value, "item") else value


def from_list(name: str, values: list[Any]) -> Column:
    """A column of the type of its values, which must all be of one type."""
    values = [simple(value) for value in values]
    kinds = {kind_of(value) for value in values if value is not None}
    if len(kinds) > 1 and kinds != {int, float}:
        raise mixed_types(name, values)
    if kinds == {str}:
        return from_strings(name, values)
    if kinds == {bool}:
        return from_booleans(name, values)
    if kinds - {int, float}:
        raise unsupported_type(name, kinds.pop().__name__)
    if kinds == {int} and None not in values and all(abs(value) <= INT64_MAX for value in values):
        return from_array(name, INT64, array("q", values))
    return from_array(name, DOUBLE, array("d", [math.nan if value is None else value for value in values]))


def kind_of(value: Any) -> type:
    for kind in (bool, int, float, str):
        if isinstance(value, kind):
            return kind
    return type(value)


def mixed_types(name: str, values: list[Any]) -> BadArg:
    first = next(value for value in values if value is not None)
    row, other = next((i, value) for i, value in enumerate(values, 1)
                      if value is not None and kind_of(value) is not kind_of(first))
    return BadArg(f"column '{name}' begins with {first!r} and has {other!r} in row {row}: expected values of one type")


def from_array(name: str, kind: int, values: "array[Any]") -> Column:
    return Column(name, kind, values.buffer_info()[0], len(values), values)


def encode(name: str, text: str) -> bytes:
    try:
        coded = text.encode("utf-8")
    except UnicodeEncodeError:
        raise BadArg(f"column '{name}' holds {text!r}, which cannot be encoded in UTF-8") from None
    if b"\0" in coded:
        raise BadArg(f"column '{name}' holds {text!r}, which contains a zero character")
    return coded


def from_strings(name: str, values: list[Any]) -> Column:
    """Each distinct string is stored once."""
    known = {text: encode(name, text) for text in set(values) if text is not None}
    pointers = (c_char_p * len(values))(*[None if text is None else known[text] for text in values])
    return Column(name, STRING, ctypes.addressof(pointers), len(values), (pointers, known))


def from_booleans(name: str, values: list[Any]) -> Column:
    column = from_array(name, LEVEL, array("i", [-1 if value is None else int(value) for value in values]))
    column.levels = LEVELS_OF_BOOL
    return column


def for_library(columns: Sequence[Column]) -> tuple[Any, list[Any]]:
    """The array of structs, and the objects that must stay alive while it is used."""
    structs, keep = (lib.Column * len(columns))(), list[Any]([columns])
    for struct, column in zip(structs, columns):
        levels = (c_char_p * len(column.levels))(*[encode(column.name, level) for level in column.levels])
        keep.append(levels)
        struct.struct_size = sizeof(lib.Column)
        struct.name = encode(column.name, column.name)
        struct.type, struct.values, struct.stride = column.type, column.address, column.stride
        if column.type == LEVEL:
            struct.levels, struct.level_count, struct.ordered = levels, len(levels), column.ordered
    return structs, keep
