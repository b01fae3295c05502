"""The progress line of a run on a terminal, with the fields of the command line."""
from __future__ import annotations

import html
import math
import shutil
import sys
import time
from typing import Any, Optional, TextIO

from ._library import Progress

BAR_SECONDS = 0.2
BAR_CELLS = 20
NOTEBOOK_WIDTH = 100


def duration(seconds: float) -> str:
    whole = math.ceil(seconds)
    if whole < 60:
        return f"{whole}s"
    if whole < 3600:
        return f"{whole // 60}m{whole % 60:02d}s"
    if whole < 48 * 3600:
        return f"{whole // 3600}h{whole // 60 % 60:02d}m"
    return f"{whole // 86400}d{whole // 3600 % 24:02d}h"


def fields(state: Progress) -> list[str]:
    """The fields whose values are known, the most important first."""
    done = min(max(state.share_done, 0.0), 1.0) if math.isfinite(state.share_done) else 0.0
    full = 0 if state.warming_up else int(done * BAR_CELLS)
    shown = ["[" + "#" * full + "." * (BAR_CELLS - full) + "]"]
    shown.append("warming up" if state.warming_up else f"{math.floor(100 * done):3d}%")
    if math.isfinite(state.seconds_left) and state.seconds_left >= 0:
        shown.append(duration(state.seconds_left) + " left")
    if not state.warming_up and state.min_ess > 0:
        shown.append(f"ESS {state.min_ess:.0f}")
    if math.isfinite(state.max_rhat):
        shown.append(f"R-hat {state.max_rhat:.3f}")
    if math.isfinite(state.bias_estimate):
        shown.append(f"bias {state.bias_estimate:.3f}")
    return shown


def line(state: Progress, width: int) -> str:
    text = ""
    for field in fields(state):
        more = text + ("  " if text else "") + field
        if len(more) < width:
            text = more
    return text


class Bar:
    """Redrawn at most five times a second, and removed at the end."""

    def __init__(self, wanted: bool, stream: TextIO) -> None:
        self.wanted, self.stream = wanted, stream
        self.next = time.monotonic() + BAR_SECONDS
        self.drawn = False

    def is_due(self) -> bool:
        return self.wanted and time.monotonic() >= self.next

    def show(self, state: Progress) -> None:
        width = shutil.get_terminal_size().columns
        self.stream.write("\r" + line(state, width) + "\033[K")
        self.stream.flush()
        self.drawn, self.next = True, time.monotonic() + BAR_SECONDS

    def close(self) -> None:
        if self.drawn:
            self.stream.write("\r\033[K")
            self.stream.flush()


class NotebookBar(Bar):
    """The same line below the cell of a notebook, updated in place."""

    def __init__(self, display: Any) -> None:
        super().__init__(True, sys.stderr)
        self.display, self.handle = display, None

    def show(self, state: Progress) -> None:
        self.update(line(state, NOTEBOOK_WIDTH))
        self.drawn, self.next = True, time.monotonic() + BAR_SECONDS

    def update(self, text: str) -> None:
        shown = {"text/plain": text, "text/html": f"<pre>{html.escape(text)}</pre>"}
        if self.handle is None:
            self.handle = self.display(shown, raw=True, display_id=True)
        else:
            self.handle.update(shown, raw=True)

    def close(self) -> None:
        if self.drawn:
            self.update("")


def notebook_display() -> Any:
    """IPython's `display` in a notebook, else None."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None and hasattr(ipython, "get_ipython") else None
    if shell is None or not hasattr(shell, "kernel"):
        return None
    from IPython.display import display

    return display


def bar(wanted: Optional[bool]) -> Bar:
    """The progress line. `wanted` None: shown if standard error is a terminal, and in a notebook."""
    stream, display = sys.stderr, notebook_display()
    if display is not None and wanted is not False:
        return NotebookBar(display)
    if wanted is None:
        wanted = stream is not None and stream.isatty()
    return Bar(bool(wanted) and stream is not None, stream)
