"use strict";
// A question is the address of the page: what differs from the file. An answer comes as events. ask.js has the simulator.
const $ = (id) => document.getElementById(id);
const PAUSE_MS = 60;
let controls;
let policies = [];
let values = new Map();
let source;
let timer;
// A policy that was added and not yet answered: one that cannot be run is taken back.
let added;

function make(tag, properties, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

function say(text, isWrong) {
  $("state").textContent = text;
  $("state").classList.toggle("wrong", Boolean(isWrong));
}

function shown(x) {
  const digits = Math.abs(x) >= 100 ? 0 : Math.abs(x) >= 10 ? 1 : 2;
  return String(Number(x.toFixed(digits)));
}

// A slider has 1,000 steps over the logarithm of its range.
// A range that begins with 0 is as it is.
const at = (c, x) =>
  Math.round(c.min > 0 ? (1000 * Math.log(x / c.min)) / Math.log(c.max / c.min) : (1000 * x) / c.max);
const of = (c, step) => {
  const x = c.min > 0 ? c.min * Math.pow(c.max / c.min, step / 1000) : (c.max * step) / 1000;
  return c.whole ? Math.round(x) : Number(x.toPrecision(3));
};

function question() {
  const pairs = [];
  for (const c of controls.numbers) {
    if (values.get(c.key) !== c.value) pairs.push([c.key, String(values.get(c.key))]);
  }
  if (controls.is_plan) {
    for (const c of controls.choices) {
      if (values.get(c.key) !== c.value) pairs.push([c.key, values.get(c.key)]);
    }
    return pairs;
  }
  const chosen = policies.filter((p) => p.isChosen).map((p) => p.text);
  if (chosen.join("\n") !== controls.policies.join("\n")) {
    for (const text of chosen) pairs.push(["policy", text]);
  }
  return pairs;
}

// What differs from the file, in words: on paper there are no sliders.
function changes(pairs) {
  const words = ([key, value]) => {
    const c = [...controls.numbers, ...(controls.choices || [])].find((one) => one.key === key);
    return c ? `${c.label} ${value} ${c.unit || ""}`.trim() + ` (file: ${c.value})` : `policy ${value}`;
  };
  $("changes").textContent = pairs.length ? `Changed: ${pairs.map(words).join(", ")}.` : "Nothing changed.";
}

function ask() {
  clearTimeout(timer);
  timer = setTimeout(run, PAUSE_MS);
}

function run() {
  const pairs = question();
  simulator.keep(pairs);
  changes(pairs);
  close();
  if (controls.is_plan) {
    runPlan(pairs);
    return;
  }
  if (!policies.some((p) => p.isChosen)) {
    say("Choose at least one policy.", true);
    return;
  }
  $("figure").hidden = true;
  $("no-figure").hidden = false;
  $("peaks").hidden = true;
  $("peaks-notes").replaceChildren();
  rowsOf();
  say("Running.");
  listen("/api/run", pairs, "policy", show, () => {
    say(`Done: ${runsOf(pairs)}.`);
    simulator.picture($("figure"), ofFile(pairs));
  });
  same(pairs);
}

// Ends the question that is under way.
function close() {
  if (source) source.close();
  source = undefined;
  $("stop").hidden = true;
}

// A note is there once: those that differ only in the policy at their end have all policies there.
function note(list, text, policy) {
  const of = text.endsWith(` (${policy})`) ? policy : "";
  const says = of ? text.slice(0, -(of.length + 3)) : text;
  let item = Array.from(list.children).find((one) => one.dataset.says === says);
  if (!item) {
    item = make("li");
    item.dataset.says = says;
    item.dataset.of = "[]";
    list.append(item);
  }
  const named = new Set(JSON.parse(item.dataset.of));
  if (of) named.add(of);
  item.dataset.of = JSON.stringify([...named]);
  item.textContent = named.size ? `${says} (${[...named].join(", ")})` : says;
}

function search() {
  close();
  const pairs = question();
  const count = policies.filter((p) => p.isChosen).length;
  let done = 0;
  const cell = (textContent) => make("td", { textContent });
  const rows = new Map(policies.filter((p) => p.isChosen).map((p) => {
    const name = make("th", { scope: "row", textContent: p.text });
    return [p.text, make("tr", {}, name, cell("..."), cell(""))];
  }));
  $("peaks-rows").replaceChildren(...rows.values());
  $("peaks-notes").replaceChildren();
  $("peaks").hidden = false;
  say(`Searching: 0 of ${count} policies.`);
  listen("/api/goodput", pairs, "goodput", (found) => {
    done += 1;
    say(`Searching: ${done} of ${count} policies.`);
    found.notes.forEach((text) => note($("peaks-notes"), text, found.policy));
    const value = found.value === null ? "no answer" : shown(found.value);
    const row = rows.get(found.asked);
    row.lastChild.textContent = found.reason || found.flags.join(", ");
    row.lastChild.previousSibling.textContent = value;
  }, () => say("Searched."));
}

// A question of another text than the page was opened with is refused.
const ofFile = (pairs) => [...pairs, ["file", controls.file_sha256]];

// Events of one answer. A new one ends it, here and at the simulator.
function listen(path, pairs, name, each, whenDone) {
  const mine = simulator.events(path, ofFile(pairs));
  source = mine;
  $("stop").hidden = false;
  const end = () => {
    if (source === mine) close();
    else mine.close();
  };
  mine.addEventListener(name, (event) => each(JSON.parse(event.data)));
  mine.addEventListener("done", () => {
    end();
    added = undefined;
    whenDone();
  });
  mine.addEventListener("cancelled", end);
  mine.addEventListener("failed", (event) => {
    end();
    fail(JSON.parse(event.data).error);
  });
  mine.onerror = () => {
    if (source !== mine) return;
    end();
    // An event source does not say why: the same question asked again does.
    simulator.reply(path, ofFile(pairs)).then(
      async (reply) => (reply.ok ? say("The answer broke off: move a slider to ask again.", true) : fail((await reply.json()).error)),
      () => say(simulator.gone, true),
    );
  };
}

// Says what is wrong. A policy that was added last is taken back, so that the next question is answered.
function fail(error) {
  say(error, true);
  if (!added) return;
  policies = policies.filter((p) => p.text !== added);
  added = undefined;
  choices();
  const pairs = question();
  simulator.keep(pairs);
  changes(pairs);
}

// The file and the command that give the same rows.
function same(pairs) {
  const name = `${controls.name}.toml`;
  $("file").download = name;
  simulator.link($("file"), "/api/scenario.toml", ofFile(pairs));
  simulator.link($("report"), "/api/report.html", ofFile(pairs));
  $("command").textContent = `orrery run ${name} --seeds ${controls.seeds}\norrery goodput ${name} --seeds 1`;
}

// How much was run: `5 seeds of 20,000 requests`.
function runsOf(pairs) {
  const seeds = Number((pairs.find(([key]) => key === "seeds") || [])[1] || controls.seeds);
  const requests = controls.numbers.find((c) => c.key === "arrivals.requests");
  const each = requests ? ` of ${values.get(requests.key).toLocaleString("en")} requests` : "";
  return `${seeds} seed${seeds === 1 ? "" : "s"}${each}`;
}

function rowsOf() {
  const old = new Map(Array.from($("rows").children, (row) => [row.dataset.policy, row]));
  const chosen = policies.filter((p) => p.isChosen).map((p) => p.text);
  $("rows").replaceChildren(
    ...chosen.map((text) => {
      const row = old.get(text) || make("tr", {}, make("th", { scope: "row", textContent: text }));
      row.dataset.policy = text;
      row.classList.add("old");
      return row;
    }),
  );
  $("notes").replaceChildren();
}

function show(told) {
  const row = Array.from($("rows").children).find((r) => r.dataset.policy === told.asked);
  if (!row) return;
  const m = told.metrics;
  const cell = (textContent) => make("td", { textContent });
  const number = ({ dataset }) => {
    const found = m[dataset.metric];
    return cell(!found || found.value === null ? "-" : shown(found.value / dataset.divisor));
  };
  const rate = m.finish_rate;
  const three = (x) => x.toFixed(4);
  const bar = make("td", { className: "bar" });
  if (rate && rate.value !== null) {
    const fill = make("span", { className: "fill" });
    fill.style.width = `${100 * rate.value}%`;
    bar.append(fill);
    if (rate.low !== null) {
      const range = make("span", { className: "range" });
      range.style.left = `${100 * Math.max(0, rate.low)}%`;
      range.style.width = `${100 * (Math.min(1, rate.high) - Math.max(0, rate.low))}%`;
      bar.append(range);
    }
  }
  const interval = rate && rate.low !== null ? `${three(rate.low)} to ${three(rate.high)}` : "-";
  const runs = told.is_short ? "first look" : told.seeds === 1 ? "1 seed" : `${told.seeds} seeds`;
  row.replaceChildren(
    make("th", { scope: "row", textContent: told.policy }),
    cell(rate && rate.value !== null ? three(rate.value) : "-"),
    cell(interval),
    bar,
    ...Array.from(document.querySelectorAll("th[data-metric]"), number),
    cell(runs),
  );
  row.classList.toggle("old", false);
  row.classList.toggle("short", told.is_short);
  if (told.is_last) {
    told.notes.forEach((text) => note($("notes"), text, told.policy));
  }
}

function numbers() {
  $("numbers").replaceChildren(
    ...controls.numbers.map((c, i) => {
      const [id, typed] = [`n${i}`, `t${i}`];
      const slider = make("input", {
        type: "range", id, min: 0, max: 1000, step: c.whole && c.max - c.min < 100 ? 1 : 5, value: at(c, values.get(c.key)),
      });
      const number = make("input", {
        type: "number", id: typed, min: c.min, max: c.max, step: c.whole ? 1 : "any", value: values.get(c.key),
      });
      number.setAttribute("aria-label", `${c.label}, ${c.unit || "count"}`);
      slider.setAttribute("aria-valuetext", `${values.get(c.key)} ${c.unit}`);
      const set = (x) => {
        values.set(c.key, x);
        slider.setAttribute("aria-valuetext", `${x} ${c.unit}`);
        ask();
      };
      slider.addEventListener("input", () => {
        // Small counts move by one, whatever the logarithm says.
        const x = of(c, Number(slider.value));
        number.value = x;
        set(x);
      });
      number.addEventListener("change", () => {
        // An empty field is one that is being typed in.
        if (number.value.trim() === "") return;
        slider.value = at(c, Math.min(c.max, Math.max(c.min, Number(number.value))));
        set(Number(number.value));
      });
      const label = make("label", { htmlFor: id, textContent: c.label });
      const zero = c.zero ? `0: ${c.zero}` : "";
      const unit = make("span", { className: "unit", textContent: c.unit || zero });
      return make("div", { className: "number" }, label, slider, number, unit);
    }),
  );
}

function choices() {
  $("policies").replaceChildren(
    ...policies.map((p, i) => {
      const box = make("input", { type: "checkbox", id: `p${i}`, checked: p.isChosen });
      box.addEventListener("change", () => {
        p.isChosen = box.checked;
        ask();
      });
      return make("div", {}, box, make("label", { htmlFor: `p${i}`, textContent: p.text }));
    }),
  );
}

function begin(pairs) {
  values = new Map(controls.numbers.map((c) => [c.key, c.value]));
  if (controls.is_plan) {
    beginPlan(pairs);
    return;
  }
  const named = pairs.filter(([key]) => key === "policy").map(([, text]) => text);
  const texts = [...new Set([...controls.policies, ...named])];
  const isChosen = (text) => (named.length ? named : controls.policies).includes(text);
  policies = texts.map((text) => ({ text, isChosen: isChosen(text) }));
  for (const [key, text] of pairs) {
    if (values.has(key)) values.set(key, Number(text));
  }
  numbers();
  choices();
  run();
}

async function load() {
  close();
  const reply = await simulator.reply("/api/controls", []).catch(() => undefined);
  if (!reply) {
    say(simulator.gone, true);
    return;
  }
  const found = await reply.json();
  if (!reply.ok) {
    say(found.error, true);
    return;
  }
  controls = found;
  $("name").textContent = controls.name;
  document.title = `what if: ${controls.name}`;
  const offered = controls.offered || [];
  $("offered").replaceChildren(...offered.map((p) => make("option", { value: p.name, label: p.what })));
  const columns = (controls.columns || []).map(({ metric, heading, divisor }) => {
    const column = make("th", { scope: "col", textContent: heading });
    Object.assign(column.dataset, { metric, divisor });
    return column;
  });
  document.querySelectorAll("th[data-metric]").forEach((column) => column.remove());
  $("runs").before(...columns);
  $("rows").replaceChildren();
  begin(simulator.pairs());
}

$("search").addEventListener("click", search);
$("stop").addEventListener("click", () => {
  close();
  $("progress").hidden = true;
  say("Stopped. Move a slider to ask again.");
});
$("back").addEventListener("click", () => begin([]));
$("add").addEventListener("click", () => {
  const text = $("added").value.trim();
  const known = policies.find((p) => p.text === text);
  if (!text) return;
  if (known) known.isChosen = true;
  else {
    policies.push({ text, isChosen: true });
    added = text;
  }
  $("added").value = "";
  choices();
  ask();
});
$("controls").addEventListener("submit", (event) => event.preventDefault());
$("figure").addEventListener("load", () => {
  $("figure").hidden = false;
  $("no-figure").hidden = true;
});
simulator.begin(load);
