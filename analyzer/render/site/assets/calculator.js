// The calculator: loads the formulas of the chosen version from disk and evaluates them with formula.js.
"use strict";

(function () {
  const root = document.body.dataset.root;
  const form = document.getElementById("calculator");
  const results = document.getElementById("results");
  const loaded = new Map();
  const waiting = new Map();
  let kept = new Map();

  // Called by the scripts in data/.
  window.formulaProgram = (name, program) => {
    loaded.set(name, program);
    for (const use of waiting.get(name) || []) use(program);
    waiting.delete(name);
  };

  function load(name, use) {
    if (loaded.has(name)) {
      use(loaded.get(name));
      return;
    }
    if (waiting.has(name)) {
      waiting.get(name).push(use);
      return;
    }
    waiting.set(name, [use]);
    const script = document.createElement("script");
    script.src = `${root}data/${name}.js`;
    document.head.append(script);
  }

  function field(program, name, example) {
    const [unit, description] = program.inputs[name];
    const label = document.createElement("label");
    const words = document.createElement("code");
    const input = document.createElement("input");
    const note = document.createElement("small");
    words.textContent = name;
    input.name = name;
    input.autocomplete = "off";
    input.value = kept.has(name) ? kept.get(name) : example;
    note.textContent = unit === "1" ? description : `${description} (${unit})`;
    label.append(words, input, note);
    return label;
  }

  function shown(value) {
    return value === undefined ? "" : typeof value === "string" ? value : JSON.stringify(value);
  }

  function draw(program) {
    const scenario = form.elements.scenario.value;
    const { fields, example, fixed } = program.scenarios[scenario];
    const known = Object.keys(example);
    const first = new Set(known.length ? known : fields);
    const others = [...fields, ...Object.keys(program.inputs)].filter((name) => !(name in fixed) && !first.has(name));
    const make = (chosen) => [...chosen].map((name) => field(program, name, shown(example[name])));
    form.querySelector(".inputs").replaceChildren(...make(first));
    form.querySelector(".others").replaceChildren(...make(new Set(others)));
    compute(program);
  }

  function given() {
    const values = new Map();
    for (const input of form.querySelectorAll("input")) {
      if (input.value.trim() !== "") values.set(input.name, formula.parse(input.value));
    }
    return values;
  }

  function words(outcome) {
    if (outcome.value !== null && outcome.value !== undefined) return grouped(outcome.value);
    if (outcome.error) return `SGLang raises ${outcome.error}`;
    if (outcome.absent) return "this version has none";
    return outcome.missing ? `needs ${outcome.missing.join(", ")}` : "none";
  }

  function grouped(value) {
    return typeof value === "bigint" ? String(value).replace(/\B(?=(\d{3})+$)/g, ",") : formula.text(value);
  }

  function compute(program) {
    const found = formula.evaluate(program, form.elements.scenario.value, given());
    const table = document.createElement("table");
    const body = table.createTBody();
    const { shown, example } = program.scenarios[form.elements.scenario.value];
    for (const name of [...shown, ...program.free]) {
      if (name in example) continue;
      const outcome = found[name];
      const row = body.insertRow();
      const head = document.createElement("th");
      const code = document.createElement("code");
      head.scope = "row";
      code.textContent = name;
      head.append(code);
      row.append(head);
      const cell = row.insertCell();
      cell.textContent = words(outcome);
      cell.dataset.value = outcome.value === null || outcome.value === undefined ? "" : formula.text(outcome.value);
      cell.dataset.quantity = name;
      row.insertCell().textContent = outcome.unit === "1" ? "" : outcome.unit;
    }
    results.replaceChildren(table);
    results.dataset.version = form.elements.version.value;
  }

  function refresh(use) {
    const version = form.elements.version.value;
    load(window.formulaPrograms[version], (program) => {
      if (form.elements.version.value === version) use(program);
    });
  }

  form.hidden = false;
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", (event) => {
    if (!event.target.matches("input")) return;
    kept.set(event.target.name, event.target.value);
    refresh(compute);
  });
  form.addEventListener("change", (event) => {
    if (!event.target.matches("select")) return;
    if (event.target.name === "scenario") kept = new Map();
    refresh(draw);
  });

  function follow() {
    const wanted = decodeURIComponent(location.hash.slice(1)).split("/");
    for (const option of form.elements.version.options) if (option.value === wanted[0]) option.selected = true;
    for (const option of form.elements.scenario.options) if (option.value === wanted[1]) option.selected = true;
    refresh(draw);
  }

  window.addEventListener("hashchange", follow);
  follow();
})();
