// The list of recordings: found by name, sorted, opened by hand or by the address (#r12).

const recordings = document.getElementById("list");
const rows = [...recordings.children];
const ORDERS = [
  ["name", "by folder and name"], ["calls", "calls"], ["tokens", "tokens sent raw"],
  ["cost", "net cost"], ["saved", "money saved"], ["hidden", "hidden uses"],
];
let order = ["name", false];

function sortBy(key) {
  order = [key, order[0] === key ? !order[1] : key !== "name"];
  const value = (row) => (key === "name" ? rows.indexOf(row) : +row.dataset[key]);
  const keyed = rows.map((row) => [value(row), row]).sort(([a], [b]) => a - b);
  if (order[1]) keyed.reverse();
  recordings.append(...keyed.map(([, row]) => row));
  showOrder();
}

function showOrder() {
  for (const each of document.querySelectorAll("#order button")) {
    const own = each.dataset.key === order[0];
    each.setAttribute("aria-pressed", own);
    each.querySelector("span").textContent = own ? (order[1] ? " ↓" : " ↑") : "";
    each.setAttribute("aria-label", `sort by ${each.dataset.word}${own ? (order[1] ? ", largest first" : ", smallest first") : ""}`);
  }
}

function find(words) {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  let left = 0;
  for (const row of rows) {
    const name = row.querySelector(".name").textContent.toLowerCase();
    row.hidden = !wanted.every((word) => name.includes(word));
    left += !row.hidden;
  }
  document.getElementById("count").textContent = `${number(left)} of ${number(rows.length)} recordings`;
}

function goTo(address) {
  const row = /^#r\d+$/.test(address) && document.getElementById(address.slice(1));
  if (!row) return;
  row.open = true;
  row.scrollIntoView();
}

for (const [key, word] of ORDERS) {
  const made = button(html("b", {}, key === "name" ? "recording" : word), false, () => sortBy(key));
  Object.assign(made.dataset, { key, word });
  made.append(html("span", {}));
  made.classList.add(key);
  document.getElementById("order").append(made);
}
showOrder();
const field = document.getElementById("find");
field.addEventListener("input", () => find(field.value));
document.getElementById("tools").hidden = false;
find("");
// `toggle` does not bubble; it is caught on its way down.
document.addEventListener("toggle", ({ target }) => {
  if (!target.open) return;
  if (target.parentNode === recordings) {
    openRecording(target);
    history.replaceState(null, "", `#${target.id}`);
  } else if (target.matches(".source")) drawScatters(target);
}, true);
window.addEventListener("hashchange", () => goTo(location.hash));
window.addEventListener("resize", () => requestAnimationFrame(() => {
  drawScatters(document);
  opened.forEach((view) => view.drawings.clientWidth !== view.width && redraw(view));
}));
drawScatters(document);
goTo(location.hash);
