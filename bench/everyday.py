#!/usr/bin/python3
"""Everyday mixed models: the default command on small tables of R packages, beside lme4, glmmTMB and rstanarm.

    bench/everyday.py [--program build/sbps] [--data build/bench-everyday] [--only REGEX] [--again sbps,point,rstanarm]
                      [--steps sbps,point,rstanarm] [--timeout 120] [--write]

bench/everyday.R holds the models and fits the peers. Every result is kept in the folder of --data, so that an
interrupted run continues; --again discards the results of a step. Seconds are user CPU seconds, children included:
of sbps from the start of the program to its end, of the peers the fit alone, without the start of R."""
import argparse
import json
import os
import re
import resource
import signal
import subprocess
import time

from common import ROOT, circumstances, command, markdown, number, publish, say, wrapped

HELPER = os.path.join(ROOT, "bench", "everyday.R")
STEPS = ("sbps", "point", "rstanarm")
ESS, RHAT, LIMITS = 400, 1.01, (10, 60)  # CPU seconds with one grouping factor, with several


def factors(formula):
    return sum(1 + term.count("/") for term in re.findall(r"\|([^|)]+)\)", formula))


def timed(words, limit):
    """Exit status (None: out of time), outputs and user CPU seconds of a command that may take `limit` of them."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    done = subprocess.run(words, capture_output=True, text=True,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (int(limit), int(limit) + 1)))
    # sbps ends an interrupted run with 130
    status = None if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL, 130) else done.returncode
    return status, done.stdout, done.stderr, resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def sample_words(args, model):
    words = [args.program, "sample", os.path.join(args.data, model["name"] + ".csv"), model["formula"], "--family",
             model["family"], "--ess", str(ESS), "--threads", "1", "--progress", "off"]
    for name, value in (model["options"] or {}).items():
        words += ["--" + name, value]
    return words


def run_sbps(args, model):
    """The default command and its summary."""
    path = os.path.join(args.data, model["name"] + ".nc")
    status, _, err, seconds = timed([*sample_words(args, model), "-o", path], args.timeout)
    result = {"status": status, "seconds": seconds, "message": err.strip(), "commit": command("git", "log", "-1", "--format=%h", "--", "src", "cli", "include")}
    if status == 0:
        text = subprocess.run([args.program, "summary", path, "--json"], check=True, capture_output=True, text=True).stdout
        result.update(json.loads(text))
    return result


def least_ess(result):
    return min(min(p["ess_bulk"], p["ess_tail"]) for p in result["parameters"])


def largest_rhat(result):
    return max(p["rhat"] for p in result["parameters"])


def failure(model, result):
    """What a run of sbps misses, or nothing."""
    limit = LIMITS[factors(model["formula"]) > 1]
    if result["status"] is None:
        return f"out of time, {result['seconds']:.0f} s"
    if result["status"]:
        return f"exit status {result['status']}: {result['message'].splitlines()[-1]}"
    missed = []
    if result["seconds"] > limit:
        missed.append(f"{result['seconds']:.1f} s, limit {limit} s")
    if not least_ess(result) >= ESS:
        missed.append(f"ESS {least_ess(result):.0f}")
    if not largest_rhat(result) < RHAT:
        missed.append(f"R-hat {largest_rhat(result):.4f}")
    return ", ".join(missed)


def run_helper(args, model, step):
    words = ["Rscript", HELPER, step, args.data, model["name"]]
    status, out, err, seconds = timed(words, args.peer_timeout)
    if status == 0:
        return json.loads(out)
    return {"error": "out of time" if status is None else err.strip().splitlines()[-1], "seconds": seconds}


def run_rstanarm(args, model):
    """rstanarm, and sbps with the same priors."""
    result = run_helper(args, model, "rstanarm")
    if "estimates" in result:
        path = os.path.join(args.data, "matched.nc")
        prior = ["--prior-sd", result["prior_sd"], "--prior-cor", "lkj(1)"]
        if model["family"] == "negbinomial":
            prior += ["--prior-phi", "exponential(1)"]
        status, _, err, _ = timed([*sample_words(args, model), *prior, "-o", path], args.timeout)
        result["message"] = err.strip()
        if status == 0:
            text = subprocess.run([args.program, "summary", path, "--json"], check=True, capture_output=True, text=True).stdout
            result["matched"] = json.loads(text)["parameters"]
    return result


def key(name):
    """A parameter's name with the factors of its group in order: a:b and b:a are the same group."""
    parts = name.split("__")
    kind, _, group = parts[0].partition("_")
    if kind in ("sd", "cor") and len(parts) > 1:
        parts[0] = kind + "_" + ":".join(sorted(group.split(":")))
    return "__".join(parts)


def against_point(results):
    """Largest difference of a fixed effect from its point estimate, in posterior standard deviations."""
    ours = {key(p["name"]): p for p in results["sbps"].get("parameters", [])}
    theirs = {key(name): value for name, value in results.get("point", {}).get("estimates", {}).items()}
    both = [name for name in theirs if name in ours and not name.startswith(("sd_", "cor_"))]
    return max((abs(ours[name]["mean"] - theirs[name]) / ours[name]["sd"] for name in both), default=None)


def against_rstanarm(results):
    """Differences of posterior means in combined MCSEs: (size, name, ours, theirs), the largest first."""
    theirs = {key(name): value for name, value in results.get("rstanarm", {}).get("estimates", {}).items()}
    found = []
    for p in results.get("rstanarm", {}).get("matched", []):
        if key(p["name"]) in theirs:
            other = theirs[key(p["name"])]
            error = (p["mcse"]**2 + other["mcse"]**2)**0.5
            found.append((abs(p["mean"] - other["mean"]) / error, p["name"], p["mean"], other["mean"], error))
    return sorted(found, reverse=True)


