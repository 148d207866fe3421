(() => {
  "use strict";
  const examples = window.report.examples;
  if (!examples) return;
  const { parts, names, rows, n_classes: total } = examples;
  const terms = window.report.terms;
  const tints = ["base", "model", "part3", "part4", "part5", "part6", "part7", "part8", "part9", "part10"];
  const find = (id) => document.getElementById(id);
  const tint = (place) => `var(--${tints[Math.min(place, tints.length - 1)]})`;
  const words = (part) => part.replaceAll("_", " ");
  const number = (value, digits = 2) => value.toFixed(digits).replace("-", "−");
  let shown = [];

  function make(kind, name, text) {
    const made = document.createElement(kind);
    if (name) made.className = name;
    if (text !== undefined) made.textContent = text;
    return made;
  }

  function choose() {
    const kind = find("example-kind").value;
    const wanted = find("example-search").value.trim().toLowerCase();
    shown = rows.filter((row) => (!kind || row.kind === kind) && (!wanted || searched(row).includes(wanted)));
    find("example-row").replaceChildren(...shown.map((row, place) => {
      const truth = row.truth < 0 ? "unknown class" : names[row.truth];
      const option = make("option", "", `${row.id} · ${row.kind} · ${truth.slice(0, 60)}`);
      option.value = place;
      return option;
    }));
    draw();
  }

  function searched(row) {
    return `${row.id} ${row.truth < 0 ? "" : names[row.truth]} ${row.text}`.toLowerCase();
  }

  function draw() {
    const place = find("example-row").selectedIndex;
    find("example-back").disabled = place <= 0;
    find("example-on").disabled = place < 0 || place + 1 >= shown.length;
    find("example-status").textContent = shown.length ? `${place + 1} of ${shown.length}` : "No matching row";
    find("example").replaceChildren(...(shown.length ? [about(shown[place]), lists(shown[place]), legend(), table(shown[place])] : []));
    find("example").querySelectorAll(".scroll").forEach(window.watchScrolling);
  }

  function about(row) {
    const box = make("div", "about");
    const line = make("p");
    const truth = row.truth < 0 ? "a class that the model does not know" : names[row.truth];
    line.append(make("span", `badge ${row.kind}`, row.kind), ` Row ${row.id}, true class: `, make("strong", "", truth), ".");
    box.append(line);
    if (row.kind === "not on the shortlist" && row.truth >= 0) box.append(make("p", "place", stood(row)));
    if (row.text) box.append(scrolling("Text of this row", make("p", "text", row.text)));
    return box;
  }

  function stood(row) {
    const list = "The true class is not on the shortlist";
    if (row.place === null) return `${list}. Its place in the base order is not known, because it has no score.`;
    return `${list}. In the base order of all ${total.toLocaleString("en")} classes it is number ${row.place.toLocaleString("en")}.`;
  }

  // A region that can be scrolled by touch and keyboard, and that says so.
  function scrolling(label, child, kind = "") {
    const frame = make("div", `scroll ${kind}`.trim());
    frame.tabIndex = 0;
    frame.setAttribute("role", "region");
    frame.setAttribute("aria-label", label);
    frame.append(child);
    return frame;
  }

  // A candidate is [name index, base rank, score, one number per part]. Bars start at the lowest base score.
  function scale(row) {
    const lowest = Math.min(...row.candidates.map((one) => one[3]));
    let left = 0, right = 1e-9;
    for (const one of row.candidates) {
      let up = 0, down = 0;
      one.slice(3).map((value, i) => (i ? value : value - lowest)).forEach((value) => { if (value > 0) up += value; else down += value; });
      left = Math.min(left, down);
      right = Math.max(right, up);
    }
    const at = (value) => (100 * (value - left)) / (right - left);
    return { lowest, at };
  }

  function lists(row) {
    const box = make("div", "lists");
    const { lowest, at } = scale(row);
    const before = [...row.candidates].sort((a, b) => a[1] - b[1]);
    box.append(
      column("Base shortlist", before.map((one, i) => item(row, one, i + 1, "", [[0, one[3] - lowest, 0]], one[3], null, at))),
      slopes(row),
      column("New shortlist", row.candidates.map((one, i) => item(row, one, i + 1, moved(one[1] - i - 1), stacked(one, lowest), one[2], one[2] - lowest, at))),
    );
    return scrolling("Both shortlists", box, "tall");
  }

  function column(title, items) {
    const box = make("div");
    const list = make("ol");
    list.append(...items);
    box.append(make("h3", "", title), list);
    return box;
  }

  function moved(by) {
    return by > 0 ? `▲ up ${by}` : by < 0 ? `▼ down ${-by}` : "";
  }

  function stacked(one, lowest) {
    let up = 0, down = 0;
    return one.slice(3).map((value, place) => {
      const size = place ? value : value - lowest;
      const from = size > 0 ? up : down;
      if (size > 0) up += size; else down += size;
      return [Math.min(from, from + size), Math.max(from, from + size), place];
    });
  }

  function item(row, one, rank, change, segments, score, total, at) {
    const made = make("li", one[0] === row.truth ? "truth" : "");
    const name = make("span", "name", names[one[0]]);
    const end = make("span", "score", number(score));
    name.title = names[one[0]];
    if (one[0] === row.truth) name.prepend("★ ", make("span", "hidden", "(the true class) "));
    if (change) end.prepend(make("span", `moved ${change.includes("up") ? "up" : "down"}`, change), " ");
    const track = make("span", "track");
    track.setAttribute("aria-hidden", "true");
    for (const [from, to, place] of segments) {
      const part = make("span");
      part.style.left = `${at(from)}%`;
      part.style.width = `${at(to) - at(from)}%`;
      part.style.background = tint(place);
      track.append(part);
    }
    mark(track, "zero", at(0));
    if (total !== null) mark(track, "total", at(total));
    made.append(make("span", "rank", rank), name, end, track);
    return made;
  }

  function mark(track, kind, place) {
    const made = make("span", kind);
    made.style.left = `${place}%`;
    track.append(made);
  }

  function slopes(row) {
    const space = "http://www.w3.org/2000/svg";
    const box = make("div", "slopes");
    const svg = document.createElementNS(space, "svg");
    const n = row.candidates.length;
    svg.setAttribute("viewBox", `0 0 40 ${n * 10}`);
    svg.setAttribute("preserveAspectRatio", "none");
    svg.setAttribute("aria-hidden", "true");
    row.candidates.forEach((one, place) => {
      const line = document.createElementNS(space, "line");
      const ends = { x1: 2, x2: 38, y1: one[1] * 10 - 5, y2: place * 10 + 5 };
      for (const [key, value] of Object.entries(ends)) line.setAttribute(key, value);
      line.setAttribute("stroke", one[0] === row.truth ? "var(--zone)" : "var(--line)");
      line.setAttribute("stroke-width", one[0] === row.truth ? 3 : 1.5);
      line.setAttribute("vector-effect", "non-scaling-stroke");
      svg.append(line);
    });
    box.append(svg);
    return box;
  }

  function named(part, text) {
    if (!terms[part]) return text;
    const button = make("button", "term", text);
    button.type = "button";
    button.setAttribute("aria-describedby", terms[part]);
    return button;
  }

  function legend() {
    const list = make("ul", "legend");
    parts.forEach((part, place) => {
      const line = make("li");
      const chip = make("span");
      chip.style.background = tint(place);
      line.append(chip, named(part, place ? words(part) : "base score minus the row's lowest base score"));
      list.append(line);
    });
    const line = make("li");
    line.append(make("span", "tick"), "sum of the parts, which orders the new list");
    list.append(line);
    return list;
  }

  function table(row) {
    const box = make("details");
    const made = make("table");
    const head = make("tr");
    for (const title of ["class", "rank", "base rank", ...parts.map(words), "score"]) {
      const one = make("th", "", title);
      one.scope = "col";
      head.append(one);
    }
    made.createTHead().append(head);
    const body = made.createTBody();
    row.candidates.forEach((one, place) => {
      const line = body.insertRow();
      for (const text of [names[one[0]], place + 1, one[1], ...one.slice(3).map((v) => number(v, 3)), number(one[2], 3)]) {
        line.insertCell().textContent = text;
      }
    });
    box.append(make("summary", "", "All numbers of this row"), scrolling("Numbers of this row", made));
    return box;
  }

  function step(by) {
    find("example-row").selectedIndex += by;
    draw();
  }

  const kinds = [...new Set(rows.map((row) => row.kind))];
  find("example-kind").append(...[["", `all (${rows.length})`], ...kinds.map((kind) => [kind, `${kind} (${rows.filter((row) => row.kind === kind).length})`])].map(([value, text]) => {
    const option = make("option", "", text);
    option.value = value;
    return option;
  }));
  let waiting = 0;
  find("example-search").addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(choose, 120);
  });
  find("example-kind").addEventListener("change", choose);
  find("example-row").addEventListener("change", draw);
  find("example-back").addEventListener("click", () => step(-1));
  find("example-on").addEventListener("click", () => step(1));
  choose();
})();
