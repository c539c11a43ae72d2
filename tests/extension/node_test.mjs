// The SQLite extension in Node.js, under better-sqlite3, which brings a copy of
// SQLite of its own. Run by `./dev test --node`.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import fs from "node:fs";
import { createRequire } from "node:module";
import os from "node:os";
import path from "node:path";
import readline from "node:readline";
import { after, before, test } from "node:test";

const require = createRequire(path.join(process.env.NODE_FOLDER, "index.js"));
const Database = require("better-sqlite3");

const folder = fs.mkdtempSync(path.join(os.tmpdir(), "alkstore-"));
const lines = [];
let db, node;

// The first line of the node's log in which the pattern is found.
async function awaitLine(pattern) {
  for (let i = 0; i < 3000; ++i) {
    const line = lines.find((x) => pattern.test(x));
    if (line) return line;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  assert.fail(`${pattern} not in\n${lines.join("\n")}`);
}

before(async () => {
  fs.writeFileSync(
    path.join(folder, "node.conf"),
    'alkstore {\ndatabase = "store.db"\n' +
      'outboxes = [{ name = "box", log = true }]\n}\n',
  );
  node = spawn(process.env.ALKSTORE_NODE, ["--config-file", "node.conf"], {
    cwd: folder,
    stdio: ["ignore", "pipe", "inherit"],
  });
  readline.createInterface(node.stdout).on("line", (x) => lines.push(x));
  await awaitLine(/ leading /);
  db = new Database(path.join(folder, "store.db"));
  db.loadExtension(process.env.ALKSTORE_EXTENSION);
  db.exec("CREATE TABLE orders(item TEXT)");
});

after(async () => {
  db?.close();
  const ended = new Promise((resolve) => node.once("exit", resolve));
  node.kill("SIGTERM");
  assert.equal(await ended, 0);
  fs.rmSync(folder, { recursive: true });
});

test("a running node delivers what is committed within 50 ms, and nothing that was rolled back", async () => {
  const send = db.prepare("SELECT alkstore_outbox_enqueue('box', ?)").pluck();
  const order = db.transaction((item, fails) => {
    db.prepare("INSERT INTO orders VALUES(?)").run(item);
    const id = send.get(Buffer.from(item));
    if (fails) throw new Error("rolled back");
    return id;
  });
  const took = [];
  for (let i = 0; i < 5; ++i) {
    assert.throws(() => order.immediate(`lost ${i}`, true), /rolled back/);
    const id = order.immediate(`kept ${i}`, false);
    const committed = Date.now();
    const line = await awaitLine(new RegExp(` delivered box job=${id} `));
    took.push(Date.parse(line.split(" ")[0]) - committed);
  }
  assert.ok(Math.min(...took) < 50, `${took}`);
  assert.equal(db.prepare("SELECT count(*) FROM orders").pluck().get(), 5);
  assert.equal(lines.filter((x) => x.includes(" delivered box ")).length, 5);
});

test("errors and results are those of the library", () => {
  const refused = (sql) => assert.throws(() => db.prepare(sql).get(), {
    message: /^invalid_argument: no transaction is open/,
  });
  refused("SELECT alkstore_enqueue('q', 'x')");
  db.exec("BEGIN IMMEDIATE");
  const id = db.prepare("SELECT alkstore_enqueue('q', ?, ?)").pluck()
    .get("größer", JSON.stringify({ priority: 3, delay_ms: 3600000 }));
  assert.throws(() => db.prepare("SELECT alkstore_enqueue('a b', 'x')").get(),
    { message: /^invalid_name: / });
  db.exec("COMMIT");
  const job = JSON.parse(
    db.prepare("SELECT alkstore_get_job(?)").pluck().get(id));
  assert.deepEqual([job.state, job.priority, job.payload],
    ["delayed", 3, "größer"]);
});
