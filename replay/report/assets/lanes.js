// Lanes: what each work item was shown as, along the log. Bars are the timeline's own
// intervals; d3 scales them, draws the axis and the signs.

const NAME_WIDTH = 190;
const BAR = 20;
const BLOCK = 6;
const MARK_BAND = 20;
const MOST_MARKS = 3000;

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

/** What the item was shown as, without the stretches where it had no state; one state once,
 *  whatever evidence it came to rest on. */
function shownStates(item) {
  const found = [];
  for (const interval of item.answers.state ?? []) {
    const before = found.at(-1);
    if (before && before[2] === interval[2] && before[1] === interval[0]) before[1] = interval[1];
    else if (interval[2] !== null) found.push([...interval]);
  }
  return found;
}

const shownAs = (interval) => (interval[2] === "undetermined" ? notCovered(interval[5]) : words(interval[2]));

function stateBars(item) {
  return shownStates(item).map((interval) => {
    const left = x(interval[0]);
    const width = Math.max(endX(interval) - left, 1);
    const text = words(interval[2]);
    const label = width > text.length * 6.6 + 10
      ? svg("text", { x: left + 6, y: 14 }, text) : null;
    const says = `${shownAs(interval)} from sequence ${EVENTS[interval[0]].sequence}`;
    return svg("g", { class: "state", "data-code": interval[2], "data-says": says },
      svg("rect", { x: left, y: 0, width, height: BAR, rx: 2 }),
      interval[2] === "cancelled" || interval[2] === "undetermined"
        ? svg("rect", { x: left, y: 0, width, height: BAR, rx: 2, class: "texture" }) : null, label);
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
    return svg("g", { class: "blocker", "data-says": end === null ? "blocker, open" : `blocker, ${words(end)}` },
      svg("rect", { x: left, y, width: Math.max(right - left, 1), height: BLOCK, rx: 1 }), cap);
  });
}

/** A tick for every event of the item, whatever it is. */
function ticks(item, y) {
  const path = item.events.map((number) => `M${x(number).toFixed(1)},${y}v5`).join("");
  return svg("path", { class: "tick", d: path });
}

function laneSummary(item) {
  const states = shownStates(item);
  const parts = states.slice(0, 8).map((interval) =>
    `${shownAs(interval)} from sequence ${EVENTS[interval[0]].sequence}`);
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

/** One step for each column of the picture, the last one in it, and the end. */
function thinned(steps) {
  const columns = new Map(steps.map((step) => [Math.round(x(step[0])), step]));
  return [...columns.values(), [null, ...steps.at(-1).slice(1)]];
}

function drawOverview() {
  OVERVIEW = null;
  put("overview");
  if (ITEMS.filter((item) => item.id !== null).length < 2) return;
  const names = DATA.stateNames;
  const steps = thinned(DATA.overview);
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
  put("overview", el("div.lane", {}, el("div.lane-name", {}, el("strong", {}, DATA.limits.length ? "Work items of this page" : "All work items"), el("p.counts", { id: "counts" })), picture));
}

/** Python's counts at a cutoff, `[count, state]`, from the bottom of the chart to its top. */
function stateCounts(cut) {
  const after = d3.bisector((step) => step[0]).right(DATA.overview, cut);
  const counts = after ? DATA.overview[after - 1].slice(1) : [];
  return counts.map((count, index) => [count, DATA.stateNames[index]]).filter(([count]) => count);
}

/** The counts in words; `name` makes words of the events that the rules do not cover. */
function countWords(cut, name) {
  const parts = stateCounts(cut).map(([count, state]) => {
    if (state === "none") return [`${grouped(count)} with no state`];
    if (state !== "undetermined") return [`${grouped(count)} ${words(state)}`];
    const refs = ITEMS.flatMap((item) => uncovered(item, cut)).sort((one, other) => one - other);
    return [`${grouped(count)} undetermined (not covered by ${DATA.rules.id}: `, name(refs), ")"];
  });
  return parts.flatMap((part, index) => (index ? [", ", ...part] : part));
}

function moveOverview(at) {
  if (!OVERVIEW) return;
  const counts = countWords(VIEW.cut, (refs) => chips(refs, 3));
  put("counts", counts.length ? counts : "none seen yet");
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
  makeScale(Math.max((wide ? holder.clientWidth - NAME_WIDTH : holder.clientWidth), 200));
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
  const count = Math.max(AXIS.width / 110, 2);
  // the scale goes on a little after the last event, where there is nothing to number
  const last = EVENTS.length ? drawn(EVENTS[LAST]) : 1;
  const values = AXIS.scale.ticks(count).filter((value) => value <= last
    && (AXIS.mode === "time" || Number.isInteger(value)));
  const ticks = d3.axisBottom(AXIS.scale).tickValues(values).tickSizeOuter(0);
  ticks.tickFormat(AXIS.mode === "sequence" ? String : AXIS.scale.tickFormat(count));
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
    drawnMarks.forEach(drawMark);
  }
}
