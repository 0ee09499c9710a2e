// One answer: its text with numbers, its evidence, the picture of entities, feedback, Pass on.
import { get, post } from "./api.js";
import { draw, make, place } from "./dom.js";
import { openSource } from "./source.js";

const MARK = /\[(\d{1,3})\]/g;

export class AnswerCard {
  constructor(title) {
    this.steps = make("ol", { class: "steps", "aria-label": "Steps" });
    this.text = make("div", { class: "text" });
    this.rest = make("div");
    this.element = make("article", { class: "answer", "aria-label": title || "Answer" }, title ? make("h3", {}, title) : null, this.steps, this.text, this.rest);
    this.begun = new Map();
  }

  told(name, data) {
    if (name === "step" && data.state === "begun") {
      const line = make("li", {}, data.name);
      this.begun.set(data.name, line);
      this.steps.append(line);
    } else if (name === "step") {
      const line = this.begun.get(data.name);
      line.className = "done";
      if (data.count) line.textContent = `${data.name}: ${data.count} ${data.unit}`;
    } else if (name === "text") {
      this.text.append(data.text);
    } else if (name === "restart") {
      this.text.replaceChildren();
    } else if (name === "answer") {
      this.show(data);
    }
  }

  fail(message) {
    this.rest.replaceChildren(make("p", { class: "problem", role: "alert" }, message));
  }

  wait(message) {
    this.fail(message);
    this.steps.replaceChildren();
    this.text.replaceChildren();
  }

  show(reply) {
    const { answer } = reply;
    this.reply = reply;
    this.element.classList.toggle("abstained", answer.abstained);
    this.text.replaceChildren(...blocks(answer.text, answer), ...nearest(answer));
    const notes = answer.notes.length ? make("div", { class: "notes" }, ...answer.notes.map((note) => make("p", {}, note))) : null;
    this.rest.replaceChildren(...[notes, this.evidence(answer), this.picture(answer), this.actions(reply)].filter(Boolean));
    this.steps.hidden = true;
    const tokens = answer.usage && `${answer.usage.prompt_tokens + answer.usage.completion_tokens} tokens`;
    const how = answer.model === "rules" ? "sentences of the documents, no language model" : [answer.model, tokens].filter(Boolean).join(", ");
    this.rest.append(make("p", { class: "quiet" }, [how, `pipeline ${answer.pipeline}`, answer.seconds === null ? null : `${answer.seconds.toFixed(2)} s`].filter(Boolean).join(" · ")));
  }

  evidence(answer) {
    if (!answer.evidence.length) return null;
    const pieces = answer.evidence.map((piece) => make("li", {},
      sourceButton("plain", place(piece.document, piece.section, piece.page_start, piece.page_end), piece.chunk_id, ""),
      make("div", { class: "why" }, `score ${piece.score.toFixed(2)} · ${piece.why.join(" · ")}`)));
    return make("details", {}, make("summary", {}, `Evidence: ${pieces.length} passages, and why`), make("ol", { class: "evidence" }, ...pieces));
  }

  picture(answer) {
    const sources = sourcesOf(answer), cited = sources.length ? sources : answer.evidence.slice(0, 3);
    const chunks = [...new Set(cited.map((one) => one.chunk_id).filter(Boolean))];
    if (!chunks.length) return null;
    const details = make("details", {}, make("summary", {}, "Entities that this rests on"));
    details.addEventListener("toggle", async () => {
      if (!details.open || details.childElementCount > 1) return;
      try {
        details.append(picture(await get(`/api/graph?chunks=${chunks.map(encodeURIComponent).join(",")}`)));
      } catch (problem) {
        details.append(make("p", { class: "problem" }, problem.message));
      }
    });
    return details;
  }

