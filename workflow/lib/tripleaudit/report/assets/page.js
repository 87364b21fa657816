"use strict";
// The page: views and sorting in the address, keys in tables, copies of tables, plots in the page's own colours.
(() => {
  const root = document.documentElement;
  const read = (id) => JSON.parse(document.getElementById(id).textContent);
  const said = document.getElementById("said");
  const media = matchMedia("(prefers-color-scheme: dark)");

  // The address: #ANCHOR?name=value&…; an anchor is a view or anything that stands in one.
  const parse = () => {
    const [anchor, query = ""] = location.hash.slice(1).split("?");
    return { anchor: decodeURIComponent(anchor), query: new URLSearchParams(query) };
  };
  const viewOf = (anchor) => {
    const target = anchor && document.getElementById(anchor);
    return (target && target.closest(".view") ? target.closest(".view") : document.getElementById("study")).id;
  };
  const show = (scroll) => {
    const { anchor, query } = parse();
    root.dataset.view = viewOf(anchor);
    for (const link of document.querySelectorAll(".bar nav a"))
      link.toggleAttribute("aria-current", viewOf(link.hash.slice(1)) === root.dataset.view && link.hash !== "#tables");
    sortAll(query.get("sort") || "");
    if (window.showSentences && root.dataset.view === "sentences") window.showSentences(query);
    const target = anchor && document.getElementById(anchor);
    for (let part = target && (target.querySelector(":scope > [data-section]") || target); part; part = part.parentElement) if (part.tagName === "DETAILS") part.open = true;
    if (target && scroll) {
      target.scrollIntoView({ behavior: "instant" });
      if (target.matches("[tabindex]")) target.focus({ preventScroll: true });
    }
    draw();
  };
  // Replaces or adds parts of the query without a new entry in the history.
  window.setAddress = (anchor, changes) => {
    const query = parse().anchor === anchor ? parse().query : new URLSearchParams();
    for (const [name, value] of Object.entries(changes)) value ? query.set(name, value) : query.delete(name);
    const text = query.toString();
    history.replaceState(history.state, "", `#${anchor}${text ? `?${text}` : ""}`);
  };
  history.scrollRestoration = "manual";
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a");
    const href = link && link.getAttribute("href");
    if (!href || !href.startsWith("#") || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    go(href);
  });
  const go = (href) => {
    history.replaceState({ y: scrollY }, "");
    if (href !== location.hash) history.pushState(null, "", href);
    show(true);
  };
  window.addEventListener("popstate", () => {
    show(!history.state);
    if (history.state) scrollTo({ top: history.state.y, behavior: "instant" });
  });

  // Sorting: ?sort=TABLE.COLUMN.DIRECTION,… ; a third click on a head gives the table's own order back.
  const tables = [...document.querySelectorAll("table[data-sortable]")];
  for (const table of tables) table.own = [...table.tBodies[0].rows];
  const sortTable = (table, column, down) => {
    const value = (row) => {
      const cell = row.cells[column];
      return cell.dataset.v === undefined ? (cell.tagName === "TH" ? cell.textContent : null) : Number(cell.dataset.v);
    };
    const rows = [...table.own];
    if (column !== null)
      rows.sort((one, two) => {
        const [a, b] = [value(one), value(two)];
        if (a === null || b === null) return (a === null) - (b === null);
        return (typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b))) * (down ? -1 : 1);
      });
    table.tBodies[0].append(...rows);
    table.classList.toggle("sorted", column !== null);
    for (const button of table.querySelectorAll("button.sort")) {
      const mine = column !== null && Number(button.dataset.column) === column;
      if (mine) button.parentElement.setAttribute("aria-sort", down ? "descending" : "ascending");
      else button.parentElement.removeAttribute("aria-sort");
    }
  };
  const sorts = (text) =>
    new Map(text.split(",").filter(Boolean).map((one) => one.split(".")).map(([t, c, d]) => [t, [Number(c), d === "d"]]));
  const sortAll = (text) => {
    const chosen = sorts(text);
    for (const table of tables) {
      const [column, down] = chosen.get(table.dataset.sortable) || [null, false];
      if (column !== null || table.classList.contains("sorted")) sortTable(table, column, down);
    }
  };
  document.addEventListener("click", (event) => {
    const button = event.target.closest("button.sort");
    if (!button) return;
    const id = button.closest("table").dataset.sortable;
    const chosen = sorts(parse().query.get("sort") || "");
    const [column, down] = chosen.get(id) || [null, false];
    chosen.delete(id);
    if (column !== Number(button.dataset.column)) chosen.set(id, [Number(button.dataset.column), true]);
    else if (down) chosen.set(id, [column, false]);
    const text = [...chosen].map(([table, [c, d]]) => `${table}.${c}.${d ? "d" : "a"}`).join(",");
    window.setAddress(root.dataset.view === "study" && parse().anchor ? parse().anchor : "tables", { sort: text });
    sortAll(text);
  });

  // One stop of the Tab key for each table or list of links; arrows move inside.
  window.oneStop = (grid) => {
    const stops = () => [...grid.querySelectorAll("a, button")].filter((one) => one.offsetParent);
    [...grid.querySelectorAll("a, button")].forEach((one, index) => (one.tabIndex = index ? -1 : 0));
    grid.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: 0, ArrowUp: 0 }[event.key];
      if (step === undefined) return;
      const all = stops();
      const here = document.activeElement;
      let next = all[all.indexOf(here) + step];
      if (!step) {
        const cell = here.closest("td, th");
        let row = cell && cell.parentElement;
        const move = event.key === "ArrowDown" ? "nextElementSibling" : "previousElementSibling";
        const head = cell && cell.closest("table").tHead;
        const body = cell && cell.closest("table").tBodies[0];
        do {
          const inHead = row && row.parentElement === head;
          row = row && (row[move] || (inHead && move === "nextElementSibling" ? body.rows[0] : null) ||
            (!inHead && move === "previousElementSibling" ? head.rows[head.rows.length - 1] : null));
          next = row && row.cells[cell.cellIndex] && row.cells[cell.cellIndex].querySelector("a, button");
        } while (row && !next);
        if (!cell) next = all[all.indexOf(here) + (event.key === "ArrowDown" ? 1 : -1)];
      }
      event.preventDefault();
      if (!next) return;
      here.tabIndex = -1;
      next.tabIndex = 0;
      next.focus();
    });
  };
  document.querySelectorAll("[data-grid]").forEach(window.oneStop);

  // Notes stand once on the page, folded; every reference to one shows it as a tooltip.
  for (const link of document.querySelectorAll('a[href^="#note-"]'))
    link.title = document.getElementById(link.hash.slice(1)).textContent;
  document.addEventListener("click", (event) => {
    const unfold = event.target.dataset.unfold;
    if (unfold) for (const section of document.querySelectorAll("[data-section]")) section.open = unfold === "true";
  });

  const copies = read("copies");
  document.addEventListener("click", async (event) => {
    const button = event.target.closest("button.copy");
    if (!button) return;
    const text = copies[button.dataset.table][button.dataset.form];
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      const area = document.createElement("textarea");
      area.value = text;
      document.body.append(area);
      area.select();
      document.execCommand("copy");
      area.remove();
    }
    button.focus();
    said.textContent = `The table is copied as ${button.dataset.form}.`;
    setTimeout(() => (said.textContent = ""), 2000);
  });

  // Plots are drawn when they come near the window, by an interpreter that needs no eval, in the page's colours.
  const charts = read("charts");
  const colour = (name) => getComputedStyle(root).getPropertyValue(name).trim();
  const config = () => ({
    background: null,
    font: "system-ui, sans-serif",
    view: { stroke: null },
    axis: {
      labelColor: colour("--ink"), titleColor: colour("--soft"), gridColor: colour("--line"),
      domainColor: colour("--strong"), tickColor: colour("--strong"), labelFontSize: 11,
    },
    title: { color: colour("--ink"), fontSize: 11, fontWeight: "normal", anchor: "start", subtitleColor: colour("--soft") },
    legend: { labelColor: colour("--ink"), titleColor: colour("--soft"), labelFontSize: 11 },
    range: { category: media.matches
      ? ["#56b4e9", "#e69f00", "#2bc59a", "#d99bc0", "#f0e442", "#ff8a5b", "#bdbdbd", "#7aa7ff"]
      : ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#a67c00", "#56b4e9", "#555555", "#3a4fbf"] },
  });
  const waiting = new Set(document.querySelectorAll(".chart"));
  const drawOne = (figure) => {
    waiting.delete(figure);
    vegaEmbed(figure, charts[figure.dataset.chart], { ast: true, actions: false, renderer: "svg", config: config(), tooltip: { theme: media.matches ? "dark" : "light" } })
      .then(({ view }) => {
        figure.view = view;
        view.addEventListener("click", (_, item) => { if (item && item.datum && item.datum.href) go(item.datum.href); });
      });
  };
  const watcher = new IntersectionObserver((entries) => {
    for (const entry of entries) if (entry.isIntersecting && waiting.has(entry.target)) drawOne(entry.target);
  }, { rootMargin: "600px" });
  const draw = () => { for (const figure of waiting) watcher.observe(figure); };
  media.addEventListener("change", () => {
    for (const figure of document.querySelectorAll(".chart"))
      if (!waiting.has(figure)) { figure.view?.finalize(); drawOne(figure); }
  });
  window.addEventListener("beforeprint", () => { for (const figure of [...waiting]) drawOne(figure); });

  show(Boolean(location.hash));
})();
