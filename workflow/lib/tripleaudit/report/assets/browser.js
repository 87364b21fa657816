"use strict";
// The sentences: plain DOM calls only, so that no text of a corpus or a model is ever read as markup.
(() => {
  const PAGE = 15;
  const data = JSON.parse(document.getElementById("browser-data").textContent);
  const kinds = new Map(data.kinds);
  const form = document.getElementById("filters");
  const list = document.getElementById("sentence-list");
  const status = document.getElementById("browser-status");
  const previous = document.getElementById("previous-page");
  const next = document.getElementById("next-page");
  let page = 0;

  const element = (name, className, text) => {
    const made = document.createElement(name);
    if (className) made.className = className;
    if (text !== undefined) made.textContent = text;
    return made;
  };

  const options = (name, entries) => {
    const select = form.elements[name];
    for (const [value, label] of entries) {
      const option = element("option", "", label);
      option.value = value;
      select.append(option);
    }
    select.closest("label").hidden = entries.length < 2;
  };

  const BINS = [[1, 10], [11, 15], [16, 20], [21, 30], [31, 40], [41, Infinity]];
  const MANY = 5;
  const binLabel = ([from, to]) => (to === Infinity ? `${from} or more` : `${from} to ${to}`);
  for (const sentence of data.sentences) {
    const words = sentence.t.split(/\s+/).filter(Boolean).length;
    sentence.w = Math.max(0, BINS.findIndex(([from, to]) => from <= words && words <= to));
    sentence.n = Math.min(sentence.g.length, MANY);
  }
  const present = (field) => [...new Set(data.sentences.map((sentence) => sentence[field]))].sort((a, b) => a - b);
  const numberLabel = (number) => (number === MANY ? `${MANY} or more` : String(number));
  const byLabel = (a, b) => a[1].localeCompare(b[1]);
  options("set", data.sets.map((set) => [set.key, set.name]));
  options("system", [...new Map(data.systems.map((system) => [system.key, system.name]))]);
  options("relation", data.relations.map((name) => [name, name]).sort(byLabel));
  const strata = new Set(present("s"));
  options("stratum", [
    ["with", "Any triples"], ...data.strata.filter((_, number) => strata.has(number)).map(([k, label]) => [k || "none", label]),
  ]);
  options("kind", [["error", "any error"], ...data.kinds, ["correct", "correct triple"]]);
  options("number", present("n").map((number) => [String(number), numberLabel(number)]));
  options("words", present("w").map((bin) => [String(bin), binLabel(BINS[bin])]));
  const zero = data.strata.findIndex(([k]) => k === "zero");
  options("among", data.sets.map((set) => [set.key, set.name]));
  const textsOf = new Map(data.sets.map((set) => [set.key, new Set()]));
  for (const sentence of data.sentences) textsOf.get(data.sets[sentence.c].key).add(sentence.t);
  const FIELDS = ["text", "set", "system", "stratum", "kind", "relation", "number", "words", "among"];

  const key = (sentence, triple) => JSON.stringify([words(sentence, triple[0]), triple[1], words(sentence, triple[2])]);
  const characters = (sentence) => (sentence.chars ??= Array.from(sentence.t));
  const words = (sentence, argument) =>
    typeof argument === "string" ? argument : characters(sentence).slice(argument[0], argument[1]).join("");

  // Every triple that one system has to do with: gold ones found or missed, and wrong predictions with their kind.
  const judged = (sentence, system) => {
    const store = (sentence.judged ??= {});
    if (store[system]) return store[system];
    if (sentence.d && sentence.d[system]) {
      const [yes, score] = sentence.d[system];
      const kind = Boolean(yes) === sentence.g.length > 0 ? "correct" : yes ? "zero" : "missed";
      return (store[system] = [{ kind, yes, score }]);
    }
    const predicted = sentence.p[system];
    const right = new Set(predicted.filter((one) => one[3] === "correct").map((one) => key(sentence, one)));
    const marks = new Map(predicted.map((one) => [key(sentence, one), one[5]]));
    const item = (triple, kind) => ({ triple, kind, marks: marks.get(key(sentence, triple)) });
    const gold = sentence.g.map((one) => item(one, right.has(key(sentence, one)) ? "correct" : "missed"));
    const wrong = predicted.filter((one) => one[3] !== "correct").map((one) => item(one, one[3]));
    return (store[system] = [...gold, ...wrong]);
  };

  const chosen = () => {
    const filter = Object.fromEntries(FIELDS.map((name) => [name, form.elements[name].value]));
    filter.text = filter.text.trim().toLowerCase();
    return filter;
  };

  const shownSystems = (sentence, filter) =>
    [...Object.keys(sentence.p), ...Object.keys(sentence.d || {})].filter((system) => !filter.system || data.systems[system].key === filter.system);

  const fits = (item, filter) =>
    (!filter.relation || (item.triple && data.relations[item.triple[1]] === filter.relation)) &&
    (!filter.kind || item.kind === filter.kind || (filter.kind === "error" && item.kind !== "correct"));

  const passes = (sentence, filter) => {
    if (filter.set && data.sets[sentence.c].key !== filter.set) return false;
    if (filter.stratum === "with" && sentence.s === zero) return false;
    if (filter.stratum && filter.stratum !== "with" && (data.strata[sentence.s][0] || "none") !== filter.stratum) return false;
    if (filter.number && sentence.n !== Number(filter.number)) return false;
    if (filter.words && sentence.w !== Number(filter.words)) return false;
    if (filter.among && !textsOf.get(filter.among).has(sentence.t)) return false;
    if (filter.text && !sentence.t.toLowerCase().includes(filter.text)) return false;
    const systems = shownSystems(sentence, filter);
    if (!systems.length) return false;
    if (!filter.relation && !filter.kind) return true;
    return systems.some((system) => judged(sentence, system).some((item) => fits(item, filter)));
  };

  const group = (kind) => (kind === "correct" || kind === "missed" ? kind : "wrong");

  // The text in pieces at every border of an argument; a piece has the worst state of the triples that it belongs to.
  const marked = (sentence, systems) => {
    const spans = [];
    for (const system of systems)
      for (const { triple, kind } of judged(sentence, system))
        for (const argument of triple ? [triple[0], triple[2]] : [])
          if (typeof argument !== "string") spans.push([argument[0], argument[1], group(kind)]);
    const chars = characters(sentence);
    const cuts = new Set([0, chars.length]);
    for (const [start, end] of spans) cuts.add(start).add(end);
    const borders = [...cuts].sort((a, b) => a - b);
    const line = element("p", "text");
    for (let position = 0; position + 1 < borders.length; position++) {
      const [start, end] = [borders[position], borders[position + 1]];
      const over = spans.filter((span) => span[0] <= start && end <= span[1]).map((span) => span[2]);
      const text = chars.slice(start, end).join("");
      if (!over.length) line.append(text);
      else {
        const state = ["wrong", "missed", "correct"].find((name) => over.includes(name));
        const piece = element("mark", state, text);
        piece.dataset.start = start;
        piece.dataset.end = end;
        line.append(piece);
      }
    }
    return line;
  };

  const light = (line, triple, on) => {
    for (const piece of line.querySelectorAll("mark")) {
      piece.classList.remove("lit");
      delete piece.dataset.role;
      if (!on) continue;
      for (const [argument, role] of [[triple[0], "subject"], [triple[2], "object"]]) {
        const inside = typeof argument !== "string" && argument[0] <= +piece.dataset.start;
        if (inside && +piece.dataset.end <= argument[1]) {
          piece.classList.add("lit");
          if (+piece.dataset.end === argument[1]) piece.dataset.role = role;
        }
      }
    }
  };

  const decisionRow = ({ kind, yes, score }) => {
    const row = element("li");
    const said = `${kind === "correct" ? "✓" : "✗"} ${yes ? "passed" : "rejected"}`;
    row.append(element("span", `badge ${kind === "correct" ? "correct" : "wrong"}`, said));
    row.append(element("span", "why", ` ${yes ? "said to have triples" : "said to have none"}, score ${score.toFixed(3)}`));
    return row;
  };

  const tripleRow = (sentence, item, line) => {
    if (!item.triple) return decisionRow(item);
    const { triple, kind, marks } = item;
    const row = element("li");
    const button = element("button", "triple");
    button.type = "button";
    button.setAttribute("aria-pressed", "false");
    button.append(
      element("span", `badge ${group(kind)}`, { correct: "✓ found", missed: "○ missed", wrong: "✗ wrong" }[group(kind)]),
      element("b", "", words(sentence, triple[0])),
      element("span", "relation", triple[2] === "" ? `(${data.relations[triple[1]]})` : `— ${data.relations[triple[1]]} →`),
      element("b", "", words(sentence, triple[2])),
    );
    if (group(kind) === "wrong") {
      const score = triple[4] ? `, score ${triple[4].toFixed(2)}` : "";
      button.append(element("span", "why", ` (${kinds.get(kind)}${score})`));
    }
    if (marks) {
      const [fs, gs] = marks;
      const supported = fs === null ? "FS not readable" : fs ? "FS 1, supported" : "FS 0, not supported";
      button.append(element("span", "why", ` judge: ${supported}; GS ${gs === null ? "not readable" : gs.toFixed(2)}`));
    }
    const show = (on) => light(line, triple, on);
    button.addEventListener("mouseenter", () => show(true));
    button.addEventListener("mouseleave", () => show(false));
    button.addEventListener("focus", () => show(true));
    button.addEventListener("blur", () => { show(false); button.setAttribute("aria-pressed", "false"); });
    button.addEventListener("click", () => {
      const pressed = button.getAttribute("aria-pressed") !== "true";
      button.setAttribute("aria-pressed", String(pressed));
      show(pressed);
    });
    row.append(button);
    return row;
  };

  const rowOf = (sentence, filter) => {
    const row = element("li", "sentence");
    const systems = shownSystems(sentence, filter);
    const meta = [data.sets[sentence.c].name, sentence.id, data.strata[sentence.s][1]];
    row.append(element("p", "meta", meta.join(" · ")));
    const line = marked(sentence, systems);
    row.append(line);
    // Systems with the same outcome stand under one heading.
    const outcomes = new Map();
    for (const system of systems) {
      const items = judged(sentence, system);
      const outcome = JSON.stringify(items.map(({ triple, kind, score, marks }) => [triple ? key(sentence, triple) : score, kind, marks]));
      if (!outcomes.has(outcome)) outcomes.set(outcome, { items, names: [] });
      outcomes.get(outcome).names.push(data.systems[system].name);
    }
    for (const { items, names } of outcomes.values()) {
      row.append(element("p", "system", names.join(", ")));
      const triples = element("ul", "triples");
      for (const item of items) triples.append(tripleRow(sentence, item, line));
      if (!items.length) triples.append(element("li", "why", "nothing to find, nothing predicted"));
      row.append(triples);
    }
    for (const system of systems)
      if (sentence.r && sentence.r[system] !== undefined) {
        const raw = element("details", "raw");
        raw.append(element("summary", "", `The answer of ${data.systems[system].name}, as it came`));
        raw.append(element("pre", "", sentence.r[system] || "(empty)"));
        row.append(raw);
      }
    return row;
  };

  // What goes wrong in the sentences that fit: counts that lead further.
  const link = (changes, text) => {
    const made = element("a", "", text);
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries({ ...current(), page: "", ...changes })) if (value) query.set(name, value);
    made.href = `#sentences?${query}`;
    return made;
  };
  const current = () => Object.fromEntries(FIELDS.map((name) => [name, form.elements[name].value]));
  const table = (caption, head, rows) => {
    const made = element("table", "plain small");
    made.append(element("caption", "", caption));
    const line = made.createTHead().insertRow();
    for (const text of head) {
      const cell = element("th", "", text);
      cell.scope = "col";
      line.append(cell);
    }
    const body = made.createTBody();
    for (const [first, ...cells] of rows) {
      const row = body.insertRow();
      const th = element("th", "", first);
      th.scope = "row";
      row.append(th);
      for (const cell of cells) {
        const td = row.insertCell();
        td.append(cell);
      }
    }
    const box = element("div", "scroll");
    box.append(made);
    window.oneStop(box);
    return box;
  };
  const percent = (part, whole) => (whole ? `${((100 * part) / whole).toFixed(0)} %` : "–");

  const errors = (found, filter) => {
    const counts = new Map([["correct", 0], ...data.kinds.map(([kind]) => [kind, 0])]);
    const grouped = { n: new Map(), w: new Map() };
    const confused = new Map();
    for (const sentence of found)
      for (const system of shownSystems(sentence, filter)) {
        const items = judged(sentence, system).filter((item) => fits(item, filter));
        const wrong = items.some((item) => item.kind !== "correct");
        for (const item of items) counts.set(item.kind, counts.get(item.kind) + 1);
        for (const field of ["n", "w"]) {
          const group = grouped[field].get(sentence[field]) || [0, 0];
          grouped[field].set(sentence[field], [group[0] + 1, group[1] + wrong]);
        }
        for (const { triple, kind } of items)
          if (kind === "relation") {
            const pair = (one) => words(sentence, one[0]) + "\u0000" + words(sentence, one[2]);
            for (const gold of sentence.g)
              if (pair(gold) === pair(triple)) {
                const name = JSON.stringify([gold[1], triple[1]]);
                confused.set(name, (confused.get(name) || 0) + 1);
              }
          }
      }
    const box = document.getElementById("errors");
    const outcomes = [["correct", "found"], ...data.kinds];
    box.replaceChildren(
      table("Outcomes", ["Outcome", "Triples"], outcomes.map(([kind, label]) => [label, link({ kind }, counts.get(kind).toLocaleString("en"))])),
    );
    const share = (field, caption, name, label) =>
      table(caption, [caption, filter.system ? "Sentences" : "Answers", "with an error"],
        [...grouped[field]].sort((a, b) => a[0] - b[0]).map(([value, [all, wrong]]) => [
          label(value), link({ [name]: String(value) }, all.toLocaleString("en")),
          link({ [name]: String(value), kind: "error" }, `${wrong.toLocaleString("en")} (${percent(wrong, all)})`),
        ]));
    box.append(share("n", "Gold triples", "number", numberLabel), share("w", "Words", "words", (bin) => binLabel(BINS[bin])));
    const pairs = [...confused].map(([name, count]) => [...JSON.parse(name), count]).sort((a, b) => b[2] - a[2]);
    const most = (position) => [...new Set(pairs.map((pair) => pair[position]))].slice(0, 10);
    const [golds, guesses] = [most(0), most(1)];
    const cellOf = (gold, guess) => pairs.find((pair) => pair[0] === gold && pair[1] === guess);
    if (pairs.length)
      box.append(table("Relations taken for others: gold in rows, predicted in columns", ["Gold", ...guesses.map((guess) => data.relations[guess])],
        golds.map((gold) => [data.relations[gold], ...guesses.map((guess) => {
          const cell = cellOf(gold, guess);
          return cell ? link({ relation: data.relations[guess], kind: "relation" }, String(cell[2])) : "·";
        })])));
    else box.append(element("p", "why", "No relation was taken for another one here."));
  };

  const update = () => {
    const filter = chosen();
    const found = data.sentences.filter((sentence) => passes(sentence, filter));
    const pages = Math.max(1, Math.ceil(found.length / PAGE));
    page = Math.min(page, pages - 1);
    const first = page * PAGE;
    const part = found.slice(first, first + PAGE);
    list.replaceChildren(...part.map((sentence) => rowOf(sentence, filter)));
    const fit = `${found.length.toLocaleString("en")} ${found.length === 1 ? "sentence fits" : "sentences fit"}`;
    const all = `(${data.sentences.length.toLocaleString("en")} in all)`;
    status.textContent = found.length ? `${fit} ${all}; these are ${first + 1} to ${first + part.length}` : `No sentence fits ${all}`;
    previous.disabled = page === 0;
    next.disabled = page === pages - 1;
    errors(found, filter);
  };

  const store = () => window.setAddress("sentences", { ...current(), page: page ? String(page + 1) : "" });
  const turn = (step) => {
    page += step;
    update();
    store();
    status.scrollIntoView();
    if (document.activeElement === document.body || document.activeElement.disabled) (step > 0 ? previous : next).focus();
  };
  form.addEventListener("input", () => { page = 0; update(); store(); });
  form.addEventListener("reset", () => setTimeout(() => { page = 0; update(); store(); }));
  form.addEventListener("submit", (event) => event.preventDefault());
  previous.addEventListener("click", () => turn(-1));
  next.addEventListener("click", () => turn(1));

  // The page calls this with the query of its address; without one, the best system on the original test set is shown.
  window.showSentences = (query) => {
    const shown = [...query.keys()].length ? query : new Map(Object.entries(data.start));
    for (const name of FIELDS) form.elements[name].value = shown.get(name) || "";
    page = Math.max(0, (Number(query.get("page")) || 1) - 1);
    update();
  };
})();
