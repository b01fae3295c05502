// Tests pages in a browser: page.mjs CHROMIUM FOLDER PROGRAM. The folder has run.html (with a table), hundred.html and many.html
// (10,000 parameters), and table.csv for a run with --watch.
import { spawn } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import { pathToFileURL } from "node:url";
import assert from "node:assert/strict";
import puppeteer from "puppeteer-core";

const [chromium, folder, program] = process.argv.slice(2);
const shots = process.env.SBPS_SHOTS;
if (shots && !existsSync(shots)) mkdirSync(shots, { recursive: true });
const browser = await puppeteer.launch({ executablePath: chromium, args: ["--no-sandbox", "--disable-gpu"], protocolTimeout: 240000 });

// Opens a page that records its errors and every address that it requests.
async function open(address, { script = true, width = 1120, height = 900, dark = false } = {}) {
  const page = await browser.newPage();
  page.errors = [];
  page.requested = [];
  page.on("console", (message) => { if (["error", "warn"].includes(message.type())) page.errors.push(message.text()); });
  page.on("pageerror", (error) => page.errors.push(String(error)));
  page.on("requestfailed", (request) => page.errors.push("failed: " + request.url()));
  page.on("request", (request) => page.requested.push(request.url()));
  await page.setJavaScriptEnabled(script);
  await page.setViewport({ width, height, isMobile: width < 500, hasTouch: width < 500 });
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: dark ? "dark" : "light" }]);
  await page.goto(address, { waitUntil: "load", timeout: 240000 });
  return page;
}

const of = (name) => pathToFileURL(`${folder}/${name}.html`).href;

async function shoot(page, name) {
  if (shots) await page.screenshot({ path: `${shots}/${name}.png`, fullPage: !name.startsWith("many") });
}

async function close(page, address) {
  assert.deepEqual(page.errors, []);
  assert.deepEqual([...new Set(page.requested)], [address], "it requests other addresses");
  await page.close();
}

// Every chart has a size, and contents other than its axes.
async function checkCharts(page, minimum) {
  const charts = await page.$$eval("tr:not([hidden]) svg, figure svg", (all) => all.map((svg) => {
    const box = svg.getBoundingClientRect();
    const drawn = Array.from(svg.querySelectorAll("path:not(.axis):not(.grid), line, circle, text"));
    const finite = drawn.every((part) => !/NaN|undefined|inf/i.test(part.getAttribute("d") || ""));
    return { title: svg.querySelector("title")?.textContent || "", size: box.width * box.height, parts: drawn.length, finite };
  }));
  assert.ok(charts.length >= minimum, `${charts.length} charts`);
  for (const chart of charts) assert.ok(chart.size > 0 && chart.parts > 0 && chart.finite, JSON.stringify(chart));
}

const names = (page) => page.$eval("table.sortable", (table) =>
  Array.from(table.tBodies[0].rows).filter((row) => !row.hidden).map((row) => row.cells[0].textContent));
const column = (page, k) => page.$eval("table.sortable", (table, at) =>
  Array.from(table.tBodies[0].rows, (row) => parseFloat(row.cells[at].textContent)), k);
const falls = (x) => x.every((value, i) => i === 0 || value <= x[i - 1]);
const rises = (x) => falls([...x].reverse());

// By mouse, then by keyboard.
async function checkSorting(page) {
  const before = await names(page);
  const head = await page.$("table.sortable thead th:nth-child(3) button");
  await head.click();
  assert.ok(falls(await column(page, 2)), "not sorted");
  await head.focus();
  await page.keyboard.press("Enter");
  assert.ok(rises(await column(page, 2)), "not sorted by keys");
  await page.keyboard.press("Enter");
  assert.deepEqual(await names(page), before);
}

async function checkSearch(page, word) {
  const before = await names(page);
  await page.focus("input[type=search]");
  await page.keyboard.type(word);
  const found = await names(page);
  assert.ok(found.length > 0 && found.length < before.length && found.every((name) => name.includes(word)), found.join());
  for (let i = 0; i < word.length; i += 1) await page.keyboard.press("Backspace");
  assert.deepEqual(await names(page), before);
}

const fits = (page) => page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth + 1);

// Contrast of text and background, by WCAG 2.2.
async function checkContrast(page) {
  const low = await page.evaluate(() => {
    const light = (colour) => {
      const [r, g, b] = colour.match(/[\d.]+/g).map((c) => c / 255).map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
      return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const behind = (node) => {
      for (let at = node; at; at = at.parentElement) {
        const colour = getComputedStyle(at).backgroundColor;
        if (!/, 0\)$/.test(colour)) return colour;
      }
      return "rgb(255, 255, 255)";
    };
    return Array.from(document.querySelectorAll("h1, h2, p, td, th, dt, dd, a, figcaption, label, summary, button"))
      .filter((node) => node.textContent.trim() && node.getClientRects().length && !node.closest(".unseen, .skip, caption"))
      .map((node) => {
        const [a, b] = [light(getComputedStyle(node).color), light(behind(node))].sort((x, y) => y - x);
        return { words: node.textContent.trim().slice(0, 40), ratio: (a + 0.05) / (b + 0.05) };
      }).filter((pair) => pair.ratio < 4.5);
  });
  assert.deepEqual(low, []);
}

