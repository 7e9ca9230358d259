// What does not move with the cutoff: the heading, the notices, the account.

function drawFrame() {
  put("name", said(DATA.name));
  const items = ITEMS.filter((item) => item.id !== null).length;
  put("summary", `${counted(EVENTS.length, "event")} about ${counted(items, "work item")}, judged by the rules `,
    el("strong", {}, DATA.rules.id), ". A message is a claim: none is a permission, and nothing is true by being said.");
  const notices = [...DATA.limits, ...DATA.flags, ...DATA.notices];
  put("notices", notices.map((text) => el("p.notice", {}, text)), lossesNotice());
  put("account-body", account());
  put("footer", el("p", {}, `Made by ${DATA.tool}. Rules ${DATA.rules.id}, `, el("code", {}, DATA.rules.digest),
    ". Log ", said(DATA.name), ", ", el("code", {}, `sha256:${DATA.sha256}`), "."));
  put("between", betweenWords());
  byId("slider").max = String(EVENTS.length);
}

/** That the slider knows events only, and what gives the times between them. */
function betweenWords() {
  if (!DATA.basis) return null;
  const [option, unit] = DATA.basis === "utc" ? ["--at-time T", "time"] : ["--at-minute M", "minute"];
  return ["The slider moves from recorded event to recorded event; for a ", unit, " between two, make the page with ",
    el("code", {}, option), ".", " Elapsed times run to the cutoff."];
}

function lossesNotice() {
  if (!DATA.losses) return null;
  const count = DATA.losses.unavailable.length;
  return el("p.notice", {}, `This log was imported from ${DATA.losses.source}: `,
    el("a", { href: "#losses", onclick: toLosses }, `${count} kinds of answer are unavailable`), ".");
}

function toLosses(click) {
  click.preventDefault();
  byId("losses").scrollIntoView({ block: "start" });
  byId("losses").focus({ preventScroll: true });
}

function account() {
  const asked = [DATA.cutoff.sequence === null ? null : `sequence ${DATA.cutoff.sequence}`, DATA.cutoff.recorded]
    .filter(Boolean).join(" and ");
  const unassigned = ITEMS.find((item) => item.id === null);
  return [
    el("ul.plain", {},
      DATA.account.map((text) => el("li", {}, text)),
      el("li", {}, asked ? `Nothing after ${asked} is on this page.` : "The page holds the log up to its end."),
      DATA.limits.map((text) => el("li", {}, text)),
      DATA.certificates.length ? el("li", {}, `Looked for what answers at the end of this page rest on: ${DATA.certificates.join(", ")}.`) : null,
      unassigned ? el("li", {}, `${counted(unassigned.events.length, "event")} without a work item: `, itemButton(unassigned)) : null,
      el("li", {}, "Agreement with a log is not truth: nothing here authenticates it or sees what was never recorded.")),
    losses(),
    el("details", {}, el("summary", {}, `The rules ${DATA.rules.id}, sentence by sentence`),
      el("dl.rules", {}, Object.entries(DATA.rules.sentences).map(([id, text]) => el("div", {}, el("dt", {}, id), el("dd", {}, text))))),
  ];
}

function losses() {
  if (!DATA.losses) return null;
  return el("div", { id: "losses", tabindex: "-1" },
    el("h3", {}, "What the import lost"),
    el("p", {}, `Order known as: ${words(DATA.losses.order)}. These answers the records cannot give, whatever the rules:`),
    el("ul.plain", {}, DATA.losses.unavailable.map((text) => el("li", {}, said(text)))),
    table(null, ["Field", "Records", "Reason"], DATA.losses.losses.map(({ field, count, reason }) => ({
      cells: [said(field), String(count), said(reason)] })), { class: "list", "aria-label": "Fields lost" }));
}
