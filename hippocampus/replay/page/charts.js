// Lines over the calls of one recording: context size and cost, on one x axis with the timeline.

// Wide enough, the left margin carries titles and entry names and the right one the lines' names;
// otherwise both stand above the lines.
function frame(width, calls) {
  const narrow = width < 760;
  const left = narrow ? 46 : 216;
  const right = width - (narrow ? 10 : 178);
  return { width, narrow, left, right, calls, x: scale(0, Math.max(0, calls - 1), left, right) };
}

function lineChart(title, unit, format, rows, frame) {
  const top = frame.narrow ? 40 : 14;
  const bottom = top + (frame.narrow ? 150 : 168);
  const highest = Math.max(...rows.map(({ values }) => values.reduce((a, b) => Math.max(a, b), 0)), 0) || 1;
  const y = scale(0, highest, bottom, top);
  const drawn = svg("svg", { viewBox: `0 0 ${frame.width} ${bottom + 24}`, role: "img", "aria-label":
    `${title}, ${unit}, for ${rows.map(({ name }) => name).join(", ")}; the figures stand in the tables.` });
  const [high, low] = frame.narrow ? [14, 28] : [24, 40];
  drawn.append(label(0, high, title, "start", "title"), label(0, low, unit, "start", "unit"), ...grid(y, highest, format, frame), ...callAxis(bottom, frame));
  for (const { line, values } of [...rows].reverse()) {
    drawn.append(svg("path", { d: path(values, frame.x, y), class: `line ${line}` }));
  }
  if (!frame.narrow) drawn.append(...endLabels(rows, y, top, bottom, frame));
  return withCursor(drawn, top, bottom, frame);
}

function grid(y, highest, format, frame) {
  const marks = ticks(0, highest, 4);
  return marks.flatMap((tick) => [
    svg("path", { d: `M${frame.left} ${y(tick)}H${frame.right}`, class: tick ? "grid" : "axis" }),
    label(frame.left - 6, y(tick) + 4, format(tick, marks[1]), "end")]);
}

function callAxis(bottom, frame) {
  const marks = ticks(0, Math.max(1, frame.calls - 1), frame.narrow ? 5 : 9).filter((tick) => Number.isInteger(tick) && tick < frame.calls);
  return [
    ...marks.map((tick) => label(frame.x(tick), bottom + 17, number(tick), "middle")),
    label(frame.narrow ? frame.left - 8 : frame.right + 14, bottom + 17, "call", frame.narrow ? "end" : "start", "unit")];
}

function path(values, x, y) {
  const points = values.map((value, call) => `${x(call).toFixed(1)} ${y(value).toFixed(1)}`);
  // A line of one point is drawn by its round ends.
  return points.length === 1 ? `M${points[0]}h0` : `M${points.join("L")}`;
}

// Names stand where the lines end, pushed apart where they would cover each other.
function endLabels(rows, y, top, bottom, frame) {
  const ends = rows.map(({ name, line, values }) => ({ name, line, end: y(values.at(-1) ?? 0) }));
  ends.sort((a, b) => a.end - b.end);
  let above = top - 13;
  for (const each of ends) above = each.at = Math.max(each.end, above + 13);
  let below = bottom + 13;
  for (const each of ends.toReversed()) below = each.at = Math.min(each.at, below - 13);
  return ends.flatMap(({ name, line, end, at }) => [
    svg("path", { d: `M${frame.right + 2} ${end}L${frame.right + 9} ${at}`, class: "leader" }),
    label(frame.right + 12, at + 4, name, "start", `name ${line}`)]);
}

// The line that marks the chosen call; the call is chosen with the slider, or by pointing.
function withCursor(drawn, top, bottom, frame) {
  const line = svg("path", { d: `M0 ${top}V${bottom}`, class: "cursor" });
  drawn.append(line);
  drawn.markCall = (call) => line.setAttribute("transform", `translate(${frame.x(call)})`);
  drawn.callAt = (event) => {
    const edge = drawn.getBoundingClientRect();
    const at = ((event.clientX - edge.left) * frame.width) / edge.width;
    const share = (at - frame.left) / (frame.right - frame.left);
    return Math.max(0, Math.min(frame.calls - 1, Math.round(share * (frame.calls - 1))));
  };
  return drawn;
}
