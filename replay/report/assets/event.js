// The one dialog: an event with its raw line, or a rule with its sentence.

function facts(pairs) {
  return el("dl.facts", {}, pairs.map(([name, value]) => el(
    "div", {}, el("dt", {}, name), el("dd", {}, value),
  )));
}

function rawLine(number) {
  const event = EVENTS[number];
  const raw = rawOf(number);
  if (raw === null) {
    return el("p.count", {}, "The line itself was left out of this page to keep it small.");
  }
  return el("pre.raw", { tabindex: "0", role: "region", "aria-label": `Raw line of ${event.id}` },
    el("code", { dir: "ltr" }, raw));
}

function eventBody(number) {
  const event = EVENTS[number];
  const item = ITEMS[event.item];
  return [
    facts([
      ["Type", said(event.type)],
      ["Work item", orNot(item.id)],
      ["Recorded sequence", String(event.sequence)],
      ["Recorded", event.time],
      ["Occurred, says the producer", orNot(event.occurred)],
      ["Principal (who submitted it)", orNot(event.principal)],
      ["Claimed author (never trusted)", orNot(event.author)],
      ["Relayed by", orNot(event.relayed)],
      ["Lane", orNot(event.lane)],
      ["Revision", orNot(event.revision)],
    ]),
    el("h3", {}, DATA.asStored ? `Line ${event.line} of the log` : "The event as a line"),
    DATA.asStored ? null : el("p.count", {}, "Written anew with equal value: the log was not one file."),
    rawLine(number),
    el("p.count", {}, "Hidden characters are written as JSON escapes."),
    el("button", { type: "button", onclick: () => { closeDetail(); go(number); } },
      "Show the board at this event"),
  ];
}

let openedFrom = null;

function openDetail(title, body, from) {
  openedFrom = from;
  put("detail-title", title);
  put("detail-body", body);
  const dialog = byId("detail");
  if (!dialog.open) dialog.showModal();
  byId("detail-title").focus();
  dialog.scrollTop = 0;
}

function closeDetail() {
  byId("detail").close();
}

function openEvent(number, from) {
  openDetail(["Event ", said(EVENTS[number].id)], eventBody(number), from);
}

function openRule(id, from) {
  const body = el("p", {}, DATA.rules.sentences[id] ?? "A rule of another rule set.");
  openDetail(["Rule ", id], [body, el("p.count", {}, `Of the rule set ${DATA.rules.id}.`)], from);
}

function listenForDetails() {
  document.addEventListener("click", (click) => {
    const button = click.target.closest("[data-event], [data-rule]");
    if (!button) return;
    if (button.dataset.event !== undefined) openEvent(Number(button.dataset.event), button);
    else openRule(button.dataset.rule, button);
  });
  byId("detail-close").addEventListener("click", closeDetail);
  byId("detail").addEventListener("close", () => { if (openedFrom?.isConnected) openedFrom.focus(); });
  byId("detail").addEventListener("click", (click) => {
    if (click.target === byId("detail")) closeDetail();
  });
}