def row(model, results):
    sbps, point, peer = results["sbps"], results.get("point", {}), results.get("rstanarm", {})
    done = sbps["status"] == 0
    run = sbps.get("run", {})
    differences = against_rstanarm(results)
    levels = ", ".join(str(v) for v in point.get("levels", {}).values()) or "-"
    seconds = f"{sbps['seconds']:.2g}" if sbps["seconds"] < 10 else f"{sbps['seconds']:.0f}"
    return [f"`{model['name']}`", round(run["rows"]) if run else "-", levels, model["family"], run.get("sampler", "-"),
            f"**{seconds}**" if failure(model, sbps) else seconds,
            f"{least_ess(sbps):.0f}" if done else "-", f"{largest_rhat(sbps):.4f}" if done else "-",
            f"{point['package']} {point['seconds']:.2g}" if "estimates" in point else "-", number(against_point(results), 2),
            number(peer.get("seconds"), 3), number(differences[0][0], 2) if differences else "-"]


def page(args, models, everything, load):
    head = ["model", "rows", "levels", "family", "method", "sbps, s", "least ESS", "largest R-hat", "lme4 or glmmTMB, s",
            "fixed effects off it, sd", "rstanarm, s", "off it, MCSE"]
    shown = [m for m in models if "sbps" in everything[m["name"]]]
    missed = [(m, failure(m, everything[m["name"]]["sbps"])) for m in shown]
    missed = [f"- `{m['name']}`, `{m['formula']}`: {text}" for m, text in missed if text]
    far = [f"- `{m['name']}`, {name}: {number(ours, 4)} of sbps, {number(theirs, 4)} of rstanarm, {size:.1f} MCSE"
           for m in shown for size, name, ours, theirs, _ in against_rstanarm(everything[m["name"]]) if size > 3]
    commits = sorted({everything[m["name"]]["sbps"]["commit"] for m in shown})
    compared = sum(len(against_rstanarm(everything[m["name"]])) for m in shown)
    lines = [circumstances(args, load), "",
             f"Goals: at most {LIMITS[0]} s with one grouping factor, {LIMITS[1]} s with several, ESS {ESS} and R-hat below {RHAT} of "
             f"every fixed effect, standard deviation and correlation. {len(shown) - len(missed)} of {len(shown)} models meet them"
             f"{'; the others have their seconds in bold and are listed below' if missed else ''}. "
             f"sbps was built from {', '.join(commits)}.", "",
             markdown(head, [row(m, everything[m["name"]]) for m in shown])]
    if missed:
        lines += ["", "Missed:", "", *missed]
    lines += ["", f"Differences from rstanarm above 3 MCSE, of {compared} compared{':' if far else ': none.'}", *([""] + far if far else [])]
    return wrapped("\n".join(lines))


def packages_missing(results):
    return {r[step]["missing"] for r in results for step in ("point", "rstanarm") if "missing" in r.get(step, {})}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=os.path.join(ROOT, "build", "sbps"))
    parser.add_argument("--data", default=os.path.join(ROOT, "build", "bench-everyday"), help="folder of tables and results")
    parser.add_argument("--only", default="", help="models whose names match this regular expression")
    parser.add_argument("--steps", default=",".join(STEPS), help="what to run where no result is kept [%(default)s]")
    parser.add_argument("--again", default="", help="steps whose results are made again")
    parser.add_argument("--timeout", type=float, default=120, help="CPU seconds for a run of sbps [%(default)s]")
    parser.add_argument("--peer-timeout", type=float, default=1800, help="CPU seconds for a fit in R [%(default)s]")
    parser.add_argument("--note", default="", help="what the reader should know, such as how busy the machine was")
    parser.add_argument("--write", action="store_true", help="put the table into bench/RESULTS.md")
    args = parser.parse_args()
    load = os.getloadavg()[0]
    os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1", LC_ALL="C")  # R orders levels as sbps does
    args.program, args.data = os.path.abspath(args.program), os.path.abspath(args.data)
    os.makedirs(args.data, exist_ok=True)
    listing = os.path.join(args.data, "models.json")
    if not os.path.exists(listing) or os.path.getmtime(listing) < os.path.getmtime(HELPER):
        subprocess.run(["Rscript", HELPER, "tables", args.data], check=True)
    with open(listing) as file:
        models = json.load(file)
    makers = {"sbps": run_sbps, "point": lambda a, m: run_helper(a, m, "point"), "rstanarm": run_rstanarm}
    everything = {}
    for model in models:
        results = everything[model["name"]] = {}
        for step in STEPS:
            path = os.path.join(args.data, f"{model['name']}.{step}.json")
            chosen = step in args.steps.split(",") and re.search(args.only, model["name"])
            if chosen and (step != "rstanarm" or model["rstanarm"]):
                if step in args.again.split(",") or not os.path.exists(path):
                    say(f"{model['name']}: {step}")
                    result = makers[step](args, model)
                    with open(path, "w") as file:
                        json.dump(result, file)
            if os.path.exists(path):
                with open(path) as file:
                    results[step] = json.load(file)
                if step == "sbps" and chosen:
                    sbps = results[step]
                    say(f"{model['name']}: {sbps['seconds']:.2f} s {failure(model, sbps)}")
    for package in sorted(packages_missing(everything.values())):
        say(f"The R package {package} is missing: its columns stay empty.")
    publish(args, "bench/everyday.py", page(args, models, everything, load))


if __name__ == "__main__":
    main()
