// Why an answer is what it is: its rule, the events it rests on where the page has them, and
// the command that says more. A certificate is Python's; it is of the page's own cutoff.

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

function ruleOfAnomaly(code) {
  const name = code.startsWith("link_") ? "links" : RULES_OF_ANOMALY[code];
  return name ? ruleNamed(name) : null;
}

/** The rule that gives an answer, said in full, so that it can be read in print too. */
function because(rule) {
  if (!rule) return null;
  return el("p.because", {}, ruleChip(rule), " ", DATA.rules.sentences[rule] ?? "");
}

// Commands. Python made each id a word of a shell; "" stands for one that cannot be a word.

const wordOf = (entry) => entry.word ?? entry.id;

const ofWord = (question, of) => (typeof of === "number" ? wordOf(EVENTS[of])
  : question === "anomaly" ? of : "");

/** The command that explains an answer at the cutoff; null where no shell can be told it. */
function explainCommand(item, question, of = null) {
  const { log, options, cutoff } = DATA.asking;
  const names = [log ?? "LOG", ...(item.id === null ? [] : [wordOf(item)])];
  const asked = [`--why ${question}`];
  if (of !== null) asked.push(`--of=${ofWord(question, of)}`);
  if (names.includes("") || asked.at(-1) === "--of=") return null;
  if (VIEW.cut === LAST) asked.push(cutoff);
  else asked.push(`--at-sequence ${EVENTS[VIEW.cut].sequence}`);
  asked.push(options);
  const given = asked.filter(Boolean).join(" ");
  // a name that begins with a dash is told from an option by where it stands
  const bare = names.some((name) => /^(\$?')?-/.test(name));
  return bare ? `replay explain ${given} -- ${names.join(" ")}` : `replay explain ${names.join(" ")} ${given}`;
}

function commandBlock(item, question, of) {
  const command = explainCommand(item, question, of);
  if (command === null) {
    return el("p.count", {}, "An id here holds a NUL character, or is none of this page, so no command line can carry it.");
  }
  return [
    el("p.count", {}, DATA.asking.log === null
      ? "To look further, with the log's own path for LOG:" : "To look further, where the log is:"),
    el("pre.raw", { tabindex: "0", role: "region", "aria-label": "Command that explains this answer" },
      el("code.command", { dir: "ltr" }, command)),
  ];
}

// Certificates

/** The events that the answer at the page's own cutoff rests on; null where there are none here. */
function certificate(item, question, of = null) {
  if (VIEW.cut !== LAST) return null;
  return item.why.find(([asked, subject]) => asked === question && subject === of) ?? null;
}

function certificateLine(item, question, of = null) {
  const found = certificate(item, question, of);
  if (!found) return null;
  const [, , events, irredundant] = found;
  return el("p.rests", {}, "Rests on ", chips(events, 40), events.length === 1 ? "alone" : "alone: ",
    events.length === 1 ? "." : irredundant ? "leave out any one and the answer changes." : "perhaps on fewer.");
}

// The dialog

/** A button that says why; `of` is an event or a code, null of a question about the item. */
function whyButton(item, question, rule, of = null) {
  const about = of === null ? words(question) : `${words(question)} ${question === "anomaly" ? words(of) : nameOf(of)}`;
  return el("button.why", {
    type: "button", "aria-label": `Why: ${about}`,
    onclick: (click) => openWhy(item, question, rule, of, click.currentTarget),
  }, "why?");
}

function openWhy(item, question, rule, of, from) {
  const subject = of === null ? null : question === "anomaly" ? words(of) : chip(of);
  openDetail(["Why: ", words(question)], [
    facts([
      ["Work item", orNot(item.id)],
      ...(subject === null ? [] : [["Of", subject]]),
      ["Cutoff", positionText(VIEW.cut)],
    ]),
    rule ? because(rule) : el("p.because", {}, "Every event of the item counts as a message, whatever it says."),
    certificateLine(item, question, of),
    commandBlock(item, question, of),
  ], from);
}
