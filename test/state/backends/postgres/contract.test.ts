import { afterAll, describe } from "vitest";
import { storeContract } from "../../contract.ts";
import { onPostgres } from "../../sharing.ts";
import { startPostgres } from "./server.ts";

const server = startPostgres();
afterAll(() => server?.stop());

describe.skipIf(server === undefined)("with a server", () => {
  storeContract("a state in PostgreSQL", () => onPostgres(server));
});
