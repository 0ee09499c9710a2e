// Documents: dropped or chosen files go up, a build reads them with its progress shown, a document can be deleted.
import { get, post, send } from "./api.js";
import { byId, make } from "./dom.js";

const LOOK_AGAIN_MS = 700;
const REALLY = "Really delete?";
let changed = async () => {};
let watching = false;
const removed = new Set();  // uploads that no build could read and that are deleted since
const asked = new Set();  // ids whose deletion waits for a second click, however often the list is read anew meanwhile

export async function openDocuments(mayCurate, onChange) {
  changed = onChange;
  asked.clear();
  byId("drop").hidden = !mayCurate;
  byId("documents").dataset.curate = mayCurate ? "yes" : "";
  await list();
  byId("documents").showModal();
  if (mayCurate) watch();
}

async function list() {
  const documents = await get("/api/documents");
  byId("document-list").replaceChildren(...documents.map(({ document: one }) => make("li", {},
    make("span", {}, one.title || one.path, make("span", { class: "quiet" }, ` ${one.path}${one.product ? ` · ${one.product}` : ""}`)),
    byId("documents").dataset.curate ? make("button", { type: "button", class: "plain", "aria-label": `Delete ${one.path}`, onclick: (event) => remove(one, event.currentTarget) }, asked.has(one.id) ? REALLY : "Delete") : null)));
}

async function remove(one, button) {
  if (!asked.has(one.id)) { asked.add(one.id); button.textContent = REALLY; return; }
  await said(async () => {
    const gone = await send("DELETE", `/api/documents/${encodeURIComponent(one.id)}`);
    tell(`${one.path} is deleted${gone.file_deleted ? "" : ": its file stays where it is"}.`);
    await list();
    await changed();
  });
}

async function removeUpload(path, now) {
  if (!asked.has(path)) { asked.add(path); show(now); return; }
  await said(async () => {
    await send("DELETE", `/api/uploads?path=${encodeURIComponent(path)}`);
    removed.add(path);
    show(now);
    tell(`${path} is deleted.`);
  });
}

export async function upload(files) {
  await said(async () => {
    const product = byId("upload-product").value.trim(), refused = [];
    for (const [index, file] of [...files].entries()) {
      tell(`Uploading ${file.name} (${index + 1} of ${files.length})…`);
      try { await send("POST", `/api/documents?name=${encodeURIComponent(file.name)}&product=${encodeURIComponent(product)}`, file); }
      catch (problem) { refused.push(problem.message); }
    }
    removed.clear();
    byId("upload-problems").replaceChildren(...refused.map((line) => make("p", { class: "problem" }, line)));
    if (refused.length < files.length) await build({});
    else tell("Nothing was uploaded.");
  });
}

async function build(body) {
  // One build at a time: what was uploaded meanwhile is read by the next.
  while ((await get("/api/build")).state === "running") await new Promise((done) => setTimeout(done, LOOK_AGAIN_MS));
  await post("/api/build", body);
  await watch();
}

async function watch() {
  if (watching) return;
  watching = true;
  try {
    for (;;) {
      const now = await get("/api/build");
      show(now);
      if (now.state !== "running") break;
      await new Promise((done) => setTimeout(done, LOOK_AGAIN_MS));
    }
    await list();
    await changed();
  } finally { watching = false; }
}

function show(now) {
  if (now.state === "none") return;
  const steps = now.steps.map((one) => make("li", { class: one.done ? "done" : "" }, one.total ? `${one.name}: ${one.count} of ${one.total} ${one.unit}` : one.name));
  const failed = now.failures.map((one) => make("li", { class: "problem" }, `${one.subject}: ${one.reason} `,
    one.uploaded && !removed.has(one.subject) ? make("button", { type: "button", class: "plain", "aria-label": `Delete ${one.subject}`, onclick: () => removeUpload(one.subject, now) }, asked.has(one.subject) ? REALLY : "Delete") : null));
  byId("build").replaceChildren(make("ol", { class: "steps" }, ...steps), ...now.lines.map((line) => make("p", {}, line)),
    ...(failed.length ? [make("p", {}, "Could not be read:"), make("ul", {}, ...failed)] : []));
  const documents = now.new_documents + now.updated_documents;
  const read = `${documents} ${documents === 1 ? "document" : "documents"} read, ${now.unchanged_files} unchanged, ${now.failures.length} failed.`;
  tell(now.state === "running" ? `Building: ${now.steps.at(-1)?.name ?? "starting"}…` : now.state === "done" ? `Done: ${read}` : now.problem);
}

const tell = (text) => { if (byId("document-state").textContent !== text) byId("document-state").textContent = text; };

async function said(job) {
  try { await job(); } catch (problem) { tell(problem.message); }
}

byId("files").addEventListener("change", () => upload(byId("files").files).then(() => { byId("files").value = ""; }));
byId("folder-form").addEventListener("submit", (event) => { event.preventDefault(); said(() => build({ folder: byId("folder").value.trim() })); });
byId("documents-close").addEventListener("click", () => byId("documents").close());
byId("drop").addEventListener("dragover", (event) => { event.preventDefault(); byId("drop").classList.add("over"); });
byId("drop").addEventListener("dragleave", () => byId("drop").classList.remove("over"));
byId("drop").addEventListener("drop", (event) => { event.preventDefault(); byId("drop").classList.remove("over"); upload(event.dataTransfer.files); });
