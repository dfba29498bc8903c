// Elements, numbers and axes: the parts of every drawing. Text enters only as a text node.

const SVG = "http://www.w3.org/2000/svg";
const page = JSON.parse(document.getElementById("page-data").textContent);

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

function html(name, attributes = {}, ...children) {
  return fill(document.createElement(name), attributes, children);
}

function svg(name, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, name), attributes, children);
}

function button(label, pressed, act) {
  const made = html("button", { type: "button", "aria-pressed": pressed }, label);
  made.addEventListener("click", act);
  return made;
}

function number(value) {
  return Math.round(value).toLocaleString("en-US");
}

function short(value) {
  if (value >= 1e6) return `${+(value / 1e6).toFixed(2)}M`;
  return value >= 1e3 ? `${+(value / 1e3).toFixed(1)}k` : `${value}`;
}

// Without a price in dollars a cost is given in tokens at the base price.
function money({ data }, tokens) {
  const value = tokens * data.dollarsPerToken;
  return data.dollarsPerToken ? fixed(value, value && value < 0.1 ? 4 : value < 1 ? 3 : 2) : number(tokens);
}

function fixed(value, digits) {
  return `$${value.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits })}`;
}

function ticks(from, to, most) {
  const rough = (to - from || 1) / most;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((each) => each * power).find((each) => each >= rough * 0.999);
  const marks = [];
  for (let at = Math.ceil(from / step - 1e-9); at * step <= to + step * 1e-9; at++) {
    marks.push(+(at * step).toPrecision(12));
  }
  return marks;
}

function scale(from, to, start, end) {
  return (value) => (to === from ? (start + end) / 2 : start + ((value - from) / (to - from)) * (end - start));
}

function label(x, y, text, anchor = "start", name = "") {
  return svg("text", { x, y, "text-anchor": anchor, class: name }, text);
}

// A table in a frame of its own that scrolls, so that the page never scrolls sideways.
function table(title, headings, rows) {
  const head = headings.map((each) => html("th", { scope: "col" }, each));
  const body = rows.map((row) =>
    html("tr", {}, ...row.map((cell, at) => html(at ? "td" : "th", at ? {} : { scope: "row" }, cell))));
  return html("div", { class: "scroll", role: "region", tabindex: 0, "aria-label": title },
    html("table", {}, html("thead", {}, html("tr", {}, ...head)), html("tbody", {}, ...body)));
}

// A drawing's data as a table, made when it is opened.
function asTable(summary, build) {
  const made = html("details", { class: "same" }, html("summary", {}, summary));
  made.addEventListener("toggle", () => made.open && made.children.length === 1 && made.append(build()));
  return made;
}
