"use strict";
// The error browser: plain DOM calls only, so that no text of a corpus or a model is ever read as markup.
(() => {
  const PAGE = 15;
  const data = JSON.parse(document.getElementById("browser-data").textContent);
  const kinds = new Map(data.kinds);
  const form = document.getElementById("filters");
  const list = document.getElementById("sentences");
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

  const options = (id, entries) => {
    const select = document.getElementById(id);
    for (const [value, label] of entries) {
      const option = element("option", "", label);
      option.value = value;
      select.append(option);
    }
    select.closest("label").hidden = entries.length < 2 && id === "filter-corpus";
  };

  const byLabel = (a, b) => a[1].localeCompare(b[1]);
  options("filter-corpus", data.corpora.map((name, number) => [number, name]));
  const names = new Map();
  for (const system of data.systems) names.set(system.name, system.name);
  options("filter-system", [...names]);
  options("filter-relation", data.relations.map((name, number) => [number, name]).sort(byLabel));
  const strata = new Set(data.sentences.map((sentence) => sentence.s));
  options("filter-stratum", data.strata.map(([, label], number) => [number, label]).filter(([n]) => strata.has(n)));
  options("filter-kind", [["error", "any error"], ...data.kinds, ["correct", "correct triple"]]);

  const key = (sentence, triple) => JSON.stringify([words(sentence, triple[0]), triple[1], words(sentence, triple[2])]);
  const characters = (sentence) => (sentence.chars ??= Array.from(sentence.t));
  const words = (sentence, argument) =>
    typeof argument === "string" ? argument : characters(sentence).slice(argument[0], argument[1]).join("");

  // Every triple that one system has to do with: gold ones found or missed, and wrong predictions with their kind.
  const judged = (sentence, system) => {
    const store = (sentence.judged ??= {});
    if (store[system]) return store[system];
    const predicted = sentence.p[system];
    const right = new Set(predicted.filter((one) => one[3] === "correct").map((one) => key(sentence, one)));
    const gold = sentence.g.map((one) => ({ triple: one, kind: right.has(key(sentence, one)) ? "correct" : "missed" }));
    const wrong = predicted.filter((one) => one[3] !== "correct").map((one) => ({ triple: one, kind: one[3] }));
    return (store[system] = [...gold, ...wrong]);
  };

  const chosen = () => {
    const value = (name) => form.elements[name].value;
    const number = (name) => (value(name) === "" ? null : Number(value(name)));
    return {
      corpus: number("corpus"), system: value("system"), relation: number("relation"),
      stratum: number("stratum"), kind: value("kind"), text: value("text").trim().toLowerCase(),
    };
  };

  const shownSystems = (sentence, filter) =>
    Object.keys(sentence.p).filter((system) => !filter.system || data.systems[system].name === filter.system);

  const fits = (item, filter) =>
    (filter.relation === null || item.triple[1] === filter.relation) &&
    (!filter.kind || item.kind === filter.kind || (filter.kind === "error" && item.kind !== "correct"));

  const passes = (sentence, filter) => {
    if (filter.corpus !== null && sentence.c !== filter.corpus) return false;
    if (filter.stratum !== null && sentence.s !== filter.stratum) return false;
    if (filter.text && !sentence.t.toLowerCase().includes(filter.text)) return false;
    const systems = shownSystems(sentence, filter);
    if (!systems.length) return false;
    if (filter.relation === null && !filter.kind) return true;
    return systems.some((system) => judged(sentence, system).some((item) => fits(item, filter)));
  };

  const group = (kind) => (kind === "correct" || kind === "missed" ? kind : "wrong");

  // The text in pieces at every border of an argument; a piece has the worst state of the triples that it belongs to.
  const marked = (sentence, systems) => {
    const spans = [];
    for (const system of systems)
      for (const { triple, kind } of judged(sentence, system))
        for (const argument of [triple[0], triple[2]])
          if (typeof argument !== "string") spans.push([argument[0], argument[1], group(kind)]);
    const chars = characters(sentence);
    const cuts = new Set([0, chars.length]);
    for (const [start, end] of spans) cuts.add(start).add(end);
    const borders = [...cuts].sort((a, b) => a - b);
    const line = element("p", "text");
    for (let place = 0; place + 1 < borders.length; place++) {
      const [start, end] = [borders[place], borders[place + 1]];
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

  const tripleRow = (sentence, { triple, kind }, line) => {
    const row = element("li");
    const button = element("button", "triple");
    button.type = "button";
    button.setAttribute("aria-pressed", "false");
    button.append(
      element("span", `badge ${group(kind)}`, { correct: "✓ found", missed: "○ missed", wrong: "✗ wrong" }[group(kind)]),
      element("b", "", words(sentence, triple[0])),
      element("span", "relation", `— ${data.relations[triple[1]]} →`),
      element("b", "", words(sentence, triple[2])),
    );
    if (group(kind) === "wrong") {
      const score = triple[4] ? `, score ${triple[4].toFixed(2)}` : "";
      button.append(element("span", "why", ` (${kinds.get(kind)}${score})`));
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
    const meta = [data.corpora[sentence.c], sentence.id, data.strata[sentence.s][1]];
    row.append(element("p", "meta", meta.join(" · ")));
    const line = marked(sentence, systems);
    row.append(line);
    // Systems with the same outcome stand under one heading.
    const outcomes = new Map();
    for (const system of systems) {
      const items = judged(sentence, system);
      const outcome = JSON.stringify(items.map(({ triple, kind }) => [key(sentence, triple), kind]));
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
    return row;
  };

  const update = () => {
    const filter = chosen();
    const found = data.sentences.filter((sentence) => passes(sentence, filter));
    const pages = Math.max(1, Math.ceil(found.length / PAGE));
    page = Math.min(page, pages - 1);
    const first = page * PAGE;
    const part = found.slice(first, first + PAGE);
    list.replaceChildren(...part.map((sentence) => rowOf(sentence, filter)));
    status.textContent = found.length
      ? `Sentences ${first + 1} to ${first + part.length} of ${found.length} that fit (${data.sentences.length} in all)`
      : `No sentence fits (${data.sentences.length} in all)`;
    previous.disabled = page === 0;
    next.disabled = page === pages - 1;
  };

  const turn = (step) => {
    page += step;
    update();
    document.getElementById("browser-status").scrollIntoView();
    if (document.activeElement === document.body || document.activeElement.disabled) (step > 0 ? previous : next).focus();
  };
  form.addEventListener("input", () => { page = 0; update(); });
  form.addEventListener("reset", () => setTimeout(() => { page = 0; update(); }));
  form.addEventListener("submit", (event) => event.preventDefault());
  previous.addEventListener("click", () => turn(-1));
  next.addEventListener("click", () => turn(1));
  update();
})();
