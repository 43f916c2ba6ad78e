// The driver of JavaScript sessions of run_code.
//
// It runs in the sandbox, in the same process as the code that it runs, so nothing here keeps that code from anything: the
// sandbox does. Code runs on the main thread, in the way of V8's own console: declarations may be repeated, await works at the top.
// A worker reads commands and drives the main thread by the inspector, which can end what runs there.
//
// Commands come in on 3, frames go out on 4, and what code prints goes to 1 and 2, which are one pipe.
"use strict";
(() => {
const { Worker } = require("node:worker_threads");
const fs = require("node:fs");
const nodePath = require("node:path");
const { inspect, types: { isPromise } } = require("node:util");
const { createRequire, stripTypeScriptTypes } = require("node:module");

const WORK = (process.env.TMPDIR ?? "/tmp") + "/work";
const MOST_TEXT = 64 << 10, MOST_FILES = 200;

// supervise runs in the worker. It is handed over as text, so it uses nothing from around it.
function supervise() {
  const fs = require("node:fs");
  const path = require("node:path");
  const { Session } = require("node:inspector");
  const { parentPort } = require("node:worker_threads");
  const WORK = (process.env.TMPDIR ?? "/tmp") + "/work";
  const session = new Session();
  session.connectToMainThread();

  const send = (kind, cell, data) => {
    const body = Buffer.isBuffer(data) ? data : Buffer.from(String(data ?? ""), "utf8");
    const all = Buffer.concat([Buffer.from(`${kind} ${cell} ${body.length}\n`), body]);
    for (let at = 0; at < all.length;) {
      try {
        at += fs.writeSync(4, all, at);
      } catch (e) {
        if (e.code === "EAGAIN") continue;
        process.kill(process.pid, "SIGKILL"); // the code has closed it: nobody can be told anything any more
      }
    }
  };

  // Reading, in pieces, of lines and of as many bytes as they announce.
  let held = Buffer.alloc(0);
  const more = () => new Promise((resolve) => {
    const piece = Buffer.alloc(65536);
    fs.read(3, piece, 0, piece.length, null, (error, n) => {
      if (error && error.code === "EAGAIN") return setTimeout(() => resolve(true), 10);
      if (error || n === 0) return resolve(false);
      held = held.length ? Buffer.concat([held, piece.subarray(0, n)]) : piece.subarray(0, n);
      resolve(true);
    });
  });
  const line = async () => {
    for (;;) {
      const end = held.indexOf(10);
      if (end >= 0) {
        const text = held.subarray(0, end).toString("latin1");
        held = held.subarray(end + 1);
        return text.split(" ");
      }
      if (!(await more())) return null;
    }
  };
  const bytes = async (n) => {
    const parts = [];
    let missing = n;
    while (missing > 0) {
      if (held.length === 0 && !(await more())) return Buffer.alloc(0);
      const part = held.subarray(0, missing);
      parts.push(part);
      missing -= part.length;
      held = held.subarray(part.length);
    }
    return Buffer.concat(parts);
  };

  // The main thread does one thing at a time and answers. One that was ended in the middle never answers.
  let asked = 0, waiting = new Map();
  parentPort.on("message", ({ id, value }) => {
    waiting.get(id)?.(value);
    waiting.delete(id);
  });
  const ask = (op, args) => new Promise((resolve) => {
    waiting.set(++asked, resolve);
    parentPort.postMessage({ id: asked, op, args });
  });

  let running = 0, interrupted = false, giveUp = null;
  const run = async (cell, code, types) => {
    running = cell;
    interrupted = false;
    const stopped = new Promise((resolve) => { giveUp = () => resolve(null); });
    const answer = await Promise.race([ask("run", { code, types }), stopped]);
    let status = "interrupted";
    if (answer && !interrupted) {
      status = answer.error === undefined ? "ok" : "error";
      if (answer.error !== undefined) send("error", cell, answer.error);
      if (answer.json !== undefined) send("json", cell, answer.json);
      if (answer.png) send("png", cell, Buffer.from(answer.png));
      else if (answer.text !== undefined) send("text", cell, answer.text);
    }
    const files = await ask("end", {});
    running = 0;
    send("files", cell, JSON.stringify(files));
    send("done", cell, JSON.stringify({ status }));
  };

  const get = (cell, name, most) => {
    try {
      const file = path.join(WORK, name);
      if (!fs.statSync(file).isFile()) throw new Error("there is no such file");
      if (fs.statSync(file).size > most) throw new Error(`it has more than ${most} bytes`);
      send("file", cell, fs.readFileSync(file));
    } catch (e) {
      send("nofile", cell, e.code === "ENOENT" ? "there is no such file" : e.message);
    }
  };

  (async () => {
    let last = Promise.resolve();
    for (;;) {
      const words = await line();
      if (!words) process.kill(process.pid, "SIGKILL");
      const [op, ...args] = words;
      if (op === "interrupt") {
        if (Number(args[0]) === running) {
          interrupted = true;
          session.post("Runtime.terminateExecution");
          // What waits for a promise runs nothing that could be ended.
          const stop = giveUp, cell = running;
          setTimeout(() => { if (running === cell && stop) stop(); }, 300);
        }
        continue;
      }
      const data = op === "get" ? null : await bytes(Number(args[args.length - 1]));
      if (op === "hello") {
        const d = JSON.parse(data.toString("utf8"));
        await ask("hello", d);
        send("ready", 0, JSON.stringify({ version: process.versions.node }));
      } else if (op === "put") {
        const name = path.join(WORK, Buffer.from(args[0], "hex").toString("utf8"));
        last = last.then(() => {
          fs.mkdirSync(path.dirname(name), { recursive: true });
          fs.rmSync(name, { force: true });
          fs.writeFileSync(name, data);
        }).catch(() => {});
      } else if (op === "run" || op === "types") {
        last = last.then(() => run(Number(args[0]), data.toString("utf8"), op === "types"));
      } else if (op === "get") {
        last = last.then(() => get(Number(args[0]), Buffer.from(args[1], "hex").toString("utf8"), Number(args[2])));
      }
    }
  })();
}

// What the worker has the main thread do.
const { Session } = require("node:inspector");
let mark = Buffer.alloc(0), listedBefore = new Map();
const clip = (text) => text.length <= MOST_TEXT ? text : text.slice(0, MOST_TEXT) + `\n[${text.length - MOST_TEXT} characters are left out]\n`;

function listed() {
  const found = new Map(), todo = [""];
  while (todo.length && found.size < 2000) {
    const top = todo.pop();
    let entries = [];
    try { entries = fs.readdirSync(nodePath.join(WORK, top), { withFileTypes: true }); } catch { continue; }
    for (const e of entries) {
      const name = top ? top + "/" + e.name : e.name;
      if (e.isDirectory()) {
        if (e.name !== "node_modules") todo.push(name);
      } else if (e.isFile() && found.size < 2000) {
        try {
          const s = fs.lstatSync(nodePath.join(WORK, name));
          found.set(name, { size: s.size, state: `${s.mtimeMs} ${s.size} ${s.ino}` });
        } catch { /* it has gone meanwhile */ }
      }
    }
  }
  return found;
}

const session = new Session();
session.connect();
const post = (method, params) => new Promise((resolve) => session.post(method, params, (error, result) => resolve({ error, result })));

// evaluate runs code as V8's console does, and gives back the real value.
let taken;
Object.defineProperty(globalThis, Symbol.for("toolcrib.take"), { value: (v) => { taken = v; } });
async function evaluate(code) {
  const { error, result } = await post("Runtime.evaluate", { expression: code, replMode: true, awaitPromise: true, silent: true });
  if (error) return { failed: true, fault: new Error(error.message) };
  const failed = result.exceptionDetails;
  const value = failed ? failed.exception ?? { type: "string", value: failed.text } : result.result;
  const arg = value.objectId ? { objectId: value.objectId } : value.unserializableValue ? { unserializableValue: value.unserializableValue } : { value: value.value };
  taken = undefined;
  await post("Runtime.callFunctionOn", {
    functionDeclaration: 'function (value) { globalThis[Symbol.for("toolcrib.take")](value); }',
    arguments: value.type === "undefined" ? [] : [arg], executionContextId: context,
  });
  const got = taken;
  taken = undefined;
  session.post("Runtime.releaseObjectGroup", { objectGroup: "" });
  return failed ? { failed: true, fault: got } : { value: got };
}

let context;
session.once("Runtime.executionContextCreated", (m) => { context = m.params.context.id; });

const driver = {
  async hello(d) {
    mark = Buffer.from(d.nonce, "utf8");
    fs.mkdirSync(WORK, { recursive: true });
    process.chdir(WORK);
    globalThis.require = createRequire(WORK + "/cell.js");
    await post("Runtime.enable", {});
    session.post("Runtime.disable");
    return true;
  },
  async run({ types, code }) {
    listedBefore = listed();
    if (types) {
      if (!stripTypeScriptTypes) return { error: "TypeScript needs Node.js 22.13 or later, and this is " + process.version + ": write JavaScript" };
      const warn = process.emitWarning;
      process.emitWarning = () => {}; // that this is an experiment is no output of the cell
      try {
        code = stripTypeScriptTypes(code);
      } catch (e) {
        return { error: String(e.message) };
      } finally {
        process.emitWarning = warn;
      }
    }
    const { fault, value, failed } = await evaluate(code);
    if (fault instanceof Exit) return fault.code ? { error: `process.exit(${fault.code}) ended the cell` } : {};
    if (!failed) return show(value);
    let error = told(fault);
    if (/import statement outside a module|dynamic import callback/.test(error)) error += "\nimport does not work in cells: use require";
    return { error };
  },
  end() {
    try { writeAll(2, mark); } catch { /* the code has closed it */ }
    const files = [];
    for (const [name, f] of listed()) {
      if (listedBefore.get(name)?.state !== f.state && files.length < MOST_FILES) files.push({ name, size: f.size });
    }
    return files;
  },
};

function show(value) {
  if (value === undefined) return {};
  globalThis._ = value;
  if (Buffer.isBuffer(value) && value.length < 8 << 20 && value.subarray(0, 4).toString("latin1") === "\x89PNG") return { png: value };
  const out = { text: clip(inspect(value, { depth: 4, maxArrayLength: 200, maxStringLength: 20000, breakLength: 120 })) };
  try {
    const json = JSON.stringify(value);
    if (json !== undefined && json.length <= MOST_TEXT && !isPromise(value) && typeof value !== "function") out.json = json;
  } catch { /* it has no such form */ }
  return out;
}

// told is what went wrong, without what lies below the code.
function told(fault) {
  let text = "Uncaught";
  try {
    text = fault instanceof Error && fault.stack ? String(fault.stack) : "Uncaught " + inspect(fault, { depth: 2 });
  } catch { /* it does not want to be told */ }
  return clip(text.split("\n").filter((l) => !/^\s+at .*(node:|\[eval\])|^\s+at new Promise \(<anonymous>\)$/.test(l)).join("\n"));
}

// What is printed goes out at once: a loop that prints would fill the memory otherwise, and prints would come after their cell.
function writeAll(fd, data) {
  for (let at = 0; at < data.length;) {
    try {
      at += fs.writeSync(fd, data, at);
    } catch (e) {
      if (e.code !== "EAGAIN") throw e;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
    }
  }
}
for (const [stream, fd] of [[process.stdout, 1], [process.stderr, 2]]) {
  stream.write = (chunk, encoding, done) => {
    if (typeof encoding === "function") [encoding, done] = ["utf8", encoding];
    try { writeAll(fd, typeof chunk === "string" ? Buffer.from(chunk, encoding) : chunk); } catch { /* the code has closed it */ }
    if (done) process.nextTick(done);
    return true;
  };
}

// process.exit ends its cell, as sys.exit does in Python. With an inspector Node.js would wait for it for ever.
class Exit { constructor(code) { this.code = code; } }
process.exit = (code) => { throw new Exit(Number(code ?? process.exitCode ?? 0)); };
process.reallyExit = () => process.kill(process.pid, "SIGKILL");
process.on("exit", () => process.kill(process.pid, "SIGKILL"));

const complain = (text) => { try { fs.writeSync(2, text + "\n"); } catch { /* nobody can be told */ } };
process.on("uncaughtException", (e) => { if (!(e instanceof Exit)) complain(told(e)); });
process.on("unhandledRejection", (e) => { if (!(e instanceof Exit)) complain("Unhandled rejection: " + told(e)); });
process.on("SIGINT", () => {});
const worker = new Worker(`(${supervise})()`, { eval: true, stdin: false, stdout: false, stderr: false });
worker.on("message", async ({ id, op, args }) => {
  let value;
  try {
    value = await driver[op](args);
  } catch (e) {
    value = { error: told(e) };
  }
  worker.postMessage({ id, value });
});
})();
