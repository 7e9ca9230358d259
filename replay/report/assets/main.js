// The state of the page, and what moves it: slider, search, selection, address, theme.

const VIEW = {
  cut: LAST, item: ITEMS.findIndex((item) => item.id !== null), search: "",
  rows: ROWS, eventRows: EVENT_ROWS, foundEvents: [],
};

/** Everything at the cutoff. */
function draw() {
  drawFirst();
  drawRest();
}

/** What stands at the top of the page, which is all that is drawn before it is first seen. */
function drawFirst() {
  VIEW.foundEvents = foundEvents();
  drawPosition();
  drawMoment();
  drawBoard();
}

/** What stands below. */
function drawRest() {
  REST.forEach((part) => part());
  document.documentElement.dataset.drawn = "";
}

const REST = [drawItem, drawLog, drawOrMoveLanes];

/** The lanes are drawn anew only where their rows can differ. */
function drawOrMoveLanes() {
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
    el("strong", {}, `Sequence ${event.sequence}`), " · ", time(event.time), " · ",
    `event ${cut + 1} of ${EVENTS.length}`,
    cut === LAST && DATA.cutoff.observed ? el("span.ends", {}, " · elapsed time ends at ", time(DATA.cutoff.observed)) : null,
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
    const counts = countWords(VIEW.cut, (refs) => namesOf(refs, 3)).join("");
    byId("live").textContent = `${positionText(VIEW.cut)}. Work items: ${counts || "none seen"}.`;
  }, 500);
}

function go(cut) {
  say("");
  VIEW.cut = Math.min(Math.max(cut, -1), LAST);
  draw();
  announce();
  remember();
}

// The field takes any sequence of the log; what it cannot take, it says, and stays.

const say = (text) => { byId("said").textContent = text; };

function goTo(text) {
  const last = LAST < 0 ? 0 : EVENTS[LAST].sequence;
  const sequence = /^\d{1,16}$/.test(text) ? Number(text) : NaN;
  if (!(sequence <= last)) {
    drawPosition();
    say(`Expected a whole number from 0 (before the first event) to ${last}, found “${text.slice(0, 40)}”. Nothing moved.`);
    return;
  }
  go(cutOfSequence(sequence));
  const at = VIEW.cut < 0 ? 0 : EVENTS[VIEW.cut].sequence;
  if (at !== sequence) say(`No event here has sequence ${sequence}; this is what was known at it.`);
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
    goTo(byId("sequence").value.trim());
  });
  byId("search").addEventListener("input", () => {
    VIEW.search = byId("search").value.trim().toLowerCase();
    draw();
  });
  byId("theme").addEventListener("click", nextTheme);
  byId("lanes-rows").addEventListener("pointerover", sayPart);
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
  const bar = document.querySelector(".cutoff");
  const observer = new ResizeObserver(() => {
    // whatever is scrolled to comes to rest below the bar, however many lines that takes
    document.documentElement.style.setProperty("--bar", `${bar.offsetHeight}px`);
    if (byId("lanes-rows").clientWidth === width) return;
    width = byId("lanes-rows").clientWidth;
    drawLanes();
  });
  observer.observe(byId("lanes-rows"));
  observer.observe(bar);
  addEventListener("beforeprint", () => {
    if (!drawnAll()) drawRest();
    document.querySelectorAll("details").forEach((details) => {
      details.open = true;
      details.dispatchEvent(new Event("toggle"));
    });
  });
}

const drawnAll = () => "drawn" in document.documentElement.dataset;

recall();
drawFrame();
drawLegend();
listen();
drawFirst();
announce();
// the rest once the top was painted, a part at a time, so that a large page can be used at once
function drawLater(parts) {
  if (drawnAll()) return;
  if (parts.length) requestIdleCallback(() => { if (!drawnAll()) parts[0](); drawLater(parts.slice(1)); }, { timeout: 400 });
  else document.documentElement.dataset.drawn = "";
}
drawLater(REST);
