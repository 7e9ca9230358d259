// The signs in the lanes: a shape for each kind of receipt, claim and correction, filled
// while it counts and hollow where it does not, and in words what it is.

const KINDS = {
  passed: ["passed or approved", d3.symbolCircle],
  failed: ["failed or changes requested", d3.symbolCross, 45],
  other: ["another receipt", d3.symbolSquare],
  past: ["hollow: a receipt that is not current", d3.symbolCircle],
  supported: ["claim, supported", d3.symbolDiamond],
  unsupported: ["claim, not supported", d3.symbolDiamond],
  correction: ["correction", d3.symbolTriangle],
};
const SHAPES = Object.fromEntries(
  Object.entries(KINDS).map(([kind, [, type]]) => [kind, d3.symbol(type, 56)()]));

/** The shape of a sign, whether it is hollow, and what it says. */
function signOf(question, value) {
  if (question === "correction") return { kind: "correction", text: `correction, ${words(value[2])}` };
  if (question === "claim") {
    const kind = value[2] === "supported" ? "supported" : "unsupported";
    return { kind, text: `claim that ${claimWords(value[1])}: ${words(value[2])}` };
  }
  const kind = ["passed", "approved"].includes(value[4]) ? "passed"
    : ["failed", "errored", "timed_out", "changes_requested"].includes(value[4]) ? "failed" : "other";
  const name = value[2] ?? words(value[1].split(".")[0]);
  return { kind, hollow: value[6] !== "current", text: `${name} ${words(value[4])}, ${words(value[6])}` };
}

/** A sign at the cutoff. What is seen no longer counts as nothing: it is withdrawn, or not told. */
function judged(item, question, intervals) {
  const now = held(intervals, VIEW.cut);
  const value = (now ?? intervals.at(-1)).slice(2);
  const sign = signOf(question, value);
  if (now || intervals[0][0] > VIEW.cut) return sign;
  const why = uncovered(item, VIEW.cut).length ? "undetermined" : "withdrawn";
  return { ...sign, hollow: true, gone: true, text: `${words(question)}, ${why}` };
}

/** The signs of an item, at most so many, each to be judged anew as the cutoff moves. */
function marks(item, y, most) {
  const found = [];
  for (const question of ["receipt", "claim", "correction"]) {
    for (const intervals of item.answers[question] ?? []) {
      const ref = intervals[0][2];
      if (typeof ref === "number") found.push({ question, intervals, ref });
    }
  }
  const drawnMarks = found.slice(0, most).map(({ question, intervals, ref }) => {
    const path = svg("path", { class: "mark", "data-event": ref });
    return { item, path, question, intervals, at: `translate(${x(ref).toFixed(1)},${y})` };
  });
  return { drawnMarks, all: found.length };
}

function drawMark({ item, path, question, intervals, at }) {
  const { kind, hollow = false, gone = false, text } = judged(item, question, intervals);
  if (path.dataset.says === text) return;
  const turn = KINDS[kind][2];
  path.setAttribute("d", SHAPES[kind]);
  path.setAttribute("transform", turn ? `${at} rotate(${turn})` : at);
  path.dataset.kind = kind;
  path.toggleAttribute("data-hollow", hollow);
  path.toggleAttribute("data-gone", gone);
  path.dataset.says = text;
}

/** What a sign or a bar says, once somebody points at it: most are never pointed at. */
function sayPart(pointer) {
  const part = pointer.target.closest("[data-says]");
  if (!part) return;
  part.querySelector("title")?.remove();
  part.append(svg("title", {}, part.dataset.says));
}

function drawLegend() {
  const unknown = ITEMS.some((item) => item.answers.undetermined?.length);
  const states = ["proposed", "active", "blocked", "awaiting_review", "complete", "cancelled"];
  const swatch = (code) => el("li", {}, el("span.swatch", { "data-code": code, "aria-hidden": "true" }), words(code));
  const sign = ([kind, [text, , turn = 0]]) => el("li", {},
    svg("svg", { width: 14, height: 14, "aria-hidden": "true" },
      svg("path", {
        class: "mark", "data-kind": kind, d: SHAPES[kind], transform: `translate(7,7) rotate(${turn})`,
        "data-hollow": kind === "past" ? "" : null,
      })), text);
  put("legend", [...states, ...(unknown ? ["undetermined"] : [])].map(swatch),
    el("li", {}, el("span.swatch.thin", { "aria-hidden": "true" }), "blocker open"),
    Object.entries(KINDS).map(sign),
    el("li", {}, svg("svg", { width: 8, height: 12, "aria-hidden": "true" },
      svg("path", { class: "tick", d: "M4,3v6" })), "any event"),
    el("li", {}, el("span.swatch.later", { "aria-hidden": "true" }), "after the cutoff"));
}
