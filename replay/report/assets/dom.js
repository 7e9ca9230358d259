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

const byId = (id) => document.getElementById(id);
const put = (id, ...children) => byId(id).replaceChildren(...children.flat(Infinity).filter(Boolean));

/** Text from the log, kept from reordering what stands around it. */
const said = (text) => el("bdi", {}, text);

const words = (code) => String(code).replaceAll("_", " ");
const counted = (count, one) => `${count.toLocaleString("en")} ${one}${count === 1 ? "" : "s"}`;
const some = (shown, all, what) =>
  `${shown.toLocaleString("en")} of ${all.toLocaleString("en")} ${what} shown`;

const SIGNS = {
  proposed: "○", active: "▸", blocked: "■", awaiting_review: "◆", complete: "✓", cancelled: "✕",
  supported: "✓", contradicted: "✕", stale: "↷", missing: "…", unbound: "∅", unknown: "?",
  not_comparable: "≁", passed: "✓", approved: "✓", failed: "✕", errored: "✕", timed_out: "✕",
  changes_requested: "✕", current: "✓", recovered: "✓",
};

/** A code as a small label with its sign; colour only repeats what the words say. */
function badge(code, text = words(code)) {
  const sign = SIGNS[code] ? el("span.sign", { "aria-hidden": "true" }, SIGNS[code]) : null;
  return el("span.badge", { "data-code": code }, sign, el("span", {}, text));
}

const NONE = () => el("span.none", {}, "none");

const SHORT = 14;

/** The end of a long id, which tells ids apart that begin alike. */
const shortened = (id) => (id.length > SHORT ? `…${id.slice(-(SHORT - 2))}` : id);

/** An event as a button that opens its line; an id that the page has no event of, as text. */
function chip(ref, short = false) {
  if (typeof ref !== "number") return el("span.id", { title: "not an event of this page" }, said(ref));
  const event = EVENTS[ref];
  const text = short ? shortened(event.id) : event.id;
  return el(
    "button.id",
    {
      type: "button", "data-event": ref, title: `${event.id}: sequence ${event.sequence}, ${event.type}`,
      "aria-label": text === event.id ? null : event.id,
    },
    said(text),
  );
}

/** Events one after the other. */
function chips(refs, limit = 12) {
  if (!refs.length) return [NONE()];
  const shown = refs.slice(0, limit).flatMap((ref) => [chip(ref), " "]);
  return refs.length > limit ? [...shown, `and ${refs.length - limit} more`] : shown;
}

/** A time, which may break between the date and the time of day and nowhere else. */
function time(text) {
  const [day, clock] = text.split("T");
  return el("span.time", {}, clock ? [`${day}T`, el("wbr"), clock] : text);
}

/** A time and the event that shows it. */
function mark(value, short = false) {
  if (value === null) return [NONE()];
  const { ref, time: text } = markOf(value);
  return [time(text), " ", chip(ref, short)];
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
  const head = columns.map((name) => el("th", { scope: "col", role: "columnheader" }, name));
  const body = rows.map(({ cells, ...attributes }) => el(
    "tr", { role: "row", ...attributes },
    cells.map((cell, index) => {
      const children = Array.isArray(cell) ? cell : [cell];
      const inside = el("div.cell", {}, children);
      return index
        ? el("td", { role: "cell", "data-label": columns[index] }, inside)
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
