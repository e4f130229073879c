// Search, the filter of the timeline, and keys: / searches, arrows turn the pages of versions.
"use strict";

(function () {
  const root = document.body.dataset.root;

  function search() {
    const form = document.querySelector(".search");
    const input = document.getElementById("search");
    const list = document.getElementById("found");
    const entries = window.searchIndex || [];
    const limit = 30;
    form.hidden = false;

    function show() {
      const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      const hits = words.length
        ? entries.filter(([title, kind]) => words.every((word) => `${title} ${kind}`.toLowerCase().includes(word)))
        : [];
      list.replaceChildren(
        ...hits.slice(0, limit).map(([title, kind, address]) => {
          const item = document.createElement("li");
          const link = document.createElement("a");
          const label = document.createElement("span");
          link.href = root + address;
          link.textContent = `${title} `;
          label.textContent = kind;
          link.append(label);
          item.append(link);
          return item;
        }),
      );
      if (words.length && !hits.length) {
        const item = document.createElement("li");
        item.textContent = "Nothing found.";
        list.append(item);
      }
      list.hidden = !words.length;
    }

    function move(event) {
      const links = [...list.querySelectorAll("a")];
      const place = links.indexOf(document.activeElement);
      if (event.key === "Escape") {
        input.value = "";
        show();
        input.focus();
      } else if (event.key === "ArrowDown" && links.length) {
        links[(place + 1) % links.length].focus();
      } else if (event.key === "ArrowUp" && place >= 0) {
        (links[place - 1] || input).focus();
      } else {
        return;
      }
      event.preventDefault();
    }

    input.addEventListener("input", show);
    form.addEventListener("keydown", move);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const first = list.querySelector("a");
      if (first) first.click();
    });
    document.addEventListener("keydown", (event) => {
      if (event.key === "/" && !/^(input|select|textarea)$/i.test(event.target.tagName)) {
        event.preventDefault();
        input.focus();
      }
    });
  }

  function turnPages() {
    document.addEventListener("keydown", (event) => {
      if (event.altKey || event.ctrlKey || event.metaKey || /^(input|select|textarea)$/i.test(event.target.tagName)) return;
      const direction = { ArrowLeft: "prev", ArrowRight: "next" }[event.key];
      const link = direction && document.querySelector(`a[rel="${direction}"]`);
      if (link && event.target === document.body) link.click();
    });
  }

  function filter() {
    const form = document.querySelector("form.filter");
    if (!form) return;
    form.hidden = false;

    function apply() {
      const { scenario, kind } = form.elements;
      let count = 0;
      for (const release of document.querySelectorAll(".release")) {
        let shown = 0;
        for (const change of release.querySelectorAll("[data-kind]")) {
          const fits =
            (!kind.value || change.dataset.kind === kind.value) &&
            (!scenario.value || change.dataset.scenarios.split(" ").includes(scenario.value));
          change.hidden = !fits;
          if (fits) shown += 1;
        }
        release.hidden = !shown && Boolean(scenario.value || kind.value);
        count += shown;
      }
      form.elements.count.textContent = `${count} changes`;
    }

    form.addEventListener("change", apply);
    form.addEventListener("submit", (event) => event.preventDefault());
    apply();
  }

  search();
  turnPages();
  filter();
})();
