// Entry of a real emulator process for tests: PORT DATA TOKEN [ADMIN]; prints its URL when it is ready.

import { startEmulator } from "../../src/emulator/server.ts";

const [port = "0", dataDir = ":memory:", token = "t", admin] = process.argv.slice(2);
const { url } = await startEmulator({
  port: Number(port),
  dataDir,
  token,
  ...(admin === undefined ? {} : { admin }),
});
process.stdout.write(`${url}\n`);
