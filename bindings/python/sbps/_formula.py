"""Formulas as Python's packages write them, in R's form: `C(x)` is `factor(x)`, `Q("a b")` is a name in backticks,
`np.log(x)` is `log(x)` and `**` is `^`. All else is left to the library.

>>> in_r("y ~ C(g) + np.log(x) + Q('odd name')**2")
'y ~ factor(g) + log(x) + `odd name`^2'
>>> in_r("y ~ C(g, Treatment('b')) + C(h, levels=['low', 'high'])")
'y ~ relevel(g, ref = "b") + factor(h, levels = c("low", "high"))'
"""
from __future__ import annotations

import ast
import re
from typing import Any, List, Optional, Tuple

from .errors import BadArg

TOKEN = re.compile(r"""`[^`]*`|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\*\*|[A-Za-z_.][A-Za-z0-9_.]*|\s+|.""", re.S)
SAME = {"np.log": "log", "np.log2": "log2", "np.log10": "log10", "np.log1p": "log1p", "np.exp": "exp", "np.expm1": "expm1",
        "np.sqrt": "sqrt", "np.abs": "abs", "np.sin": "sin", "np.cos": "cos", "np.tan": "tan", "np.tanh": "tanh",
        "np.sinh": "sinh", "np.cosh": "cosh", "np.arctan": "atan", "np.floor": "floor", "np.ceil": "ceiling",
        "standardize": "scale"}
REFUSED = {
    "Sum": "sum-to-zero coding is not available: C(x) has treatment coding, C(x, Treatment(\"a\")) another reference level",
    "Poly": "polynomial coding is not available: use poly(x, 2) of numbers, or C(x)",
    "Diff": "difference coding is not available: use C(x), and contrast() of the fit for differences",
    "Helmert": "Helmert coding is not available: use C(x), and contrast() of the fit for differences",
    "cr": "cr() is not available: use ns(x, df = 4), which is a natural cubic spline, too",
    "cc": "cc() is not available: a cyclic spline can be made of sin() and cos()",
    "te": "te() is not available: use interactions of ns() or bs()",
    "center": "center() is not available: use scale(x, scale = FALSE)",
}


def in_r(formula: str) -> str:
    """The formula with Python's forms rewritten."""
    tokens = TOKEN.findall(formula)
    return "".join(rewritten(tokens, 0, len(tokens)))


def rewritten(tokens: List[str], at: int, end: int) -> List[str]:
    made: List[str] = []
    while at < end:
        token = tokens[at].replace("numpy.", "np.", 1) if tokens[at].startswith("numpy.") else tokens[at]
        opening = next_of(tokens, at)
        calls = opening is not None and opening < end and tokens[opening] == "("
        if token == "**":
            made.append("^")
        elif calls and opening is not None and token in ("C", "Q"):
            closing = closing_of(tokens, opening)
            inside = tokens[opening + 1:closing]
            made.append(category(inside) if token == "C" else quoted_name(inside))
            at = closing
        elif calls and token in SAME:
            made.append(SAME[token])
        elif calls and token in REFUSED:
            raise BadArg(f"formula: {REFUSED[token]}")
        elif calls and re.match(r"(np|pd|scipy)\.", token):
            raise BadArg(f"formula: the function {token} is not available: compute its column before the call")
        else:
            made.append(tokens[at])
        at += 1
    return made


def next_of(tokens: List[str], at: int) -> Optional[int]:
    """The next token that is not a space."""
    return next((i for i in range(at + 1, len(tokens)) if not tokens[i].isspace()), None)


def closing_of(tokens: List[str], opening: int) -> int:
    depth = 0
    for i in range(opening, len(tokens)):
        depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(tokens[i], 0)
        if depth == 0:
            return i
    raise BadArg(f"formula: the parenthesis after {tokens[opening - 1]} is not closed")


def arguments_of(tokens: List[str]) -> List[List[str]]:
    """Tokens between commas that are in no parentheses."""
    parts: List[List[str]] = [[]]
    depth = 0
    for token in tokens:
        depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(token, 0)
        if token == "," and depth == 0:
            parts.append([])
        else:
            parts[-1].append(token)
    return parts


def quoted_name(tokens: List[str]) -> str:
    """The name in `Q("a b")`."""
    name = literal("Q(...)", "".join(tokens))
    if not isinstance(name, str) or "`" in name:
        raise BadArg(f"formula: Q({''.join(tokens)}): expected the name of a column in quotes")
    return f"`{name}`"


def category(tokens: List[str]) -> str:
    """`C(x)`, `C(x, Treatment("b"))`, `C(x, levels=["a", "b"])`."""
    first, *others = arguments_of(tokens)
    values = "".join(rewritten(first, 0, len(first))).strip()
    if not others:
        return f"factor({values})"
    what = f"C({''.join(tokens)})"
    if len(others) > 1:
        raise BadArg(f"formula: {what}: expected one argument after the column, Treatment(...) or levels=[...]")
    name, value = named(others[0])
    if name == "levels":
        return f"factor({values}, levels = {vector(what, value)})"
    found = re.fullmatch(r"Treatment(?:\((?:\s*(?:reference|base)\s*=)?(.*)\))?", value, re.S)
    if name not in (None, "contr") or not found:
        known = re.match(r"[A-Za-z_]+", value)
        why = REFUSED.get(known.group(0) if known else "", "expected Treatment(...) or levels=[...] after the column")
        raise BadArg(f"formula: {what}: {why}")
    if not (found.group(1) or "").strip():
        return f"factor({values})"
    reference = literal(what, found.group(1))
    if not isinstance(reference, str):
        raise BadArg(f"formula: {what}: the reference is a level in quotes, such as Treatment(\"a\")")
    return f"relevel({values}, ref = {text(reference)})"


def named(tokens: List[str]) -> Tuple[Optional[str], str]:
    """The name of an argument, or None, and its value."""
    found = re.fullmatch(r"\s*(?:([A-Za-z_]+)\s*=)?\s*(.*?)\s*", "".join(tokens), re.S)
    return (found.group(1), found.group(2)) if found else (None, "")


def vector(what: str, value: str) -> str:
    levels = literal(what, value)
    if not isinstance(levels, (list, tuple)) or not all(isinstance(one, (str, int, float)) for one in levels):
        raise BadArg(f"formula: {what}: levels is a list of texts or numbers, such as levels=[\"a\", \"b\"]")
    return "c(" + ", ".join(text(one) if isinstance(one, str) else repr(one) for one in levels) + ")"


def literal(what: str, value: str) -> Any:
    try:
        return ast.literal_eval(value.strip())
    except (ValueError, SyntaxError):
        raise BadArg(f"formula: {what}: expected a text, a number or a list, not {value.strip()}") from None


def text(value: str) -> str:
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
