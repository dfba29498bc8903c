// The cost of each strategy against the values and lines that it leaves visible.

function scatter(points, width) {
  const height = Math.max(320, Math.min(360, width * 0.68));
  const costs = points.map(([cost]) => cost);
  const least = Math.min(...points.map(([, visible]) => visible));
  const lowest = Math.max(0, Math.floor(Math.min(least, 99) - 1));
  const x = scale(0, Math.max(110, ...costs) * 1.04, 46, width - 12);
  const y = scale(lowest, 100, height - 46, 22);
  const drawn = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label":
    "Net cost against visible values and lines for each strategy; the figures stand in the table below." });
  const space = width - 12 - x(100);
  const more = space > 220 ? "costs more than sending everything" : space > 80 ? "costs more" : "";
  drawn.append(...axes(x, y, lowest, Math.max(110, ...costs) * 1.04, width, height), label(x(100) + 6, height - 54, more, "start", "unit"));
  const axis = [box(0, 0, 46, height), box(46, 0, 56, 14), box(0, height - 46, width, 46)];
  const taken = [...axis, box(x(100) + 6, height - 65, more.length * 6.4, 14), ...points.map(([cost, visible]) => box(x(cost) - 6, y(visible) - 6, 12, 12))];
  // Ours comes last, so that no other point covers it.
  [...points.entries()].reverse().forEach(([at, [cost, visible]]) => {
    const { name, line } = page.strategies[at];
    const title = `${name}: net cost ${cost.toFixed(1)} %, visible ${visible.toFixed(1)} %`;
    const place = free(x(cost), y(visible), name, taken, width);
    if (place.down) drawn.append(svg("path", { d: `M${x(cost)} ${y(visible)}L${place.edge} ${place.y + 6}`, class: "leader" }));
    drawn.append(
      svg("circle", { cx: x(cost), cy: y(visible), r: line === "ours" ? 6 : 4.5, class: `dot ${line}` },
        svg("title", {}, title)),
      label(place.x, place.y + 9, name, "start", `name ${line}`));
  });
  return drawn;
}

function axes(x, y, lowest, highest, width, height) {
  const bottom = height - 46;
  const parts = [svg("rect", { x: x(100), y: 22, width: Math.max(0, width - 12 - x(100)), height: bottom - 22, class: "worse" })];
  for (const tick of ticks(lowest, 100, 5)) {
    parts.push(svg("path", { d: `M46 ${y(tick)}H${width - 12}`, class: "grid" }), label(40, y(tick) + 4, tick, "end"));
  }
  for (const tick of ticks(0, highest, width > 420 ? 6 : 4)) {
    parts.push(svg("path", { d: `M${x(tick)} ${bottom}v4`, class: "axis" }), label(x(tick), bottom + 17, tick, "middle"));
  }
  parts.push(svg("path", { d: `M46 ${bottom}H${width - 12}`, class: "axis" }),
    label(46, 12, "visible %", "start", "unit"), label(width - 12, height - 8, "net cost % →", "end", "unit"));
  return parts;
}

function box(x, y, width, height) {
  return { x, y, width, height };
}

function overlap(a, b) {
  return Math.max(0, Math.min(a.x + a.width, b.x + b.width) - Math.max(a.x, b.x))
    * Math.max(0, Math.min(a.y + a.height, b.y + b.height) - Math.max(a.y, b.y));
}

// The first place around a point where its name covers no other, else where it covers least.
function free(x, y, name, taken, width) {
  const wide = name.length * 6.4 + 4;
  const places = [];
  for (const down of [0, 12, -12, 24, -24, 36, -36, 48, 60, 72]) {
    const [right, left] = [x + 9, x - 9];
    places.push({ ...box(right, y - 6 + down, wide, 12), down, edge: right - 2 });
    places.push({ ...box(left - wide, y - 6 + down, wide, 12), down, edge: left + 2 });
  }
  const inside = places.filter((each) => each.x > 0 && each.x + wide < width && each.y > 0);
  const covered = (place) => taken.reduce((sum, each) => sum + overlap(place, each), 0);
  const best = (inside.length ? inside : places).reduce((a, b) => (covered(b) < covered(a) ? b : a));
  taken.push(best);
  return best;
}

function drawScatters(root) {
  for (const figure of root.querySelectorAll("figure.scatter")) {
    if (figure.closest("details:not([open])")) continue;
    const data = figure.querySelector("script");
    const points = JSON.parse(data.textContent);
    const caption = html("figcaption", {}, "Up is better, left is cheaper. Visible is the lower share of values and lines; its axis does not start at zero.");
    figure.replaceChildren(data, scatter(points, figure.clientWidth), caption);
  }
}
