// The page: choices, the conversation, asking and stopping.
import { AnswerCard } from "./answer.js";
import { get, post, Problem, stream } from "./api.js";
import { openDocuments } from "./documents.js";
import { byId, make } from "./dom.js";
import { closeSource } from "./source.js";

const TRIES = 6, PAUSE_S = 10;

// Of this tab, so that a page that is loaded again goes on where it was.
const newConversation = () => { const name = [...crypto.getRandomValues(new Uint8Array(12))].map((one) => one.toString(16).padStart(2, "0")).join(""); sessionStorage.setItem("conversation", name); return name; };
let conversation = sessionStorage.getItem("conversation") ?? newConversation();
let turns = [];
let mayCurate = false;
let running = null;
let completing = false;
let pending = null; // a follow-up whose completed form is shown and waits to be sent

async function start() {
  const me = await get("/api/me");
  mayCurate = me.role !== "ask";
  byId("logout").hidden = !me.login;
  const [, pipelines] = await Promise.all([countDocuments(), get("/api/pipelines")]);
  const options = () => pipelines.map((one) => make("option", { value: one.name, title: one.description }, one.name));
  byId("pipeline").replaceChildren(...options());
  byId("pipeline").value = pipelines.find((one) => one.default)?.name ?? "";
  byId("other").replaceChildren(make("option", { value: "" }, "none"), ...options());
  await restore();
}

async function restore() {
  if (turns.length) return;
  for (const past of await get(`/api/conversations/${conversation}`)) {
    const card = new AnswerCard("");
    addTurn(past.question, past.completed, [card]);
    card.show({ id: past.id, answer: { ...past, text: past.answer, evidence: [], nearest: [], seconds: null, usage: null } });
    turns = [...turns, past.completed].slice(-20);
  }
}

async function countDocuments() {
  const documents = await get("/api/documents"), chosen = byId("product").value;
  const products = [...new Set(documents.map((one) => one.document.product).filter(Boolean))].sort();
  byId("product").replaceChildren(make("option", { value: "" }, "any"), ...products.map((name) => make("option", { value: name }, name)));
  byId("product").value = products.includes(chosen) ? chosen : "";
  byId("store").textContent = `${documents.length} documents`;
}

async function entered() {
  try {
    await start();
  } catch (problem) {
    if (problem.status !== 401) { byId("state").textContent = problem.message; return; }
    byId("login").showModal();
  }
}

byId("login-form").addEventListener("submit", async (event) => {
  event.preventDefault();
  try {
    await post("/login", { name: byId("name").value.trim(), secret: byId("token").value.trim() });
    byId("token").value = "";
    byId("login").close();
    await start();
  } catch (problem) {
    byId("login-problem").textContent = problem.message;
  }
});
byId("login").addEventListener("cancel", (event) => event.preventDefault());
byId("logout").addEventListener("click", async () => { await post("/logout", {}); location.reload(); });

byId("ask").addEventListener("submit", async (event) => {
  event.preventDefault();
  if (running || completing) return;
  const question = byId("question").value.trim();
  if (!question) return;
  if (pending === question) return send(question, byId("completed").value.trim() || question, false);
  if (turns.length || byId("product").value) {
    const body = { question, turns: turns.map((one) => ({ question: one })), product: byId("product").value || null };
    completing = true;
    byId("state").textContent = "Completing the follow-up…";
    try {
      const { completed, note } = await post("/api/complete", body);
      byId("state").textContent = "";
      if (completed !== question.replace(/\s+/g, " ")) return offer(question, completed, note);
    } catch (problem) {
      byId("state").textContent = problem.message;
      return;
    } finally { completing = false; }
  }
  send(question, question, false);
});

function offer(question, completed, note) {
  pending = question;
  byId("completed").value = completed;
  byId("rewritten").hidden = false;
  byId("send").focus();
  byId("state").textContent = `${note || "This follow-up was completed by rules."} Ask again to send it.`;
}

function withdraw() {
  pending = null;
  byId("rewritten").hidden = true;
}

byId("question").addEventListener("input", withdraw);
byId("asked-alone").addEventListener("click", () => send(byId("question").value.trim(), byId("question").value.trim()));
for (const id of ["question", "completed"]) {
  byId(id).addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) { event.preventDefault(); byId("ask").requestSubmit(); }
  });
}

async function send(question, completed) {
  withdraw();
  const pipelines = [byId("pipeline").value, byId("other").value].filter(Boolean);
  const cards = pipelines.map((name) => new AnswerCard(pipelines.length > 1 ? name : ""));
  addTurn(question, completed, cards).scrollIntoView({ block: "start" });
  running = new AbortController();
  busy(true);
  const body = { question: completed, complete: false, conversation };
  const answered = await Promise.all(cards.map((card, index) => one(card, { ...body, pipeline: pipelines[index] })));
  running = null;
  busy(false);
  if (answered.some(Boolean)) {
    turns = [...turns, completed].slice(-20);
    byId("question").value = "";
  }
  byId("question").focus();
}

function addTurn(question, completed, cards) {
  const turn = make("div", { class: "turn" }, make("p", { class: "asked" }, question), completed === question ? null : make("p", { class: "quiet" }, `Asked as: ${completed}`),
    make("div", { class: "sides" }, ...cards.map((card) => card.element)));
  byId("welcome")?.remove();
  byId("turns").append(turn);
  return turn;
}

// Asks, again where what is wrong passes by itself; says whether an answer came.
async function one(card, body) {
  const { signal } = running;
  for (let tries = 1; ; tries += 1) {
    try {
      if (tries > 1) await pause(signal);
      await stream("/api/ask", body, signal, (name, data) => card.told(name, data));
      return true;
    } catch (problem) {
      if (problem instanceof Problem && problem.passes && tries < TRIES) {
        card.wait(`${problem.message} Asking again in ${PAUSE_S} s.`);
        continue;
      }
      if (problem.name === "AbortError") card.fail("Stopped.");
      else if (problem instanceof Problem && problem.status === 401) byId("login").showModal();
      else card.fail(problem instanceof Problem ? problem.message : "The desk cannot be reached. Is it still running?");
      return false;
    }
  }
}

const pause = (signal) => new Promise((done, stop) => {
  const timer = setTimeout(done, 1000 * PAUSE_S);
  signal.addEventListener("abort", () => { clearTimeout(timer); stop(signal.reason); }, { once: true });
});

function busy(yes) {
  byId("send").disabled = yes;
  byId("stop").hidden = !yes;
  byId("state").textContent = yes ? "Looking in the documents…" : "";
  byId("turns").setAttribute("aria-busy", String(yes));
}

byId("stop").addEventListener("click", () => running?.abort());
byId("again").addEventListener("click", () => {
  running?.abort();
  conversation = newConversation();
  turns = [];
  withdraw();
  closeSource();
  byId("turns").replaceChildren();
  byId("question").focus();
});
byId("close").addEventListener("click", closeSource);
byId("open-documents").addEventListener("click", () => openDocuments(mayCurate, countDocuments).catch((problem) => { byId("state").textContent = problem.message; }));
document.addEventListener("keydown", (event) => { if (event.key === "Escape" && !document.querySelector("dialog[open]")) closeSource(); });
// A file that misses its place must not replace the page.
for (const name of ["dragover", "drop"]) document.addEventListener(name, (event) => event.preventDefault());

entered();
