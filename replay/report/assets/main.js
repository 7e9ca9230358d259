// The state of the page, and what moves it: slider, search, selection, address, theme.

const VIEW = {
  cut: LAST, item: ITEMS.findIndex((item) => item.id !== null), search: "",
  rows: ROWS, eventRows: EVENT_ROWS, foundEvents: [],
};

/** Everything at the cutoff; the lanes are drawn anew only where their rows can differ. */
function draw() {
  VIEW.foundEvents = foundEvents();
  drawPosition();
  drawMoment();
  drawBoard();
  drawItem();
  drawLog();
  const rows = `${found().slice(0, VIEW.rows).map((item) => item.index)}`;
  if (rows === draw.rows) moveCut(); else drawLanes();
  draw.rows = rows;
}

function drawPosition() {
  const { cut } = VIEW;
  byId("slider").value = String(cut + 1);
  byId("slider").setAttribute("aria-valuetext", positionText(cut));
  byId("sequence").value = cut < 0 ? "" : String(EVENTS[cut].sequence);
  byId("first").disabled = byId("previous").disabled = cut < 0;
  byId("last").disabled = byId("next").disabled = cut === LAST;
  put("position", positionParts(cut));
}

function positionParts(cut) {
  if (cut < 0) return ["Before the first event"];
  const event = EVENTS[cut];
  return [
    el("strong", {}, `Sequence ${event.sequence}`), ` · ${event.time} · `,
    `event ${cut + 1} of ${EVENTS.length}`,
    cut === LAST && DATA.cutoff.observed ? el("span.ends", {}, ` · elapsed time ends at ${DATA.cutoff.observed}`) : null,
  ];
}

function positionText(cut) {
  if (cut < 0) return "Before the first event";
  const event = EVENTS[cut];
  return `Sequence ${event.sequence}, ${event.time}, ${event.type}`;
}

let announcing = 0;

/** Says where we are once the slider rests: a screen reader should not hear every step. */
function announce() {
  clearTimeout(announcing);
  announcing = setTimeout(() => {
    const selected = ITEMS[VIEW.item] ? answer(ITEMS[VIEW.item], "state", VIEW.cut)?.[0] : null;
    const states = stateCounts(VIEW.cut) || (selected ? words(selected) : "no state");
    byId("live").textContent = `${positionText(VIEW.cut)}. Work items: ${states}.`;
  }, 500);
}

function go(cut) {
  VIEW.cut = Math.min(Math.max(cut, -1), LAST);
  draw();
  announce();
  remember();
}

function select(index) {
  VIEW.item = index;
  draw();
  document.querySelectorAll(".lane-name [data-item]").forEach((button) => {
    button.setAttribute("aria-pressed", String(Number(button.dataset.item) === index));
  });
  byId("item").scrollIntoView({ block: "start" });
  byId("item").focus({ preventScroll: true });
  remember();
}

// The address keeps the place, so that a reload or a link opens the page where it was.

let remembering = 0;

function remember() {
  clearTimeout(remembering);
  remembering = setTimeout(() => {
    const sequence = VIEW.cut < 0 ? 0 : EVENTS[VIEW.cut].sequence;
    history.replaceState(null, "", `#sequence=${sequence}&item=${VIEW.item}`);
  }, 200);
}

function recall() {
  const place = /^#sequence=(\d+)(?:&item=(\d+))?$/.exec(location.hash);
  if (!place) return;
  VIEW.cut = cutOfSequence(Number(place[1]));
  const item = Number(place[2] ?? NaN);
  if (item in ITEMS) VIEW.item = item;
}

// What does not move

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
  byId("slider").max = String(EVENTS.length);
}

function lossesNotice() {
  if (!DATA.losses) return null;
  const count = DATA.losses.unavailable.length;
  return el("p.notice", {}, `This log was imported from ${DATA.losses.source}: `,
    el("a", { href: "#losses", onclick: toLosses }, `${count} kinds of answer are unavailable`), ".");
}

function toLosses(click) {
  click.preventDefault();
  byId("losses").scrollIntoView();
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

// Light and dark

const THEMES = [["", "as the system"], ["light", "light"], ["dark", "dark"]];

function nextTheme() {
  const at = THEMES.findIndex(([name]) => name === (document.documentElement.dataset.theme ?? ""));
  const [name, text] = THEMES[(at + 1) % THEMES.length];
  if (name) document.documentElement.dataset.theme = name; else delete document.documentElement.dataset.theme;
  byId("theme").textContent = `Colours: ${text}`;
}

function listen() {
  byId("slider").addEventListener("input", () => go(Number(byId("slider").value) - 1));
  byId("first").addEventListener("click", () => go(-1));
  byId("previous").addEventListener("click", () => go(VIEW.cut - 1));
  byId("next").addEventListener("click", () => go(VIEW.cut + 1));
  byId("last").addEventListener("click", () => go(LAST));
  byId("go").addEventListener("submit", (submit) => {
    submit.preventDefault();
    const text = byId("sequence").value.trim();
    if (/^\d+$/.test(text)) go(cutOfSequence(Number(text))); else drawPosition();
  });
  byId("search").addEventListener("input", () => {
    VIEW.search = byId("search").value.trim().toLowerCase();
    draw();
  });
  byId("theme").addEventListener("click", nextTheme);
  document.addEventListener("click", (click) => {
    const button = click.target.closest("[data-item]");
    if (button) select(Number(button.dataset.item));
  });
  document.querySelectorAll("[name=axis]").forEach((radio) => radio.addEventListener("change", () => {
    AXIS.mode = radio.value;
    drawLanes();
  }));
  listenForDetails();
  listenForSizes();
}

function listenForSizes() {
  let width = byId("lanes-rows").clientWidth;
  new ResizeObserver(() => {
    if (byId("lanes-rows").clientWidth === width) return;
    width = byId("lanes-rows").clientWidth;
    drawLanes();
  }).observe(byId("lanes-rows"));
  addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((d) => { d.open = true; }));
}

recall();
drawFrame();
drawLegend();
listen();
draw();
announce();
