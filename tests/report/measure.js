// What is cut off, too small or broken in each frame; every list is empty on a good page.
const name = (node) => `${node.tagName.toLowerCase()}.${node.getAttribute("class") || ""} "${node.textContent.trim().slice(0, 50)}"`;
const shown = (node) => node.checkVisibility({ contentVisibilityAuto: true, opacityProperty: true }) && node.getBoundingClientRect().width > 1;

function beyond(page, width) {
  // Whatever reaches beyond the window, or beyond the card or table that holds it.
  const found = [];
  for (const node of page.querySelectorAll("body *")) {
    if (!shown(node) || node.closest("thead") || ["title", "path", "line", "rect", "g"].includes(node.tagName)) continue;
    const box = node.getBoundingClientRect();
    const card = node.closest("svg") && node.closest(".card");
    const edge = card ? card.getBoundingClientRect() : { left: 0, right: width };
    if (box.right > edge.right + 1 || box.left < edge.left - 1) found.push(name(node));
  }
  for (const node of page.querySelectorAll(".scroll, pre"))
    if (node.scrollWidth > node.clientWidth + 1) found.push(`scrolls: ${name(node)} ${node.scrollWidth} > ${node.clientWidth}`);
  return found;
}

function small(page) {
  // Letters below 12 pixels as they are drawn.
  const found = [];
  for (const node of page.querySelectorAll("body *")) {
    const own = [...node.childNodes].some((child) => child.nodeType === 3 && child.textContent.trim());
    if (!own || !shown(node) || node.tagName === "title") continue;
    const drawn = node.getScreenCTM ? node.getScreenCTM() : { a: 1, b: 0 };
    const scale = Math.hypot(drawn.a, drawn.b);
    const size = parseFloat(getComputedStyle(node).fontSize) * scale;
    if (size < 11.95) found.push(`${size.toFixed(1)} ${name(node)}`);
  }
  return found;
}

function broken(page) {
  // Words of names and headings that continue on another line.
  const found = [];
  for (const node of page.querySelectorAll("th, dt, h1, h2, h3, .tag, figcaption, caption, legend, label")) {
    if (!shown(node)) continue;
    const walk = page.createTreeWalker(node, NodeFilter.SHOW_TEXT);
    while (walk.nextNode()) {
      for (const word of walk.currentNode.textContent.matchAll(/[^\s,()=–−-]{2,20}/g)) {
        const range = page.createRange();
        range.setStart(walk.currentNode, word.index);
        range.setEnd(walk.currentNode, word.index + word[0].length);
        const lines = new Set([...range.getClientRects()].map((box) => Math.round(box.top)));
        if (lines.size > 1) found.push(`${word[0]} in ${name(node)}`);
      }
    }
  }
  return found;
}

function overlapping(page) {
  // Labels of a chart that lie on each other, and labels that were cut.
  const found = [];
  for (const chart of page.querySelectorAll(".card svg")) {
    const texts = [...chart.querySelectorAll("text")].filter((node) => shown(node) && node.textContent.trim());
    const boxes = texts.map((node) => node.getBoundingClientRect());
    texts.forEach((node, n) => {
      if (/…$/.test(node.textContent)) found.push(`cut: ${node.textContent}`);
      for (let m = 0; m < n; m++) {
        const across = Math.min(boxes[n].right, boxes[m].right) - Math.max(boxes[n].left, boxes[m].left);
        const down = Math.min(boxes[n].bottom, boxes[m].bottom) - Math.max(boxes[n].top, boxes[m].top);
        if (across > 2 && down > 5) found.push(`"${node.textContent}" on "${texts[m].textContent}" in ${chart.getAttribute("aria-label")}`);
      }
    });
  }
  return found;
}

function empty(page) {
  return [...page.querySelectorAll(".card, .first, section, details, .scroll")]
    .filter((node) => shown(node) && !node.querySelector("svg, table, dl, li, p"))
    .map(name);
}

async function accessible(frame) {
  if (!AXE) return [];
  frame.contentWindow.eval(AXE);
  const found = await frame.contentWindow.axe.run(frame.contentDocument, { iframes: false, resultTypes: ["violations"] });
  return found.violations
    .filter((one) => ["serious", "critical"].includes(one.impact))
    .map((one) => `${one.id} (${one.nodes.length}): ${one.nodes[0].html.slice(0, 120)} ${one.nodes[0].failureSummary}`);
}

window.addEventListener("load", async () => {
  const found = [];
  for (const frame of document.querySelectorAll("iframe")) {
    const page = frame.contentDocument;
    page.querySelectorAll("details").forEach((node) => { node.open = true; });
    const width = frame.clientWidth;
    found.push({
      page: frame.dataset.name, width, beyond: beyond(page, width), small: small(page), broken: broken(page),
      picked: [...page.querySelectorAll(".of-metric")].filter(shown).map((node) => node.className),
      overlapping: overlapping(page), empty: empty(page), axe: await accessible(frame),
    });
  }
  document.querySelector("#found").textContent = JSON.stringify(found);
});
