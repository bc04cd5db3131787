"use strict";
// The page of a plan: its sliders are what-ifs, and its answer is a job with progress. page.js comes after it and calls it.

function beginPlan(pairs) {
  $("numbers-head").textContent = "Plan";
  $("of-scenarios").hidden = true;
  $("scenario-answer").hidden = true;
  $("plan-answer").hidden = false;
  for (const id of ["plan-figure", "changed-figure"]) {
    $(id).onload = () => {
      $(id).parentElement.hidden = false;
      $("no-plan-figure").hidden = true;
    };
  }
  $("asked").textContent = `Asked: ${controls.asked}.`;
  for (const c of controls.choices) values.set(c.key, c.value);
  for (const [key, text] of pairs) {
    const choice = controls.choices.find((c) => c.key === key);
    if (choice) values.set(key, text);
    else if (values.has(key)) values.set(key, Number(text));
  }
  numbers();
  $("choices").replaceChildren(
    ...controls.choices.map((c, i) => {
      const select = make("select", { id: `c${i}` });
      select.append(...c.values.map((text) => make("option", { value: text, textContent: text })));
      select.value = values.get(c.key);
      select.addEventListener("change", () => {
        values.set(c.key, select.value);
        ask();
      });
      return make("p", {}, make("label", { htmlFor: `c${i}`, textContent: `${c.label} ` }), select);
    }),
  );
  run();
}

function runPlan(pairs) {
  $("plan-answer").classList.add("old");
  $("progress").hidden = false;
  $("progress").removeAttribute("value");
  $("changed-figure").parentElement.hidden = true;
  say("Planning.");
  listen("/api/plan", pairs, "plan", showPlan, () => {
    $("progress").hidden = true;
    $("plan-answer").classList.remove("old");
    simulator.picture($("plan-figure"), ofFile([]));
    if (pairs.length) simulator.picture($("changed-figure"), ofFile(pairs));
    say(`Done: ${controls.seeds} seeds.`);
  });
  source.addEventListener("progress", (event) => {
    const { done, of } = JSON.parse(event.data);
    $("progress").max = of;
    $("progress").value = done;
    say(`Planning: ${done} of about ${of} simulations.`);
  });
  simulator.link($("plan-report"), "/api/report.html", ofFile(pairs));
}

function showPlan(shown) {
  const cell = (tag, scope) => (textContent) => make(tag, scope ? { scope, textContent } : { textContent });
  $("plan-columns").replaceChildren(...shown.head.map(cell("th", "col")));
  $("plan-rows").replaceChildren(
    ...shown.rows.map(([first, ...rest]) => make("tr", {}, cell("th", "row")(first), ...rest.map(cell("td")))),
  );
  $("plan-text").textContent = shown.text;
  $("plan-command").textContent = shown.command;
  if (!shown.is_whole) say("The plan as it is; what is asked follows.");
}
