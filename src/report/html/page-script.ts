// The script of a page: filters, keyboard navigation, color scheme, and expanding for print. It contains no less-than
// sign and no double colon, which markup and CI logs would interpret.

export const PAGE_SCRIPT = `
"use strict";
(() => {
  const root = document.documentElement;
  const one = (id) => document.getElementById(id);
  for (const control of document.querySelectorAll("[data-control]")) control.hidden = false;

  const theme = one("theme");
  const system = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme || (system.matches ? "dark" : "light")) === "dark";
  const nameTheme = () => { theme.textContent = isDark() ? "Light mode" : "Dark mode"; };
  try {
    const kept = localStorage.getItem("workspace-theme");
    if (kept === "dark" || kept === "light") root.dataset.theme = kept;
  } catch {}
  theme.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    try { localStorage.setItem("workspace-theme", root.dataset.theme); } catch {}
    nameTheme();
  });
  system.addEventListener("change", nameTheme);
  nameTheme();

  const items = Array.from(document.querySelectorAll("details.item"), (element) => ({
    element, shown: true, text: undefined, facets: Object.assign({}, element.dataset),
  }));
  const chunks = Array.from(document.querySelectorAll(".chunk"), (element) => ({ element, list: element.parentElement, shown: 0 }));
  const lists = document.querySelectorAll("section.list");
  const chunkOf = new Map(chunks.map((chunk) => [chunk.element, chunk]));
  for (const item of items) item.chunk = chunkOf.get(item.element.parentElement);
  const textOf = (item) => (item.text === undefined ? (item.text = item.element.textContent.toLowerCase()) : item.text);
  const search = one("search");
  const choices = Array.from(document.querySelectorAll("select.facet"));
  const count = one("count");
  const actions = Array.from(document.querySelectorAll("input[name=action]"));
  const grouped = (number) => number.toLocaleString("en-US");

  function filter() {
    const words = search.value.toLowerCase().split(/\\s+/).filter((word) => word !== "");
    const wanted = new Set(actions.filter((box) => box.checked).map((box) => box.value));
    const chosen = choices.filter((choice) => choice.value !== "").map((choice) => [choice.id, choice.value]);
    let shown = 0;
    for (const chunk of chunks) chunk.shown = 0;
    for (const item of items) {
      const fits =
        chosen.every(([name, value]) => item.facets[name] === value) &&
        (wanted.size === 0 || wanted.has(item.facets.action)) &&
        words.every((word) => textOf(item).includes(word));
      if (fits) {
        shown += 1;
        item.chunk.shown += 1;
      }
      if (fits !== item.shown) item.element.hidden = !fits;
      item.shown = fits;
    }
    for (const list of lists) list.hidden = true;
    for (const { element, list, shown: inside } of chunks) {
      element.hidden = inside === 0;
      element.style.containIntrinsicHeight = inside * 52 + "px";
      if (inside !== 0) list.hidden = false;
    }
    count.textContent = shown === items.length ? grouped(shown) + " shown" : grouped(shown) + " of " + grouped(items.length) + " shown";
  }

  function reset() {
    search.value = "";
    for (const choice of choices) choice.value = "";
    for (const box of actions) box.checked = false;
    filter();
  }

  function readAhead(at) {
    const idle = window.requestIdleCallback || ((run) => run());
    idle((deadline) => {
      let next = at;
      do for (const item of items.slice(next, (next += 50))) textOf(item);
      while (items.length > next && deadline !== undefined && deadline.timeRemaining() > 5);
      if (items.length > next) readAhead(next);
    });
  }

  if (search !== null) {
    search.addEventListener("input", filter);
    for (const choice of choices) choice.addEventListener("change", filter);
    for (const box of actions) box.addEventListener("change", filter);
    one("reset").addEventListener("click", reset);
    one("expand").addEventListener("click", () => setOpen(true));
    one("collapse").addEventListener("click", () => setOpen(false));
    search.addEventListener("keydown", (event) => {
      if (event.key === "Escape") reset();
      if (event.key === "Enter") move(1, -1);
    });
    filter();
    readAhead(0);
  }

  function setOpen(open) {
    for (const item of items) if (item.shown) item.element.open = open;
  }

  const current = () => items.findIndex((item) => item.element.contains(document.activeElement));

  function move(step, from) {
    let at = from + step;
    if (step === -1 && from === -1) at = items.length - 1;
    while (items[at] !== undefined && !items[at].shown) at += step;
    if (items[at] !== undefined) focus(items[at].element);
  }

  function focus(element) {
    const head = element.querySelector("summary");
    head.focus({ preventScroll: true });
    head.scrollIntoView({ block: "center" });
  }

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select, button")) return;
    const onItem = event.target.closest("summary") !== null && current() !== -1;
    if (event.key === "j" || (onItem && event.key === "ArrowDown")) move(1, current());
    else if (event.key === "k" || (onItem && event.key === "ArrowUp")) move(-1, current());
    else if (event.key === "/" && search !== null) search.focus();
    else return;
    event.preventDefault();
  });

  document.addEventListener("click", (event) => {
    const link = event.target.closest('a[href^="#"]');
    const target = link === null ? null : one(link.getAttribute("href").slice(1));
    if (target === null) return;
    event.preventDefault();
    if (target.hidden) reset();
    target.open = true;
    focus(target);
  });

  let opened = [];
  addEventListener("beforeprint", () => {
    opened = Array.from(document.querySelectorAll("details:not([open])"));
    for (const element of opened) element.open = true;
  });
  addEventListener("afterprint", () => {
    for (const element of opened) element.open = false;
    opened = [];
  });
})();
`;
