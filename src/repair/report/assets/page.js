(() => {
  "use strict";
  const meaning = document.getElementById("meaning");
  let shown = null, pinned = false;

  // The meaning of a word, below it. The page's glossary has the text, which also describes the button for screen readers.
  function show(button) {
    const entry = document.getElementById(button.getAttribute("aria-describedby"));
    if (!entry) return;
    shown = button;
    meaning.replaceChildren(Object.assign(document.createElement("strong"), { textContent: entry.previousElementSibling.textContent }), `: ${entry.textContent}`);
    meaning.hidden = false;
    const word = button.getClientRects()[0], box = meaning.getBoundingClientRect();
    const below = word.bottom + box.height < innerHeight;
    meaning.style.left = `${Math.max(8, Math.min(word.left, document.documentElement.clientWidth - box.width - 8)) + scrollX}px`;
    meaning.style.top = `${(below ? word.bottom : word.top - box.height) + scrollY}px`;
  }

  function hide() {
    meaning.hidden = true;
    shown = null;
    pinned = false;
  }

  const term = (target) => (target instanceof Element ? target.closest(".term") : null);
  const inside = (target) => target instanceof Node && meaning.contains(target);
  document.addEventListener("pointerover", (event) => {
    if (event.pointerType === "mouse" && !pinned && term(event.target)) show(term(event.target));
  });
  document.addEventListener("pointerout", (event) => {
    if (event.pointerType !== "mouse" || pinned || !shown) return;
    if (!inside(event.relatedTarget) && term(event.relatedTarget) !== shown) hide();
  });
  document.addEventListener("focusin", (event) => {
    if (term(event.target) && event.target.matches(":focus-visible")) show(event.target);
  });
  document.addEventListener("focusout", (event) => { if (term(event.target) === shown) hide(); });
  document.addEventListener("click", (event) => {
    const button = term(event.target);
    if (!button) {
      if (!inside(event.target)) hide();
    } else if (pinned && shown === button) {
      hide();
    } else {
      show(button);
      pinned = true;
    }
  });
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") hide(); });
  addEventListener("resize", hide);

  // A region that scrolls fades out on the side where there is more, and says so if it scrolls sideways.
  const sizes = new ResizeObserver((changes) => { for (const change of changes) look(change.target.closest(".scroll")); });

  function look(region) {
    if (!region || !region.isConnected) return; // the single rows are drawn again
    const right = region.scrollWidth - region.clientWidth - region.scrollLeft > 2;
    const down = region.scrollHeight - region.clientHeight - region.scrollTop > 2;
    region.dataset.more = [right && "right", down && "down"].filter(Boolean).join(" ");
    region.previousElementSibling.hidden = region.scrollWidth - region.clientWidth <= 2;
  }

  function watch(region) {
    const hint = document.createElement("p");
    hint.className = "hint";
    hint.textContent = "This table is wider than the page. Scroll it sideways to see all columns →";
    region.before(hint);
    region.addEventListener("scroll", () => look(region), { passive: true });
    sizes.observe(region);
    for (const child of region.children) sizes.observe(child);
    look(region);
  }

  window.watchScrolling = watch;
  document.querySelectorAll(".scroll").forEach(watch);
})();
