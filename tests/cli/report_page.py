#!/usr/bin/python3
"""Checks pages of `sbps report`.

    report_page.py NAME...              NAME.html against NAME.csv, the summary of the same run
    report_page.py --drive PAGE OUT     a copy that tries its own script and notes how that went in data-tried"""
import csv
import html.parser
import re
import sys
import xml.etree.ElementTree

ORDER = ["verdict", "coefficients", "errors", "chains", "ess", "densities", "pairs", "checks", "loo", "sensitivity", "everything", "origin"]
NEEDED = {"verdict", "coefficients", "errors", "origin"}
EMPTY = {"meta", "line", "circle", "path"}


class Page(html.parser.HTMLParser):
    """Tags must close in their order; the contents of tables and sections are kept."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open, self.sections, self.tags, self.tables = [], [], [], []

    def handle_startendtag(self, tag, attributes):
        assert tag in EMPTY, tag
        self.tags.append((tag, dict(attributes)))

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        self.open.append(tag)
        if tag == "section":
            self.sections.append(dict(attributes)["id"])
        if tag == "table":
            self.tables.append([])
        if tag == "tr":
            self.tables[-1].append([])
        if tag in ("td", "th"):
            self.tables[-1][-1].append("")

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, f"</{tag}> closes <{self.open[-1:]}>"
        self.open.pop()

    def handle_data(self, data):
        if {"td", "th"} & set(self.open) and "svg" not in self.open:
            self.tables[-1][-1][-1] += data


def check_structure(page, text):
    assert not page.open, page.open
    assert [s for s in ORDER if s in page.sections] == page.sections and NEEDED <= set(page.sections), page.sections
    kinds = [tag for tag, _ in page.tags]
    assert kinds.count("h1") == kinds.count("main") == kinds.count("title") - kinds.count("svg") + \
        sum(a.get("aria-hidden") == "true" for t, a in page.tags if t == "svg") == 1, "one title, h1 and main"
    assert kinds.count("script") == kinds.count("style") == 1 and "img" not in kinds and "b" in kinds or len(page.sections) < 6
    assert not re.search(r"(?i)\b(https?:)?//[a-z0-9]", re.sub(r"//[^\n]*\n", "", text)), "an address"
    for tag, attributes in page.tags:
        for name in attributes:
            assert not name.startswith("on") and name not in ("src", "srcset", "action"), (tag, name)
        assert tag != "a" or attributes["href"].startswith("#")
        assert tag != "svg" or attributes.get("role") == "img" or attributes.get("aria-hidden") == "true"
        assert tag != "th" or attributes.get("scope") in ("row", "col")
    for svg in re.findall(r"<svg.*?</svg>", text, flags=re.S):
        xml.etree.ElementTree.fromstring(svg)
        assert "nan" not in re.sub(r"<title>.*?</title>", "", svg).lower() and "inf" not in svg.split(">", 1)[1].lower()[:0]


def near(shown, value):
    """True if the text is the number, up to its digits."""
    if shown == "-" or value != value:
        return shown == "-" and value != value
    mantissa = re.sub(r"e.*", "", shown)
    decimals = len(mantissa.partition(".")[2])
    scale = float(re.sub(r"^[^e]*", "1", shown)) if "e" in shown else 1.0
    return abs(float(shown) - value) <= 0.5000001 * 10.0 ** -decimals * scale


def clean(name):
    return re.sub(r"[\x00-\x1f\x7f]", "?", name)


def check_smallest(page, text):
    """The smallest ESS of the verdict is the smallest in the table of errors."""
    shown = re.search(r"smallest ESS</dt><dd>([^<]*)", text).group(1)
    listed = [line[-1] for line in page.tables[1][1:]]
    number = lambda cell: float(cell.replace(",", ""))
    if shown != "unknown" and all(cell != "unknown" for cell in listed):
        assert shown in listed and number(shown) == min(map(number, listed)), (shown, listed)


def check_numbers(page, rows, text):
    """The first table, and the last of parameters where some are left out, against the summary."""
    columns = ["mean", "mcse", "sd", "q5", "q50", "q95", "bias", "ess_bulk", "ess_tail", "rhat"]
    by_name = {clean(row["name"]): row for row in rows}
    shown = page.tables[0][1:]
    assert len(shown) == (len(rows) if len(rows) <= 500 else 200), len(shown)
    for line in shown:
        row = by_name[line[0]]
        for column, cell in zip(columns, line[2:]):
            assert near(cell, float(row[column])), (line[0], column, cell, row[column])
    errors = page.tables[1][1:]
    for line in errors:
        row = by_name[line[0]]
        assert near(line[2], float(row["bias"])), (line, row)
        assert near(line[4], float(row["mcse"]) / float(row["sd"])), (line, row)
    check_smallest(page, text)
    if "everything" in page.sections:
        table = next(t for t in page.tables[2:] if len(t) == len(rows) + 1 and t[0][1:] == list(rows[0])[1:])
        for line, row in zip(table[1:], rows):
            assert line[0] == clean(row["name"])
            assert all(near(cell, float(row[c])) for cell, c in zip(line[1:], table[0][1:])), line


def check(name):
    with open(f"{name}.html", encoding="utf-8") as file:
        text = file.read()
    with open(f"{name}.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    page = Page()
    page.feed(text)
    page.close()
    check_structure(page, text)
    check_numbers(page, rows, text)
    assert len(rows) > 120 or len(text) < 300_000, f"{len(text)} bytes"


DRIVE = """<script>
(function () {
  const page = document.documentElement, report = (word) => { page.dataset.tried = word; };
  const names = (table) => Array.from(table.tBodies[0].rows).filter((r) => !r.hidden).map((r) => r.cells[0].textContent);
  const values = (table) => Array.from(table.tBodies[0].rows).map((r) => parseFloat(r.cells[2].textContent));
  const sorted = (x, sign) => x.every((v, i) => i === 0 || sign * (v - x[i - 1]) >= 0);
  if (page.dataset.error) return report("error: " + page.dataset.error);
  if (document.querySelectorAll("script").length !== 3) return report("a script more");
  const table = document.querySelector("table.sortable"), before = names(table);
  const button = table.tHead.rows[0].cells[2].querySelector("button");
  button.click();
  if (!sorted(values(table), -1) || button.parentElement.getAttribute("aria-sort") !== "descending") return report("not descending");
  button.click();
  if (!sorted(values(table), 1)) return report("not ascending");
  button.click();
  if (names(table).join() !== before.join()) return report("not as in the file");
  const input = document.querySelector("input[type=search]");
  input.value = before[1].toUpperCase();
  input.dispatchEvent(new Event("input"));
  if (!names(table).includes(before[1]) || names(table).length >= before.length) return report("search: " + names(table));
  input.value = "";
  input.dispatchEvent(new Event("input"));
  if (names(table).length !== before.length) return report("search does not end");
  const zoom = document.querySelector("button.zoom");
  if ((typeof uPlot === "undefined") !== (zoom === null)) return report("zoom without uPlot, or none with it");
  if (zoom) {
    zoom.click();
    const canvas = document.querySelector("figure .uplot canvas");
    if (!canvas || !canvas.width || document.querySelector("figure .uplot .u-series + .u-series") === null) return report("no chart to zoom");
  }
  for (const svg of document.querySelectorAll("svg"))
    if (!svg.getBoundingClientRect().width) return report("a picture without width");
  if (performance.getEntriesByType("resource").length) return report("a request");
  if (page.scrollWidth > page.clientWidth + 1) return report("wider than the window");
  report("fine");
})();
</script>"""
WATCH = """<script>window.addEventListener("error", (e) => { document.documentElement.dataset.error = e.message; });</script>"""


def drive(source, to):
    with open(source, encoding="utf-8") as file:
        text = file.read()
    text = text.replace("<title>", WATCH + "<title>", 1).replace("</body>", DRIVE + "</body>", 1)
    with open(to, "w", encoding="utf-8") as file:
        file.write(text)


if sys.argv[1] == "--drive":
    drive(*sys.argv[2:])
else:
    for name in sys.argv[1:]:
        try:
            check(name)
        except AssertionError as error:
            sys.exit(f"{name}: {error!r}")
