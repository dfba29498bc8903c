// The timeline of each entry: one row each, on the same x axis as the lines above.

const MAX_ROWS = 400;

// The height of a strength of 1 above an entry's line.
const STRENGTH_PIXELS = 20;

// The label of each mark, where its outline starts from its call, and the outline.
const MARKS = {
  arrived: ["arrived", [-4.5, 0], "a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0-9 0"],
  shortened: ["shrank", [-4, -3], "h8l-4 7z"],
  used: ["used", [-2.5, -2.5], "h5v5h-5z"],
  recalled: ["would have been recalled", [0, -7], "l7 7l-7 7l-7-7z"],
  accessed: ["accessed", [0, -20], "v7"],
};

function outline(kind, x, y) {
  const [, [across, down], shape] = MARKS[kind];
  return `M${(x + across).toFixed(1)} ${(y + down).toFixed(1)}${shape}`;
}

function timeline(entries, frame) {
  const rows = entries.slice(0, MAX_ROWS);
  const height = STRENGTH_PIXELS + (frame.narrow ? 26 : 10);
  const bottom = rows.length * height;
  const drawn = svg("svg", { viewBox: `0 0 ${frame.width} ${bottom + 24}`, role: "img", "aria-label":
    "The strength of each entry, and when it arrived, was accessed, shrank, was used and would have been recalled; the same stands in the table below." });
  rows.forEach((entry, at) => drawn.append(lifeline(entry, (at + 1) * height - 6, frame)));
  drawn.append(...callAxis(bottom, frame));
  return withCursor(drawn, 0, bottom, frame);
}

function lifeline(entry, y, frame) {
  const { arrived, shortened, strength } = entry;
  const row = svg("g", { class: "life" });
  const x = (call) => frame.x(call).toFixed(1);
  const points = strength.map(([call, value]) => `L${x(call)} ${(y - value * STRENGTH_PIXELS).toFixed(1)}`);
  const area = `M${x(strength[0][0])} ${y}${points.join("")}L${x(strength.at(-1)[0])} ${y}z`;
  row.append(svg("path", { d: area, class: "strength" }),
    svg("path", { d: `M${frame.x(arrived)} ${y}H${frame.right}`, class: "thin" }),
    svg("path", { d: `M${frame.x(arrived)} ${y}H${frame.x(shortened)}`, class: "thick" }));
  const size = `${number(entry.tokens)} → ${number(entry.tokens - entry.saves)}`;
  const name = cut(`${entry.tool || "message"} (${entry.kind})`, frame.narrow ? 40 : 33);
  row.append(frame.narrow ? label(0, y - STRENGTH_PIXELS - 6, `${name}, ${size}`) : label(0, y + 4, name));
  if (!frame.narrow) row.append(label(frame.right + 12, y + 4, `${size} tokens`, "start", "unit"));
  for (const kind of ["accessed", "used", "recalled", "arrived", "shortened"]) row.append(...marks(kind, entry, y, frame));
  return row;
}

function marks(kind, entry, y, frame) {
  const calls = [entry[kind]].flat();
  if (!calls.length) return [];
  const noun = calls.length > 1 ? "calls" : "call";
  const group = svg("g", { class: `mark ${kind}` },
    svg("title", {}, `${entry.tool} ${entry.entry_id} ${MARKS[kind][0]} at ${noun} ${list(calls)}`));
  // One path for all marks of a kind keeps long recordings light.
  group.append(svg("path", { d: calls.map((call) => outline(kind, frame.x(call), y)).join("") }));
  return [group];
}

function cut(text, most) {
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}

function list(calls) {
  return calls.map(number).join(", ");
}

function timelineKey() {
  const area = svg("svg", { viewBox: "-8 -8 16 16", class: "key", "aria-hidden": true }, svg("path", { d: "M-8 -7Q-4 5 8 5V7H-8z", class: "strength" }));
  const items = Object.entries(MARKS).map(([kind, [word]]) =>
    html("span", {}, svg("svg", { viewBox: "-8 -8 16 16", class: `key mark ${kind}`, "aria-hidden": true }, svg("path", { d: outline(kind, 0, kind === "accessed" ? 16 : 0) })), word));
  return html("p", { class: "keys" }, html("span", {}, area, "strength, 0 to 1"), ...items);
}

function entryTable(entries) {
  const headings = ["entry", "tool", "kind", "tokens", "saves each call", "cost once", "arrived", "shrank", "why", "strength at the end", "accessed at turns", "used at calls", "would have been recalled at"];
  const made = table("The timeline of each entry", headings, entries.map((each) => [
    each.entry_id, each.tool, each.kind, number(each.tokens), number(each.saves), number(Math.round(each.costs)), number(each.arrived),
    number(each.shortened), each.reason, each.strength.at(-1)[1].toFixed(2), list(each.accessed) || "–", list(each.used) || "–", list(each.recalled) || "–"]));
  made.classList.add("texts");
  return made;
}
