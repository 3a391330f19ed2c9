// Draws the report from the document in the page. Everything of the document is put in as text (createTextNode) or as a
// number: nothing of it is ever parsed as markup.
"use strict";
(() => {
  const report = JSON.parse(document.getElementById("document").textContent), tunings = report.tunings;
  const CURVES = 8; // colours
  const NEAR = 1.05; // of the best: near enough to say when it was reached

  // --- elements ---
  function fill(element, attributes, children) {
    for (const [key, value] of Object.entries(attributes || {})) element.setAttribute(key, value);
    element.append(...children.flat(9).filter((c) => c !== null && c !== undefined && c !== false));
    return element;
  }
  const el = (name, attributes, ...children) => fill(document.createElement(name), attributes, children);
  const svg = (name, attributes, ...children) =>
    fill(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);
  const key = (kind) => el("span", {class: "key " + kind});
  const code = (text) => el("code", null, text);
  const count = (n) => String(n).replace(/\B(?=(\d{3})+$)/g, "\u202f");
  const percent = (share, digits) => (100 * share).toFixed(digits) + "\u00a0%";
  function bar(share) {
    const inner = el("i");
    inner.style.width = 100 * Math.max(0, Math.min(1, share)) + "%";
    return el("span", {class: "bar", "aria-hidden": "true"}, inner);
  }
  // A cell: long texts may be broken.
  const cell = (name, kind, ...content) => {
    const long = content.join("").length > 24 && content.every((c) => typeof c === "string");
    const attributes = {class: kind + (long ? " flow" : "")};
    if (name === "th") attributes.scope = "row";
    return el(name, attributes, content);
  };
  // columns: [title, class]; a table that may be wider than the page.
  const table = (name, columns, rows, caption) =>
    el("div", {class: "wide", role: "region", tabindex: 0, "aria-label": name}, el("table", null,
      caption && el("caption", null, caption),
      columns && el("thead", null, el("tr", null, columns.map(([title, kind]) =>
        el("th", {scope: "col", class: kind || "", ...(title ? {} : {"aria-label": "as a bar"})}, title)))),
      el("tbody", null, rows)));
  const figure = (title, plot, ...more) =>
    plot && el("figure", null, title && el("p", {class: "title"}, title), plot, more);

  // --- figures: all of a tuning in one unit, with as many digits behind the point ---
  const isTime = (t) => t.objective.name === "time";
  const ratio = (t, worse, better) => t.objective.goal === "maximise" ? better / worse : worse / better;
  function formOf(t, best) {
    const form = {scale: 1, unit: t.objective.unit, digits: -1, name: t.objective.name};
    if (form.unit === "s" && best > 0) {
      const units = [[1, "s"], [1e-3, "ms"], [1e-6, "\u00b5s"], [1e-9, "ns"]];
      const [scale, unit] = units.find(([seconds]) => best >= seconds) || units[3];
      const least = best / scale;
      Object.assign(form, {scale, unit, digits: least >= 100 ? 1 : least >= 10 ? 2 : 3});
    }
    const number = (v) => v === null || v === undefined ? "\u2013" :
      form.digits < 0 ? String(Number(v.toPrecision(4))) : (v / form.scale).toFixed(form.digits);
    form.put = number;
    form.full = (v) => number(v) + (form.unit && v !== null ? "\u00a0" + form.unit : "");
    form.title = form.name + (form.unit ? ", " + form.unit : "");
    form.axis = form.name + (form.unit && form.unit !== form.name ? " in " + form.unit : "");
    form.suffix = form.unit ? ", " + form.unit : "";
    return form;
  }
  const label = (value) => typeof value === "number" ? String(Number(value.toPrecision(6))) : String(value);

  // --- axes ---
  const cut = (text, n) => text.length > n ? text.slice(0, n - 1) + "\u2026" : text;
  const short = (x) => Math.abs(x) >= 1e6 || Math.abs(x) < 1e-4 && x !== 0 ? x.toExponential()
    : String(Number(x.toPrecision(6)));
  function logTicks(low, high) {
    const decades = Math.log10(high / low), ticks = [];
    const mantissas = decades > 2.5 ? [1] : decades > 1.1 ? [1, 2, 5] : [1, 1.5, 2, 3, 5, 7];
    for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power++)
      for (const m of mantissas) {
        const x = m * 10 ** power;
        if (x >= low / 1.0001 && x <= high * 1.0001) ticks.push(x);
      }
    return ticks;
  }
  function evenTicks(low, high) {
    const raw = (high - low) / 5, power = 10 ** Math.floor(Math.log10(raw)), ticks = [];
    const step = power * [1, 2, 5, 10].find((m) => m * power >= raw * 0.999);
    for (let i = Math.ceil(low / step - 1e-9); i * step <= high * 1.000001; i++) ticks.push(i * step);
    return ticks;
  }
  // What is further out no clock has measured; it is not drawn.
  const drawable = (x) => typeof x === "number" && x > 1e-30 && x < 1e30;
  const scaleOf = (low, high, log, ticks) => ({low, high, ticks: ticks.map((x) => [x, short(x)]),
    at: log ? (x) => Math.log(x / low) / Math.log(high / low) : (x) => (x - low) / (high - low)});
  // An axis of values with some room at both ends: logarithmic where they are far apart.
  function valueScale(values) {
    const shown = values.filter(drawable);
    let low = Math.min(...shown), high = Math.max(...shown);
    if (!shown.length) low = high = 1;
    if (high / low >= 3) {
      const room = (high / low) ** 0.1;
      return scaleOf(low / room, high * room, true, logTicks(low / room, high * room));
    }
    const room = high > low ? 0.08 * (high - low) : 0.1 * low;
    low = Math.max(0, low - room);
    return scaleOf(low, high + room, false, evenTicks(low, high + room));
  }
  const countScale = (most, log) => log ? scaleOf(1, most, true, logTicks(1, most))
    : scaleOf(0, most, false, evenTicks(0, most));
  const listScale = (labels) => ({at: (i) => (i + 0.6) / (labels.length + 0.2), list: true,
    ticks: labels.map((text, i) => [i, cut(text, 14)])});

  // A plot with axes at the left and below; draw(x, y) gives its content, x and y mapping to the drawing.
  function plot(name, width, height, x, y, xTitle, yTitle, draw, right = 12) {
    const longest = (s) => Math.max(...s.ticks.map(([, text]) => text.length), 1);
    const left = 34 + 7.6 * longest(y), all = x.ticks.reduce((sum, [, text]) => sum + text.length + 1, 0);
    const turned = x.list && all * 7.6 > width - left - right;
    const under = (turned ? 12 + 6 * longest(x) : 22) + (xTitle ? 24 : 4);
    const bottom = height - under, top = 12, px = (v) => left + x.at(v) * (width - left - right);
    const py = (v) => bottom - y.at(v) * (bottom - top), content = draw(px, py);
    if (!content) return null;
    const grid = y.list ? [] : [...y.ticks.map(([v]) => `M${left} ${py(v).toFixed(1)}H${width - right}`),
      ...(x.list ? [] : x.ticks.map(([v]) => `M${px(v).toFixed(1)} ${top}V${bottom}`))];
    let last = -99;
    const below = x.ticks.map(([v, text]) => {
      const at = px(v), half = 3.8 * text.length;
      if (turned) return svg("text", {transform: `translate(${at + 4} ${bottom + 10}) rotate(-50)`,
        "text-anchor": "end"}, text);
      if (!x.list && (at - half < last + 4 || at + half > width)) return null;
      last = at + half;
      return svg("text", {x: at, y: bottom + 18, "text-anchor": "middle"}, text);
    });
    return svg("svg", {viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": name, fill: "currentColor"},
      svg("path", {d: grid.join("") || "M0 0", stroke: "var(--grid)", fill: "none"}),
      svg("path", {d: `M${left} ${top}V${bottom}H${width - right}`, stroke: "var(--axis)", fill: "none"}),
      below, y.ticks.map(([v, text]) => svg("text", {x: left - 7, y: py(v) + 4.5, "text-anchor": "end"}, text)),
      xTitle && svg("text", {x: (left + width - right) / 2, y: height - 6, "text-anchor": "middle"}, cut(xTitle, 44)),
      yTitle && svg("text", {transform: `translate(14 ${(top + bottom) / 2}) rotate(-90)`, "text-anchor": "middle"},
        cut(yTitle, 32)),
      svg("g", {class: "data"}, content));
  }
  // points: [x, y, what is said of it under the pointer].
  const tip = (text) => text && svg("title", null, text);
  const dots = (points, size, colour) => svg("g", {fill: colour}, points.map(([a, b, text]) =>
    svg("circle", {cx: a.toFixed(1), cy: b.toFixed(1), r: size / 2}, tip(text))));
  const curve = (d, width, colour) => svg("path", {d, stroke: colour, "stroke-width": width, fill: "none"});
  const ring = (x, y, colour, text) => svg("circle", {class: "best-ring", cx: x, cy: y, r: 7, fill: "none",
    "pointer-events": "all", stroke: colour, "stroke-width": 2.5}, tip(text));
  const headline = (t, form) => `${t.best.text}: ${form.full(t.best_value)}`;

  // The best so far of one tuning with each configuration, or of several without; relative: over each one's own best.
  function progressPlot(name, list, form, bySeconds, relative) {
    const curves = list.slice(0, CURVES).map((t, i) => ({t, colour: `var(--p${i + 1})`}))
      .filter(({t}) => t.progress.length && (!bySeconds || t.spent_s > 0));
    if (!curves.length) return null;
    const when = (step) => bySeconds ? step.spent_s : step.evaluation;
    const values = [];
    for (const c of curves) {
      const best = c.t.progress[c.t.progress.length - 1].best_value;
      const shown = (v) => relative ? ratio(c.t, v, best) : v / form.scale;
      c.steps = c.t.progress.map((s) => [when(s), shown(s.best_value)]);
      c.end = bySeconds ? c.t.spent_s : c.t.configurations;
      const at = bySeconds ? c.t.points.spent_s : c.t.points.evaluation;
      c.cloud = list.length > 1 ? [] : c.t.points.value.map((v, i) =>
        [at[i], shown(v), `${c.t.points.text[i]}: ${form.full(v)}`]).filter(([, v]) => drawable(v));
      c.last = relative ? 1 : c.t.best_value / form.scale;
      if (list.length === 1) values.push(c.last);
      values.push(...c.steps.map((s) => s[1]), ...c.cloud.map((s) => s[1]));
    }
    const most = Math.max(...curves.map((c) => c.end)), log = !bySeconds && most > 2000;
    return plot(name, 430, 290, countScale(most, log), valueScale(values),
      bySeconds ? "seconds of measuring" : "evaluations",
      relative ? "times worse than own best" : form.axis, (px, py) => curves.map((c) => [
        c.cloud.length ? dots(c.cloud.map(([a, b, text]) => [px(a), py(b), text]), 3.4, "var(--faint)") : null,
        curve(c.steps.map(([a, b], i) =>
          `${i ? "H" : "M"}${px(a).toFixed(1)} ${i ? "V" : ""}${py(b).toFixed(1)}`).join("") +
          "H" + px(c.end).toFixed(1), 2.5, c.colour),
        list.length === 1 && ring(px(c.end), py(c.last), "var(--best)", headline(c.t, form))]), 16);
  }
  const shownOf = (parameter) => parameter.values.filter((v) => v.shown);
  const costs = (t, v) => isTime(t) ? [v.least_s, v.lower_quartile_s, v.median_s, v.upper_quartile_s]
    : [v.best, v.better_quartile, v.median, v.worse_quartile];

  function effectPlot(t, parameter, form) {
    const scaled = (cost) => cost === null ? null : cost / form.scale;
    const shown = shownOf(parameter).map((v) => ({...v, figures: costs(t, v).map(scaled)}));
    const labels = shown.map((v) => label(v.value)), values = shown.flatMap((v) => [v.figures[0], v.figures[3]]);
    values.push(t.best_value / form.scale);
    if (!t.progress.length) return null;
    return plot("The effect of each value of " + parameter.name, 320, 220, listScale(labels), valueScale(values),
      "", form.axis,
      (px, py) => {
        const said = (v) => `${parameter.name}=${label(v.value)}: median ${form.full(costs(t, v)[2])}, best ` +
          `${form.full(costs(t, v)[0])} with ${v.text}`;
        const known = shown.map((v, i) => [px(i), ...v.figures, v.of_best, said(v)])
          .filter((v) => v.slice(1, 5).every(drawable));
        return [known.map(([x, , low, , high]) => curve(`M${x} ${py(low)}V${py(high) - 0.1}`, 7, "var(--faint)")),
          curve(known.map(([x, , , median], i) => `${i ? "L" : "M"}${x} ${py(median)}`).join("") || "M0 0", 2,
            "var(--p1)"),
          dots(known.map(([x, , , median, , , text]) => [x, py(median), text]), 6, "var(--p1)"),
          known.map(([x, best, , , , , text]) => svg("path", {d: `M${x - 4} ${py(best) - 3.5}h8l-4 7z`,
            fill: "var(--p3)"}, tip(text))),
          known.filter((v) => v[5]).map(([x]) => ring(x, py(t.best_value / form.scale), "var(--best)",
            headline(t, form)))];
      });
  }

  const VIRIDIS = ["#fde725", "#8fd744", "#35b779", "#21908c", "#31688e", "#443a83", "#440154"]
    .map((c) => [1, 3, 5].map((i) => parseInt(c.slice(i, i + 2), 16)));
  function colourAt(share) {
    const x = Math.max(0, Math.min(1, share)) * (VIRIDIS.length - 1), i = Math.min(Math.floor(x), VIRIDIS.length - 2);
    return `rgb(${VIRIDIS[i].map((c, k) => Math.round(c + (x - i) * (VIRIDIS[i + 1][k] - c))).join(",")})`;
  }
  function pairsPlot(name, t, cells, parameters, form) {
    const axes = parameters.map(shownOf), scales = axes.map((a) => listScale(a.map((v) => label(v.value))));
    const values = cells.flat().filter((v) => v !== null).map((v) => v / form.scale),
      worst = t.objective.goal === "maximise";
    if (!values.length) return null;
    const scale = valueScale(values), colour = (v) => colourAt(worst ? 1 - scale.at(v) : scale.at(v));
    const W = 430, H = 330, barX = W - 92, barTop = 14, barHeight = H - 80;
    return plot(name, W, H, scales[0], scales[1], parameters[0].name, parameters[1].name, (px, py) => {
      const w = px(1) - px(0), h = py(0) - py(1), ways = [];
      cells.forEach((row, a) => row.forEach((v, b) => v !== null && ways.push(svg("path", {class: "cell",
        fill: colour(v / form.scale),
        d: `M${px(a) - 0.48 * w} ${py(b) - 0.48 * h}h${0.96 * w}v${0.96 * h}h${-0.96 * w}z`},
      tip(`${parameters[0].name}=${label(axes[0][a].value)} ${parameters[1].name}=${label(axes[1][b].value)}: ` +
        form.full(v))))));
      const best = axes.map((a) => a.findIndex((v) => v.of_best));
      const steps = [...Array(48).keys()].map((i) => svg("rect", {x: barX, width: 14,
        y: barTop + barHeight * (47 - i) / 48,
        height: barHeight / 48 + 0.5, fill: colourAt(worst ? 1 - i / 47 : i / 47)}));
      const marks = scale.ticks.map(([v, text]) => svg("text", {x: barX + 19,
        y: barTop + barHeight * (1 - scale.at(v)) + 4.5}, text));
      return [ways, best.every((i) => i >= 0) ? ring(px(best[0]), py(best[1]), "#111", headline(t, form)) : null,
        steps, marks,
        svg("text", {transform: `translate(${W - 6} ${barTop + barHeight / 2}) rotate(-90)`, "text-anchor": "middle"},
          cut(form.axis, 32))];
    }, 104);
  }
  function fitPlot(t, form) {
    const of = t.model.points;
    const points = of.measured.map((m, i) => [m / form.scale, of.predicted[i] / form.scale,
      `${of.text[i]}: measured ${form.full(m)}, predicted ${form.full(of.predicted[i])}`])
      .filter((p) => drawable(p[0]) && drawable(p[1]));
    const scale = valueScale(points.flatMap((p) => p.slice(0, 2))), unit = form.unit ? ", in " + form.unit : "";
    return plot("Predicted over measured values of configurations not used for training", 430, 350, scale, scale,
      "measured" + unit, "predicted" + unit, (px, py) => [
        curve(`M${px(scale.low)} ${py(scale.low)}L${px(scale.high)} ${py(scale.high)}`, 1.5, "var(--best)"),
        dots(points.map(([a, b, text]) => [px(a), py(b), text]), 3.4, "var(--p1)")]);
  }

  // Two of the objectives: all configurations, and the front as steps.
  function frontPlot(t, first, second) {
    const forms = [first, second].map((k) => {
      const {name, unit, goal} = t.front.members[0].values[k];
      return formOf({objective: {name, unit, goal}}, t.front.members[0].values[k].value);
    });
    const at = (values) => [values[first] / forms[0].scale, values[second] / forms[1].scale];
    const all = t.front.points.map(at).filter((p) => p.every(drawable));
    const members = t.front.members.map((m) => [...at(m.values.map((v) => v.value)), `${m.text}: ${m.summary}`])
      .filter((p) => p.slice(0, 2).every(drawable));
    const values = (k) => [...all, ...members].map((p) => p[k]);
    return plot("The front and all configurations", 430, 330, valueScale(values(0)), valueScale(values(1)),
      forms[0].axis, forms[1].axis, (px, py) => [
        dots(all.map(([a, b]) => [px(a), py(b), ""]), 3.4, "var(--faint)"),
        t.front.members[0].values.length === 2 && curve(members.map(([a, b], i) => i
          ? `H${px(a).toFixed(1)}V${py(b).toFixed(1)}` : `M${px(a).toFixed(1)} ${py(b).toFixed(1)}`).join("") || "M0 0",
        1.5, "var(--p1)"),
        members.map(([a, b, text]) => svg("path", {d: `M${px(a) - 4} ${py(b)}l4 -4l4 4l-4 4z`, fill: "var(--p1)"},
          tip(text)))]);
  }

  // --- parts of a tuning ---
  const stepNear = (t) => t.progress.find((s) => ratio(t, s.best_value,
    t.progress[t.progress.length - 1].best_value) <= NEAR);
  const failedOf = (t) => t.configurations - t.correct - t.abandoned;
  const ranked = (t) => t.ranking.map((i) => t.parameters[i]);

  // A text to be taken along: a click on it selects all of it.
  function copied(name, text) {
    if (!text) return null;
    const button = navigator.clipboard && el("button", {type: "button", "aria-label": "Copy: " + name}, "Copy");
    if (button) button.addEventListener("click", () => navigator.clipboard.writeText(text)
      .then(() => { button.textContent = "Copied"; }, () => { button.textContent = "Select and copy"; }));
    return el("p", {class: "block"}, el("span", {class: "soft"}, name + " "), code(text), button && [" ", button]);
  }

  function interval(row, form) {
    if (row.finalist_interval === null) return "";
    if (row.finalist_interval > 0.5) /* half a width would say little */
      return `, ${form.full(row.finalist_low)} to ${form.full(row.finalist_high)} ` +
        `(${percent(Math.min(row.finalist_confidence, 0.95))})`;
    return ` \u00b1 ${percent(row.finalist_interval, 1)} (${percent(Math.min(row.finalist_confidence, 0.95))})`;
  }

  function facts(t, form) {
    const fact = (kind, term, value, small) => el("div", {class: kind}, el("dt", null, term), el("dd", null, value,
      el("small", null, small)));
    const failed = failedOf(t), list = [];
    if (t.best) {
      const gain = ratio(t, t.median_value, t.best.value), times = (x) => x.toFixed(x < 10 ? 2 : 1) + "\u00d7";
      if (t.default && t.gain_over_default > 0)
        list.push(fact("best", isTime(t) ? "Speed-up over the default" : "Better than the default",
          times(t.gain_over_default), `the default configuration: ${form.full(t.default_value)}` +
            (t.best_is_finalist ? interval(t.default, form) : "")));
      list.push(fact(list.length ? "" : "best", isTime(t) ? "Best time" : "Best",
        form.full(t.best_value) + (t.best_is_finalist ? interval(t.best, form) : ""),
        t.best_is_finalist ? "median of its interleaved runs as a finalist, shown as rings in the plots; " +
          form.full(t.best.value) + " at best in the search" : "at best in the search"),
      fact("", isTime(t) ? "Faster than the median" : "Better than the median",
        times(gain),
        "in the search; half of the correct ones " + (isTime(t) ? "took longer than " : "are worse than ") +
        form.full(t.median_value)));
    }
    list.push(fact("", "Configurations", count(t.configurations), t.whole_space ? `of ${count(t.valid)} valid ones`
      : "that the store has"),
      fact("", "Failed", count(failed), percent(failed / t.configurations, 1) + " of them" +
        (t.abandoned ? `; ${count(t.abandoned)} slow: ended far behind the best` : "")));
    for (const m of t.metrics || [])
      list.push(fact("", m.name, String(Number(m.value.toPrecision(4))) + (m.unit ? "\u00a0" + m.unit : ""),
        "of the best configuration"));
    const s = t.session, day = t.measured_from, end = t.measured_until, line = [];
    if (day) line.push("Measured " + day + (end === day ? "" : " to " + (end.startsWith(day.slice(0, 10))
      ? end.slice(11) : end)) + " UTC");
    if (s) line.push(`newest search: ${s.searcher}, ${count(s.evaluations)} evaluations, seed ${s.seed}`);
    if (s && s.load !== null) line.push(`load ${s.load.toFixed(2)} on ${s.processors} processors when it began`);
    return [!isTime(t) && el("p", null, `To be ${t.objective.goal}d: ${form.title}.`), el("dl", {class: "facts"}, list),
      t.best ? [copied("Best configuration", t.best.text), copied("Compiler options", t.options),
        copied("Look it up", t.lookup), copied("Default configuration", t.default && t.default.text)]
        : el("p", null, "No configuration was correct."),
      s && s.how_sure && el("p", null, "Search quality: " + s.how_sure + "."),
      (t.notes || []).map((note) => el("p", null, "Note: " + note + ".")),
      line.length > 0 && el("p", {class: "soft"}, line.join("; ") + ".")];
  }

  function progress(t, form) {
    const last = t.progress[t.progress.length - 1], near = stepNear(t), timed = t.spent_s > 0;
    const caption = el("figcaption", null, key("k1"), "best so far in the search ", key("faint"),
      "each configuration ", key("ring"), "the best configuration" + (t.best_is_finalist ? ", as a finalist" : ""));
    const rows = t.progress.map((s) => el("tr", null, cell("td", "n", count(s.evaluation)),
      timed && cell("td", "n", s.spent_s.toFixed(2)), cell("td", "n", form.put(s.best_value))));
    const another = t.best && t.best.evaluation !== last.evaluation; /* the search's best lost as a finalist */
    return [el("p", null, another ? `The best configuration is that of evaluation ${count(t.best.evaluation)}; the best of ` +
      "the search was found at evaluation " : "The best configuration was found at evaluation ",
      `${count(last.evaluation)} of ${count(t.configurations)}`,
      near !== last && `, and one within 5\u00a0% of it at evaluation ${count(near.evaluation)}`,
      t.in_order && ". They are in the order of their numbers, not of a search",
      timed && `. Measuring took ${Number(t.spent_s.toPrecision(4))} seconds, builds included`, "."),
    el("div", {class: "figures"},
      figure("Over evaluations", progressPlot("The best so far over the number of evaluations, with each configuration",
        [t], form, false), caption),
      figure("Over time", progressPlot("The best so far over the seconds spent on measuring, with each configuration",
        [t], form, true),
        caption.cloneNode(true))),
    el("details", null, el("summary", null, `All improvements: ${t.progress.length}`), table("Improvements",
      [["evaluation", "n"], ...(timed ? [["seconds", "n"]] : []), [form.title, "n"]], rows))];
  }

  function front(t) {
    const values = t.front.members[0].values, rows = t.front.members.map((m) => el("tr", null,
      m.values.map((v) => cell("td", "n", formOf({objective: v}, v.value).full(v.value))), cell("td", "flow", code(m.text))));
    return [el("p", null, "No other configuration is at least as good by all objectives and better by one. The values are " +
      "those of the search."),
    el("div", {class: "figures"}, values.slice(1).map((v, i) => figure(`${v.name} over ${values[0].name}`,
      frontPlot(t, 0, i + 1)))),
    table("The front", [...values.map((v) => [v.name, "n"]), ["configuration"]], rows)];
  }

  function fastest(t, form) {
    const metrics = (t.fastest[0] || t.best).metrics, finalists = t.fastest.some((r) => r.finalist_value !== null);
    const common = ranked(t).filter((p) => t.fastest.length > 1 &&
      t.fastest.every((r) => r.configuration[p.name] === t.best.configuration[p.name]));
    const columns = ranked(t).filter((p) => !common.includes(p));
    const rows = t.fastest.map((r) => {
      const best = r.evaluation === t.best.evaluation, standard = t.default && r.evaluation === t.default.evaluation;
      return el("tr", {class: best ? "best" : standard ? "default" : ""}, cell("th", "n", form.put(r.value) +
        (standard ? " (default)" : "")),
        cell("td", "n", r.spread === null ? "\u2013" : percent(r.spread, 1)),
        finalists && cell("td", "n", form.put(r.finalist_value) + interval(r, form)),
        metrics.map((m) => {
          const own = r.metrics.find((other) => other.name === m.name);
          return cell("td", "n", own ? String(Number(own.value.toPrecision(4))) : "\u2013");
        }),
        columns.map((p) => {
          const same = !best && r.configuration[p.name] === t.best.configuration[p.name];
          return cell("td", same ? "n same" : "n", label(r.configuration[p.name]));
        }));
    });
    return [el("p", null, "The spread is the median absolute deviation of a configuration's runs over their median. ",
      finalists && "Finalists were run again at the end, in interleaved rounds, and their medians decide. The interval follows " +
        "\u00b1, with the probability in brackets. ",
      "Parameters are in the order of their importance; values that the best configuration shares are grey."),
    common.length > 0 && el("p", null, "All of them have ",
      code(common.map((p) => p.name + "=" + label(t.best.configuration[p.name])).join(" ")), "."),
    table("The fastest configurations", [[form.title, "n"], ["spread", "n"],
      ...(finalists ? [["finalist, " + form.unit, "n"]] : []),
      ...metrics.map((m) => [m.name + (m.unit ? ", " + m.unit : ""), "n"]),
      ...columns.map((p) => [p.name, "n"])], rows)];
  }

  function parameters(t, form) {
    const importance = ranked(t).map((p) => {
      const best = p.values.find((v) => v.of_best), standard = p.values.find((v) => v.of_default);
      return el("tr", null, cell("th", "", p.name), cell("td", "n", percent(p.importance || 0, 0)), el("td", null,
        bar(p.importance || 0)),
        cell("td", "n mark", best ? label(best.value) : ""), t.default && cell("td", "n", label(standard.value)));
    });
    const inNumbers = (p) => {
      const shown = shownOf(p);
      return el("details", null, el("summary", null, p.name + " in numbers"), table("A parameter's values",
        [["value", "n"], ["rows", "n"], ["failed", "n"], ["best" + form.suffix, "n"], ["quarter", "n"], ["median", "n"],
          ["three quarters", "n"]],
        shown.map((v) => el("tr", {class: v.of_best ? "best" : ""}, cell("th", "n", label(v.value) +
          (v.of_default ? " (default)" : "")), cell("td", "n", count(v.rows)), cell("td", "n", count(v.failed)),
          costs(t, v).map((c) => cell("td", "n", form.put(c))))),
        p.values.length > shown.length && `The ${shown.length} best of ${p.values.length} values`));
    };
    return [el("p", null,
      "Importance is the share of the variance on a logarithmic scale that a parameter explains by itself. Effects " +
      "of combinations are not included. The rows are the measured configurations; a search concentrates on good " +
      "ones, so only random samples and whole recordings represent the whole space."),
    table("Importance of the parameters", [["parameter"], ["importance", "n"], [""], ["best value", "n"],
      ...(t.default ? [["default", "n"]] : [])], importance),
    el("p", null, key("k1"), "median ", key("stripe faint"), "from a quarter to three quarters ",
      key("triangle"), "best in the search ", key("ring"), "the best configuration" +
        (t.best_is_finalist ? ", as a finalist" : "")),
    el("div", {class: "small figures"}, ranked(t).map((p) => figure(p.name, effectPlot(t, p, form),
      inNumbers(p)) || inNumbers(p)))];
  }

  function pairs(t, form) {
    const best = isTime(t) ? "Shortest time" : "Best", median = isTime(t) ? "Median time" : "Median";
    const list = [t.pairs, ...t.other_pairs], figures = el("div", {class: "figures"});
    const show = (pair) => {
      const two = pair.parameters.map((name) => t.parameters.find((p) => p.name === name)), [a, b] = pair.parameters;
      figures.replaceChildren(...[["best", best], ["median", median]].map(([what, title]) => figure(title,
        pairsPlot(`The ${what} for each pair of values of ${a} and ${b}`, t, pair[what], two, form)))
        .filter((f) => f));
    };
    const select = el("select", null, list.map((pair, i) =>
      el("option", {value: i}, pair.parameters.join(" \u00d7 "))));
    select.addEventListener("change", () => show(list[select.value]));
    show(list[0]);
    return [el("p", null, list.length > 1 ? el("label", null, "Parameters: ", select) : code(t.pairs.parameters.join(
      " \u00d7 ")), ". The first pair are the two most important ones. The ring is on the best configuration; pairs " +
      "without a correct measurement are empty."), figures];
  }

  function model(t, form) {
    if (!t.model) return el("p", null, "There is no model: it needs 30 correct configurations that differ.");
    return [el("p", null,
      "An ensemble of networks was trained on the rows, and each row predicted by those networks that had not seen " +
      "it. " +
      "Out of fold it is off by a factor of ", el("strong", null,
        String(Number(Math.exp(t.model.log_error_sd).toPrecision(3)))),
        ` (one standard deviation), ` +
      (t.model.useless ? "no better than their mean: it is useless. It had"
        : t.model.mean_relative_error > 1 ? "with a few configurations far off. It had"
          : `and by ${percent(t.model.mean_relative_error, 1)} in the mean. It had`) + ` ${count(t.model.rows)} rows, ` +
      `${count(t.model.failed_rows)} of them failed; ` +
      `seed ${report.seed}.`), el("div", {class: "figures"}, figure("", fitPlot(t, form),
      el("figcaption", null, "On the line, prediction and measurement agree.")))];
  }

  function failures(t) {
    const share = (n, of) => [cell("td", "n", count(n)), cell("td", "n", percent(n / of, 1)), el("td", null,
      bar(n / of))];
    const failed = failedOf(t);
    return [table("Failures by reason", [["reason"], ["rows", "n"], ["share", "n"], [""], ["what it means"]],
      Object.entries(t.reasons).map(([name, n]) => el("tr", null, cell("th", "", name), share(n, t.configurations),
        el("td", {class: "flow"}, t.reason_texts[name])))),
    t.failing.length > 0 && [el("p", null,
      `Values with which more fails than the ${percent(failed / t.configurations, 1)} of all:`),
      table("Failures by parameter",
        [["parameter"], ["value", "n"], ["rows", "n"], ["failed", "n"], ["share", "n"], [""]],
        t.failing.map((f) => el("tr", null, cell("th", "", f.parameter), cell("td", "n", label(f.value)), cell("td",
          "n", count(f.rows)),
          share(f.failed, f.rows))))]];
  }

  function device(t) {
    const d = t.device || {};
    const line = (name, text) => text && el("tr", null, cell("th", "", name), el("td", {class: "flow"}, text));
    const number = (n, unit) => n > 0 && count(Math.floor(n)) + (unit ? "\u00a0" + unit : "");
    return table("The device", null, [line("known as", t.key), line("name", d.name), line("vendor", d.vendor),
      line("platform", d.platform_name),
      line("platform version", d.platform_version), line("device version", d.device_version),
      line("driver version", d.driver_version),
      line("OpenCL C", d.opencl_c_version), line("compute units", number(d.compute_units)),
      line("clock", number(d.clock_mhz, "MHz")), line("largest work group", number(d.max_work_group_size)),
      line("local memory", number(d.local_memory_bytes / 1024, "KiB")),
      line("global memory", number(d.global_memory_bytes / 1048576, "MiB"))]);
  }

  // What runs while the page is rewritten, as its events say it: the running tunings first.
  function follow(f) {
    const running = f.tunings.filter((t) => !t.ended), ended = f.tunings.length - running.length;
    const shown = [...running, ...f.tunings.filter((t) => t.ended).reverse()].slice(0, 64).map((t) => ({...t,
      spent_s: t.elapsed_s, configurations: t.evaluations, best: {text: t.best},
      points: {value: [], evaluation: [], spent_s: [], text: []}}));
    const rows = shown.map((t, i) => el("tr", null, el("th", {scope: "row", class: "flow"},
      i < CURVES && key("k" + (i + 1)), [t.title, t.sizes, t.device].filter((s) => s).join(" \u00b7 ")),
    cell("td", "flow", t.ended ? "ended" : t.waits || t.phase),
    cell("td", "n", count(t.evaluations) + (t.total ? " of " + count(t.total) : "")),
    cell("td", "flow", Object.entries(t.reasons).map(([name, n]) => `${count(n)} ${name}`).join(", ")),
    cell("td", "flow", t.progress.length ? formOf(t, t.best_value).full(t.best_value) + ": " + t.best.text : ""),
    cell("td", "flow", t.latest ? `${t.latest.text}: ${t.latest.result}` : "")));
    const relative = shown.some((t) => t.title !== shown[0].title || t.sizes !== shown[0].sizes);
    return el("section", {"aria-labelledby": "follow"}, el("h2", {id: "follow"}, f.ended ? "The search has ended" : "Running"),
      !f.tunings.length && el("p", null, "Waiting for the first event in ", code(f.file), "."),
      ended > 0 && el("p", null, `${count(ended)} of ${count(f.tunings.length)} tunings have ended.`),
      shown.length > 0 && [table("What runs", [["tuning"], ["now"], ["evaluations", "n"], ["failed"], ["best"], ["latest"]], rows),
        el("div", {class: "figures"}, figure("Over time", progressPlot("The best so far over the seconds since the start", shown,
          formOf(shown[0], shown[0].best_value), true, relative)))]);
  }

  // --- the page ---
  // A tuning's parts: id, title, whether there is something to show, what writes it.
  const PARTS = [["progress", "The best so far", (t) => t.progress.length > 0, progress],
    ["front", "The front", (t) => t.front.members.length > 0, front],
    ["fastest", (t) => isTime(t) ? "The ten fastest" : "The ten best", (t) => t.best, fastest],
    ["parameters", "Effects of the parameters", (t) => t.ranking.length > 0, parameters],
    ["pairs", "Two parameters together", (t) => t.pairs && t.best, pairs],
    ["model", "Predicted and measured", (t) => t.progress.length > 0, model],
    ["failures", "Failures", (t) => failedOf(t) > 0, failures],
    ["device", "The device", (t) => t.device || t.key, device]];
  const titleOf = (part, t) => typeof part[1] === "string" ? part[1] : part[1](t);
  const partsOf = (t) => PARTS.filter((part) => part[2](t));
  const several = tunings.length > 1, only = tunings.length === 1 && tunings[0], now = report.follow;
  const title = several ? `${tunings.length} tunings compared` : only ? only.title : "No measurement yet";
  const subject = (t) => [t.sizes, t.device ? t.device.name : t.key].filter((s) => s).join(" \u00b7 ");
  const item = (target, text) => el("li", null, el("a", {href: "#" + target}, text));

  function comparison() {
    const relative = tunings.some((t) => t.title !== tunings[0].title || t.sizes !== tunings[0].sizes);
    const bests = tunings.map((t) => t.best_value).filter((v) => v !== null);
    const form = formOf(tunings[0], Math.min(...bests));
    const rows = tunings.map((t, i) => el("tr", null, el("th", {scope: "row", class: "flow"},
      i < CURVES && key("k" + (i + 1)),
      el("a", {href: "#r" + (i + 1)}, `${i + 1} ${t.title}`)), el("td", {class: "flow"}, t.sizes),
    el("td", {class: "flow"}, t.device ? t.device.name : t.key), cell("td", "n", count(t.configurations)),
    cell("td", "n", count(failedOf(t))), cell("td", "n", formOf(t, t.best_value).full(t.best_value)),
    cell("td", "n", t.gain_over_default ? t.gain_over_default.toFixed(2) + "\u00d7" : ""),
    cell("td", "n", t.progress.length ? count(stepNear(t).evaluation) : "")));
    return el("section", {"aria-labelledby": "compared"}, el("h2", {id: "compared"}, "Side by side"),
      relative && el("p", null,
        "These are different problems or sizes: the curves show how many times worse than each tuning's own best."),
      table("The tunings", [["tuning"], ["sizes"], ["device"], ["evaluations", "n"], ["failed", "n"], ["best", "n"],
        ["over the default", "n"],
        ["within 5\u00a0% after", "n"]], rows),
      tunings.length > CURVES && el("p", null, `The plots show the first ${CURVES}.`),
      el("div", {class: "figures"},
        figure("Over evaluations", progressPlot("The best so far of each tuning over its evaluations", tunings, form,
          false, relative)),
        figure("Over time", progressPlot("The best so far of each tuning over the seconds spent on measuring", tunings,
          form, true, relative))));
  }

  function tuning(t, i) {
    const form = formOf(t, t.best_value), level = several ? "h3" : "h2";
    return [several && el("h2", {id: "r" + (i + 1)}, `${i + 1} ${t.title}`), several && subject(t) && el("p",
      {class: "sub"}, subject(t)), facts(t, form),
      partsOf(t).map((part) => el("section", {"aria-labelledby": `r${i + 1}-${part[0]}`},
        el(level, {id: `r${i + 1}-${part[0]}`}, titleOf(part, t)), part[3](t, form)))];
  }

  document.title = title + " \u2013 clatune";
  fill(document.getElementById("head"), null, [el("h1", null, title), only && subject(only) && el("p",
    {class: "sub"}, subject(only)),
    el("nav", {"aria-label": "Contents"}, el("ul", null, now && item("follow", "Running"), several ? tunings.map((t, i) => item("r" + (i + 1),
      `${i + 1} ${t.title}`))
      : only && partsOf(only).map((part) => item("r1-" + part[0], titleOf(part, tunings[0]))), item("origin",
        "How this page was made")))]);
  fill(document.getElementById("content"), null, [now && follow(now), several && comparison(),
    tunings.map(tuning)]);
  fill(document.getElementById("foot"), null, [el("section", {"aria-labelledby": "origin"}, el("h2", {id: "origin"},
    "How this page was made"),
    el("p", null, `By clatune ${report.version}. It needs nothing beside itself: no network, no font, no other file.`),
    report.command && el("p", {class: "block"}, code(report.command)))]);
})();
