// `workspace version`: the program's version and the Node that runs it.

import { VERSION } from "../about.ts";
import { defineCommand } from "../command.ts";
import { EXIT } from "../exit.ts";

export const version = defineCommand({
  name: "version",
  summary: "print the version",
  options: {},
  async run(context) {
    context.stdout.write(`workspace ${VERSION} (node ${process.version})\n`);
    return EXIT.ok;
  },
});
