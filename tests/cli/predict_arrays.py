#!/usr/bin/python3
"""A NetCDF file of predictions, read by the specification of the classic format (64-bit offsets), against the CSV of the
same predictions: the same rows, classes and draws, to the CSV's ten digits.

    predict_arrays.py FILE.nc FILE.csv"""
import csv
import math
import struct
import sys


class Reader:
    def __init__(self, bytes_):
        self.bytes, self.at = bytes_, 0

    def take(self, form):
        size = struct.calcsize(">" + form)
        out = struct.unpack_from(">" + form, self.bytes, self.at)
        self.at += size
        return out if len(out) > 1 else out[0]

    def padded(self, size):
        out = self.bytes[self.at:self.at + size]
        self.at += (size + 3) // 4 * 4
        return out

    def name(self):
        return self.padded(self.take("I")).decode()

    def items(self, one):
        self.take("I")  # the list's tag
        return [one() for _ in range(self.take("I"))]

    def attribute(self):
        name, kind, count = self.name(), self.take("I"), self.take("I")
        assert kind == 2, "attributes are texts"
        return name, self.padded(count).decode()

    def variable(self):
        name = self.name()
        dims = [self.take("I") for _ in range(self.take("I"))]
        self.items(self.attribute)
        return name, dims, *self.take("IIQ")  # type, size, begin


def main():
    with open(sys.argv[1], "rb") as file:
        r = Reader(file.read())
    assert r.padded(4) == b"CDF\x02"
    records = r.take("I")
    dims = r.items(lambda: (r.name(), r.take("I")))
    attributes = dict(r.items(r.attribute))
    variables = {v[0]: v for v in r.items(r.variable)}
    size = dict(dims)
    assert {"kind", "run"} <= set(attributes), attributes
    _, _, _, row_size, row_at = variables["row"]
    _, axes, _, each, begin = variables["prediction"]
    assert [dims[a][0] for a in axes] == ["row", *(["class"] if "class" in size else []), "draw"]
    step, draws, classes = row_size + each, size["draw"], size.get("class", 0)
    names = [None]
    if classes:
        at, letters = variables["class"][4], size["letters"]
        names = [r.bytes[at + k * letters:at + (k + 1) * letters].rstrip(b"\0").decode() for k in range(classes)]
    with open(sys.argv[2], newline="", encoding="utf-8") as file:
        lines = list(csv.reader(file))[1:]
    assert len(lines) == records * len(names), (len(lines), records)
    for i, line in enumerate(lines):
        record, of = divmod(i, len(names))
        assert int(line[0]) == struct.unpack_from(">i", r.bytes, row_at + record * step)[0]
        assert names[of] is None or line[1] == names[of], (line[1], names[of])
        got = struct.unpack_from(f">{draws}d", r.bytes, begin + record * step + of * draws * 8)
        for text, value in zip(line[-draws:], got):
            same = math.isnan(value) if text == "" else math.isclose(float(text), value, rel_tol=1e-9, abs_tol=1e-300)
            assert same, (i, text, value)


main()
