// The board at the cutoff, what changed at its last event, and the list of events seen.

const ROWS = matchMedia("(max-width: 640px)").matches ? 6 : 15;
const EVENT_ROWS = 25;

/** The state of an item at a cutoff; where the rules do not say, with the events that are why. */
function stateCell(state, refs) {
  if (refs.length) {
    return [badge("undetermined"), el("div.since", {}, `not covered by ${DATA.rules.id}: `, chips(refs, 3))];
  }
  if (!state || state[0] === null) return badge("none", "no state");
  return [badge(state[0]), state[1] !== null ? el("div.since", {}, "since ", mark(state[1])) : null];
}

const itemName = (item) => (item.id === null ? "no work item" : said(item.id));

function itemButton(item) {
  return el("button.item", {
    type: "button", "data-item": item.index, "aria-pressed": String(item.index === VIEW.item),
  }, itemName(item));
}

function clock(item, question, cut) {
  const value = answer(item, question, cut);
  return value && value[0] !== null ? mark(value[0]) : NONE();
}

function boardRow(item, cut) {
  const refs = uncovered(item, cut);
  const revision = answer(item, "revision", cut);
  const known = (cell) => (refs.length ? UNKNOWN() : cell);
  return {
    "data-row": item.index,
    "data-selected": item.index === VIEW.item ? "" : null,
    cells: [
      itemButton(item),
      stateCell(answer(item, "state", cut), refs),
      known(revision && revision[0] !== null ? said(revision[0]) : NONE()),
      clock(item, "last_message", cut),
      known(clock(item, "last_progress", cut)),
      known(clock(item, "blocked_since", cut)),
    ],
  };
}

// a state may have begun, and shown itself, before the blocker that is now the oldest open one
const OLDEST = "Oldest open blocker since";

const BOARD_COLUMNS = ["Work item", "State", "Revision", "Last message", "Last progress", OLDEST];

function drawBoard() {
  const items = found();
  const shown = items.slice(0, VIEW.rows);
  const all = ITEMS.filter((item) => item.id !== null);
  const visible = all.filter((item) => seen(item, VIEW.cut));
  byId("board-count").textContent = `${some(shown.length, visible.length, "work items")}`
    + (visible.length < all.length ? ` (${all.length - visible.length} not seen yet)` : "")
    + (VIEW.search ? `, ${items.length} found` : "");
  put("board-rows",
    shown.length
      ? table(null, BOARD_COLUMNS, shown.map((item) => boardRow(item, VIEW.cut)),
        { class: "board", "aria-labelledby": "board-title" })
      : el("p.empty", {}, VIEW.search ? "No work item is found." : "No work item is seen yet."),
    moreButton(items.length - shown.length, "work items", () => { VIEW.rows += 100; draw(); }));
}

function moreButton(left, what, more) {
  if (left <= 0) return null;
  return el("button.more", { type: "button", onclick: more }, `Show more of the ${left} other ${what}`);
}

// Search

const HAYSTACKS = new Map();

function haystack(number) {
  if (!HAYSTACKS.has(number)) {
    const event = EVENTS[number];
    const id = ITEMS[event.item].id ?? "";
    HAYSTACKS.set(number, `${event.id} ${id} ${event.type} ${event.principal ?? ""} ${rawOf(number) ?? ""}`.toLowerCase());
  }
  return HAYSTACKS.get(number);
}

/** The events seen that hold the text searched for, in order. */
function foundEvents() {
  const numbers = [];
  for (let number = 0; number <= VIEW.cut; number += 1) {
    if (!VIEW.search || haystack(number).includes(VIEW.search)) numbers.push(number);
  }
  return numbers;
}

/** The items seen that are in the state, or have the revision or an event, searched for. */
function found() {
  const items = ITEMS.filter((item) => item.id !== null && seen(item, VIEW.cut));
  if (!VIEW.search) return items;
  const withEvents = new Set(VIEW.foundEvents.map((number) => EVENTS[number].item));
  return items.filter((item) => {
    const refs = uncovered(item, VIEW.cut);
    const shown = refs.length ? ["undetermined"]
      : [answer(item, "state", VIEW.cut)?.[0], answer(item, "revision", VIEW.cut)?.[0]];
    return withEvents.has(item.index)
      || shown.some((text) => text && words(text).toLowerCase().includes(VIEW.search));
  });
}

// What changed

