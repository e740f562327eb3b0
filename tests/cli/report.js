// report.js: put at the end of a copy of a report, whose policy is taken out, it measures the page as the browser lays it out, and
// leaves what it found in <pre id="measured"> of the outermost page, one thing a line: "width N", the width that it was laid out in,
// "figure NAME PICTURES TABLES" for each figure, and "wrong: ..." for
// a page that is wider than its window, a text outside of its picture, numbers of an axis that touch or are the same, and stacks of
// numbers, sentences and small pictures that are too wide.
window.addEventListener("load", () => {
  const found = [`width ${window.innerWidth}`];
  const names = (texts) => texts.map((text) => text.textContent.trim()).join(", ");
  const inside = (one, other) =>
    one.left >= other.left - 2 && one.right <= other.right + 2 && one.top >= other.top - 2 && one.bottom <= other.bottom + 2;
  for (const figure of document.querySelectorAll("figure")) {
    const pictures = [...figure.querySelectorAll(".charts svg")];
    found.push(`figure ${figure.id} ${pictures.length} ${figure.querySelectorAll("tbody tr").length}`);
    for (const picture of pictures) {
      const texts = [...picture.querySelectorAll("text")].filter((text) => text.textContent.trim());
      const frame = picture.getBoundingClientRect();
      const outside = texts.filter((text) => !inside(text.getBoundingClientRect(), frame));
      if (outside.length) found.push(`wrong: outside of a picture of ${figure.id}: ${names(outside)}`);
      if (!picture.querySelector("path, circle, rect[width], polygon, use")) found.push(`wrong: an empty picture of ${figure.id}`);
      // Numbers below an axis stand on one line, centred on their ticks; those of notes are smaller.
      const rows = new Map();
      for (const text of texts.filter((text) => /^-?[0-9.]+(e[-+][0-9]+)?[kMGTm]?$/.test(text.textContent.trim()))) {
        const group = text.closest("[transform]"), place = group ? group.getAttribute("transform") : "";
        const line = (group ? group.getAttribute("text-anchor") : "") + place.replace(/^translate\([^,]*/, "");
        const upright = line.startsWith("middle") && !place.includes("rotate") && group.getAttribute("font-size") === "12.00";
        if (upright) rows.set(line, [...(rows.get(line) || []), text]);
      }
      for (const row of rows.values()) {
        const boxes = row.map((text) => text.getBoundingClientRect()).sort((one, other) => one.left - other.left);
        const touching = boxes.some((box, i) => i > 0 && box.left < boxes[i - 1].right);
        if (touching) found.push(`wrong: numbers of ${figure.id} touch: ${names(row)}`);
        const same = new Set(row.map((text) => text.textContent.trim())).size < row.length;
        if (same) found.push(`wrong: numbers of ${figure.id} are the same: ${names(row)}`);
      }
    }
  }
  for (const stacks of document.querySelectorAll(".stacks, .stacks table"))
    if (stacks.scrollWidth > stacks.clientWidth + 1) found.push(`wrong: numbers are wider than their place: ${names([stacks])}`);
  // Sentences below rows, and small pictures, are seen without scrolling sideways.
  const seen = (place, box) => !box.width || box.right <= place.getBoundingClientRect().right + 1;
  for (const text of document.querySelectorAll(".scroll .l td")) {
    const range = document.createRange();
    range.selectNodeContents(text);
    const hidden = [...range.getClientRects()].some((box) => !seen(text.closest(".scroll"), box));
    if (hidden) found.push(`wrong: a text is wider than its place: ${names([text])}`);
  }
  for (const place of document.querySelectorAll(".charts>.small"))
    if (place.scrollWidth > place.clientWidth + 1) found.push(`wrong: a small picture is wider than its place: ${place.ariaLabel}`);
  if (document.documentElement.scrollWidth > window.innerWidth + 1) found.push("wrong: the page is wider than its window");
  const measured = document.createElement("pre");
  measured.id = "measured";
  measured.textContent = found.join("\n") + "\n";
  top.document.body.append(measured);
});
