"""The shared library: its location, and the part of sbps.h that the package calls."""
from __future__ import annotations

import ctypes
import os
from ctypes import (CFUNCTYPE, POINTER, Structure, byref, c_bool, c_char, c_char_p, c_double, c_int, c_int32, c_size_t,
                    c_ssize_t, c_uint, c_uint64, c_void_p, sizeof)
from pathlib import Path
from typing import Any, Iterator, Optional

from .errors import BY_STATUS, SbpsError

SONAME = "libsbps.so.0"
TEXT, CSV, JSON = range(3)
SIZE_MAX = c_size_t(-1).value

ConvertWatch = CFUNCTYPE(c_bool, c_void_p, c_char_p, c_size_t, c_double)
Take = CFUNCTYPE(c_bool, c_void_p, c_void_p, c_size_t)


class Batch(Structure):
    _fields_ = [("struct_size", c_size_t), ("n", c_size_t), ("dim", c_size_t), ("columns", c_size_t), ("w", c_void_p), ("x", c_void_p),
                ("y", c_void_p), ("loglik", c_void_p), ("gradient", c_void_p), ("text", c_void_p),
                ("text_size", c_size_t)]


RowsFunction = CFUNCTYPE(c_bool, c_void_p, POINTER(Batch))


class ModelFunction(Structure):
    _fields_ = [("struct_size", c_size_t), ("name", c_char_p), ("data", c_void_p), ("rows", RowsFunction),
                ("dim", c_size_t), ("names", POINTER(c_char_p)), ("start", POINTER(c_double)),
                ("prior_sd", POINTER(c_double)), ("any_thread", c_bool)]


class Error(Structure):
    _fields_ = [("status", c_int), ("text", c_char * 512)]


class OptionInfo(Structure):
    _fields_ = [(name, c_char_p) for name in ("name", "argument", "fallback", "group", "help")]


class Column(Structure):
    _fields_ = [("struct_size", c_size_t), ("name", c_char_p), ("type", c_int), ("values", c_void_p),
                ("stride", c_ssize_t), ("validity", c_void_p), ("levels", POINTER(c_char_p)), ("level_count", c_size_t),
                ("first_level", c_int32), ("ordered", c_bool)]


class Sized(Structure):
    """A struct that the caller allocates; its first member is its size."""

    def __init__(self, **members: Any) -> None:
        super().__init__(struct_size=sizeof(type(self)), **members)


class Reading(Sized):
    _fields_ = [("struct_size", c_size_t), ("watch", ConvertWatch), ("self", c_void_p), ("ranks", c_void_p)]


class Progress(Sized):
    _fields_ = [("struct_size", c_size_t), ("warming_up", c_bool), ("share_done", c_double), ("seconds", c_double), ("seconds_left", c_double),
                ("proposals", c_double), ("proposals_per_second", c_double), ("min_ess", c_double),
                ("max_rhat", c_double), ("bias_estimate", c_double), ("rounds", c_size_t), ("rows_per_ess", c_double)]


class Parameter(Sized):
    _fields_ = [("struct_size", c_size_t), ("name", c_char_p), ("mean", c_double), ("mcse", c_double), ("sd", c_double), ("q5", c_double),
                ("q50", c_double), ("q95", c_double), ("ess_bulk", c_double), ("ess_tail", c_double), ("rhat", c_double),
                ("bias", c_double), ("bias_se", c_double), ("sd_bias", c_double), ("sd_bias_se", c_double), ("part", c_char_p)]


class Kind(Sized):
    _fields_ = [("struct_size", c_size_t), ("name", c_char_p), ("summary", c_char_p), ("needs_table", c_bool)]


class Sparse(Sized):
    _fields_ = [("struct_size", c_size_t), ("columns", c_size_t), ("names", POINTER(c_char_p)), ("by_columns", c_bool),
                ("wide_start", c_bool), ("wide_index", c_bool), ("start", c_void_p), ("index", c_void_p),
                ("values", c_void_p)]


class Frame(Sized):
    _fields_ = [("struct_size", c_size_t), ("rows", c_size_t), ("count", c_size_t), ("columns", POINTER(Column)),
                ("stream", c_void_p), ("sparse", POINTER(Sparse))]


