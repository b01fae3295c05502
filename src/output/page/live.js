// Asks for the page anew every second while somebody looks at it, and puts what is new in the place of what is shown:
// search, sorting and what is open stay. When the run is over, or no longer answers, the last state stays.
(function () {
  const news = document.getElementById("news");
  const say = (words) => { if (news.textContent !== words) news.textContent = words; };
  const again = () => setTimeout(look, 1000);

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

  function recall(state) {
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
    say(page.getElementById("news").textContent);
    if (!document.querySelector(".uplot") || over) {
      const state = remember();
      document.title = page.title;
      document.querySelector("header").replaceWith(page.querySelector("header"));
      document.querySelector("main").replaceWith(page.querySelector("main"));
      dressPage();
      recall(state);
    }
    if (over) document.body.classList.add("over");
    return over;
  }

  function look() {
    if (document.hidden) { again(); return; }
    fetch(location.href, { cache: "no-store" })
      .then((answer) => answer.text())
      .then((text) => { if (!take(text)) again(); })
      .catch(() => {
        document.body.classList.add("over");
        say("The run is over, or was ended: it no longer answers. This is the last that was seen of it.");
      });
  }
  again();
})();
