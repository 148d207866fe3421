(() => {
  "use strict";
  const data = JSON.parse(document.getElementById("report-data").textContent);
  const root = document.documentElement;
  const tip = document.getElementById("tip");

  // A tooltip of text nodes only, so a class name is never interpreted as HTML.
  function showTip(handler, event, item, value) {
    tip.replaceChildren();
    tip.hidden = value === null || value === undefined || value === "";
    if (tip.hidden) return;
    for (const [name, shown] of Object.entries(value)) {
      if (shown === "null" || shown === "") continue;
      const line = document.createElement("div");
      for (const text of name.trim() ? [name, shown] : [shown]) {
        const part = document.createElement("span");
        part.textContent = text;
        line.append(part);
      }
      tip.append(line);
    }
    const room = tip.getBoundingClientRect();
    tip.style.left = `${Math.max(8, Math.min(event.clientX + 14, innerWidth - room.width - 8))}px`;
    tip.style.top = `${event.clientY + room.height + 24 > innerHeight ? event.clientY - room.height - 12 : event.clientY + 16}px`;
  }

  async function draw() {
    // `ast`: expressions are interpreted, not compiled, so the page's policy does not need 'unsafe-eval'.
    const options = { ast: true, renderer: "svg", actions: false, defaultStyle: false, tooltip: showTip };
    for (const box of document.querySelectorAll("[data-chart]")) {
      const spec = data.charts[box.dataset.chart][Number(box.dataset.place)];
      await window.vegaEmbed(box, spec, options);
      box.querySelector("svg").setAttribute("aria-hidden", "true"); // the box has one label for the whole chart
      await new Promise((next) => setTimeout(next)); // keep the page responsive between two charts
    }
    root.dataset.drawn = "true";
  }

  const themes = ["system", "light", "dark"];
  const button = document.getElementById("theme");
  button.hidden = false;
  button.addEventListener("click", () => {
    const now = themes[(themes.indexOf(root.dataset.theme || "system") + 1) % themes.length];
    if (now === "system") delete root.dataset.theme;
    else root.dataset.theme = now;
    button.textContent = `Theme: ${now}`;
  });
  document.addEventListener("scroll", () => { tip.hidden = true; }, { passive: true });
  window.report = data;
  draw();
})();
