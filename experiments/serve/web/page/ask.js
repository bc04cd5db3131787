"use strict";
// How a question reaches the simulator: here it is in the page, a module in a worker. `orrery serve` has another ask.js.
// The address of the page has it all behind its `#`, which no browser sends to a server.
const simulator = (() => {
  // A longer text is not carried by the address: links of more are cut by who passes them on.
  const CARRIED_MAX = 30000;
  const TEXT_MAX = 1 << 20;
  const KEPT_MAX = 100;
  const element = (id) => document.getElementById(id);
  // What is asked about, and by which name it is shipped.
  let file = { path: "scenario.toml", text: "" };
  let shippedAs;
  let shipped = {};
  // Which the page is made from, for its reports.
  let commit = "unknown";
  let module;
  let worker;
  let running;
  let waiting = [];
  // Answers that came to their end, so that moving back is instant.
  const kept = new Map();

  // The worker lives from one question to the next; only what is under way when another comes is ended with it.
  function hire() {
    const mine = new Worker("worker.js", { type: "module" });
    worker = mine;
    mine.postMessage({ module });
    mine.onmessage = ({ data }) => {
      // One that was dismissed may have spoken before.
      const job = running;
      if (mine !== worker || !job) return;
      if (data.event) {
        job.told.push(data);
        job.tell(data);
        return;
      }
      running = undefined;
      if (data.failed) dismiss();
      else if (data.whole.status === 200) keep(job, data.whole);
      job.end(data.failed ? { status: 500, body: JSON.stringify({ error: data.failed }) } : data.whole);
      next();
    };
    mine.onerror = (event) => {
      event.preventDefault();
      if (mine !== worker) return;
      const job = running;
      running = undefined;
      dismiss();
      if (job) job.end({ status: 500, body: JSON.stringify({ error: `the simulator cannot be started: ${event.message || "worker.js cannot be loaded"}` }) });
    };
  }

  function dismiss() {
    if (worker) worker.terminate();
    worker = undefined;
  }

  function next() {
    if (running || !waiting.length || !module) return;
    running = waiting.shift();
    if (!worker) hire();
    worker.postMessage({ question: running.question });
  }

  function keep(job, whole) {
    if (kept.size >= KEPT_MAX) kept.clear();
    kept.set(job.key, { told: job.told, whole });
  }

  // Ends what is under way and what waits.
  function drop() {
    waiting = [];
    if (!running) return;
    running = undefined;
    dismiss();
    hire();
  }

  function ask(path, pairs, tell, end) {
    const question = { ...file, commit, address: `${path}?${new URLSearchParams(pairs)}` };
    const job = { question, key: JSON.stringify(question), told: [], tell, end };
    const known = kept.get(job.key);
    if (known) {
      setTimeout(() => {
        known.told.forEach(tell);
        end(known.whole);
      });
      return job;
    }
    waiting.push(job);
    next();
    return job;
  }

  const reply = (path, pairs) =>
    new Promise((done) => {
      ask(path, pairs, () => {}, ({ status, kind, body }) => done(new Response(body, { status, headers: { "Content-Type": kind || "application/json" } })));
    });

  // As an EventSource: each event has a name and data.
  function events(path, pairs) {
    drop();
    const source = new EventTarget();
    let isOpen = true;
    const tell = ({ event, data }) => {
      if (isOpen) source.dispatchEvent(new MessageEvent(event, { data: JSON.stringify(data) }));
    };
    ask(path, pairs, tell, ({ status, body }) => {
      if (status !== 200) tell({ event: "failed", data: JSON.parse(body) });
    });
    source.close = () => {
      if (isOpen && running) drop();
      isOpen = false;
    };
    const isLast = (name) => source.addEventListener(name, () => (isOpen = false));
    ["done", "failed", "cancelled"].forEach(isLast);
    return source;
  }

  async function picture(image, pairs) {
    const drawn = await reply("/api/figure.svg", pairs);
    URL.revokeObjectURL(image.src);
    if (drawn.ok) image.src = URL.createObjectURL(await drawn.blob());
  }

  // A page within this page would be held to its rules, and show nothing: files are saved.
  function link(anchor, path, pairs) {
    anchor.href = "#";
    anchor.removeAttribute("target");
    anchor.onclick = async (event) => {
      event.preventDefault();
      const before = element("state").textContent;
      say("Writing the file.");
      const made = await reply(path, pairs);
      if (!made.ok) {
        say((await made.json()).error, true);
        return;
      }
      const name = path.endsWith(".html") ? `${controls.name}.html` : `${controls.name}.toml`;
      const blob = make("a", { href: URL.createObjectURL(await made.blob()), download: name });
      blob.click();
      setTimeout(() => URL.revokeObjectURL(blob.href), 60000);
      say(before);
    };
  }

  // Whose file, in the address.
  function whose() {
    if (shippedAs) return [["of", shippedAs]];
    const carried = [["name", file.path], ["text", file.text]];
    return new URLSearchParams(carried).toString().length > CARRIED_MAX ? [] : carried;
  }

  const behind = () => [...new URLSearchParams(location.hash.slice(1))];

  function keepAddress(pairs) {
    history.replaceState(null, "", `#${new URLSearchParams([...whose(), ...pairs])}`);
  }

  // Shows whose file it is, and asks about it.
  function about(path, text, name) {
    shippedAs = name;
    file = { path, text };
    element("text").value = text;
    element("shipped").value = name || "";
    const isCarried = whose().length > 0;
    element("text-note").textContent = isCarried
      ? "The address of this page contains it."
      : `It is too long for an address (at most ${CARRIED_MAX.toLocaleString("en")} characters): keep it as a file.`;
  }

  // What is wrong with the address; nothing where it can be asked.
  function fromAddress() {
    const pairs = new Map(behind());
    const text = pairs.get("text");
    if (text !== undefined) {
      about(pairs.get("name") || "scenario.toml", text);
      return text.length > TEXT_MAX ? tooLong(text.length) : undefined;
    }
    const names = Object.keys(shipped);
    const name = pairs.get("of") || names[0];
    if (!(name in shipped)) {
      return `of: found \`${name.slice(0, 80)}\`\n  allowed: ${names.join(", ")}\n  remedy: choose one below, or give a file's own text in the address: #text=...`;
    }
    about(`${name}.toml`, shipped[name], name);
    return undefined;
  }

  const tooLong = (length) =>
    `text: found ${length.toLocaleString("en")} characters\n  allowed: at most ${TEXT_MAX.toLocaleString("en")}\n  remedy: run the file with the program: orrery run FILE`;

  async function loaded(name) {
    const found = await fetch(name);
    if (!found.ok) throw new Error(`${name}: ${found.status} ${found.statusText}`);
    return found;
  }

  // Some servers unpack what is packed on the way, and others do not.
  async function compiled() {
    const bytes = new Uint8Array(await (await loaded("orrery.wasm.gz")).arrayBuffer());
    if (bytes[0] !== 0x1f) return WebAssembly.compile(bytes);
    const unpacked = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return WebAssembly.compile(await new Response(unpacked).arrayBuffer());
  }

  async function begin(load) {
    const editor = element("source");
    editor.hidden = false;
    const start = () => {
      drop();
      const wrong = fromAddress();
      if (wrong) {
        editor.open = true;
        say(wrong, true);
      } else load();
    };
    const instead = (path, text, name) => {
      drop();
      about(path, text, name);
      keepAddress([]);
      if (text.length > TEXT_MAX) say(tooLong(text.length), true);
      else load();
    };
    element("shipped").addEventListener("change", (event) => {
      const name = event.target.value;
      if (name) instead(`${name}.toml`, shipped[name], name);
    });
    element("own").addEventListener("change", async (event) => {
      const [own] = event.target.files;
      if (own) instead(own.name, own.size > TEXT_MAX ? " ".repeat(TEXT_MAX + 1) : await own.text());
    });
    element("use").addEventListener("click", () => instead(file.path, element("text").value));
    addEventListener("hashchange", start);
    try {
      const [code, files] = await Promise.all([compiled(), loaded("shipped.json").then((found) => found.json())]);
      module = code;
      ({ commit, files: shipped } = files);
    } catch (error) {
      say(`The simulator cannot be loaded: ${error.message}\n  remedy: open this page over http, as scripts/web-page says; or run the program: orrery serve FILE`, true);
      return;
    }
    const option = (name) => make("option", { value: name, textContent: name });
    element("shipped").replaceChildren(make("option", { value: "", textContent: "(another text)" }), ...Object.keys(shipped).map(option));
    hire();
    start();
  }

  return {
    gone: "The simulator has ended. Load the page again.",
    begin,
    pairs: () => behind().filter(([key]) => !["of", "name", "text"].includes(key)),
    keep: keepAddress,
    events,
    reply,
    picture,
    link,
  };
})();
