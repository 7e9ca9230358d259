"use strict";
// What the page holds, and how it is asked. Nothing is derived here: an answer is an
// interval that Python wrote, and asking is finding the one that holds at the cutoff.
//
// A cutoff is the number of the last event seen, -1 before the first. An interval begins
// with the numbers of the events from which and, exclusively, to which it held.

const DATA = JSON.parse(document.getElementById("data").textContent);

const FIELDS = [
  "sequence", "id", "time", "type", "item", "line", "raw", "occurred",
  "principal", "author", "relayed", "lane", "revision",
];

const EVENTS = DATA.events.map((values) => {
  const event = {};
  FIELDS.forEach((name, index) => { event[name] = values[index] ?? null; });
  return event;
});

const ITEMS = DATA.items.map(([id, answers], index) => ({ index, id, answers, events: [] }));
EVENTS.forEach((event, number) => { ITEMS[event.item].events.push(number); });

const SINGLE = new Set(["state", "revision", "last_message", "last_progress", "blocked_since"]);
const LAST = EVENTS.length - 1;

/** The interval that holds at a cutoff, of intervals that do not overlap; null if none. */
function held(intervals, cut) {
  if (!intervals) return null;
  let low = 0;
  let high = intervals.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (intervals[middle][0] <= cut) low = middle + 1; else high = middle;
  }
  const found = low ? intervals[low - 1] : null;
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

/** What began or ended at each event, without the messages, which every event moves. */
const CHANGES = (() => {
  const changes = EVENTS.map(() => []);
  const note = (item, question, intervals) => {
    intervals.forEach((interval, index) => {
      changes[interval[0]].push({ item, question, before: index ? intervals[index - 1] : null, now: interval });
      const next = intervals[index + 1];
      if (interval[1] !== null && (!next || next[0] !== interval[1])) {
        changes[interval[1]].push({ item, question, before: interval, now: null });
      }
    });
  };
  for (const item of ITEMS) {
    for (const [question, value] of Object.entries(item.answers)) {
      if (question === "last_message") continue;
      if (SINGLE.has(question)) note(item, question, value);
      else value.forEach((intervals) => note(item, question, intervals));
    }
  }
  return changes;
})();
