// The module and the little of a system that it wants: a clock, random numbers, and two streams. It gets no files and no
// network. The same file runs it in a worker and under node.

const OK = 0;
const NO_SUCH_FILE = 8;
const NOT_HERE = 52;
const SAID_MAX = 2000;

export class Simulator {
  // The simulator of a compiled module.
  static async of(module) {
    const simulator = new Simulator();
    const wanted = WebAssembly.Module.imports(module);
    const system = simulator.system();
    for (const { name } of wanted) system[name] ??= () => NOT_HERE;
    const { exports } = await WebAssembly.instantiate(module, { wasi_snapshot_preview1: system });
    simulator.exports = exports;
    // A module with no constructors to call has none.
    exports._initialize?.();
    return simulator;
  }

  // Asks a question: `tell` is given each message of its answer, as JSON. One that fails leaves a simulator of no further use.
  ask(question, tell) {
    this.input = new TextEncoder().encode(JSON.stringify(question));
    this.tell = tell;
    this.line = "";
    this.said = "";
    this.decoder = new TextDecoder();
    try {
      this.exports.ask();
    } catch (error) {
      const memory = this.exports.memory.buffer.byteLength;
      const why = this.said.trim() || error.message;
      const full = memory >= 4e9 ? "; it used all the memory that a page can have" : "";
      throw new Error(`the simulator broke off (${why}${full})\n  remedy: run the file with the program: orrery run FILE`);
    }
  }

  // What the module wrote to a stream: an answer is a message a line.
  wrote(stream, bytes) {
    if (stream !== 1) {
      this.said = (this.said + new TextDecoder().decode(bytes)).slice(-SAID_MAX);
      return;
    }
    const [first, ...rest] = this.decoder.decode(bytes, { stream: true }).split("\n");
    this.line += first;
    for (const next of rest) {
      this.tell(this.line);
      this.line = next;
    }
  }

  system() {
    const view = () => new DataView(this.exports.memory.buffer);
    const bytes = (at, length) => new Uint8Array(this.exports.memory.buffer, at, length);
    // Each piece of a list of buffers, until one says that there is no more.
    const pieces = (list, count, each) => {
      let sum = 0;
      for (let i = 0; i < count; i++) {
        const [at, length] = [view().getUint32(list + 8 * i, true), view().getUint32(list + 8 * i + 4, true)];
        sum += each(at, length);
      }
      return sum;
    };
    const nothing = (count, size) => {
      view().setUint32(count, 0, true);
      view().setUint32(size, 0, true);
      return OK;
    };
    return {
      fd_write: (stream, list, count, written) => {
        const sum = pieces(list, count, (at, length) => {
          this.wrote(stream, bytes(at, length).slice());
          return length;
        });
        view().setUint32(written, sum, true);
        return OK;
      },
      fd_read: (stream, list, count, read) => {
        const sum = pieces(list, count, (at, length) => {
          const part = this.input.subarray(0, length);
          bytes(at, part.length).set(part);
          this.input = this.input.subarray(part.length);
          return part.length;
        });
        view().setUint32(read, sum, true);
        return OK;
      },
      fd_prestat_get: () => NO_SUCH_FILE,
      fd_fdstat_get: () => NO_SUCH_FILE,
      environ_sizes_get: nothing,
      environ_get: () => OK,
      args_sizes_get: nothing,
      args_get: () => OK,
      clock_time_get: (_, __, at) => {
        view().setBigUint64(at, BigInt(Math.round(performance.now() * 1e6)), true);
        return OK;
      },
      random_get: (at, length) => {
        crypto.getRandomValues(bytes(at, length));
        return OK;
      },
      proc_exit: (code) => {
        throw new Error(`it ended with ${code}`);
      },
    };
  }
}
