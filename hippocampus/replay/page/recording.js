// One opened recording: its sentences, its strategies, its lines and its entries, with one chosen call.

const shown = new Set(page.strategies.flatMap(({ shown }, at) => (shown ? [at] : [])));
const opened = new Map();
let costSoFar = true;

function openRecording(details) {
  if (opened.has(details)) return;
  const data = JSON.parse(details.querySelector("script").textContent);
  const series = (rows) => rows.map((row) => (typeof row === "number" ? rows[row] : row));
  const view = { data, tokens: series(data.tokens), costs: series(data.costs), body: html("div", { class: "opened" }) };
  view.sums = view.costs.map((row) => {
    let sum = 0;
    return row.map((cost) => (sum += cost));
  });
  view.calls = view.tokens[0].length;
  view.call = Math.max(0, view.calls - 1);
  details.append(view.body);
  opened.set(details, view);
  build(view);
}

function build(view) {
  const { data, body } = view;
  const about = [data.path, data.format, data.model].filter(Boolean).join(" · ");
  view.cells = [];
  view.drawings = html("div", { class: "drawings" });
  body.append(
    html("p", { class: "soft" }, html("bdi", {}, about)),
    html("div", { class: "words" }, ...data.words.map((each) => html("p", {}, each))),
    ...data.troubles.map((each) => html("p", { class: "trouble" }, each)),
    strategyTable(view));
  if (data.texts) body.append(html("p", {}, html("a", { href: data.texts }, "The raw list next to the view, call by call")));
  body.append(controls(view), view.drawings, callTableLink(view));
  if (data.entries.length) body.append(asTable("The entries as a table", () => entryTable(data.entries)));
  redraw(view);
}

// The legend: its buttons switch lines on and off in every open recording.
function strategyTable(view) {
  const at = ["tokens at call", "cost so far"];
  const rows = page.strategies.map((strategy, number) => {
    const swatch = svg("svg", { viewBox: "0 0 26 8", class: `swatch ${strategy.line}`, "aria-hidden": true }, svg("path", { d: "M1 4h24" }));
    const name = html("span", {}, swatch, strategy.name);
    const toggle = button(name, shown.has(number), () => toggleLine(number));
    toggle.dataset.line = number;
    const first = html("span", {}, toggle);
    if (strategy.name === view.data.best_other) first.append(html("em", {}, " cheapest of the others"));
    const live = at.map(() => html("span"));
    view.cells.push(live);
    return [first, ...live, ...view.data.rows[number]];
  });
  const made = table("Strategies; their buttons show and hide lines", ["strategy", ...at, ...page.columns], rows);
  made.querySelectorAll("tbody tr").forEach((row, number) => row.classList.add(page.strategies[number].line));
  view.at = made.querySelectorAll("thead th")[1];
  return made;
}

function toggleLine(number) {
  shown.has(number) ? shown.delete(number) : shown.add(number);
  for (const pressed of document.querySelectorAll(`button[data-line="${number}"]`)) {
    pressed.setAttribute("aria-pressed", shown.has(number));
  }
  opened.forEach(redraw);
}

function controls(view) {
  view.slider = html("input", { type: "range", min: 0, max: view.calls - 1, value: view.call, "aria-label": "call" });
  view.slider.addEventListener("input", () => choose(view, +view.slider.value));
  view.chosen = html("span", { class: "chosen" });
  const modes = [["so far", true], ["per call", false]].map(([word, sums]) => {
    const made = button(word, costSoFar === sums, () => chooseCost(sums));
    made.dataset.sums = sums;
    return made;
  });
  return html("div", { class: "controls" }, html("label", {}, view.chosen, view.slider), html("span", { class: "modes", role: "group", "aria-label": "cost" }, "cost ", ...modes));
}

function chooseCost(sums) {
  costSoFar = sums;
  for (const each of document.querySelectorAll("button[data-sums]")) {
    each.setAttribute("aria-pressed", each.dataset.sums === String(sums));
  }
  opened.forEach(redraw);
}

function redraw(view) {
  const width = view.drawings.clientWidth;
  if (!width) return;
  view.width = width;
  const across = frame(width, view.calls);
  const rows = (values) => page.strategies.flatMap((each, at) => (shown.has(at) ? [{ ...each, values: values[at] }] : []));
  const price = view.data.dollarsPerToken;
  const costs = (costSoFar ? view.sums : view.costs).map((row) => row.map((cost) => cost * (price || 1)));
  // As many decimals as the step between two ticks needs.
  const dollarTick = (value, step) => fixed(value, step >= 1 ? 0 : -Math.floor(Math.log10(step) + 1e-9));
  const [unit, format] = price ? ["dollars", dollarTick] : ["tokens at the base price", short];
  view.charts = [
    lineChart("Context size", "tokens at each call", short, rows(view.tokens), across),
    lineChart(costSoFar ? "Cost so far" : "Cost per call", `${unit}, recalls included`, format, rows(costs), across)];
  view.drawings.replaceChildren(...view.charts);
  if (view.data.entries.length) drawEntries(view, across);
  for (const chart of view.charts) {
    for (const kind of ["pointermove", "pointerdown"]) chart.addEventListener(kind, (event) => choose(view, chart.callAt(event)));
  }
  choose(view, view.call);
}

function drawEntries(view, across) {
  const { entries } = view.data;
  const life = timeline(entries, across);
  view.charts.push(life);
  view.drawings.append(html("h3", {}, "The timeline of each entry"), timelineKey(), life);
  if (entries.length > MAX_ROWS) {
    view.drawings.append(html("p", { class: "soft" }, `Drawn are ${MAX_ROWS} of ${number(entries.length)} entries; the table has all.`));
  }
}

function choose(view, call) {
  view.call = call;
  view.slider.value = call;
  view.chosen.textContent = `call ${number(call)} (0 to ${number(view.calls - 1)})`;
  view.at.textContent = `tokens at call ${number(call)}`;
  const [ours] = view.tokens;
  view.slider.setAttribute("aria-valuetext", `call ${call}: ${page.strategies[0].name} ${number(ours[call])} tokens`);
  view.cells.forEach(([size, cost], at) => {
    size.textContent = number(view.tokens[at][call]);
    cost.textContent = money(view, view.sums[at][call]);
  });
  view.charts.forEach((chart) => chart.markCall(call));
}

function callTableLink(view) {
  return asTable("The calls as a table", () => {
    const headings = ["call", ...page.strategies.flatMap(({ name }) => [`${name}: tokens`, "cost"])];
    const rows = view.tokens[0].map((_, call) =>
      [number(call), ...page.strategies.flatMap((_, at) => [number(view.tokens[at][call]), money(view, view.costs[at][call])])]);
    return table("Tokens and cost of each call", headings, rows);
  });
}
