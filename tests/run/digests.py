#!/usr/bin/python3
"""The same seed gives the same bytes as when digests.txt was written: draws, summary and checkpoint
of short runs of every sampler, model, storage, control variate, metric and choice of batches.

  digests.py                 compares
  digests.py --update        writes digests.txt anew: after a change that is meant to change them
  digests.py --keep FOLDER   leaves what was digested there; `diff -r` of two trees' folders shows
                             the numbers in which they part

Bits depend on the C library's functions and on linear algebra: OpenBLAS is held to kernels that
every processor has, and with versions other than those of digests.txt a difference is a skip."""
import argparse
import glob
import hashlib
import json
import os
import random
import re
import struct
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.realpath(__file__))
SBPS = os.path.realpath(os.environ.get("SBPS_PROGRAM", os.path.join(HERE, "../../build/sbps")))
KEPT = os.path.join(HERE, "digests.txt")
PARTS = ["draws", "summary", "checkpoint"]
NOT_OF_THE_SEED = re.compile("seconds_|created_at|version")

SHORT = "--chains 2 --draws 40 --warmup 600 --epochs 40 "
LONG = "--chains 2 --draws 40 --warmup 600 --epochs 600 "  # an observation takes all rows
LOGISTIC = "logistic.csv --model logistic --target y "
LINEAR = "linear.csv --model linear --target y "
ONE_ROW = "--chains 2 --draws 40 --warmup 3000 --epochs 40 --sampler "
SBPS_OF = LOGISTIC + "--sampler sbps " + SHORT
RARE = "rare.csv --model logistic --target y "
RUNS = {
    # samplers
    "psbps": LOGISTIC + SHORT + "--sampler psbps",
    "boomerang": LOGISTIC + SHORT + "--sampler boomerang",
    "bps": LOGISTIC + LONG + "--sampler bps",
    "noisy-bps": LOGISTIC + LONG + "--sampler noisy-bps --gradient-noise 0.5",
    "lipsbps": LOGISTIC + ONE_ROW + "lipsbps",
    "local-bps": LOGISTIC + ONE_ROW + "local-bps",
    "zigzag": LOGISTIC + LONG + "--sampler zigzag",
    "zigzag-ss": LOGISTIC + ONE_ROW + "zigzag-ss",
    "zigzag-cv": LOGISTIC + ONE_ROW + "zigzag-cv",
    "sgld": LOGISTIC + SHORT + "--sampler sgld --batch-size 50",
    "psgld": LOGISTIC + SHORT + "--sampler psgld --batch-size 50",
    "sghmc": LOGISTIC + SHORT + "--sampler sghmc --batch-size 50",
    "msgnht": LOGISTIC + SHORT + "--sampler msgnht --batch-size 50",
    "mh": LOGISTIC + LONG + "--sampler mh",
    "hmc": LOGISTIC + "--chains 2 --draws 40 --epochs 2000 --sampler hmc",
    "nuts": LOGISTIC + "--chains 2 --draws 40 --epochs 4000 --sampler nuts",
    "surrogate": LOGISTIC + "--chains 2 --draws 40 --warmup 600 --ess 400 --sampler surrogate",
    "importance": LOGISTIC + "--chains 2 --draws 40 --ess 400 --sampler importance",
    "sweep": "crossed.csv --formula y~x+(1+x|g)+(1|h) --family bernoulli --sampler sweep --chains 2 "
    "--draws 40 --warmup 100 --epochs 3000",
    "sweep, normal rows": "crossed.csv --formula x~o+(1+o|g)+(1|h) --family gaussian --sampler sweep "
    "--chains 2 --draws 40 --warmup 100 --epochs 200",
    # models
    "logistic": SBPS_OF,
    "linear": LINEAR + SHORT + "--sampler sbps",
    "linear, boomerang": LINEAR + SHORT + "--sampler boomerang",
    "poisson": "poisson.csv --model poisson --target y --sampler sbps " + SHORT,
    "softmax": "classes.csv --model softmax --target y --sampler sbps " + SHORT,
    "categorical": "classes.csv --model categorical --target y --sampler sbps " + SHORT,
    "network": "classes.csv --model network --target y --hidden 2 --sampler sbps " + LONG,
    "network, relu": "linear.csv --model network --target y --hidden 2 --activation relu "
    "--head gaussian --sampler sbps " + LONG,
    "gaussian": "--model gaussian --dim 4 --condition 100 --chains 2 --draws 40 --ess 100",
    "banana": "--model banana --chains 2 --draws 40 --ess 100",
    "hyperboloid": "hyperboloid.csv --model hyperboloid --target y --prior normal(0,1) --sampler sbps " + LONG,
    "multimodal": "multimodal.csv --model multimodal --sampler sbps " + SHORT,
    # storages and sources
    "float": SBPS_OF + "--storage float",
    "sparse": "sparse.svm --model logistic --storage sparse --sampler sbps " + SHORT,
    "converted": "logistic.tbl --model logistic --sampler sbps " + SHORT,
    "converted, float": "float.tbl --model logistic --sampler sbps " + SHORT,
    "categories": "mixed.csv --model logistic --target y --categorical c --weights w --offset o "
    "--standardize --sampler sbps " + SHORT,
    # control variates, metrics, batches
    "no control variate": SBPS_OF + "--control-variate none",
    "gradient at the mode": SBPS_OF + "--control-variate gradient --batch-size 30",
    "no metric": SBPS_OF + "--metric none",
    "diagonal metric": SBPS_OF + "--metric diagonal",
    "adaptive metric": SBPS_OF + "--metric adaptive --adapt-forever",
    "lowrank metric": "classes.csv --model softmax --target y --metric lowrank " + SHORT,
    "random rows": SBPS_OF + "--minibatch random --batch-size 20",
    "strata": RARE + SHORT + "--sampler sbps --minibatch strata --control-variate hessian",
    # the method
    "paper": LOGISTIC + "--paper " + SHORT,
    "paper, steps of the default": LOGISTIC + "--paper --dt auto " + SHORT,
    # the notebook of the authors' program, see docs/errata.md
    "paper, as its authors": LOGISTIC + "--paper --slope-prior wide --slope-evidence rejected "
    "--refresh-rate 0.05 " + SHORT,
    "paper, other options of the band": LOGISTIC + "--paper --slope-prior wide --slope-repair "
    "--slope-evidence rejected --bounce-batch fresh --weight-decay on " + SHORT,
    "gaussian process": SBPS_OF + "--regression gp --auxiliary 2 --horizon inf",
    "one batch's variance": SBPS_OF + "--pool-variance off --lack-of-fit off --band 3",
    "laplace prior": SBPS_OF + "--prior laplace(0,0.5) --prior-intercept student_t(3,0,2)",
    "cauchy prior": SBPS_OF + "--prior cauchy(0,1) --prior-intercept flat",
    # automatic choices
    "auto": LOGISTIC + "--chains 2 --draws 40 --ess 100",
    "auto, linear": LINEAR + "--chains 2 --draws 40 --ess 100",
    "auto, rows of leverage": "leverage.csv --model logistic --target y --chains 2 --draws 40 --ess 100",
    "auto, changed its mind": RARE + "--draws 40 --ess 100",
}
MAPS = {
    "newton": "map " + LOGISTIC + "--method newton",
    "lbfgs": "map classes.csv --model softmax --target y --method lbfgs",
    "sag": "map " + LOGISTIC + "--method sag",
    "approximation": "laplace " + LINEAR,
}
SINKS = {"skeleton": SBPS_OF + "--skeleton", "trace": SBPS_OF + "--trace"}


