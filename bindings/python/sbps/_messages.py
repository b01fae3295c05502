"""Messages of the library in the words of Python: `missing="drop"`, not `--missing drop`."""
from __future__ import annotations

import functools
import re
from typing import Any, Dict, FrozenSet, Match, Optional

from . import _library as lib

# Options of commands other than `sample`, which are arguments of methods of a fit. None: a switch.
OF_METHODS: Dict[str, Optional[str]] = {"rows": "M", "kind": "NAME", "new-levels": "error|prior", "max-draws": "N",
                                        "interval": "P", "group": "NAME", "data": "FILE"}
# Values of options that are neither choices nor kinds of the library.
WORDS = frozenset("none gradient hessian diagonal dense adaptive joint integrate newton lbfgs sag windows strata random "
                  "yes no all auto latin1 probit".split())
# What the command line calls otherwise. `sbps map` and others stay: they are commands.
PHRASES = (
    (r"add --draws, or write to a \.csv", "pass draws=True"),
    (r"--json lists all", "the report lists all, as a mapping"),
    (r"[`']sbps list (models|samplers|priors)[`']", r'`sbps.kinds("\1")`'),
    (r"[`']sbps sample --dry-run[`']", "`fit.chosen`"),
    (r"[`']sbps summary --ranef[`'] shows", "`fit.ranef()` has"),
    (r"[`']sbps sample[`'] with --", "`sbps.fit` with --"),
    (r"[`']sbps sample[`']", "`sbps.fit`"),
    (r"[`']sbps (loo|compare|summary|check|score|predict|diagnose|contrast|report)[`']", r"`fit.\1`"),
    (r"\bsbps diagnose [^\s;,]+", "call diagnose() of the fit"),
    (r"on the command line", "in the call"),
)
OPTION = re.compile(r'--([a-z][a-z0-9-]*[a-z0-9])'
                    r'( "[^"]*"| A,B,\.\.\.| [A-Za-z0-9_./]*[A-Za-z0-9_/](?:\([^()]*\))?)?')
COMMAND = re.compile(r"([`']sbps (?:map|laplace|convert|simulate)\b[^`']*[`'])")


@functools.lru_cache(maxsize=None)
def arguments() -> Dict[str, Optional[str]]:
    """What the value of each option is called, None for a switch, by the option's name."""
    every = [lib.plain("option_at", index) for index in range(lib.plain("option_count"))]
    return {**OF_METHODS, **{one.name.decode(): one.argument.decode() if one.argument else None for one in every}}


@functools.lru_cache(maxsize=None)
def words() -> FrozenSet[str]:
    """Words that are values of options."""
    return WORDS | {name for family in ("models", "families", "samplers", "priors") for name in lib.kinds_of(family)}


def in_python(message: str) -> str:
    """The message with options as arguments and commands as functions of Python."""
    if "sbps" in message or "--" in message or "command line" in message:
        for pattern, words_of_python in PHRASES:
            message = re.sub(pattern.replace(" ", r"\s+"), words_of_python, message)  # lines of reports are wrapped
    if "--" not in message:
        return message
    parts = COMMAND.split(message)
    return "".join(part if index % 2 else OPTION.sub(argument, part) for index, part in enumerate(parts))


def argument(found: Match[str]) -> str:
    """An option and, where it has one, its value."""
    name, rest, after = found.group(1), found.group(2) or "", found.string[found.end():]
    if name not in arguments():
        return found.group(0)
    called, placeholder = name.replace("-", "_"), arguments()[name]
    if not rest and re.match(r":|' ", after):
        return called
    if placeholder is None:
        return f"{called}=True{rest}"
    value = rest.strip()
    if value == "A,B,...":
        return f'{called}=["A", "B", ...]'
    if is_number(value) or value.startswith('"'):
        return f"{called}={value}"
    if value in placeholder.split("|") or value in words() or "/" in value or "(" in value:
        return f'{called}="{value}"'
    return f"`{called}`{rest}"


def is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def texts_in_python(value: Any) -> Any:
    """The same for every text of a value that was JSON."""
    if isinstance(value, str):
        return in_python(value)
    if isinstance(value, list):
        return [texts_in_python(one) for one in value]
    if isinstance(value, dict):
        return {name: texts_in_python(one) for name, one in value.items()}
    return value
