// One work item at the cutoff: every answer with its rule and its events.

const ITEM_ROWS = 20;

function clockCard(item, question, name, value, rule, why) {
  const unknown = question !== "last_message" && uncovered(item, VIEW.cut).length;
  const inside = unknown ? [UNKNOWN()] : value === null ? [NONE()] : mark(value);
  const reason = unknown ? DATA.namedBy.undetermined : rule;
  return el("div.clock", {}, el("h4", {}, name), el("p.reading", {}, inside),
    reason ? because(reason) : el("p.because", {}, unknown ? "The rules do not say." : why),
    item.id === null ? null : el("p.foot", {}, whyButton(item, question, reason)));
}

function clocks(item, cut) {
  const message = answer(item, "last_message", cut);
  const last = clockCard(item, "last_message", "Last message", message?.[0] ?? null, null, "Every event counts, whatever it says.");
  if (item.id === null) return el("div.clocks", {}, last);
  const progress = answer(item, "last_progress", cut);
  const blocked = answer(item, "blocked_since", cut);
  return el("div.clocks", {}, last,
    clockCard(item, "last_progress", "Last evidenced progress", progress?.[0] ?? null, progress?.[1] ?? null,
      "No event counts as progress."),
    clockCard(item, "blocked_since", OLDEST, blocked?.[0] ?? null, blocked ? DATA.namedBy.blocked_since : null,
      "No blocker is open."));
}

function derived(item, question, name, value, plain) {
  const refs = uncovered(item, VIEW.cut);
  if (refs.length) {
    return el("div.derived", {}, el("h3", {}, name), el("p.reading", {}, badge("undetermined")),
      el("p.evidence", {}, `not covered by ${DATA.rules.id}: `, chips(refs, 40)),
      because(DATA.namedBy.undetermined), el("p.foot", {}, whyButton(item, question, DATA.namedBy.undetermined)));
  }
  const rule = value?.[2] ?? null;
  const foot = el("p.foot", {}, whyButton(item, question, rule));
  if (!value || value[0] === null) {
    return el("div.derived", {}, el("h3", {}, name), el("p.reading", {}, NONE()), because(rule), foot);
  }
  return el("div.derived", {}, el("h3", {}, name),
    el("p.reading", {}, plain ? said(value[0]) : badge(value[0]), el("span.since", {}, " since ", mark(value[1]))),
    el("p.evidence", {}, "From ", chips(value[3])),
    because(rule), certificateLine(item, question), foot);
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
  return [mark(opened), orNot(blocker, "no id"), repeats.length ? chips(repeats) : NONE(), end,
    kind !== null && evidence.length ? chips(evidence) : NONE(),
    whyButton(ITEMS[VIEW.item], "episode", DATA.namedBy.episode, markOf(opened).ref)];
}

function receiptRow([event, type, check, source, outcome, revision, status, principal]) {
  return [chip(event), check === null ? words(type.split(".")[0]) : said(check), badge(outcome),
    orNot(revision, "not named"), badge(status), orNot(source), orNot(principal),
    whyButton(ITEMS[VIEW.item], "receipt", DATA.namedBy.receipt, event)];
}

function claimRow([event, type, verdict, evidence, missing, rule]) {
  const lacks = missing.length ? [" ", missing.flatMap((name) => [said(name), " "])] : null;
  return [chip(event), claimWords(type), [badge(verdict), lacks], chips(evidence), ruleChip(rule),
    whyButton(ITEMS[VIEW.item], "claim", rule, event)];
}

function correctionRow([event, target, status, reason]) {
  return [chip(event), chip(target), badge(status), orNot(reason, "not given"),
    whyButton(ITEMS[VIEW.item], "correction", DATA.namedBy.correction, event)];
}

function anomalyRow([code, event, related]) {
  const rule = ruleOfAnomaly(code);
  const text = sentence(DATA.words.anomalies[code] ?? code, { event: chip(event), related: chips(related) });
  return [words(code), el("span", {}, text), rule ? ruleChip(rule) : NONE(),
    whyButton(ITEMS[VIEW.item], "anomaly", rule, code)];
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
    const evidence = interval[5].filter((ref) => typeof ref !== "number" || ref <= cut);
    const rule = interval[4] ?? DATA.namedBy.undetermined;
    return [badge(interval[2]), chip(interval[0]), over ? chip(interval[1]) : "still", chips(evidence),
      rule ? ruleChip(rule) : NONE()];
  };
  return listed("State by state", ["State", "Shown from", "To", "Evidence", "Rule"], states, row);
}

function undetermined(refs) {
  if (!refs.length) return null;
  return el("div.notice", {}, `Undetermined: not covered by ${DATA.rules.id}: `, chips(refs, 200),
    because(DATA.namedBy.undetermined));
}

const LISTS = [
  ["Blockers", "episode", ["Raised", "Blocker", "Raised again", "End", "Evidence", "Why"], episodeRow],
  ["Claims", "claim", ["Event", "It says", "Verdict", "Evidence", "Rule", "Why"], claimRow],
  ["Receipts", "receipt", ["Event", "Check", "Outcome", "Revision", "Standing", "Source", "Principal", "Why"], receiptRow],
  ["Corrections", "correction", ["Event", "Corrects", "Status", "Reason", "Why"], correctionRow],
  ["Anomalies", "anomaly", ["Anomaly", "What happened", "Rule", "Why"], anomalyRow],
];

/** What has no list here: nothing there, or nothing said where the rules do not cover the item. */
function nothingToShow(item, lists, refs) {
  const absent = LISTS.filter((_, index) => lists[index] === null)
    .filter(([, question]) => item.id !== null || question === "anomaly")
    .map(([title]) => title.toLowerCase());
  if (!absent.length) return null;
  return el("p.count", {}, `${refs.length ? "Undetermined, too" : "Nothing to show"}: ${absent.join(", ")}.`);
}

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
  const refs = uncovered(item, cut);
  put("item-body",
    undetermined(refs),
    item.id === null ? null : el("div.derivations", {},
      derived(item, "state", "State", answer(item, "state", cut), false),
      derived(item, "revision", "Revision", answer(item, "revision", cut), true),
      el("div.derived", {}, el("h3", {}, "Permission"), el("p.reading", {}, "not established"),
        el("p.because", {}, "No event here ever establishes one: a message is a claim."))),
    el("h3", {}, item.id === null ? "One clock" : "Three clocks"), clocks(item, cut),
    lists.slice(0, 4), stateHistory(item, cut), lists.slice(4), flagsOf(item, cut),
    nothingToShow(item, lists, refs),
    itemEvents(item, cut));
}

/** The raw lines of the item, the latest first, made when they are looked at. */
function itemEvents(item, cut) {
  const count = countSeen(item.events, cut);
  const shown = item.events.slice(Math.max(count - ITEM_ROWS, 0), count).reverse();
  const list = el("ol");
  return el("details.lines", { ontoggle: () => { if (!list.children.length) list.append(...shown.map(rawEntry)); } },
    el("summary", {}, `Raw lines: ${some(shown.length, count, "events")}, the latest first`), list);
}

const rawEntry = (number) => el("li", {},
  el("p", {}, chip(number), " ", said(EVENTS[number].type), " ", time(EVENTS[number].time)), rawLine(number));