def sbps(arguments, tolerant=False):
    done = subprocess.run([SBPS, *arguments], capture_output=True, text=True)
    if done.returncode != 0 and not tolerant:
        sys.exit("sbps %s: %s" % (" ".join(arguments), done.stderr))
    return done.stdout


def listed(kind):
    return [line.split()[0] for line in sbps(["list", kind]).splitlines()]


# ---- tables ----


def write_table(path, head, rows):
    with open(path, "w") as file:
        file.write(head + "\n")
        file.writelines(",".join(str(cell) for cell in row) + "\n" for row in rows)


def number(chance):
    """Four digits, so that no library's rounding shows."""
    return round(4.0 * chance.random() - 2.0, 4)


def write_classes(chance):
    points = [(number(chance), number(chance), number(chance)) for _ in range(600)]
    classes = [(x[0] > number(chance)) + (x[1] > number(chance)) for x in points]
    write_table("classes.csv", "y,a,b,c", [(y, *x) for y, x in zip(classes, points)])


def write_mixed(chance):
    rows = []
    for i in range(600):
        x, level = number(chance), "red green blue".split()[i % 7 % 3]
        rows.append((int(x > number(chance)), x, level, 1 + i % 3, number(chance)))
    write_table("mixed.csv", "y,x,c,w,o", rows)


