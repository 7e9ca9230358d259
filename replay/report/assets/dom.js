// Elements, and the words and signs that every part of the page uses. Text from the log
// enters the page as text nodes and nowhere else.

/** An element; properties by name, children as elements or text, nulls left out. */
function el(name, properties = {}, ...children) {
  const [tag, ...classes] = name.split(".");
  const element = document.createElement(tag);
  if (classes.length) element.className = classes.join(" ");
  for (const [key, value] of Object.entries(properties)) {
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (value !== null && value !== undefined) element.setAttribute(key, value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  return element;
}

const SVG = "http://www.w3.org/2000/svg";

/** An element of a picture. */
function svg(name, attributes = {}, ...children) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined) element.setAttribute(key, value);
  }
  element.append(...children.filter(Boolean));
  return element;
}

const byId = (id) => document.getElementById(id);
const put = (id, ...children) => byId(id).replaceChildren(...children.flat(Infinity).filter(Boolean));

/** Text from the log, kept from reordering what stands around it; a long word may break. */
const said = (text) => el(/[^\s]{25}/.test(text) ? "bdi.long" : "bdi", {}, text);

const words = (code) => String(code).replaceAll("_", " ");
const grouped = (count) => String(count).replace(/\B(?=(\d{3})+$)/g, ",");
const counted = (count, one) => `${grouped(count)} ${one}${count === 1 ? "" : "s"}`;
const some = (shown, all, what) => `${grouped(shown)} of ${grouped(all)} ${what} shown`;

const SIGNS = {
  proposed: "○", active: "▸", blocked: "■", awaiting_review: "◆", complete: "✓", cancelled: "✕",
  supported: "✓", contradicted: "✕", stale: "↷", missing: "…", unbound: "∅", unknown: "?",
  not_comparable: "≁", passed: "✓", approved: "✓", failed: "✕", errored: "✕", timed_out: "✕",
  changes_requested: "✕", current: "✓", recovered: "✓", undetermined: "?",
};

/** A code as a small label with its sign; colour only repeats what the words say. */
function badge(code, text = words(code)) {
  const sign = SIGNS[code] ? el("span.sign", { "aria-hidden": "true" }, SIGNS[code]) : null;
  return el("span.badge", { "data-code": code }, sign, el("span", {}, text));
}

/** There is nothing: the rules say so. */
const NONE = () => el("span.none", {}, "none");

/** The rules do not say, which is not the same. */
const UNKNOWN = () => el("span.unknown", {}, "undetermined");

/** The log does not say. */
const orNot = (text, words = "not recorded") => (text === null ? el("span.unsaid", {}, words) : said(text));

/** An event as a button that opens its line; an id that the page has no event of, as text. */
function chip(ref) {
  if (typeof ref !== "number") return el("span.id", { title: "not an event of this page" }, said(ref));
  const event = EVENTS[ref];
  return el(
    "button.id",
    { type: "button", "data-event": ref, title: `${event.id}: sequence ${event.sequence}, ${event.type}` },
    said(event.id),
  );
}

const nameOf = (ref) => (typeof ref === "number" ? EVENTS[ref].id : ref);

/** Events by name, for text that is only heard. */
function namesOf(refs, limit = 5) {
  const names = refs.slice(0, limit).map(nameOf).join(", ");
  return refs.length > limit ? `${names} and ${grouped(refs.length - limit)} more` : names;
}

/** That the rules do not say, and which events are why, for text that is only heard. */
const notCovered = (refs) => `undetermined (not covered by ${DATA.rules.id}: ${namesOf(refs)})`;

/** Events one after the other. */
function chips(refs, limit = 12) {
  if (!refs.length) return [NONE()];
  const shown = refs.slice(0, limit).flatMap((ref) => [chip(ref), " "]);
  return refs.length > limit ? [...shown, `and ${refs.length - limit} more`] : shown;
}

/** A time, which may break before the time of day and, where that is too long for a line by
 *  itself, before its fraction, and nowhere else. */
function time(text) {
  const [day, clock] = text.split("T");
  if (!clock) return el("span.time", {}, text);
  const [whole, fraction] = clock.split(".");
  return el("span.time", { title: text }, `${day}T`, el("wbr"),
    el("span.clock-part", {}, whole, fraction ? [el("wbr"), `.${fraction}`] : null));
}

/** A time and the event that shows it. */
function mark(value) {
  if (value === null) return [NONE()];
  const { ref, time: text } = markOf(value);
  return [time(text), " ", chip(ref)];
}

/** A rule as a button that opens its sentence. */
const ruleChip = (id) => el("button.rule", { type: "button", "data-rule": id }, id);

/** A sentence of Python's with `{event}` and `{related}`, its events as buttons. */
function sentence(template, parts) {
  return template.split(/(\{\w+\})/).filter(Boolean).map((piece) => {
    const name = /^\{(\w+)\}$/.exec(piece)?.[1];
    return name ? el("span", {}, parts[name]) : piece;
  });
}

/** A table of a caption, column names and rows of cells; the first cell names its row. */
function table(caption, columns, rows, properties = {}) {
  const head = columns.map((name) => el("th", { scope: "col", role: "columnheader", "data-column": name }, name));
  const body = rows.map(({ cells, ...attributes }) => el(
    "tr", { role: "row", ...attributes },
    cells.map((cell, index) => {
      const children = Array.isArray(cell) ? cell : [cell];
      const inside = el("div.cell", {}, children);
      const empty = children.length === 1 && children[0].className === "none" ? "" : null;
      return index
        ? el("td", { role: "cell", "data-label": columns[index], "data-empty": empty }, inside)
        : el("th", { role: "rowheader", scope: "row", "data-label": columns[0] }, inside);
    }),
  ));
  return el(
    "table", { role: "table", ...properties },
    caption ? el("caption", {}, caption) : null,
    el("thead", { role: "rowgroup" }, el("tr", { role: "row" }, head)),
    el("tbody", { role: "rowgroup" }, body),
  );
}
