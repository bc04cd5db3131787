// The simulator's thread: questions come as messages, one after another, and answers go as messages.
import { Simulator } from "./simulator.mjs";

let simulator;

self.onmessage = async ({ data }) => {
  if (data.module) {
    simulator = Simulator.of(data.module);
    return;
  }
  try {
    (await simulator).ask(data.question, (message) => self.postMessage(JSON.parse(message)));
  } catch (error) {
    self.postMessage({ failed: error.message });
  }
};