def write_crossed(chance):
    rows = []
    for i in range(300):
        x, g, h = number(chance), i % 13, (i * i) % 7
        rows.append((int(x + 0.2 * (g - 6) > number(chance)), x, "g%d" % g, "h%d" % h, number(chance)))
    write_table("crossed.csv", "y,x,g,h,o", rows)


def write_sparse(chance):
    with open("sparse.svm", "w") as file:
        for _ in range(600):
            where = [j for j in range(1, 9) if chance.random() < 0.25]
            cells = ["%d:%s" % (j, number(chance)) for j in where]
            file.write(" ".join([str(int(chance.random() < 0.4)), *cells]) + "\n")


def write_rare(chance):
    """Rare, long-tailed columns and nearly separated classes: sbps is predicted to be cheap at the mode and is not."""
    rows = []
    for _ in range(600):
        x = [
            round(0.1 / (0.02 + chance.random()) * chance.random(), 4) if chance.random() < 0.15 else 0
            for _ in range(12)
        ]
        sum_of = -1.0 + 3.0 * (sum(x[::2]) - sum(x[1::2]))
        rows.append((int(sum_of > 1.5 * number(chance)), *x))
    write_table("rare.csv", "y," + ",".join("x%d" % j for j in range(12)), rows)


def write_leverage():
    """Every fiftieth row is an outlier."""
    with open("logistic.csv") as file:
        head, *rows = [line.strip().split(",") for line in file]
    far = [[y] + [10.0 * float(cell) for cell in x] for y, *x in rows[::50]]
    write_table("leverage.csv", ",".join(head), rows + far)


def simulate(model):
    """True if the program can simulate a table for the model."""
    sbps(["simulate", model, "--rows", "800", "--dim", "3", "--seed", "5", "-o", model + ".csv"], True)
    return os.path.exists(model + ".csv")


def write_tables():
    """The tables of the runs. A model without a run gets one, on a simulated table."""
    for model in listed("models"):
        if simulate(model) and model not in " ".join(RUNS.values()).split():
            RUNS[model] = "%s.csv --model %s --target y --sampler sbps " % (model, model) + SHORT
    sbps("simulate multimodal --rows 400 --dim 2 --seed 5 -o multimodal.csv".split())
    sbps("convert logistic.csv logistic.tbl --target y".split())
    sbps("convert logistic.csv float.tbl --target y --storage float".split())
    chance = random.Random(7)
    write_classes(chance)
    write_mixed(chance)
    write_sparse(chance)
    write_rare(chance)
    write_crossed(chance)
    write_leverage()


# ---- outputs of a run ----


def summary_of(path):
    """{"run.key": text, "parameter.key": texts}: numbers stay text."""
    summary = json.loads(sbps(["summary", "--json", path]), parse_float=str, parse_int=str)
    out = {"run." + key: value for key, value in summary["run"].items()}
    for parameter in summary["parameters"]:
        for key, value in parameter.items():
            out.setdefault("parameter." + key, []).append(value)
    return out


def blocks_of(path):
    """(name, bytes) of a checkpoint, see src/store/checkpoint.c."""
    with open(path, "rb") as file:
        data = file.read()
    (count,) = struct.unpack_from("=Q", data, 24)
    at, table = 32, []
    for _ in range(count):
        length, size = struct.unpack_from("=QQ", data, at)
        table.append((data[at + 16 : at + 16 + length].decode(), size))
        at += 16 + length
    for name, size in table:
        yield name, data[at : at + size]
        at += size


def checkpoint_of(path, summary):
    """Its words that are not 0, sorted: the layout of structs does not matter. Without
    the options, which are text of the run, and without times."""
    clock = {struct.pack("=d", float(v)) for k, v in summary.items() if k.startswith("run.seconds_")}
    words = []
    for name, data in blocks_of(path):
        if name == "options":
            continue
        data += bytes(-len(data) % 8)
        words += [data[i : i + 8] for i in range(0, len(data), 8)]
    words = sorted(word for word in words if any(word) and word not in clock)
    return "".join(word.hex() + "\n" for word in words)


def read(path):
    with open(path) as file:
        return file.read()


