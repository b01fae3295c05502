"""Group effects by their names, `r_GROUP[level,COLUMN]`, and standard deviations, `sd_GROUP__COLUMN`.

>>> named_effects([("sd_g__Intercept", "sd"), ("r_g[a,b,Intercept]", "effect")])
[Effect(place=1, group='g', level='a,b', column='Intercept')]
>>> named_effects([("sd_g__x", "sd"), ("sd_g__a,x", "sd"), ("r_g[1,a,x]", "effect")])[0].column
'a,x'
"""
from __future__ import annotations

from typing import Iterable, List, NamedTuple, Sequence, Tuple


class Effect(NamedTuple):
    """An effect: its place among the parameters, and what it is the effect of."""

    place: int
    group: str
    level: str
    column: str


def splits_of(name: str) -> List[Tuple[str, str]]:
    """Groups and columns that the name of a standard deviation may mean: both may contain two underscores."""
    inside = name[len("sd_"):]
    places = [i for i in range(1, len(inside) - 1) if inside.startswith("__", i)]
    return [(inside[:i], inside[i + 2:]) for i in places]


def named_effects(parameters: Sequence[Tuple[str, str]]) -> List[Effect]:
    """The effects among parameters, given by name and part. Standard deviations tell where a name is divided."""
    candidates = [split for name, part in parameters if part == "sd" for split in splits_of(name)]
    made = []
    for index, (name, part) in enumerate(parameters):
        if part != "effect":
            continue
        found = [(group, column) for group, column in candidates
                 if name.startswith(f"r_{group}[") and name.endswith(f",{column}]")]
        group, _, inside = name[len("r_"):-1].partition("[")
        level, _, column = inside.rpartition(",")
        if found:
            group, column = max(found, key=lambda one: len(one[0]) + len(one[1]))
            level = name[len(f"r_{group}["):-len(f",{column}]")]
        made.append(Effect(index, group, level, column))
    return made


def in_order(values: Iterable[str]) -> List[str]:
    """The distinct values, in order of their first appearance."""
    return list(dict.fromkeys(values))