function changeWords({ item, question, before, now }) {
  const value = (now ?? before).slice(2);
  const was = before ? before.slice(2) : null;
  switch (question) {
    case "state": case "revision": {
      if (value[0] === null && (!was || was[0] === null)) return null;
      if (now && was && was[0] === value[0]) return ["the ", question, " rests on other evidence"];
      const named = (v) => (v && v[0] !== null ? (question === "state" ? badge(v[0]) : said(v[0])) : NONE());
      return [`${question} `, named(was), " → ", named(now ? value : null)];
    }
    case "last_progress": return now ? ["progress"] : ["progress is taken back"];
    case "blocked_since": return null;
    case "episode": return episodeChange(value, was, now);
    case "receipt": return now ? ["receipt ", said(value[2] ?? value[1]), " ", badge(value[4]), ` ${words(value[6])}`] : ["a receipt is withdrawn"];
    case "claim": return now ? ["the claim that ", claimWords(value[1]), " is ", badge(value[2])] : ["a claim is withdrawn"];
    case "correction": return ["a correction is ", badge(value[2])];
    case "anomaly": return now ? ["anomaly: ", words(value[0])] : null;
    case "flag": return now ? [`flag: ${words(value[0])} (${DATA.words.flags[value[0]] ?? value[0]})`] : null;
    default: return now ? [badge("undetermined"), `: ${DATA.rules.id} does not cover `, chip(value[0])] : null;
  }
}

function episodeChange(value, was, now) {
  if (!now) return ["a blocker is withdrawn"];
  if (value[3]) return ["blocker ", badge(value[3]), " after ", value[6]];
  if (!was) return ["a blocker opens"];
  return value[2].length > was[2].length ? ["the open blocker is raised again"] : ["the open blocker is seen otherwise"];
}

const claimWords = (type) => DATA.words.claims[type] ?? type;

/** Whether a change is one that the rules tell: of what they do not cover, nothing began or ended. */
function told({ item, question }) {
  const unsaid = uncovered(item, VIEW.cut).length || uncovered(item, VIEW.cut - 1).length;
  return !unsaid || question === "flag" || question === "undetermined"
    || (question === "state" && uncovered(item, VIEW.cut).length === 0);
}

/** What is said where an event changed no answer. */
function unchanged(number) {
  const undetermined = uncovered(ITEMS[EVENTS[number].item], number).length;
  return undetermined ? "A message: it moves the last-message clock. Other answers about its work item stay undetermined."
    : "A message: it moves the last-message clock and no other answer.";
}

function drawMoment() {
  if (VIEW.cut < 0) {
    put("changes", el("p.empty", {}, EVENTS.length ? "Nothing is seen yet. Move the slider." : "This log has no event."));
    return;
  }
  const lines = changesAt(VIEW.cut).filter(told)
    .map((change) => ({ change, text: changeWords(change) })).filter(({ text }) => text);
  const shown = lines.slice(0, 8).map(({ change, text }) => el(
    "li", {}, el("span.of", {}, itemName(change.item)), " ", text));
  put("changes",
    momentLine(VIEW.cut),
    shown.length ? el("ul.changes", {}, shown) : el("p.empty", {}, unchanged(VIEW.cut)),
    lines.length > 8 ? el("p.count", {}, some(8, lines.length, "changes")) : null);
}

/** An author as it names itself, where that is a record with a name; else what it wrote. */
function authorName(text) {
  // a backslash may be the escape of a hidden character, which reading it would bring back
  if (!text.startsWith("{") || text.includes("\\")) return said(text);
  try {
    const { display, id } = JSON.parse(text);
    const name = [display, id].find((part) => typeof part === "string" && part);
    return name ? el("bdi", { title: text }, name) : said(text);
  } catch {
    return said(text);
  }
}

function momentLine(number) {
  const event = EVENTS[number];
  const by = event.principal !== null ? [" by ", said(event.principal)]
    : event.author !== null ? [" by ", authorName(event.author), " (as it says itself)"] : [];
  return el("p.said", {}, chip(number), " ", el("strong", {}, said(event.type)), by);
}

// The events

function drawLog() {
  const numbers = VIEW.foundEvents;
  const shown = numbers.slice(-VIEW.eventRows).reverse();
  byId("log-count").textContent = `${some(shown.length, VIEW.cut + 1, "events")}, the latest first`
    + (VIEW.search ? `, ${numbers.length} found` : "");
  put("log-rows",
    shown.length
      ? table(null, ["Event", "Sequence", "Recorded", "Type", "Work item", "Principal"],
        shown.map((number) => {
          const event = EVENTS[number];
          return {
            cells: [chip(number), String(event.sequence), time(event.time), said(event.type),
              itemName(ITEMS[event.item]), orNot(event.principal)],
          };
        }), { class: "list", "aria-labelledby": "log-title" })
      : el("p.empty", {}, "No event."),
    moreButton(numbers.length - shown.length, "events", () => { VIEW.eventRows += 200; draw(); }));
}
