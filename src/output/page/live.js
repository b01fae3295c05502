// Requests the page again every second while it is visible, and replaces its contents; search, sorting and open
// details are kept. When the run has ended, or no longer answers, the last state stays.
(function () {
  const news = document.getElementById("news");
  const show = (words) => { if (news.textContent !== words) news.textContent = words; };
  const again = () => setTimeout(update, 1000);

  function remember() {
    const input = document.querySelector("input[type=search]");
    return {
      words: input ? input.value : "",
      typing: input !== null && document.activeElement === input,
      sorted: Array.from(document.querySelectorAll("table.sortable"), (table) =>
        Array.from(table.tHead.rows[0].cells, (head) => head.getAttribute("aria-sort"))),
      open: Array.from(document.querySelectorAll("details"), (part) => part.open),
    };
  }

  const clicks = { descending: 1, ascending: 2 };

  function restore(state) {
    const input = document.querySelector("input[type=search]");
    document.querySelectorAll("table.sortable").forEach((table, i) => {
      Array.from(table.tHead.rows[0].cells).forEach((head, column) => {
        const times = clicks[(state.sorted[i] || [])[column]] || 0;
        for (let k = 0; k < times; k += 1) head.querySelector("button").click();
      });
    });
    document.querySelectorAll("details").forEach((part, i) => { part.open = Boolean(state.open[i]); });
    if (!input) return;
    input.value = state.words;
    if (state.words) input.dispatchEvent(new Event("input"));
    if (state.typing) input.focus();
  }

  function take(text) {
    const page = new DOMParser().parseFromString(text, "text/html");
    const over = page.body.classList.contains("over");
    show(page.getElementById("news").textContent);
    if (!document.querySelector(".uplot") || over) {
      const state = remember();
      document.title = page.title;
      document.querySelector("header").replaceWith(page.querySelector("header"));
      document.querySelector("main").replaceWith(page.querySelector("main"));
      setUpPage();
      restore(state);
    }
    if (over) document.body.classList.add("over");
    return over;
  }

  function update() {
    if (document.hidden) { again(); return; }
    fetch(location.href, { cache: "no-store" })
      .then((response) => response.text())
      .then((text) => { if (!take(text)) again(); })
      .catch(() => {
        document.body.classList.add("over");
        show("The run has ended or no longer answers. This is its last known state.");
      });
  }
  again();
})();