const tests = {
  async light() {
    const page = await open(of("run"));
    await checkCharts(page, 25);
    await checkSorting(page);
    await checkSearch(page, "x3");
    await checkContrast(page);
    assert.ok(await fits(page), "wider than the window");
    const links = await page.$$eval("nav a", (all) => all.map((a) => document.querySelector(a.getAttribute("href")) !== null));
    assert.ok(links.length > 6 && links.every(Boolean), "a link to nowhere");
    await shoot(page, "light");
    await close(page, of("run"));
  },

  async dark() {
    const page = await open(of("run"), { dark: true });
    const ground = await page.$eval("body", (body) => getComputedStyle(body).backgroundColor);
    assert.ok(ground.match(/\d+/g).every((c) => c < 60), ground);
    await checkContrast(page);
    await shoot(page, "dark");
    await close(page, of("run"));
  },

  async phone() {
    const page = await open(of("run"), { width: 390, height: 844 });
    await checkCharts(page, 25);
    assert.ok(await fits(page), "wider than the phone");
    await shoot(page, "phone");
    await close(page, of("run"));
  },

  async print() {
    const page = await open(of("run"), { dark: true });
    await page.emulateMediaType("print");
    assert.equal(await page.$eval("nav", (nav) => getComputedStyle(nav).display), "none");
    const sheet = await page.pdf({ format: "A4", path: shots ? `${shots}/print.pdf` : undefined });
    assert.ok(sheet.length > 20000, `${sheet.length} bytes`);
    await close(page, of("run"));
  },

  async withoutScript() {
    const page = await open(of("run"), { script: false });
    await checkCharts(page, 25);
    assert.equal((await names(page)).length, 5);
    assert.match(await page.$eval("#verdict", (part) => part.innerText), /trust these numbers/);
    assert.equal(await page.$("input"), null, "a search that cannot search");
    await close(page, of("run"));
  },

  async hundred() {
    const page = await open(of("hundred"));
    await checkCharts(page, 200);
    await checkSorting(page);
    const paint = await page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0]?.startTime);
    console.log(`first paint of a hundred parameters: ${Math.round(paint)} ms`);
    await close(page, of("hundred"));
  },

  async many() {
    const page = await open(of("many"));
    const rows = await page.$eval("#everything table", (table) => table.tBodies[0].rows.length);
    assert.equal(rows, 10000);
    await checkSearch(page, (await names(page))[7].split(" ")[1]);
    const paint = await page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0]?.startTime);
    console.log(`first paint of 10,000 parameters: ${Math.round(paint)} ms`);
    await close(page, of("many"));
  },

  watched: () => watch([]),
  watchedWithoutScript: () => watch([], false),
};

function addressOf(run) {
  return new Promise((resolve, reject) => {
    let output = "";
    run.stderr.on("data", (bytes) => {
      output += bytes;
      const found = output.match(/to watch: (http:\S+)\n/);
      if (found) resolve(found[1]);
    });
    run.on("exit", (code) => reject(new Error(`exit ${code}: ${output}`)));
  });
}

// Interrupts a run after its page was updated: the page reports it, keeps search and sorting, and stays.
async function watch(more, script = true) {
  const run = spawn(program, ["sample", `${folder}/table.csv`, "--model", "logistic", "--target", "y", "--sampler", "sbps",
    "--ess", "1e9", "--progress", "off", "--watch", "-o", `${folder}/watched.nc`, ...more], { stdio: ["ignore", "ignore", "pipe"] });
  const address = await addressOf(run);
  const ended = new Promise((resolve) => run.on("exit", resolve));
  const page = await open(address, { script });
  const waitFor = async (pattern) => {
    for (;;) {
      try {
        const text = await page.$eval("#news", (news) => news.textContent);
        if (pattern.test(text)) return text;
      } catch (error) {
        if (!/protocol error|context|detached|navigat|no element/i.test(String(error))) throw error; // the page is being reloaded
      }
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  };
  const first = await waitFor(/Running: /);
  await waitFor(new RegExp(`^(?!${first.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}$)Running: `));
  if (script) await (await page.$("table.sortable thead th:nth-child(3) button")).click();
  if (script) await page.type("input[type=search]", "x");
  run.kill("SIGINT");
  await waitFor(/interrupted\. This is its last state/);
  assert.equal(await ended, 130);
  await checkCharts(page, 15);
  if (script) {
    assert.ok(falls(await column(page, 2)), "sorting was lost");
    assert.ok((await names(page)).every((name) => name.startsWith("x")), "the search was lost");
  }
  await shoot(page, script ? "watched" : "watched-without-script");
  await close(page, address);
}

let failed = 0;
for (const [name, test] of Object.entries(tests)) {
  try {
    await test();
  } catch (error) {
    console.log(`${name}: ${error.message || error}`);
    failed += 1;
  }
}
await browser.close();
console.log(`${Object.keys(tests).length} tests, ${failed} failed`);
process.exit(failed ? 1 : 0);
