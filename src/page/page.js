// Sorting and searching of tables. Without this the page says the same, in the order of the file.
"use strict";
(function () {
  const number = (cell) => {
    const value = parseFloat(cell.textContent);
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
    const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    tables.forEach((table, index) => {
      for (const row of table.tBodies[0].rows) {
        const name = row.cells[0].textContent.toLowerCase();
        row.hidden = !wanted.every((word) => name.includes(word));
        if (index === 0 && !row.hidden) shown += 1;
      }
    });
    return shown;
  }

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
})();
