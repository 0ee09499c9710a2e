// The source beside the answer: the page of a PDF with boxes, or the document as plain HTML in a frame in which nothing runs.
import { get } from "./api.js";
import { byId, make, place } from "./dom.js";

let opener = null;
let latest = 0;

export async function openSource(chunk, quote, button) {
  const turn = ++latest;
  const panel = byId("source");
  setOpener(button);
  panel.hidden = false;
  byId("source-title").textContent = "Opening…";
  byId("source-place").textContent = "";
  byId("source-quote").textContent = quote.replace(/^\| | \|$/g, "").replaceAll(" | ", " · ");
  byId("source-quote").hidden = !quote;
  byId("source-page").replaceChildren();
  panel.focus();
  try {
    const passage = await get(`/api/passages/${encodeURIComponent(chunk)}?quote=${encodeURIComponent(quote.slice(0, 4000))}`);
    if (turn === latest) show(passage);
  } catch (problem) {
    if (turn === latest) byId("source-title").textContent = problem.message;
  }
}

function show({ chunk, document: about, pages, view }) {
  byId("source-title").textContent = about.title || about.path;
  byId("source-place").textContent = place(about.path, chunk.headings.join(" > "), chunk.page_start, chunk.page_end);
  const shown = pages.map(page);
  if (!shown.length) {
    shown.push(make("iframe", { src: view, sandbox: "", title: `${about.title}: the cited passage`, referrerpolicy: "no-referrer" }));
  }
  byId("source-page").replaceChildren(...shown);
  const marked = byId("source-page").querySelector(".mark") ?? byId("source-page").querySelector(".page div");
  const picture = marked?.parentElement.querySelector("img");
  const seen = () => marked.scrollIntoView({ block: "nearest" });
  if (picture) picture.complete ? seen() : picture.addEventListener("load", seen, { once: true });
}

function page({ page: number, picture, width, height, boxes, marks }) {
  const shape = make("div", { class: "page", role: "group", "aria-label": `Page ${number}` },
    make("img", { src: `${picture}?width=1200`, alt: `Page ${number} of the document`, width: Math.round(width), height: Math.round(height) }));
  shape.querySelector("img").style.height = "auto";
  for (const [kind, found] of [["box", boxes], ["mark", marks]]) {
    for (const one of found) {
      const drawn = make("div", { class: kind });
      for (const side of ["left", "top", "width", "height"]) drawn.style[side] = `${one[side]}%`;
      shape.append(drawn);
    }
  }
  return shape;
}

function setOpener(button) {
  opener?.setAttribute("aria-expanded", "false");
  opener = button;
  opener?.setAttribute("aria-expanded", "true");
}

export function closeSource() {
  const panel = byId("source");
  if (panel.hidden) return;
  latest += 1;
  panel.hidden = true;
  const back = opener;
  setOpener(null);
  back?.focus();
}
