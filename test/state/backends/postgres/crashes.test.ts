import { afterAll, describe } from "vitest";
import { crashContract, takeoverContract } from "../../crashes.ts";
import { onPostgres } from "../../sharing.ts";
import { startPostgres } from "./server.ts";

const server = startPostgres();
afterAll(() => server?.stop());

describe.skipIf(server === undefined)("with a server", () => {
  crashContract("a state in PostgreSQL", () => onPostgres(server));
  takeoverContract("a state in PostgreSQL", () => onPostgres(server));
});
