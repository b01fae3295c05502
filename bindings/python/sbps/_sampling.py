"""A run from options to result, on a thread of its own.

Python handles Ctrl-C on its main thread and between its own steps. So the library works on another thread, while the
calling thread waits and can be interrupted: the run is then stopped, and its draws are kept."""
from __future__ import annotations

import math
import sys
import threading
from concurrent.futures import Future
from ctypes import byref, c_bool, c_void_p
from dataclasses import dataclass, field
from typing import Any, Callable, Mapping, Optional

from . import _library as lib
from ._model import Bound, Model
from ._progress import Bar
from ._tables import Table
from .errors import BadArg, SbpsError

ELSEWHERE = {
    "output": "to_netcdf(path) of the fit writes it",
    "dry-run": "it makes no draws",
    "watch": "it is an option of the command line only",
}


@dataclass
class Outcome:
    """The outcome of a run. The caller destroys `result`."""

    result: c_void_p
    chosen: str
    notes: list[str]
    warnings: list[str] = field(default_factory=list)
    interrupted: bool = False


def as_text(value: Any) -> str:
    """A Python value as an option of the command line."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return ",".join(f'"{one}"' if isinstance(one, str) and "," in one else as_text(one) for one in value)
    if hasattr(value, "item"):
        value = value.item()
    return value if isinstance(value, str) else repr(value)


def set_options(options: c_void_p, given: Mapping[str, Any]) -> None:
    for name, value in given.items():
        name = name.replace("_", "-")
        if name in ELSEWHERE:
            raise BadArg(f"{name.replace('-', '_')} is not an option of fit: {ELSEWHERE[name]}")
        if value is not None:
            lib.call("options_set", options, name.encode(), as_text(value).encode())
    config = lib.plain("options_get", options, b"config")
    if config:
        lib.call("options_read", options, config)


class Stopped(Exception):
    """The user stopped the run before it had draws."""


class Sampling:
    """Makes a table and a run, and advances it to its end."""

    def __init__(self, table: Table, given: Mapping[str, Any], bar: Bar, model: Optional[Model] = None) -> None:
        self.table, self.given, self.bar = table, given, bar
        self.model = None if model is None else Bound(model, self.is_over)
        self.lock = threading.Lock()  # protects `run` and `made`: `stop` is called from another thread
        self.run: Optional[c_void_p] = None
        self.made: Optional[c_void_p] = None  # the table, while set-up runs
        self.stopped = False

    def stop(self) -> bool:
        """Ends the run early; true if there is a run whose draws can be kept."""
        with self.lock:
            self.stopped = True
            if self.run is not None:
                lib.plain("run_interrupt", self.run)
            elif self.made is not None:
                lib.plain("table_interrupt", self.made)
            return self.run is not None

    def is_over(self) -> bool:
        """True if the user stopped the call during set-up."""
        return self.stopped and self.run is None

    def execute(self) -> Outcome:
        options = lib.made("options_create")
        try:
            set_options(options, self.given)
            if self.model is not None:
                lib.call("options_set_model", options, byref(self.model.struct))
            return self.with_table(options)
        except SbpsError:
            if self.model is not None and self.model.failure is not None:
                raise self.model.failure from None
            raise
        finally:
            lib.plain("options_destroy", options)

    def with_table(self, options: c_void_p) -> Outcome:
        watch = lib.ConvertWatch(lambda *_: not self.stopped)
        table = self.table.open(options, watch)
        try:
            return self.with_run(options, table)
        finally:
            lib.plain("table_destroy", table)

    def with_run(self, options: c_void_p, table: c_void_p) -> Outcome:
        run = self.set_up(options, table)
        try:
            with self.lock:
                self.run = run
                if self.stopped:
                    raise Stopped
            chosen = lib.text_of("run_describe", run)
            warnings = self.advance(run)
            return Outcome(self.take_result(run, options), chosen, notes_of(table), warnings, self.stopped)
        finally:
            with self.lock:
                self.run = None
            lib.plain("run_destroy", run)

    def set_up(self, options: c_void_p, table: c_void_p) -> c_void_p:
        """The run. `stop` ends the search for the mode and other passes over all rows."""
        with self.lock:
            if self.stopped:
                raise Stopped
            self.made = table
        try:
            return lib.made("run_create", table, options)
        except SbpsError:
            if self.stopped:
                raise Stopped from None
            raise
        finally:
            with self.lock:
                self.made = None

    def advance(self, run: c_void_p) -> list[str]:
        finished, warnings = c_bool(False), list[str]()
        try:
            while not finished.value:
                lib.call("run_advance", run, byref(finished))
                self.poll(run, warnings)
        finally:
            self.bar.close()
        return warnings

    def poll(self, run: c_void_p, warnings: list[str]) -> None:
        """Collects a new warning of the run and updates the progress line."""
        warning = lib.Error()
        if lib.plain("run_warning", run, byref(warning)):
            warnings.append(warning.text.decode("utf-8", "replace"))
        if self.bar.is_due():
            state = lib.Progress()
            lib.plain("run_progress", run, byref(state))
            self.bar.show(state)

    def take_result(self, run: c_void_p, options: c_void_p) -> c_void_p:
        result = lib.made("result_from_run", run)
        if lib.plain("result_draws", result) == 0:
            lib.plain("result_destroy", result)
            raise Stopped if self.stopped else BadArg("the run stopped before it had made any draws")
        effects = lib.plain("options_get", options, b"ranef")
        if effects not in (b"auto", b"all", b"none"):
            lib.call("run_effects", run, effects, None)
        return result


def notes_of(table: c_void_p) -> list[str]:
    return lib.in_python(lib.plain("table_notes", table).decode("utf-8", "replace")).splitlines()


def in_thread(work: Callable[[], Outcome]) -> "Future[Outcome]":
    """Starts `work` on another thread."""
    future: "Future[Outcome]" = Future()

    def do() -> None:
        try:
            future.set_result(work())
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=do, name="sbps").start()
    return future


def sample(sampling: Sampling) -> Outcome:
    """Waits for the run. The first Ctrl-C ends it and keeps its draws; before there are any, it ends set-up."""
    future = in_thread(sampling.execute)
    try:
        return future.result()
    except KeyboardInterrupt:
        if not sampling.stop():
            raise
    try:
        outcome = future.result()
    except Stopped:
        raise KeyboardInterrupt from None
    print("sbps: interrupted: keeping the draws so far", file=sys.stderr)  # replaces the progress line
    return outcome
