"use strict";
// What the page holds, and how it is asked. Nothing is derived here: an answer is an
// interval that Python wrote, and asking is finding the one that holds at the cutoff.
//
// A cutoff is the number of the last event seen, -1 before the first. An interval begins
// with the numbers of the events from which and, exclusively, to which it held.

const DATA = JSON.parse(document.getElementById("data").textContent);

const EVENTS = DATA.events.map(([
  sequence, id, time, type, item, line, occurred = null, principal = null, author = null,
  relayed = null, lane = null, revision = null, word = null,
]) => ({
  sequence, id, time, type, item, line, occurred, principal, author, relayed, lane, revision, word,
}));

// The raw lines are most of a page and seldom looked at, so they are read when one is.
let LINES = null;

/** The raw line of an event; null where it was left out. */
function rawOf(number) {
  LINES ??= JSON.parse(document.getElementById("lines").textContent);
  return LINES[number];
}

const ITEMS = DATA.items.map(([id, answers, why = [], word = null], index) =>
  ({ index, id, answers, why, word, events: [] }));
EVENTS.forEach((event, number) => { ITEMS[event.item].events.push(number); });

const SINGLE = new Set(["state", "revision", "last_message", "last_progress", "blocked_since"]);
const LAST = EVENTS.length - 1;

/** How many of a list's intervals begin at a cutoff or before. */
function begun(intervals, cut) {
  let low = 0;
  let high = intervals.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (intervals[middle][0] <= cut) low = middle + 1; else high = middle;
  }
  return low;
}

/** The interval that holds at a cutoff, of intervals that do not overlap; null if none. */
function held(intervals, cut) {
  const count = intervals ? begun(intervals, cut) : 0;
  const found = count ? intervals[count - 1] : null;
  return found && (found[1] === null || cut < found[1]) ? found : null;
}

/** The value of a question that is asked of the whole item; null where there is none. */
function answer(item, question, cut) {
  const found = held(item.answers[question], cut);
  return found ? found.slice(2) : null;
}

/** The values of a question asked of many subjects that hold at a cutoff, in event order. */
function answersOf(item, question, cut) {
  const found = [];
  for (const intervals of item.answers[question] ?? []) {
    const interval = held(intervals, cut);
    if (interval) found.push(interval.slice(2));
  }
  return found.sort((one, other) => placeOf(one, question) - placeOf(other, question));
}

const SUBJECT = { episode: 1, receipt: 0, claim: 0, correction: 0, anomaly: 1, undetermined: 0 };

function placeOf(value, question) {
  const mark = value[SUBJECT[question] ?? 0];
  const ref = Array.isArray(mark) ? mark[0] : mark;
  return typeof ref === "number" ? ref : 0;
}

/** The events seen that keep the rules from saying anything of an item; none where they do. */
const uncovered = (item, cut) => answersOf(item, "undetermined", cut).map(([event]) => event);

/** Whether any event of the item is seen at a cutoff. */
const seen = (item, cut) => item.events.length > 0 && item.events[0] <= cut;

/** How many of an ascending list of event numbers are seen at a cutoff. */
function countSeen(numbers, cut) {
  let low = 0;
  let high = numbers.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (numbers[middle] <= cut) low = middle + 1; else high = middle;
  }
  return low;
}

/** A mark as its event (a number, or text where the page does not have it) and its time. */
function markOf(mark) {
  if (Array.isArray(mark)) return { ref: mark[0], time: mark[1] };
  return { ref: mark, time: EVENTS[mark].time };
}

/** The cutoff that a sequence number means: the last event with at most that sequence. */
function cutOfSequence(sequence) {
  let low = 0;
  let high = EVENTS.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (EVENTS[middle].sequence <= sequence) low = middle + 1; else high = middle;
  }
  return low - 1;
}

/** What began or ended at an event, without the messages, which every event moves. */
function changesAt(cut) {
  const changes = [];
  const note = (item, question, intervals) => {
    const now = begun(intervals, cut) - 1;
    if (now < 0) return;
    const [from, to] = intervals[now];
    if (from === cut) changes.push({ item, question, before: now ? intervals[now - 1] : null, now: intervals[now] });
    else if (to === cut) changes.push({ item, question, before: intervals[now], now: null });
  };
  for (const item of ITEMS) {
    for (const [question, value] of Object.entries(item.answers)) {
      if (question === "last_message") continue;
      if (SINGLE.has(question)) note(item, question, value);
      else value.forEach((intervals) => note(item, question, intervals));
    }
  }
  return changes;
}
