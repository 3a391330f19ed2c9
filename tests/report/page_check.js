// Looks at a page from within: what is found goes, as JSON, into a <pre> of its own.
"use strict";
(() => {
  const found = [], note = (kind, what) => found.length < 200 && found.push(kind + ": " + what);
  window.addEventListener("error", (e) => note("script error", e.message));
  window.addEventListener("securitypolicyviolation", (e) => note("blocked", e.blockedURI));

  const name = (e) => e.tagName.toLowerCase() + (e.id ? "#" + e.id : "") + " '" +
      (e.getAttribute("aria-label") || e.textContent).trim().slice(0, 40) + "'";
  const visible = (e) => e.checkVisibility({visibilityProperty: true}) && !e.closest(".skip");
  const all = (selector, root = document) => [...root.querySelectorAll(selector)].filter(visible);

  function layout() {
    const width = document.documentElement.clientWidth;
    if (document.documentElement.scrollWidth > width)
      note("overflow", document.documentElement.scrollWidth + " pixels in a window of " + width);
    for (const e of all("h1,h2,h3,p,figure,svg,table,tr,dl,dt,dd,code,summary,a,nav,section,.wide,.bar,.key")) {
      const r = e.getBoundingClientRect();
      if (r.width < 1 || r.height < 1) note("no size", name(e));
      if (!e.closest(".wide") && (r.left < -1 || r.right > width + 1)) note("outside", name(e));
    }
  }

  const meet = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1.5 &&
      Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1.5;

  function textBox(e) {
    const range = document.createRange();
    range.selectNodeContents(e);
    return range.getBoundingClientRect();
  }

  function tables() {
    for (const row of all("tr")) {
      const cells = [...row.cells], boxes = cells.map(textBox);
      cells.forEach((cell, i) => {
        if (cell.scrollWidth > cell.clientWidth + 1) note("cell too small", name(cell));
        for (let j = i + 1; j < cells.length; j++)
          if (meet(boxes[i], boxes[j])) note("overlap", name(cell) + " and " + name(cells[j]));
      });
    }
    for (const table of all("table")) {
      const columns = [...table.rows].map((row) => row.cells.length);
      if (new Set(columns).size > 1) note("ragged table", name(table));
    }
  }

  function plots() {
    for (const figure of all("figure")) {
      const svg = figure.querySelector("svg");
      if (!svg) { note("no plot", name(figure)); continue; }
      if (!svg.getAttribute("aria-label") || svg.getAttribute("role") !== "img") note("no name", name(figure));
      if (!svg.querySelector(".data path")) note("empty plot", name(svg));
      const frame = svg.getBoundingClientRect(), texts = all("text", svg), boxes = texts.map((t) => t.getBoundingClientRect());
      if (texts.length < 3) note("no axes", name(svg));
      texts.forEach((text, i) => {
        const b = boxes[i], turned = text.closest("[transform*=rotate]");
        if (b.left < frame.left - 1 || b.right > frame.right + 1 || b.top < frame.top - 1 || b.bottom > frame.bottom + 1)
          note("text outside of plot", name(svg) + ": " + text.textContent);
        for (let j = i + 1; j < texts.length && !turned; j++)
          if (meet(b, boxes[j]) && !texts[j].closest("[transform*=rotate]"))
            note("overlap", name(svg) + ": " + text.textContent + " and " + texts[j].textContent);
      });
    }
  }

  // --- contrast: WCAG 2.1, 1.4.3 ---
  const parse = (c) => (c.match(/[\d.]+/g) || []).map(Number);
  const luminance = (c) => c.slice(0, 3).map((x) => x / 255)
      .map((x) => x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4)
      .reduce((sum, x, i) => sum + x * [0.2126, 0.7152, 0.0722][i], 0);
  function ground(e) {
    for (; e; e = e.parentElement) {
      const c = parse(getComputedStyle(e).backgroundColor);
      if (c.length === 3 || c[3] > 0.99) return c;
    }
    return [255, 255, 255];
  }
  function contrast() {
    const least = new Map();
    for (const e of all("h1,h2,h3,p,dt,dd,th,td,code,a,summary,small,figcaption,svg text")) {
      if (!e.textContent.trim()) continue;
      const style = getComputedStyle(e), a = luminance(parse(e.tagName === "text" ? style.fill : style.color)),
            b = luminance(ground(e)), ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
      if (ratio < 4.5) least.set(e.tagName, name(e) + " " + ratio.toFixed(2));
    }
    for (const what of least.values()) note("contrast", what);
  }

  function structure() {
    const ids = [...document.querySelectorAll("[id]")].map((e) => e.id);
    ids.filter((id, i) => ids.indexOf(id) !== i).forEach((id) => note("id twice", id));
    for (const a of document.querySelectorAll("a"))
      if (!document.getElementById(a.getAttribute("href").slice(1))) note("link to nowhere", a.getAttribute("href"));
    let level = 0;
    for (const h of document.querySelectorAll("h1,h2,h3,h4")) {
      if (+h.tagName[1] > level + 1) note("heading skipped", name(h));
      level = +h.tagName[1];
    }
    if (document.querySelectorAll("h1").length !== 1) note("headings", "not one h1");
    if (!document.documentElement.lang) note("language", "none");
    for (const e of document.querySelectorAll("[src],link,[style*=url],image"))
      note("something from elsewhere", e.outerHTML.slice(0, 60));
    const scripts = [...document.scripts].filter((s) => s.type !== "application/json");
    if (scripts.length !== 2) note("script", scripts.length + " beside this one"); // the page's and this one
  }

  window.addEventListener("load", () => {
    for (const open of [false, true]) {
      document.querySelectorAll("details").forEach((d) => { d.open = open; });
      try { layout(); tables(); plots(); contrast(); } catch (e) { note("script error", e.stack); }
    }
    structure();
    const facts = {found: [...new Set(found)], width: innerWidth, dark: matchMedia("(prefers-color-scheme: dark)").matches,
      ground: getComputedStyle(document.body).backgroundColor, figures: all("figure").map((f) => f.querySelector("svg")?.ariaLabel),
      tips: document.querySelectorAll("svg title").length,
      rings: [...document.querySelectorAll(".best-ring title")].map((t) => t.textContent),
      tables: all("table").length, title: document.title,
      text: document.body.innerText, images: document.images.length};
    const out = document.createElement("pre");
    out.id = "page-check";
    out.textContent = JSON.stringify(facts);
    document.body.append(out);
  });
})();
