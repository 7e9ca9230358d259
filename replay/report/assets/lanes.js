// Lanes: what each work item was shown as, along the log. Bars are the timeline's own
// intervals; d3 scales them, draws the axis and the signs.

const SVG = "http://www.w3.org/2000/svg";
const BAR = 20;
const BLOCK = 6;
const MARK_BAND = 20;
const MOST_MARKS = 3000;

function svg(name, attributes = {}, ...children) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined) element.setAttribute(key, value);
  }
  element.append(...children.filter(Boolean));
  return element;
}

const KINDS = {
  passed: ["receipt", d3.symbolCircle, "passed or approved"],
  failed: ["receipt", d3.symbolTimes, "failed or changes requested"],
  other: ["receipt", d3.symbolSquare2, "another receipt"],
  supported: ["claim", d3.symbolDiamond, "claim, supported"],
  unsupported: ["claim", d3.symbolDiamond2, "claim, not supported"],
  correction: ["correction", d3.symbolTriangle, "correction"],
};

function kindOf(question, value) {
  if (question === "correction") return "correction";
  if (question === "claim") return value[2] === "supported" ? "supported" : "unsupported";
  if (["passed", "approved"].includes(value[4])) return "passed";
  if (["failed", "errored", "timed_out", "changes_requested"].includes(value[4])) return "failed";
  return "other";
}

const symbol = (kind, size = 56) => d3.symbol(KINDS[kind][1], size)();
const SHAPES = Object.fromEntries(Object.keys(KINDS).map((kind) => [kind, symbol(kind)]));

// Where an event lies

const AXIS = { mode: "sequence", width: 0, scale: null };

/** A number for drawing only: minutes, or milliseconds of a UTC time. */
function drawn(event) {
  if (AXIS.mode === "sequence") return event.sequence;
  if (event.time.startsWith("minute ")) return Number(event.time.slice(7));
  return Date.parse(`${event.time.slice(0, 19)}Z`);
}

function makeScale(width) {
  const first = EVENTS.length ? drawn(EVENTS[0]) : 0;
  const last = EVENTS.length ? drawn(EVENTS[LAST]) : 1;
  // room after the last event, so that what holds at the end of the log can be seen
  const end = AXIS.mode === "sequence" ? last + Math.max(1, (last - first) * 0.04) : last + ((last - first) * 0.04 || 1);
  const kind = AXIS.mode === "time" && DATA.basis === "utc" ? d3.scaleUtc() : d3.scaleLinear();
  AXIS.width = width;
  AXIS.scale = kind.domain([first, end]).range([8, width - 8]);
}

const x = (number) => AXIS.scale(drawn(EVENTS[number]));
const endX = (interval) => (interval[1] === null ? AXIS.width - 8 : x(interval[1]));

// One lane

function stateBars(item) {
  return (item.answers.state ?? []).filter((interval) => interval[2] !== null).map((interval) => {
    const left = x(interval[0]);
    const width = Math.max(endX(interval) - left, 1);
    const text = words(interval[2]);
    const label = width > text.length * 6.6 + 10
      ? svg("text", { x: left + 6, y: 14 }, text) : null;
    return svg("g", { class: "state", "data-code": interval[2] },
      svg("rect", { x: left, y: 0, width, height: BAR, rx: 2 }),
      svg("rect", { x: left, y: 0, width, height: BAR, rx: 2, class: "texture" }), label,
      svg("title", {}, `${text} from sequence ${EVENTS[interval[0]].sequence}`));
  });
}

/** The stretches over which each episode was shown open, and how it ended. */
function openStretches(item) {
  const found = [];
  for (const intervals of item.answers.episode ?? []) {
    for (const interval of intervals) {
      const before = found.at(-1);
      if (interval[5] !== null) {
        if (before && before.of === intervals) before.end = interval[5];
      } else if (before && before.of === intervals && before.to === interval[0]) {
        before.to = interval[1];
      } else {
        found.push({ of: intervals, from: interval[0], to: interval[1], end: null });
      }
    }
  }
  return found.sort((one, other) => one.from - other.from);
}

/** Each stretch on the first row that is free. */
function inRows(stretches) {
  const ends = [];
  return stretches.map((stretch) => {
    let row = ends.findIndex((end) => end !== null && end <= stretch.from);
    if (row < 0) row = ends.length;
    ends[row] = stretch.to;
    return { ...stretch, row };
  });
}

