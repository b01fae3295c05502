// Sorting and searching of tables, and zoom of charts. Without this script the page has the same contents, in the order
// of the file.
"use strict";
function setUpPage() {
  const number = (cell) => {
    const value = parseFloat(cell.textContent.replace(/,/g, ""));
    return Number.isNaN(value) ? -Infinity : value;
  };

  function sort(table, column, direction) {
    const body = table.tBodies[0];
    const rows = Array.from(body.rows);
    const sign = direction === "descending" ? -1 : 1;
    const byFile = (a, b) => a.dataset.place - b.dataset.place;
    const compare = column === 0
      ? (a, b) => a.cells[0].textContent.localeCompare(b.cells[0].textContent, undefined, { numeric: true })
      : (a, b) => number(a.cells[column]) - number(b.cells[column]);
    rows.sort((a, b) => (direction === "none" ? 0 : sign * compare(a, b)) || byFile(a, b));
    body.append(...rows);
  }

  const next = { none: "descending", descending: "ascending", ascending: "none" };

  function makeSortable(table) {
    Array.from(table.tBodies[0].rows).forEach((row, place) => { row.dataset.place = place; });
    const heads = Array.from(table.tHead.rows[0].cells);
    heads.forEach((head, column) => {
      if (head.classList.contains("drawn")) return;
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = head.textContent;
      button.title = "sort by " + head.textContent;
      head.textContent = "";
      head.append(button);
      head.setAttribute("aria-sort", "none");
      button.addEventListener("click", () => {
        const direction = next[head.getAttribute("aria-sort")];
        heads.forEach((other) => { if (other.hasAttribute("aria-sort")) other.setAttribute("aria-sort", "none"); });
        head.setAttribute("aria-sort", direction);
        sort(table, column, direction);
      });
    });
  }

  function filter(tables, words) {
    const terms = words.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    tables.forEach((table, index) => {
      for (const row of table.tBodies[0].rows) {
        const name = row.cells[0].textContent.toLowerCase();
        row.hidden = !terms.every((word) => name.includes(word));
        if (index === 0 && !row.hidden) shown += 1;
      }
    });
    return shown;
  }

  const words = { bulk: "bulk", tail: "tail", posterior: "posterior", prior: "prior" };

  // The series of a chart: places along its paths are converted back to values.
  function readSeries(svg) {
    const scale = (text) => {
      const [low, high, from, to] = text.split(" ").map(Number);
      return (place) => low + (place - from) / (to - from) * (high - low);
    };
    const x = scale(svg.dataset.x), y = scale(svg.dataset.y);
    return Array.from(svg.querySelectorAll(".trace, .bulk, .tail, .posterior, .prior"), (path) => {
      const places = path.getAttribute("d").slice(1).split(/[VH]/)[0].trim().split(/\s+/).map(Number);
      const kind = path.classList[0];
      return {
        label: kind === "trace" ? "chain " + (Number(path.classList[1].slice(1)) + 1) : words[kind],
        colour: getComputedStyle(path).stroke,
        table: [places.filter((_, i) => i % 2 === 0).map(x), places.filter((_, i) => i % 2 === 1).map(y)],
      };
    });
  }

  function zoomable(svg) {
    const series = readSeries(svg), style = getComputedStyle(document.documentElement);
    const axis = { stroke: style.getPropertyValue("--soft"), grid: { stroke: style.getPropertyValue("--faint") } };
    const box = document.createElement("div"), shape = svg.getBoundingClientRect();
    svg.replaceWith(box);
    new uPlot({
      width: Math.floor(shape.width),
      height: Math.max(220, Math.floor(shape.height)),
      scales: { x: { time: false } },
      axes: [axis, axis],
      legend: { show: series.length <= 8 },
      series: [{}].concat(series.map((s) => ({ label: s.label, stroke: s.colour, width: 1, points: { show: false } }))),
    }, uPlot.join(series.map((s) => s.table)), box);
  }

  // A zoom button for every chart that has series, if uPlot is part of the page.
  function offerZoom(svg) {
    if (!svg.querySelector(".trace, .bulk, .posterior")) return;
    const button = document.createElement("button");
    button.type = "button";
    button.className = "zoom";
    button.textContent = "zoom";
    button.setAttribute("aria-label", "zoom: " + svg.querySelector("title").textContent);
    button.addEventListener("click", () => {
      button.replaceWith("drag to zoom");
      zoomable(svg);
    });
    const note = document.createElement("span");
    note.className = "zoom-note";
    note.append(button);
    svg.parentElement.prepend(note);
  }
  if (typeof uPlot !== "undefined") document.querySelectorAll("svg.plot").forEach(offerZoom);

  const tables = Array.from(document.querySelectorAll("table.sortable"));
  tables.forEach(makeSortable);
  if (tables.length === 0) return;

  const tools = document.createElement("div");
  tools.className = "tools";
  const label = document.createElement("label");
  label.textContent = "Search parameters";
  const input = document.createElement("input");
  input.type = "search";
  label.append(input);
  const count = document.createElement("span");
  count.setAttribute("role", "status");
  tools.append(label, count);
  tables[0].parentElement.before(tools);
  input.addEventListener("input", () => {
    const shown = filter(tables, input.value);
    count.textContent = input.value.trim() ? shown + " of " + tables[0].tBodies[0].rows.length : "";
  });
}
setUpPage();
