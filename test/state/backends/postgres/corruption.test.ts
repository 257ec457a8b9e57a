import { afterAll, describe } from "vitest";
import { corruptionContract } from "../../corruption-contract.ts";
import { onPostgres } from "../../sharing.ts";
import { startPostgres } from "./server.ts";

const server = startPostgres();
afterAll(() => server?.stop());

describe.skipIf(server === undefined)("with a server", () => {
  corruptionContract("a state in PostgreSQL", () => onPostgres(server), 13);
});
