// The script of a page: filters in its address, pages of items, keys, copying, color scheme, and expanding for print. It
// contains no less-than sign and no double colon, which markup and CI logs would interpret.

export const PAGE_SCRIPT = `
"use strict";
(() => {
  const root = document.documentElement;
  const byId = (id) => document.getElementById(id);
  for (const control of document.querySelectorAll("[data-control]")) control.hidden = false;

  const theme = byId("theme");
  const system = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme || (system.matches ? "dark" : "light")) === "dark";
  const nameTheme = () => { theme.textContent = isDark() ? "Light mode" : "Dark mode"; };
  try {
    const stored = localStorage.getItem("workspace-theme");
    if (stored === "dark" || stored === "light") root.dataset.theme = stored;
  } catch {}
  theme.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    try { localStorage.setItem("workspace-theme", root.dataset.theme); } catch {}
    nameTheme();
  });
  system.addEventListener("change", nameTheme);
  nameTheme();

  const PAGE_SIZE = 100;
  const MOST_PRINTED = 1000;
  const BODY = '\\u003cdiv class="body">';
  const END = "\\u003c/details>";
  const CHARACTERS = { amp: "&", lt: "\\u003c", gt: ">", quot: '"', "#39": "'" };
  const decoded = (markup) => markup.replace(/&(amp|lt|gt|quot|#39);/g, (_, name) => CHARACTERS[name]);
  const grouped = (number) => number.toLocaleString("en-US");

  const items = [];
  const START = '\\u003cdetails class="';
  const nextItem = (text, from) => {
    for (let at = text.indexOf(START, from); at !== -1; at = text.indexOf(START, at + 1))
      if (text.startsWith(' item"', text.indexOf('"', at + START.length) - 5)) return at;
    return text.length;
  };
  const sections = Array.from(document.querySelectorAll("section.list"), (element) => {
    const section = { element, holder: element.querySelector(".items"), heading: element.querySelector("h2") };
    section.title = section.heading.textContent;
    for (const chunk of element.querySelectorAll("noscript")) {
      const text = chunk.textContent;
      for (let at = nextItem(text, 0); text.length > at; ) {
        const next = nextItem(text, at + 1);
        items.push({ section, markup: text.slice(at, next), isOpen: text.startsWith(" open>", text.indexOf(">", at) - 5), facets: undefined, text: undefined });
        at = next;
      }
      chunk.remove();
    }
    return section;
  });
  /** Read when a filter needs them: those of 50,000 separate items take longer than the rest of this script. */
  const facetsOf = (item) => {
    if (item.facets === undefined) {
      item.facets = {};
      for (const [, name, value] of item.markup.slice(0, item.markup.indexOf(">")).matchAll(/ (?:data-)?([a-z0-9]+)="([^"]*)"/g)) item.facets[name] = decoded(value);
    }
    return item.facets;
  };
  const numberOf = (item) => Number(facetsOf(item).number || 1);
  const textOf = (item) => (item.text === undefined ? (item.text = decoded(item.markup.replace(/\\u003c[^>]*>/g, " ")).toLowerCase()) : item.text);

  function headOf(item, at) {
    const body = item.markup.indexOf(BODY);
    const whole = body === -1 || item.isOpen;
    const markup = (whole ? item.markup : item.markup.slice(0, body) + END).replace(/ open>/, ">");
    return markup.replace(" ", ' data-at="' + at + '"' + (item.isOpen ? " open " : " "));
  }

  function fill(element) {
    const item = items[element.dataset.at];
    if (element.querySelector(".body") === null) {
      const body = item.markup.indexOf(BODY);
      if (body === -1) return;
      element.insertAdjacentHTML("beforeend", item.markup.slice(body, item.markup.lastIndexOf(END)));
    }
    if (facetsOf(item).id === undefined || element.querySelector(".copy") !== null) return;
    const bar = document.createElement("p");
    bar.className = "copy";
    for (const [label, text] of [
      ["Copy address", () => facetsOf(item).id],
      ["Copy link", () => location.href.split("#")[0] + "#" + encodeURIComponent(facetsOf(item).id)],
    ]) {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = label;
      button.addEventListener("click", async () => {
        button.textContent = (await copied(text())) ? "Copied" : "Not copied";
      });
      bar.append(button);
    }
    element.querySelector(".body").append(bar);
  }

  async function copied(text) {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      const area = document.createElement("textarea");
      area.value = text;
      document.body.append(area);
      area.select();
      const done = document.execCommand("copy");
      area.remove();
      return done;
    }
  }

  const search = byId("search");
  const count = byId("count");
  const choices = Array.from(document.querySelectorAll("select.facet"));
  const actions = Array.from(document.querySelectorAll("input[name=action]"));
  let shown = Array.from(items.keys());
  let first = 0;

  function render(from, most = PAGE_SIZE) {
    first = Math.max(0, from);
    const page = shown.slice(first, first + most);
    const bySection = new Map(sections.map((section) => [section, []]));
    for (const at of page) bySection.get(items[at].section).push(headOf(items[at], at));
    const before = first > 0 ? items[shown[first - 1]].section : undefined;
    for (const [section, heads] of bySection) {
      section.holder.innerHTML = heads.join("");
      section.element.hidden = heads.length === 0;
      section.heading.textContent = section.title + (section === before ? " (continued)" : "");
      for (const element of section.holder.querySelectorAll("details.item[open]")) fill(element);
    }
    if (count === null) return;
    const total = Number(count.dataset.total);
    const number = shown.length === items.length ? total : shown.reduce((sum, at) => sum + numberOf(items[at]), 0);
    const part = shown.length > PAGE_SIZE ? ", page " + grouped(first / PAGE_SIZE + 1) + " of " + grouped(Math.ceil(shown.length / PAGE_SIZE)) : "";
    count.textContent = (number === total ? grouped(number) : grouped(number) + " of " + grouped(total)) + " shown" + part;
    for (const pager of document.querySelectorAll(".pager")) {
      pager.hidden = PAGE_SIZE >= shown.length;
      for (const button of pager.querySelectorAll("button"))
        button.disabled = button.dataset.step === "1" ? first + PAGE_SIZE >= shown.length : first === 0;
    }
  }

  function filter() {
    const words = search.value.toLowerCase().split(/\\s+/).filter((word) => word !== "");
    const wanted = new Set(actions.filter((box) => box.checked).map((box) => box.value));
    const chosen = choices.filter((choice) => choice.value !== "").map((choice) => [choice.id, choice.value]);
    shown = Array.from(items.keys()).filter((at) => {
      const facets = facetsOf(items[at]);
      return (
        chosen.every(([name, value]) => facets[name] === value) &&
        (wanted.size === 0 || wanted.has(facets.action)) &&
        words.every((word) => textOf(items[at]).includes(word))
      );
    });
    document.querySelector("main").classList.toggle("filtering", items.length > shown.length);
    render(0);
  }

  function saveFilter() {
    const chosen = new URLSearchParams();
    if (search.value !== "") chosen.set("search", search.value);
    for (const choice of choices) if (choice.value !== "") chosen.set(choice.id, choice.value);
    const names = actions.filter((box) => box.checked).map((box) => box.value);
    if (names.length > 0) chosen.set("action", names.join(","));
    const hash = chosen.toString() === "" ? location.pathname + location.search : "#?" + chosen;
    try { history.replaceState(null, "", hash); } catch {}
  }

  function setFilter(chosen) {
    search.value = chosen.get("search") || "";
    for (const choice of choices) {
      choice.value = chosen.get(choice.id) || "";
      if (choice.selectedIndex === -1) choice.value = "";
    }
    const names = (chosen.get("action") || "").split(",");
    for (const box of actions) box.checked = names.includes(box.value);
    filter();
  }

  function changed() {
    filter();
    saveFilter();
  }

  function reset() {
    setFilter(new URLSearchParams());
    saveFilter();
  }

  function readAhead(at) {
    const idle = window.requestIdleCallback || ((run) => run());
    idle((deadline) => {
      let next = at;
      do for (const item of items.slice(next, (next += 50))) textOf(item) && facetsOf(item);
      while (items.length > next && deadline !== undefined && deadline.timeRemaining() > 5);
      if (items.length > next) readAhead(next);
    });
  }

  if (search !== null) {
    search.addEventListener("input", changed);
    for (const choice of choices) choice.addEventListener("change", changed);
    for (const box of actions) box.addEventListener("change", changed);
    byId("reset").addEventListener("click", reset);
    byId("expand").addEventListener("click", () => setOpen(true));
    byId("collapse").addEventListener("click", () => setOpen(false));
    for (const id of ["expand", "collapse"]) byId(id).hidden = items.every((item) => !item.markup.includes(BODY));
    search.addEventListener("keydown", (event) => {
      if (event.key === "Escape") reset();
      if (event.key === "Enter") move(1, -1);
    });
    readAhead(0);
  }
  render(0);

  const elementAt = (at) => document.querySelector('details.item[data-at="' + at + '"]');

  /** Of the page that is shown; Collapse closes the items of every page. */
  function setOpen(open) {
    if (!open) for (const item of items) item.isOpen = false;
    for (const element of document.querySelectorAll("details.item")) element.open = open;
  }

  const current = () => {
    const element = document.activeElement.closest("details.item");
    return element === null ? -1 : shown.indexOf(Number(element.dataset.at));
  };

  function move(step, from) {
    const position = step === -1 && from === -1 ? shown.length - 1 : from + step;
    if (position >= 0 && shown.length > position) focusAt(position);
  }

  function focusAt(position) {
    if (first > position || position >= first + PAGE_SIZE) render(position - (position % PAGE_SIZE));
    focus(elementAt(shown[position]));
  }

  function focus(element) {
    const head = element.querySelector("summary");
    head.focus({ preventScroll: true });
    head.scrollIntoView({ block: "center" });
  }

  function mark(element) {
    for (const former of document.querySelectorAll(".here")) former.classList.remove("here");
    element.classList.add("here");
  }

  /** The item with this anchor, or the equal changes among which it is. */
  function goTo(id) {
    const markup = 'id="' + id.replace(/[&"'\\u003c>]/g, (character) => "&" + Object.keys(CHARACTERS).find((name) => CHARACTERS[name] === character) + ";") + '"';
    const near = Array.from(items.keys()).filter((at) => items[at].markup.includes(markup));
    const at = near.find((at) => facetsOf(items[at]).id === id) ?? near[0] ?? -1;
    if (at === -1) {
      const target = byId(id);
      if (target === null) return;
      for (let element = target; element !== null; element = element.parentElement) if (element.tagName === "DETAILS") element.open = true;
      mark(target);
      target.scrollIntoView();
      return;
    }
    if (!shown.includes(at)) reset();
    items[at].isOpen = true;
    focusAt(shown.indexOf(at));
    const element = elementAt(at);
    element.open = true;
    fill(element);
    const member = byId(id);
    mark(member ?? element);
    if (member !== null && member !== element) member.scrollIntoView({ block: "center" });
  }

  function route() {
    const hash = location.hash.slice(1);
    if (hash.startsWith("?")) {
      if (search === null) return;
      setFilter(new URLSearchParams(hash.slice(1)));
      const list = sections.find((section) => !section.element.hidden);
      if (list !== undefined) list.element.scrollIntoView();
    } else if (hash !== "") {
      let id = hash;
      try { id = decodeURIComponent(hash); } catch {}
      goTo(id);
    }
  }

  document.addEventListener(
    "toggle",
    (event) => {
      const element = event.target;
      if (!element.matches("details.item")) return;
      items[element.dataset.at].isOpen = element.open;
      if (element.open) fill(element);
    },
    true,
  );

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("#search, select")) return;
    const onItem = event.target.closest("summary") !== null && current() !== -1;
    if (event.key === "j" || (onItem && event.key === "ArrowDown")) move(1, current());
    else if (event.key === "k" || (onItem && event.key === "ArrowUp")) move(-1, current());
    else if (event.key === "/" && search !== null) search.focus();
    else return;
    event.preventDefault();
  });

  document.addEventListener("click", (event) => {
    const step = event.target.closest("[data-step]");
    if (step !== null) {
      render(first + Number(step.dataset.step) * PAGE_SIZE);
      const list = sections.find((section) => !section.element.hidden);
      list.element.scrollIntoView();
      return;
    }
    const link = event.target.closest('a[href^="#"]');
    if (link === null) return;
    event.preventDefault();
    try { history.pushState(null, "", link.getAttribute("href")); } catch { location.hash = link.getAttribute("href"); }
    route();
  });
  addEventListener("popstate", route);
  addEventListener("hashchange", route);

  let opened = [];
  let wasOpen = [];
  let wasFirst = 0;
  addEventListener("beforeprint", () => {
    wasOpen = items.map((item) => item.isOpen);
    wasFirst = first;
    for (const item of items) item.isOpen = true;
    render(MOST_PRINTED >= shown.length ? 0 : first, MOST_PRINTED);
    opened = Array.from(document.querySelectorAll("details:not(.item):not(.warning):not([open])"));
    for (const element of opened) element.open = true;
  });
  addEventListener("afterprint", () => {
    for (const element of opened) element.open = false;
    items.forEach((item, at) => { item.isOpen = wasOpen[at]; });
    render(wasFirst);
    opened = [];
  });

  const live = byId("live");
  const OPEN_KEY = "workspace-open";
  if (live !== null) {
    try {
      const changed = JSON.parse(sessionStorage.getItem(OPEN_KEY) || "{}");
      for (const item of items) if (facetsOf(item).id in changed) item.isOpen = changed[facetsOf(item).id];
      sessionStorage.removeItem(OPEN_KEY);
    } catch {}
    const age = () => {
      const minutes = Math.max(0, Math.round((Date.now() - Date.parse(live.dataset.made)) / 60000));
      const hours = Math.round(minutes / 60);
      const words = 120 > minutes ? minutes + " min" : 48 > hours ? hours + " h" : Math.round(hours / 24) + " d";
      return "Results of " + words + " ago; the page checks for new ones every minute.";
    };
    live.textContent = age();
    setInterval(async () => {
      live.textContent = age();
      try {
        const answer = await fetch(live.dataset.results, { cache: "no-store" });
        const { made_at: made } = await answer.json();
        if (made === live.dataset.made) return;
        const opened = Object.fromEntries(items.map((item) => [facetsOf(item).id, item.isOpen]));
        try { sessionStorage.setItem(OPEN_KEY, JSON.stringify(opened)); } catch {}
        location.reload();
      } catch {
        live.textContent = age() + " " + live.dataset.results + " cannot be read.";
      }
    }, 60000);
  }

  route();
})();
`;