  actions(reply) {
    const row = make("div", { class: "actions", role: "group", "aria-label": "What is this answer worth?" });
    const word = make("input", { "aria-label": "A word on this answer", placeholder: "A word on it (optional)", maxlength: 2000 });
    const send = async (path, body, thanks) => {
      try {
        await post(path, { answer_id: reply.id, comment: word.value, ...body });
        row.replaceChildren(make("span", { class: "thanks", role: "status" }, thanks));
      } catch (problem) {
        row.append(make("span", { class: "problem", role: "alert" }, problem.message));
      }
    };
    for (const verdict of reply.answer.abstained ? [] : ["right", "wrong", "wrong source"]) {
      const label = verdict[0].toUpperCase() + verdict.slice(1);
      row.append(make("button", { type: "button", class: "plain", onclick: () => send("/api/feedback", { verdict }, "Thank you. It is written down.") }, label));
    }
    row.append(make("button", { type: "button", class: "plain", onclick: () => send("/api/tickets", {}, "Passed on, with what was looked for.") }, "Pass on"), word);
    return row;
  }
}

function sourceButton(kind, label, chunk, quote) {
  if (!chunk) return make("span", {}, label);
  return make("button", { type: "button", class: kind, "aria-expanded": "false", "aria-controls": "source", onclick: (event) => openSource(chunk, quote, event.currentTarget) }, label);
}

function sourcesOf(answer) {
  return answer.citations.length ? answer.citations : answer.nearest.map((one) => one.citation);
}

function nearest(answer) {
  if (!answer.nearest.length) return [];
  const items = answer.nearest.map((one) => make("li", {}, ...inline(`${one.text} [${one.citation.number}]`, answer)));
  return [make("p", { class: "quiet" }, "Nearest in the documents, which may not answer it:"), make("ul", {}, ...items)];
}

// Lines that begin with "- " are a list, others are paragraphs; numbers of citations are buttons.
function blocks(text, answer) {
  const made = [];
  for (const line of text.split("\n").filter((one) => one.trim())) {
    const item = line.startsWith("- ");
    const content = inline(item ? line.slice(2) : line, answer);
    if (!item) made.push(make("p", {}, ...content));
    else if (made.at(-1)?.tagName === "UL") made.at(-1).append(make("li", {}, ...content));
    else made.push(make("ul", {}, make("li", {}, ...content)));
  }
  return made;
}

function inline(line, answer) {
  const made = [];
  let written = 0;
  for (const mark of line.matchAll(MARK)) {
    const citation = sourcesOf(answer).find((one) => one.number === Number(mark[1]));
    if (!citation) continue;
    made.push(line.slice(written, mark.index));
    const button = sourceButton("cite", mark[1], citation.chunk_id, citation.quote);
    button.setAttribute("aria-label", `Source ${mark[1]}: ${place(citation.document, citation.section, citation.page_start, citation.page_end)}`);
    made.push(button);
    written = mark.index + mark[0].length;
  }
  return [...made, line.slice(written)];
}

const WIDTH = 640, HEIGHT = 320;

function picture({ nodes, edges }) {
  if (!nodes.length) return make("p", { class: "quiet" }, "The graph has no entity in these passages.");
  const at = new Map(nodes.map((node) => [node.key, [node.x * WIDTH, node.y * HEIGHT]]));
  const lines = edges.map((edge) => {
    const [[x1, y1], [x2, y2]] = [at.get(edge.head), at.get(edge.tail)];
    const said = edge.description || edge.type;
    return draw("line", { x1, y1, x2, y2 }, draw("title", {}, `${edge.type}: ${said}`));
  });
  const dots = nodes.map((node) => {
    const [x, y] = at.get(node.key), r = 4 + Math.min(6, Math.log2(1 + node.mentions));
    const open = (event) => { event.preventDefault(); openSource(node.chunks[0], node.name, null); };
    const label = node.name.length > 24 ? `${node.name.slice(0, 23)}…` : node.name;
    return draw("a", { href: "#source", onclick: open, "aria-label": `${node.name} (${node.type}), in ${node.mentions} passages` },
      draw("circle", { cx: x, cy: y, r }),
      draw("text", { x, y: y - r - 4, "text-anchor": x < 90 ? "start" : x > WIDTH - 90 ? "end" : "middle" }, label),
      draw("title", {}, `${node.name} (${node.type})`));
  });
  return draw("svg", { class: "graph", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "group", "aria-label": `${nodes.length} entities and ${edges.length} relations` }, ...lines, ...dots);
}