function blockerBars(rows) {
  return rows.map(({ from, to, end, row }) => {
    const left = x(from);
    const right = to === null ? AXIS.width - 8 : x(to);
    const y = BAR + 5 + row * (BLOCK + 3);
    const cap = end === null
      ? null : svg("path", { d: `M${right},${y - 2}v${BLOCK + 4}`, class: "cap", "data-end": end });
    return svg("g", { class: "blocker" },
      svg("rect", { x: left, y, width: Math.max(right - left, 1), height: BLOCK, rx: 1 }), cap,
      svg("title", {}, end === null ? "blocker, open" : `blocker, ${words(end)}`));
  });
}

function marks(item, y, most) {
  const found = [];
  for (const question of ["receipt", "claim", "correction"]) {
    for (const intervals of item.answers[question] ?? []) {
      const ref = intervals[0][2];
      if (typeof ref === "number") found.push({ question, intervals, ref });
    }
  }
  const drawnMarks = found.slice(0, most).map(({ question, intervals, ref }) => {
    const path = svg("path", { class: "mark", "data-event": ref, transform: `translate(${x(ref)},${y})` });
    return { path, question, intervals };
  });
  return { drawnMarks, all: found.length };
}

/** A tick for every event of the item, whatever it is. */
function ticks(item, y) {
  const path = item.events.map((number) => `M${x(number).toFixed(1)},${y}v5`).join("");
  return svg("path", { class: "tick", d: path });
}

function laneSummary(item) {
  const states = (item.answers.state ?? []).filter((interval) => interval[2] !== null);
  const parts = states.slice(0, 8).map((interval) =>
    `${words(interval[2])} from sequence ${EVENTS[interval[0]].sequence}`);
  const more = states.length > 8 ? `, and ${states.length - 8} more states` : "";
  return `Lane of ${item.id}: ${parts.join(", ") || "no state"}${more}.`;
}

function drawLane(item, most) {
  const rows = inRows(openStretches(item));
  const deepest = rows.reduce((depth, { row }) => Math.max(depth, row + 1), 0);
  const band = BAR + 5 + deepest * (BLOCK + 3);
  const { drawnMarks, all } = marks(item, band + MARK_BAND / 2, most);
  const tickY = band + (all ? MARK_BAND : 0);
  const height = tickY + 7;
  const veil = svg("rect", { class: "veil", y: 0, height, x: 0, width: 0 });
  const line = svg("line", { class: "cut", y1: 0, y2: height });
  const picture = svg("svg",
    { width: AXIS.width, height, viewBox: `0 0 ${AXIS.width} ${height}`, role: "img", "aria-label": laneSummary(item) },
    ticks(item, tickY), ...stateBars(item), ...blockerBars(rows), ...drawnMarks.map(({ path }) => path), veil, line);
  return { item, picture, marks: drawnMarks, all, veil, line, height };
}

// All work items at once: how many were shown in each state, as Python counted them

let OVERVIEW = null;
const OVERVIEW_HEIGHT = 96;

function drawOverview() {
  OVERVIEW = null;
  put("overview");
  if (!DATA.overview.length) return;
  const names = DATA.stateNames;
  const steps = [...DATA.overview, [null, ...DATA.overview.at(-1).slice(1)]];
  const most = d3.max(steps, (step) => d3.sum(step.slice(1))) || 1;
  const y = d3.scaleLinear([0, most], [OVERVIEW_HEIGHT - 2, 6]);
  const area = d3.area().curve(d3.curveStepAfter)
    .x((layer) => (layer.data[0] === null ? AXIS.width - 8 : x(layer.data[0])))
    .y0((layer) => y(layer[0])).y1((layer) => y(layer[1]));
  const layers = d3.stack().keys(names.keys()).value((step, key) => step[key + 1])(steps);
  const areas = layers.map((layer, index) => svg("path", { class: "layer", "data-code": names[index], d: area(layer) }));
  const veil = svg("rect", { class: "veil", y: 0, height: OVERVIEW_HEIGHT });
  const line = svg("line", { class: "cut", y1: 0, y2: OVERVIEW_HEIGHT });
  const scale = svg("g", { transform: "translate(8,0)" });
  d3.select(scale).call(d3.axisLeft(y).tickValues([0, most]).tickFormat(d3.format("d")).tickSize(3));
  const picture = svg("svg", {
    width: AXIS.width, height: OVERVIEW_HEIGHT, viewBox: `0 0 ${AXIS.width} ${OVERVIEW_HEIGHT}`, role: "img",
    "aria-label": "How many work items were shown in each state, along the log; the counts at the cutoff stand beside it.",
  },
  ...areas, veil, scale, line);
  OVERVIEW = { veil, line };
  put("overview", el("div.lane", {}, el("div.lane-name", {}, el("strong", {}, "All work items"), el("p.counts", { id: "counts" })), picture));
}