class Prediction(Sized):
    _fields_ = [("struct_size", c_size_t), ("kind", c_char_p), ("new_levels", c_char_p), ("draws", c_bool), ("max_draws", c_size_t),
                ("seed", c_uint64), ("threads", c_uint), ("path", c_char_p), ("take", Take), ("self", c_void_p),
                ("encoding", c_char_p), ("frame", POINTER(Frame)), ("interval", c_double)]


class Predicted(Sized):
    _fields_ = [("struct_size", c_size_t), ("rows", c_size_t), ("lacking", c_size_t), ("not_finite", c_size_t), ("column", c_char * 64),
                ("draws", c_size_t), ("all_draws", c_size_t), ("seconds", c_double), ("all_levels_new", c_bool)]


class Scoring(Sized):
    _fields_ = [("struct_size", c_size_t), ("rows", c_size_t), ("max_draws", c_size_t), ("seed", c_uint64), ("threads", c_uint),
                ("encoding", c_char_p), ("frame", POINTER(Frame)), ("group", c_char_p)]


TEXT_OUT = POINTER(c_void_p)  # a string that sbps_free releases
HANDLE_OUT = POINTER(c_void_p)
ON_ROWS = [c_void_p, c_char_p, c_char_p, POINTER(Scoring), c_int, TEXT_OUT]

# Functions that return a status and take an error after these arguments.
CHECKED: dict[str, list[Any]] = {
    "options_create": [HANDLE_OUT],
    "options_set": [c_void_p, c_char_p, c_char_p],
    "options_read": [c_void_p, c_char_p],
    "options_set_model": [c_void_p, POINTER(ModelFunction)],
    "table_read": [c_char_p, c_void_p, POINTER(Reading), HANDLE_OUT],
    "table_from_columns": [c_size_t, c_size_t, POINTER(Column), c_void_p, ConvertWatch, c_void_p, HANDLE_OUT],
    "table_from_sparse": [c_size_t, POINTER(Sparse), c_size_t, POINTER(Column), c_void_p, ConvertWatch, c_void_p,
                          HANDLE_OUT],
    "table_from_arrow": [c_void_p, c_void_p, ConvertWatch, c_void_p, HANDLE_OUT],
    "table_none": [HANDLE_OUT],
    "run_create": [c_void_p, c_void_p, HANDLE_OUT],
    "run_describe": [c_void_p, TEXT_OUT],
    "run_advance": [c_void_p, POINTER(c_bool)],
    "run_effects": [c_void_p, c_char_p, c_void_p],
    "result_from_run": [c_void_p, HANDLE_OUT],
    "result_read": [c_char_p, HANDLE_OUT],
    "result_write": [c_void_p, c_char_p],
    "result_parameter": [c_void_p, c_size_t, POINTER(Parameter)],
    "result_summary": [c_void_p, c_int, TEXT_OUT],
    "result_warning": [c_void_p, c_char_p, TEXT_OUT],
    "result_effects": [c_void_p, c_int, TEXT_OUT],
    "result_diagnose": [c_void_p, TEXT_OUT, POINTER(c_size_t)],
    "result_findings": [c_void_p, TEXT_OUT],
    "result_contrast": [c_void_p, POINTER(c_char_p), c_size_t, c_int, TEXT_OUT],
    "result_page": [c_void_p, c_char_p, c_char_p, POINTER(Scoring), TEXT_OUT],
    "result_set_command": [c_void_p, c_char_p],
    "predict": [c_void_p, c_char_p, c_char_p, POINTER(Prediction), POINTER(Predicted)],
    "score": ON_ROWS,
    "loo": ON_ROWS,
    "check": ON_ROWS,
    "compare": [POINTER(c_void_p), POINTER(c_char_p), c_size_t, c_char_p, POINTER(Scoring), c_int, TEXT_OUT],
    "text_write": [c_char_p, c_char_p],
}

