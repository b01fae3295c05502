"""Packages that are used where they are installed."""
from __future__ import annotations

import importlib
from typing import Any


def optional_module(name: str) -> Any:
    """The module, or None if it is not installed."""
    try:
        return importlib.import_module(name)
    except ImportError:
        return None
