"""Reports of a fit: a mapping for programs, and the text of the command line."""
from __future__ import annotations

import csv
import html
import io
import json
from collections.abc import Mapping
from typing import Any, Callable, Dict, Iterator

from ._messages import in_python, texts_in_python
from ._optional import optional_module


class Report(Mapping[str, Any]):
    """The numbers of a report by name; `print` shows the text of the command line.

    >>> report = Report('{"elpd": -12.5}', lambda: "elpd -12.5\\n")
    >>> report["elpd"]
    -12.5
    >>> print(report)
    elpd -12.5
    """

    def __init__(self, numbers: str, render: Callable[[], str]) -> None:
        self._numbers: Dict[str, Any] = texts_in_python(json.loads(numbers))
        self._render: Callable[[], str] = render
        self._text: str = ""

    def __getitem__(self, name: str) -> Any:
        return self._numbers[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._numbers)

    def __len__(self) -> int:
        return len(self._numbers)

    def __str__(self) -> str:
        self._text = self._text or in_python(self._render())
        return self._text.rstrip("\n")

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return "<pre>" + html.escape(str(self)) + "</pre>"


KINDS: Dict[str, Callable[[str], Any]] = {"name": str, "class": str, "expression": str, "row": int}


def rows_of(text: str) -> list[dict[str, Any]]:
    """The lines of a CSV text with a header: numbers, or NaN, except for the first columns."""
    return [{column: KINDS.get(column, float)(cell or "nan") for column, cell in row.items()}
            for row in csv.DictReader(io.StringIO(text))]


def frame(rows: list[dict[str, Any]], index: str) -> Any:
    """A data frame if pandas is installed, else the rows as they are."""
    pandas = optional_module("pandas")
    return rows if pandas is None else pandas.DataFrame(rows).set_index(index)


def html_table(rows: list[dict[str, Any]]) -> str:
    """A table for display, with four digits of each number."""
    def shown(value: Any) -> str:
        return html.escape(value) if isinstance(value, str) else f"{value:.4g}"

    head = "".join(f"<th>{html.escape(column)}</th>" for column in rows[0])
    body = "".join("<tr>" + "".join(f"<td>{shown(value)}</td>" for value in row.values()) + "</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
