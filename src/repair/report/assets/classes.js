(() => {
  "use strict";
  const columns = window.report.classes;
  const PAGE = 25;
  const heads = [
    ["name", "class"], ["change", "change (fixed − broken)"], ["fixed", "fixed"], ["broken", "broken"],
    ["before", "correct before"], ["after", "correct after"], ["rows", "rows"], ["count", "examples"],
    ["kind", "frequency"], ["offset", "offset"],
  ];
  const find = (id) => document.getElementById(id);
  const head = document.querySelector("#class-table thead tr");
  const body = document.querySelector("#class-table tbody");
  const total = columns.name.length;
  const lower = columns.name.map((name) => name.toLowerCase());
  const widest = columns.fixed.concat(columns.broken).reduce((most, one) => Math.max(most, one), 1);
  const filters = {
    changed: (i) => columns.fixed[i] + columns.broken[i] > 0, gained: (i) => columns.change[i] > 0,
    lost: (i) => columns.change[i] < 0, rare: (i) => columns.kind[i] === "rare",
    frequent: (i) => columns.kind[i] === "frequent",
  };
  let shown = [], page = 0, sorted = null, falling = true;

  function choose() {
    const wanted = find("class-search").value.trim().toLowerCase();
    const keep = filters[find("class-kind").value] || (() => true);
    shown = [];
    for (let i = 0; i < total; i += 1) if (keep(i) && (!wanted || lower[i].includes(wanted))) shown.push(i);
    if (sorted) {
      const values = columns[sorted], sign = falling ? -1 : 1;
      const texts = typeof values[0] === "string";
      const words = sorted === "name" ? lower : values;
      shown.sort((a, b) => sign * (texts ? (words[a] < words[b] ? -1 : words[a] > words[b] ? 1 : 0) : values[a] - values[b]));
    }
    page = 0;
    draw();
  }

  function cell(row, text) {
    const made = document.createElement("td");
    made.textContent = text;
    row.append(made);
    return made;
  }

  function signed(value, digits) {
    return value === 0 ? "0" : `${value > 0 ? "+" : "−"}${Math.abs(value).toFixed(digits)}`;
  }

  function draw() {
    const pages = Math.max(1, Math.ceil(shown.length / PAGE));
    const rows = shown.slice(page * PAGE, (page + 1) * PAGE).map((i) => {
      const row = document.createElement("tr");
      for (const [key] of heads) {
        const value = columns[key][i];
        if (key === "offset") cell(row, signed(value, 2));
        else if (key === "change") bar(cell(row, signed(value, 0)), i);
        else cell(row, typeof value === "number" ? value.toLocaleString("en") : value);
      }
      return row;
    });
    body.replaceChildren(...rows);
    find("class-status").textContent = `${shown.length.toLocaleString("en")} of ${total.toLocaleString("en")} classes`;
    find("class-page").textContent = `Page ${page + 1} of ${pages.toLocaleString("en")}`;
    find("class-back").disabled = page === 0;
    find("class-on").disabled = page + 1 >= pages;
    find("class-pager").hidden = pages === 1;
  }

  function bar(place, i) {
    const box = document.createElement("span");
    box.className = "bar";
    box.setAttribute("aria-hidden", "true");
    for (const name of ["fixed", "broken"]) {
      const part = document.createElement("span");
      part.className = name;
      part.style.width = `${(50 * columns[name][i]) / widest}%`;
      box.append(part);
    }
    place.append(box);
  }

  for (const [key, title] of heads) {
    const made = document.createElement("th");
    const button = document.createElement("button");
    made.scope = "col";
    button.type = "button";
    button.textContent = title;
    button.addEventListener("click", () => {
      falling = sorted === key ? !falling : typeof columns[key][0] !== "string";
      sorted = key;
      for (const one of head.children) one.removeAttribute("aria-sort");
      made.setAttribute("aria-sort", falling ? "descending" : "ascending");
      choose();
    });
    made.append(button);
    head.append(made);
  }
  let waiting = 0;
  find("class-search").addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(choose, 120);
  });
  find("class-kind").addEventListener("change", choose);
  find("class-back").addEventListener("click", () => { page -= 1; draw(); });
  find("class-on").addEventListener("click", () => { page += 1; draw(); });
  choose();
})();
