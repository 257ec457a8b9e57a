// How long a state in a folder takes to open (`node bench/open-state.ts FOLDER`): read, verify, and parse all records.

import { openFileStore } from "../src/state/backends/file/file-backend.ts";
import { nodeClock, nodeFiles, nodeRandom, thisProcess } from "../src/state/backends/file/node-ports.ts";

const folder = process.argv[2] ?? "";
const store = openFileStore({
  folder,
  fs: nodeFiles,
  clock: nodeClock,
  random: nodeRandom,
  owner: thisProcess(),
});
const begin = performance.now();
const { state } = await store.read();
console.log(JSON.stringify({ openedMs: performance.now() - begin, records: state.records.size }));
await store.close();
