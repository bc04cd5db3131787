// Runs the module under node's WASI: the files are read from the folder it is started in.
import { readFile } from "node:fs/promises";
import { WASI } from "node:wasi";

const [module, ...files] = process.argv.slice(2);
const wasi = new WASI({ version: "preview1", args: [module, ...files], preopens: { ".": process.cwd() } });
const compiled = await WebAssembly.compile(await readFile(module));
process.exitCode = wasi.start(await WebAssembly.instantiate(compiled, wasi.getImportObject()));
