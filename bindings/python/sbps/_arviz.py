"""A fit in the form of ArviZ: groups of xarray datasets, as `InferenceData` (ArviZ before 1.0) or `DataTree`."""
from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Tuple

from . import _library as lib
from ._optional import optional_module
from ._effects import Effect, in_order, named_effects
from .errors import BadArg, BadData, NoFile, SbpsError, SbpsWarning

if TYPE_CHECKING:
    from ._fit import Fit

POINTWISE_MAX = 4e7  # rows x draws up to which pointwise values are included without being requested
STATISTICS = ("proposals", "bounces", "missing", "k", "potential_sd", "log_prior", "log_likelihood", "seconds")
SAMPLE = ("chain", "draw")
Group = Dict[str, Tuple[Tuple[str, ...], Any]]


def distinct(names: List[str], taken: Any = ()) -> List[str]:
    """The names, with a number appended to duplicates and to those that are taken."""
    given, used, made = set(names), set(taken), []
    for name in names:
        number, unused = 0, name
        while unused in used or (number and unused in given):
            number += 1
            unused = f"{name}.{number}"
        used.add(unused)
        made.append(unused)
    return made


def import_xarray() -> Any:
    xarray = optional_module("xarray")
    if xarray is None:
        raise BadArg("to_inferencedata needs xarray, which ArviZ brings along: pip install arviz")
    return xarray


class Groups:
    """The groups of a fit, with the coordinates of their dimensions."""

    def __init__(self, fit: "Fit") -> None:
        self.fit = fit
        self.draws = fit.draws
        self.chains, self.count, _ = self.draws.shape
        self.coords: Dict[str, Any] = {}
        self.made: Dict[str, Any] = {}

    def add(self, name: str, variables: Group, **attributes: Any) -> None:
        xarray = import_xarray()
        used = {dim for dims, _ in variables.values() for dim in dims}
        sizes = {"chain": self.chains, "draw": self.count}
        coords = {dim: range(sizes[dim]) if dim in sizes else self.coords[dim] for dim in used if dim in sizes or dim in self.coords}
        self.made[name] = xarray.Dataset(variables, coords=coords, attrs={
            "inference_library": "sbps", "inference_library_version": lib.version(), **attributes})

    def posterior(self) -> None:
        """A variable for each parameter; effects of a group are one, `r_GROUP`, by level and column."""
        parameters = self.fit._kinds
        effects = named_effects(parameters)
        inside = {one.place for one in effects}
        alone = [index for index in range(len(parameters)) if index not in inside]
        variables: Group = {}
        for group in in_order(one.group for one in effects):
            variables.update(self.effects_of(group, [one for one in effects if one.group == group]))
        names = distinct([parameters[index][0] for index in alone], [*variables, *SAMPLE])
        fixed: Group = {name: (SAMPLE, self.draws[:, :, index]) for name, index in zip(names, alone)}
        self.add("posterior", {**fixed, **variables}, **self.attributes())

    def effects_of(self, group: str, effects: List[Effect]) -> Group:
        import numpy

        levels, columns = in_order(one.level for one in effects), in_order(one.column for one in effects)
        level_at = {level: i for i, level in enumerate(levels)}
        column_at = {column: i for i, column in enumerate(columns)}
        values = numpy.full((self.chains, self.count, len(levels), len(columns)), numpy.nan)
        for one in effects:
            values[:, :, level_at[one.level], column_at[one.column]] = self.draws[:, :, one.place]
        taken = {*SAMPLE, *self.fit.names}
        dims = f"{group}__level" if group in taken else group, f"{group}__effect"
        self.coords[dims[0]], self.coords[dims[1]] = levels, columns
        return {f"r_{group}": ((*SAMPLE, *dims), values)}

    def attributes(self) -> Dict[str, Any]:
        known = {"formula": self.fit.formula, "model": self.fit.facts.get("model"), "sampler": self.fit.facts.get("sampler"),
                 "created_at": self.fit.facts.get("created_at")}
        return {name: value for name, value in known.items() if value is not None}

    def sample_stats(self) -> None:
        import numpy

        lp = -self.fit._statistic("potential")
        variables: Group = {} if numpy.isnan(lp).all() else {"lp": (SAMPLE, lp)}
        for name in STATISTICS:
            values = self.fit._statistic(name)
            if not numpy.isnan(values).all():
                variables[name] = (SAMPLE, values)
        self.add("sample_stats", variables)

    def pointwise(self, likelihood: bool, predictive: bool) -> None:
        """Values by row of the fit's own table: rows that were dropped from the fit are left out."""
        import numpy

        name = self.fit._target_name()
        observed, classes = self.by_row("response", 1)
        kept = ~numpy.isnan(observed[0])
        if kept.all():
            rows = numpy.arange(len(kept))
        else:
            rows = numpy.flatnonzero(kept)
        self.coords["obs_id"] = self.fit._row_labels(rows)
        dims = (*SAMPLE, "obs_id")
        about = {"classes": list(classes)} if classes else {}
        if likelihood:
            values, _ = self.by_row("density", 0)
            self.add("log_likelihood", {name: (dims, self.shaped(values[:, kept]))})
        if predictive:
            values, _ = self.by_row("outcome", 0)
            self.add("posterior_predictive", {name: (dims, self.shaped(values[:, kept]))}, **about)
        self.add("observed_data", {name: (("obs_id",), observed[0][kept])}, **about)

    def by_row(self, kind: str, most: int) -> Tuple[Any, List[str]]:
        """Values [draw, row] of the fit's own table, classes as their numbers from 0; and the names of classes."""
        import numpy

        values, classes = self.fit._own_draws(kind, most)
        if values.ndim == 3:
            missing = numpy.isnan(values[:, 0, :])
            values = numpy.where(missing, numpy.nan, values.argmax(axis=1))
        return values.T, classes

    def shaped(self, values: Any) -> Any:
        return values.reshape(self.chains, self.count, -1)


def groups_of(fit: "Fit", log_likelihood: Optional[bool], posterior_predictive: Optional[bool]) -> Dict[str, Any]:
    """The datasets by name. None: what rows of the fit's own table give, where they are there and not too many."""
    groups = Groups(fit)
    groups.posterior()
    groups.sample_stats()
    wanted = [log_likelihood, posterior_predictive]
    if wanted == [False, False]:
        return groups.made
    small = (fit.facts.get("rows") or 0) * groups.chains * groups.count <= POINTWISE_MAX
    chosen = [small if one is None else one for one in wanted]
    if not any(chosen):
        warnings.warn(f"{fit.facts['rows']} rows x {groups.chains * groups.count} draws: log_likelihood and "
                      "posterior_predictive are left out; log_likelihood=True includes them", SbpsWarning, stacklevel=4)
        return groups.made
    try:
        fit._check_own_table()
        groups.pointwise(*chosen)
    except BadData:
        raise
    except (SbpsError, NoFile):
        if True in wanted:
            raise
    return groups.made


def inference_data(groups: Dict[str, Any]) -> Any:
    arviz = optional_module("arviz")
    if hasattr(arviz, "InferenceData"):
        return arviz.InferenceData(**groups)
    xarray = import_xarray()
    if not hasattr(xarray, "DataTree"):
        raise BadArg("to_inferencedata needs ArviZ, or xarray 2024.10 or later: pip install arviz")
    return xarray.DataTree.from_dict({f"/{name}": group for name, group in groups.items()})