def texts_of(name, arguments, keys):
    """Texts of one run, and all keys of its summary. A finished run is resumed for its draws,
    without further segments."""
    sample = ["sample", *arguments.split(), "--progress", "off"]
    sbps(sample + ["--checkpoint", "state", "-o", "run.nc"])
    summary = {k: v for k, v in summary_of("run.nc").items() if not NOT_OF_THE_SEED.search(k)}
    state = checkpoint_of("state", summary_of("run.nc"))
    sbps(sample + ["--resume", "state", "-o", "draws.csv"])
    kept = ["%s %s\n" % (k, summary.get(k, "is not there")) for k in keys or sorted(summary)]
    draws = read("draws.csv")
    for path in ("state", "run.nc", "draws.csv"):
        os.remove(path)
    return [draws, "".join(kept), state], set(summary)


def tell_all(keys):
    """{name: texts} and the keys of all summaries."""
    texts, found = {}, set()
    for name, arguments in RUNS.items():
        texts[name], more = texts_of(name, arguments, keys)
        found |= more
    for name, arguments in MAPS.items():
        texts[name] = [sbps([*arguments.split(), "--csv"]), "", ""]
    for name, arguments in SINKS.items():
        sbps(["sample", *arguments.split(), name + ".csv", "--progress", "off", "-o", "run.nc"])
        texts[name] = [read(name + ".csv"), "", ""]
    return texts, sorted(found)


def digest(text):
    return hashlib.sha256(text.encode()).hexdigest()[:16] if text else "-"


def keep(folder, texts):
    for name, parts in texts.items():
        os.makedirs(os.path.join(folder, name), exist_ok=True)
        for part, text in zip(PARTS, parts):
            with open(os.path.join(folder, name, part), "w") as file:
                file.write(text)


# ---- the file ----


def facts():
    """Versions and hardware that the bits depend on."""
    loaded = subprocess.run(["ldd", SBPS], capture_output=True, text=True).stdout
    blas = re.search(r"libopenblas\S* => (\S+)", loaded)
    there = os.path.dirname(os.path.realpath(blas.group(1))) if blas else ""
    version = sorted(os.path.basename(path) for path in glob.glob(there + "/libopenblas*-r*.so"))
    fused = re.search(r"^flags.*\bfma\b", read("/proc/cpuinfo"), re.M)
    return ", ".join(
        [os.confstr("CS_GNU_LIBC_VERSION"), *version[:1], "fma" if fused else "no fma", os.uname().machine]
    )


def write_digests(texts, keys):
    with open(KEPT, "w") as file:
        file.write("# Made by tests/run/digests.py --update: a run, digests of %s.\n" % ", ".join(PARTS))
        file.write("machine: %s\nsummary: %s\n" % (facts(), " ".join(keys)))
        for name, parts in texts.items():
            file.write("%s: %s\n" % (name, " ".join(digest(text) for text in parts)))


def read_digests():
    with open(KEPT) as file:
        return dict(line.strip().split(": ", 1) for line in file if not line.startswith("#"))


def compare(texts, kept):
    """Messages, one for each part that differs."""
    out = ["%s: has a digest and no run" % name for name in kept if name not in texts]
    for name, parts in texts.items():
        want = kept.get(name, "").split() or ["none"] * len(PARTS)
        for part, text, old in zip(PARTS, parts, want):
            if digest(text) != old:
                out.append("%s, %s: digest %s, was %s" % (name, part, digest(text), old))
    return out


def left_out():
    """Samplers and models that are registered and have no run here."""
    used = " ".join(RUNS.values()).split()
    names = listed("samplers") + listed("models")
    return ["%s: has no run in digests.py" % name for name in names if name not in used]


def report(faults, machine):
    for sentence in faults:
        print(sentence)
    if faults and machine != facts():
        print("skipped: digests.txt is of %s, this is %s" % (machine, facts()))
        return 77
    print("%d runs, %d differences" % (len(RUNS) + len(MAPS) + len(SINKS), len(faults)))
    return 1 if faults else 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--keep")
    arguments = parser.parse_args()
    folder = arguments.keep and os.path.realpath(arguments.keep)
    os.environ.update(OPENBLAS_CORETYPE="Prescott", LC_ALL="C")
    kept = {} if arguments.update else read_digests()
    machine, keys = kept.pop("machine", ""), kept.pop("summary", "").split()
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        write_tables()
        missing = left_out()
        if missing:
            sys.exit("\n".join(missing))
        texts, keys = tell_all(keys)
        os.chdir("/")
    if folder:
        keep(folder, texts)
    if arguments.update:
        return write_digests(texts, keys)
    return report(compare(texts, kept), machine)


sys.exit(main())