/** Python's counts at a cutoff in words, from the bottom of the chart to its top. */
function stateCounts(cut) {
  const after = d3.bisector((step) => step[0]).right(DATA.overview, cut);
  const counts = after ? DATA.overview[after - 1].slice(1) : [];
  const named = counts.map((count, index) => [count, DATA.stateNames[index]]).filter(([count]) => count);
  return named.map(([count, name]) => `${count} ${name === "none" ? "with no state" : words(name)}`).join(", ");
}

function moveOverview(at) {
  if (!OVERVIEW) return;
  byId("counts").textContent = stateCounts(VIEW.cut) || "none seen yet";
  OVERVIEW.veil.setAttribute("x", at);
  OVERVIEW.veil.setAttribute("width", Math.max(AXIS.width - at, 0));
  OVERVIEW.line.setAttribute("x1", at);
  OVERVIEW.line.setAttribute("x2", at);
}

// All lanes

let LANES = [];

function drawLanes() {
  const items = found().slice(0, VIEW.rows);
  const holder = byId("lanes-rows");
  const wide = holder.clientWidth >= 720;
  makeScale(Math.max((wide ? holder.clientWidth - 168 : holder.clientWidth), 200));
  drawOverview();
  let left = MOST_MARKS;
  LANES = items.map((item) => {
    const lane = drawLane(item, left);
    left = Math.max(left - lane.marks.length, 0);
    return lane;
  });
  put("lanes-rows",
    LANES.map(({ item, picture }) => el("div.lane", {}, el("div.lane-name", {}, itemButton(item)), picture)),
    items.length ? el("div.lane.axis", {}, el("div.lane-name", {}, axisName()), axis()) : el("p.empty", {}, "No lane to draw."));
  const all = LANES.reduce((sum, lane) => sum + lane.all, 0);
  byId("lanes-count").textContent = some(items.length, found().length, "lanes")
    + (all > MOST_MARKS ? `, ${some(MOST_MARKS, all, "signs")}` : "");
  moveCut();
}

const axisName = () => (AXIS.mode === "sequence" ? "recorded sequence"
  : DATA.basis === "utc" ? "recorded time, UTC" : "minutes since the log began");

function axis() {
  const picture = svg("svg", { width: AXIS.width, height: 24, viewBox: `0 0 ${AXIS.width} 24`, "aria-hidden": "true" });
  const ticks = d3.axisBottom(AXIS.scale).ticks(Math.max(AXIS.width / 110, 2)).tickSizeOuter(0);
  if (AXIS.mode === "sequence") ticks.tickFormat((value) => (Number.isInteger(value) ? String(value) : ""));
  d3.select(picture).append("g").call(ticks);
  return picture;
}

/** Just after the last event seen: half way to the next one, or at the end of the lanes. */
function cutX() {
  if (VIEW.cut < 0) return 0;
  return VIEW.cut === LAST ? AXIS.width - 8 : (x(VIEW.cut) + x(VIEW.cut + 1)) / 2;
}

/** The cutoff in every lane, and each sign as it is judged at it. */
function moveCut() {
  const at = cutX();
  moveOverview(at);
  for (const { marks: drawnMarks, veil, line } of LANES) {
    veil.setAttribute("x", at);
    veil.setAttribute("width", Math.max(AXIS.width - at, 0));
    line.setAttribute("x1", at);
    line.setAttribute("x2", at);
    for (const { path, question, intervals } of drawnMarks) {
      const interval = held(intervals, VIEW.cut) ?? intervals.at(-1);
      const kind = kindOf(question, interval.slice(2));
      if (path.dataset.kind !== kind) {
        path.setAttribute("d", SHAPES[kind]);
        path.dataset.kind = kind;
      }
    }
  }
}

function drawLegend() {
  const states = ["proposed", "active", "blocked", "awaiting_review", "complete", "cancelled"];
  const swatch = (code) => el("li", {}, el("span.swatch", { "data-code": code, "aria-hidden": "true" }), words(code));
  const sign = ([kind, [, , text]]) => el("li", {},
    svg("svg", { width: 14, height: 14, "aria-hidden": "true" },
      svg("path", { class: "mark", "data-kind": kind, d: symbol(kind, 48), transform: "translate(7,7)" })), text);
  put("legend", states.map(swatch),
    el("li", {}, el("span.swatch.thin", { "aria-hidden": "true" }), "blocker open"),
    Object.entries(KINDS).map(sign),
    el("li", {}, svg("svg", { width: 8, height: 12, "aria-hidden": "true" },
      svg("path", { class: "tick", d: "M4,3v6" })), "any event"),
    el("li", {}, el("span.swatch.later", { "aria-hidden": "true" }), "after the cutoff"));
}
