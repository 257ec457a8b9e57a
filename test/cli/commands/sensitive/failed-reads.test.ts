// Sentences of a service that end a run: they can repeat a value of the spec, in any form.

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runProgram } from "../../../../src/cli/program.ts";
import { contextWith } from "../../context.ts";
import { folderWith } from "../../program.ts";

const VALUE = "CANARY  two\tspaces";
const SPEC = `variables: { v: { type: string, sensitive: true } }
scopes: { s: { secrets: { k: { env: SECRET } } } }
pools: { p: { node_type_id: Standard_DS3_v2, custom_tags: { k: "\${var.v}" } } }
`;
const ANSWERS = {
  "an HTML page": `<html><p>The request had   ${VALUE} and SECRET-CANARY</p></html>`,
  "an error of the API": JSON.stringify({ error_code: "BAD", message: `${VALUE} and SECRET-CANARY` }),
};

let body = "";
const server = createServer((_, response) => {
  response.statusCode = 400;
  response.end(body);
});
beforeAll(() => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve)));
afterAll(() => server.close());

describe.each(Object.entries(ANSWERS))("a run that ends with %s", (_, answer) => {
  test.each(["plan", "plan -o json", "apply --auto-approve", "import pools.p 1", "runs get 7"])(
    "has no value of the spec in the output of %s",
    async (words) => {
      body = answer;
      const host = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      const env = { WORKSPACE_VAR_v: VALUE, SECRET: "SECRET-CANARY", WORKSPACE_TOKEN: "token-of-a-test" };
      const context = contextWith(env, folderWith(SPEC));
      const code = await runProgram(context, [...words.split(" "), "--host", host]);
      const output = context.out() + context.err();
      expect({ code, leak: /CANARY.*/.exec(output)?.[0] }, output).toEqual({ code: 1, leak: undefined });
      // An object that cannot be read has the code of the service only.
      expect(output).toMatch(/\(sensitive\) and \(sensitive\)|PLAN_UNREADABLE/);
    },
  );
});
