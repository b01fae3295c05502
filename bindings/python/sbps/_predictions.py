"""Predictions as the library writes them, CSV piece by piece, as arrays or rows."""
from __future__ import annotations

import csv
import ctypes
import math
from typing import Any, List, Optional

from . import _library as lib
from ._optional import optional_module

class Received:
    """Collects the lines of a prediction. With numpy each piece becomes numbers as it comes, and no text is kept."""

    def __init__(self) -> None:
        self.header: List[str] = []
        self.numbers: List[Any] = []  # per piece: an array [line, column], or lists without numpy
        self.classes: List[str] = []
        self.failure: Optional[BaseException] = None
        self._rest = b""
        self.take = lib.Take(self._receive)

    def _receive(self, _: Any, piece: int, count: int) -> bool:
        try:
            whole, newline, self._rest = (self._rest + ctypes.string_at(piece, count)).rpartition(b"\n")
            if newline:
                self._add(whole.decode("utf-8"))
            return True
        except BaseException as failure:  # no exception may propagate into the library
            self.failure = self.failure or failure
            return False

    def _add(self, text: str) -> None:
        if not self.header:
            head, _, text = text.partition("\n")
            self.header = head.split(",")
        if not text:
            return
        if "class" in self.header:
            lines = list(csv.reader(text.splitlines()))
            self.classes += [line[1] for line in lines]
            self.numbers.append([[number(cell) for cell in line[:1] + line[2:]] for line in lines])
        else:
            self.numbers.append(parsed(text, len(self.header)))

    def columns(self) -> List[str]:
        return [name for name in self.header if name != "class"]

    def table(self) -> Any:
        """All numbers, [line, column], columns() of them: an array if numpy is installed, else lists."""
        numpy = optional_module("numpy")
        if numpy is None:
            return [line for piece in self.numbers for line in piece]
        pieces = [numpy.asarray(piece, dtype=float) for piece in self.numbers]
        self.numbers = []
        return numpy.concatenate(pieces) if pieces else numpy.empty((0, len(self.columns())))

    def class_count(self, table: Any) -> int:
        """Lines of a row; 0: the response is a number."""
        return sum(1 for line in table if line[0] == table[0][0]) if self.classes else 0

    def draws(self) -> Any:
        """[row, draw], for classes [row, class, draw]."""
        table = self.table()
        classes = self.class_count(table)
        if optional_module("numpy") is None:
            values = [line[1:] for line in table]
            return [values[i:i + classes] for i in range(0, len(values), classes)] if classes else values
        values = table[:, 1:]
        return values.reshape(-1, classes, values.shape[1]) if classes else values

    def rows(self) -> List[dict[str, Any]]:
        """A dict for each line."""
        made = []
        for i, line in enumerate(self.table()):
            one: dict[str, Any] = {"row": int(line[0])}
            if self.classes:
                one["class"] = self.classes[i]
            made.append({**one, **{name: float(value) for name, value in zip(self.columns()[1:], line[1:])}})
        return made

    def frame(self, index: Any) -> Any:
        """A data frame if pandas is installed, else a list of dicts. index: that of the new rows, or None."""
        pandas = optional_module("pandas")
        if pandas is None:
            return self.rows()
        table = self.table()
        made = pandas.DataFrame(table[:, 1:], columns=self.columns()[1:])
        if self.classes:
            made.insert(0, "class", self.classes)
        if index is None:
            made.index = pandas.Index(table[:, 0].astype(int), name="row")
        else:
            made.index = index.repeat(self.class_count(table)) if self.classes else index
        return made


def number(cell: str) -> float:
    return float(cell) if cell else math.nan


def parsed(text: str, columns: int) -> Any:
    """Lines of numbers; empty cells are NaN."""
    numpy = optional_module("numpy")
    if numpy is None:
        return [[number(cell) for cell in line.split(",")] for line in text.split("\n")]
    cells = text.replace("\n", ",")
    if ",," in cells or cells.endswith(","):
        return numpy.array([number(cell) for cell in cells.split(",")]).reshape(-1, columns)
    return numpy.fromstring(cells, sep=",").reshape(-1, columns)
