// Runs the module under node, as the page's worker does: questions on stdin, a line each, and their messages on stdout,
// an empty line behind each answer.
import { readFile } from "node:fs/promises";
import { createInterface } from "node:readline";
import { gunzipSync } from "node:zlib";
import { Simulator } from "./page/simulator.mjs";

const bytes = await readFile(process.argv[2]);
const simulator = await Simulator.of(await WebAssembly.compile(bytes[0] === 0x1f ? gunzipSync(bytes) : bytes));
for await (const line of createInterface({ input: process.stdin })) {
  simulator.ask(JSON.parse(line), (message) => process.stdout.write(`${message}\n`));
  process.stdout.write("\n");
}
