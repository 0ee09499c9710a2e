// Requests to the desk: JSON, and answers as they come. What fails is an Error with the server's own sentence.

export class Problem extends Error {
  constructor(status, detail, type) { super(detail); this.status = status; this.type = type; }

  // Whether it passes by itself: a crowd, a database that is away.
  get passes() { return this.status === 503 || this.type === "urn:kgrag:Impatient"; }
}

async function problemOf(response) {
  let said = {};
  try { said = await response.json(); } catch { /* not JSON: the status says enough */ }
  return new Problem(response.status, said.detail ?? `The desk answered ${response.status}.`, said.type);
}

export async function get(path) {
  const response = await fetch(path, { headers: { Accept: "application/json" } });
  if (!response.ok) throw await problemOf(response);
  return response.json();
}

export async function post(path, body, signal) {
  const response = await fetch(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body), signal });
  if (!response.ok) throw await problemOf(response);
  return response.status === 204 ? null : response.json();
}

// Sends a file as it is, or nothing.
export async function send(method, path, file) {
  const response = await fetch(path, { method, body: file, headers: file ? { "Content-Type": "application/octet-stream" } : {} });
  if (!response.ok) throw await problemOf(response);
  return response.json();
}

// Asks, and calls `told(name, data)` for each event. Aborting `signal` ends the work on the server, too.
export async function stream(path, body, signal, told) {
  const response = await fetch(path, {
    method: "POST", headers: { "Content-Type": "application/json", Accept: "text/event-stream" }, body: JSON.stringify(body), signal,
  });
  if (!response.ok) throw await problemOf(response);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    rest += value;
    const events = rest.split("\n\n");
    rest = events.pop();
    for (const event of events) {
      const lines = event.split("\n");
      const name = lines.find((line) => line.startsWith("event: "))?.slice(7);
      const data = lines.filter((line) => line.startsWith("data: ")).map((line) => line.slice(6)).join("\n");
      if (!name) continue;
      if (name === "problem") { const said = JSON.parse(data); throw new Problem(said.status, said.detail, said.type); }
      told(name, JSON.parse(data));
    }
  }
}
