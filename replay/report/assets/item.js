// One work item at the cutoff: every answer with its rule and its events.

const ITEM_ROWS = 30;

const RULES_OF_ANOMALY = {
  after_terminal: "terminal", not_terminal: "terminal", no_open_episode: "episode",
  progress_while_blocked: "episode", revision_reintroduced: "revision", anachronistic: "receipt",
  other_principal: "corrections",
};

/** A rule of the set by its name without the set's number; null where the set has none. */
function ruleNamed(name) {
  const id = `${DATA.rules.id.split("/").at(-1)}/${name}`;
  return id in DATA.rules.sentences ? id : null;
}

/** The rule that gives an answer, said in full, so that it can be read in print too. */
function because(rule) {
  if (!rule) return null;
  return el("p.because", {}, ruleChip(rule), " ", DATA.rules.sentences[rule] ?? "");
}

function clockCard(name, value, rule, why) {
  const inside = value === null ? [NONE()] : mark(value);
  return el("div.clock", {}, el("h4", {}, name), el("p.reading", {}, inside),
    rule ? because(rule) : el("p.because", {}, why));
}

function clocks(item, cut) {
  const message = answer(item, "last_message", cut);
  const progress = answer(item, "last_progress", cut);
  const blocked = answer(item, "blocked_since", cut);
  return el("div.clocks", {},
    clockCard("Last message", message?.[0] ?? null, null, "Every event of the item counts, whatever it says."),
    clockCard("Last evidenced progress", progress?.[0] ?? null, progress?.[1] ?? null,
      "No event counts as progress."),
    clockCard("Blocked since", blocked?.[0] ?? null, blocked ? DATA.namedBy.blocked_since : null,
      "No blocker is open."));
}

function derived(name, value, plain) {
  if (!value || value[0] === null) {
    return el("div.derived", {}, el("h3", {}, name), el("p.reading", {}, NONE()), value ? because(value[2]) : null);
  }
  return el("div.derived", {}, el("h3", {}, name),
    el("p.reading", {}, plain ? said(value[0]) : badge(value[0]), el("span.since", {}, " since ", mark(value[1]))),
    el("p.evidence", {}, "From ", chips(value[3])),
    because(value[2]));
}

// Lists

function listed(title, columns, values, row, rule) {
  if (!values.length) return null;
  const shown = values.slice(-ITEM_ROWS);
  return el("section.listed", {},
    el("h3", {}, title),
    rule ? because(rule) : null,
    shown.length < values.length ? el("p.count", {}, `${some(shown.length, values.length, title.toLowerCase())}, the latest`) : null,
    table(null, columns, shown.map((value) => ({ cells: row(value) })), { class: "list", "aria-label": title }));
}

/** How long an open blocker has lasted is known at the page's own cutoff, and only there. */
function episodeRow([blocker, opened, repeats, kind, by, evidence, lasted]) {
  const end = kind === null
    ? [badge("open", "still open"), lasted === null || VIEW.cut < LAST ? null : `, ${lasted} at the cutoff`]
    : [badge(kind), " after ", lasted, ", at ", mark(by)];
  return [mark(opened), blocker === null ? NONE() : said(blocker), repeats.length ? chips(repeats) : NONE(), end,
    kind !== null && evidence.length ? chips(evidence) : NONE()];
}

function receiptRow([event, type, check, source, outcome, revision, status, principal]) {
  return [chip(event), check === null ? words(type.split(".")[0]) : said(check), badge(outcome),
    revision === null ? NONE() : said(revision), badge(status),
    source === null ? NONE() : said(source), orNot(principal)];
}

function claimRow([event, type, verdict, evidence, missing, rule]) {
  const lacks = missing.length ? [" ", missing.flatMap((name) => [said(name), " "])] : null;
  return [chip(event), claimWords(type), [badge(verdict), lacks], chips(evidence), ruleChip(rule)];
}

function correctionRow([event, target, status, reason]) {
  return [chip(event), chip(target), badge(status), reason === null ? NONE() : said(reason)];
}

