// One call of a recording: each message of the raw list next to what the view had for it.

const chosen = { call: page.calls - 1, tool: "", file: "", show: "all" };

function select(name, title, options) {
  const made = html("select", { "aria-label": title }, ...options.map(([value, word]) => html("option", { value }, word)));
  made.addEventListener("change", () => { chosen[name] = made.value; draw(); });
  return made;
}

function distinct(field, first) {
  const values = new Set(page.messages.flatMap((each) => each[field]));
  return [["", first], ...[...values].sort().map((each) => [each, each])];
}

function shownAt(message, call) {
  const [, text] = message.shown.findLast(([since]) => since <= call);
  return text === null ? message.text : text;
}

// The text with each hidden value in a mark.
function marked(text, values) {
  const parts = [];
  let at = 0;
  while (at < text.length) {
    const found = values.map((value) => [text.indexOf(value, at), value]).filter(([place]) => place >= 0).sort((a, b) => a[0] - b[0] || b[1].length - a[1].length)[0];
    if (!found) break;
    parts.push(text.slice(at, found[0]), html("mark", {}, found[1]));
    at = found[0] + found[1].length;
  }
  return [...parts, text.slice(at)];
}

function isChosen(message) {
  const { call, tool, file, show } = chosen;
  return message.call <= call && (!tool || message.tools.includes(tool)) && (!file || message.files.includes(file))
    && (show !== "hidden" || message.hidden.includes(call)) && (show !== "changed" || shownAt(message, call) !== message.text);
}

function pair(message, number) {
  const { call } = chosen, text = shownAt(message, call), isSame = text === message.text;
  const values = message.hidden.includes(call) ? page.hidden[call] : [];
  const names = [message.role, ...message.tools, ...message.files].join(" · ");
  return html("article", { class: values.length ? "pair hidden-use" : "pair" },
    html("h3", {}, html("bdi", {}, `${number} · ${names} · ${message.tokens.toLocaleString("en-US")} tokens`)),
    html("pre", {}, ...marked(message.text, values)),
    isSame ? html("p", { class: "soft" }, "the same") : html("pre", {}, text));
}

function draw() {
  const { call } = chosen, values = page.hidden[call];
  const pairs = page.messages.flatMap((message, number) => (isChosen(message) ? [pair(message, number)] : []));
  document.getElementById("pairs").replaceChildren(...pairs);
  document.getElementById("told").textContent = `Call ${call} (0 to ${page.calls - 1}): ${pairs.length} messages. `
    + (values.length ? `Used and not shown: ${values.join(", ")}` : "All that the agent used stood in its view.");
}

function goTo(call) {
  chosen.call = slider.value = Math.max(0, Math.min(page.calls - 1, call));
  draw();
}

function goToHidden(call) {
  goTo(call);
  document.querySelector(".hidden-use")?.scrollIntoView({ block: "center" });
}

const slider = html("input", { type: "range", min: 0, max: page.calls - 1, value: chosen.call, "aria-label": "call" });
slider.addEventListener("input", () => goTo(+slider.value));
const withHidden = page.hidden.flatMap((values, call) => (values.length ? [call] : []));
const next = html("button", { type: "button" }, `next of ${withHidden.length} calls with a hidden use`);
next.disabled = !withHidden.length;
next.addEventListener("click", () => goToHidden(withHidden.find((call) => call > chosen.call) ?? withHidden[0]));
const show = select("show", "messages", [["all", "all messages"], ["changed", "changed in the view"], ["hidden", "with a hidden use"]]);
const [tool, file] = [select("tool", "tool", distinct("tools", "every tool")), select("file", "file", distinct("files", "every file"))];
document.getElementById("filters").append(html("label", {}, "call ", slider), show, tool, file, next,
  html("div", { class: "pair heads" }, html("b", {}, "raw list"), html("b", {}, "view")));
goToHidden(withHidden[0] ?? chosen.call);