# The other functions: return type and argument types.
PLAIN: dict[str, tuple[Any, list[Any]]] = {
    "version": (c_char_p, []),
    "free": (None, [c_void_p]),
    "option_count": (c_size_t, []),
    "option_at": (OptionInfo, [c_size_t]),
    "options_get": (c_char_p, [c_void_p, c_char_p]),
    "options_destroy": (None, [c_void_p]),
    "table_notes": (c_char_p, [c_void_p]),
    "table_destroy": (None, [c_void_p]),
    "table_interrupt": (None, [c_void_p]),
    "run_warning": (c_bool, [c_void_p, POINTER(Error)]),
    "run_interrupt": (None, [c_void_p]),
    "run_progress": (None, [c_void_p, POINTER(Progress)]),
    "run_destroy": (None, [c_void_p]),
    "result_dim": (c_size_t, [c_void_p]),
    "result_chains": (c_size_t, [c_void_p]),
    "result_draws": (c_size_t, [c_void_p]),
    "result_values": (POINTER(c_double), [c_void_p]),
    "result_name": (c_char_p, [c_void_p, c_size_t, POINTER(c_char_p)]),
    "result_stat": (POINTER(c_double), [c_void_p, c_char_p]),
    "result_data": (c_char_p, [c_void_p]),
    "kind_at": (c_bool, [c_char_p, c_size_t, POINTER(Kind)]),
    "result_destroy": (None, [c_void_p]),
}


def candidates() -> Iterator[str]:
    """Names to load, in order; the first that loads is used."""
    named = os.environ.get("SBPS_LIBRARY")
    if named:
        yield named
        return
    folder = Path(__file__).resolve().parent
    for name in (SONAME, "libsbps.so"):
        if (folder / name).exists():
            yield str(folder / name)
    yield SONAME
    yield "libsbps.so"


def load() -> ctypes.CDLL:
    """The library, with every function's types declared."""
    failures = []
    for name in candidates():
        try:
            return declare(ctypes.CDLL(name))
        except (OSError, AttributeError) as error:
            failures.append(str(error))
    raise ImportError("the library of sbps is not found: install it (make install), or set SBPS_LIBRARY to the "
                      "path of libsbps.so; " + "; ".join(failures))


def declare(library: ctypes.CDLL) -> ctypes.CDLL:
    for name, arguments in CHECKED.items():
        function = getattr(library, "sbps_" + name)
        function.restype, function.argtypes = c_int, [*arguments, POINTER(Error)]
    for name, (result, arguments) in PLAIN.items():
        function = getattr(library, "sbps_" + name)
        function.restype, function.argtypes = result, arguments
    return library


library = load()


def plain(name: str, *arguments: Any) -> Any:
    return getattr(library, "sbps_" + name)(*arguments)


def call(name: str, *arguments: Any) -> None:
    """Calls a function that may fail; its message becomes an exception."""
    error = Error()
    status = getattr(library, "sbps_" + name)(*arguments, byref(error))
    if status != 0:
        raise exception(status, error.text.decode("utf-8", "replace"))


def exception(status: int, message: str) -> SbpsError:
    known = BY_STATUS[status] if status < len(BY_STATUS) else None
    return (known or SbpsError)(in_python(message))


def in_python(message: str) -> str:
    """A message in the words of Python; see _messages.py."""
    from ._messages import in_python as translated

    return translated(message)


def version() -> str:
    return bytes(plain("version")).decode()


def kinds_of(which: str) -> dict[str, str]:
    """The entries of a list of the library, "models", "families", "samplers" or "priors", each with a sentence."""
    kind, made = Kind(), dict[str, str]()
    while plain("kind_at", which.encode(), len(made), byref(kind)):
        made[kind.name.decode()] = kind.summary.decode()
    return made


def made(name: str, *arguments: Any) -> c_void_p:
    """The handle that a function returns in its last argument."""
    handle = c_void_p()
    call(name, *arguments, byref(handle))
    return handle


def text_of(name: str, *arguments: Any, trailing: tuple[Any, ...] = ()) -> str:
    """The text that a function returns; `trailing` are the arguments after it."""
    text = c_void_p()
    call(name, *arguments, byref(text), *trailing)
    try:
        return ctypes.string_at(text).decode("utf-8", "replace")
    finally:
        plain("free", text)