function anomalyRow([code, event, related]) {
  const name = code.startsWith("link_") ? "links" : RULES_OF_ANOMALY[code];
  const rule = name ? ruleNamed(name) : null;
  const text = sentence(DATA.words.anomalies[code] ?? code, { event: chip(event), related: chips(related) });
  return [words(code), el("span", {}, text), rule ? ruleChip(rule) : NONE()];
}

function flagsOf(item, cut) {
  const flags = answersOf(item, "flag", cut);
  if (!flags.length) return null;
  return el("section.listed", {}, el("h3", {}, "Flags"),
    el("ul.plain", {}, flags.map(([flag]) => el("li", {},
      el("strong", {}, words(flag)), `: ${DATA.words.flags[flag] ?? flag}`))));
}

function stateHistory(item, cut) {
  const states = (item.answers.state ?? []).filter((interval) => interval[0] <= cut && interval[2] !== null);
  const row = (interval) => {
    const over = interval[1] !== null && interval[1] <= cut;
    return [badge(interval[2]), chip(interval[0]), over ? chip(interval[1]) : "still", chips(interval[5]), ruleChip(interval[4])];
  };
  return listed("State by state", ["State", "Shown from", "To", "Evidence", "Rule"], states, row);
}

function undetermined(item, cut) {
  const events = answersOf(item, "undetermined", cut).map(([event]) => event);
  if (!events.length) return null;
  return el("div.notice", {}, "Undetermined: the rules ", DATA.rules.id, " do not cover ", chips(events),
    because(DATA.namedBy.undetermined));
}

const LISTS = [
  ["Blockers", "episode", ["Raised", "Blocker", "Raised again", "End", "Evidence"], episodeRow],
  ["Claims", "claim", ["Event", "It says", "Verdict", "Evidence", "Rule"], claimRow],
  ["Receipts", "receipt", ["Event", "Check", "Outcome", "Revision", "Standing", "Source", "Principal"], receiptRow],
  ["Corrections", "correction", ["Event", "Corrects", "Status", "Reason"], correctionRow],
  ["Anomalies", "anomaly", ["Anomaly", "What happened", "Rule"], anomalyRow],
];

function drawItem() {
  const item = ITEMS[VIEW.item];
  byId("item").hidden = !item;
  if (!item) return;
  const cut = VIEW.cut;
  put("item-title", item.id === null ? "Events without a work item" : ["Work item ", said(item.id)]);
  if (!seen(item, cut)) {
    put("item-body", el("p.empty", {}, "No event of this work item is seen at this cutoff."));
    return;
  }
  const lists = LISTS.map(([title, question, columns, row]) =>
    listed(title, columns, answersOf(item, question, cut), row, DATA.namedBy[question]));
  const nothing = LISTS.filter((_, index) => lists[index] === null).map(([title]) => title.toLowerCase());
  put("item-body",
    undetermined(item, cut),
    item.id === null ? null : el("div.derivations", {},
      derived("State", answer(item, "state", cut), false),
      derived("Revision", answer(item, "revision", cut), true),
      el("div.derived", {}, el("h3", {}, "Permission"), el("p.reading", {}, "not established"),
        el("p.because", {}, "No event here ever establishes one: a message is a claim."))),
    el("h3", {}, "Three clocks"), clocks(item, cut),
    lists.slice(0, 4), stateHistory(item, cut), lists.slice(4), flagsOf(item, cut),
    nothing.length ? el("p.count", {}, `Nothing to show: ${nothing.join(", ")}.`) : null,
    itemEvents(item, cut));
}

/** The raw lines of the item, the latest first. */
function itemEvents(item, cut) {
  const count = countSeen(item.events, cut);
  const shown = item.events.slice(Math.max(count - ITEM_ROWS, 0), count).reverse();
  return el("details.lines", {},
    el("summary", {}, `Raw lines: ${some(shown.length, count, "events")}, the latest first`),
    el("ol", {}, shown.map((number) => el("li", {}, el("p", {}, chip(number), " ", said(EVENTS[number].type),
      " ", time(EVENTS[number].time)), rawLine(EVENTS[number])))));
}
