// Bundles the program, its packages, and its schemas into one file, with the licenses of what it contains.

import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Plugin, rolldown } from "rolldown";

const ROOT = fileURLToPath(new URL("..", import.meta.url));

/**
 * Writes the bundle to `file`, executable. Throws if a module is missing or if the program would read a file next to
 * it.
 */
export async function writeBundle(file: string): Promise<void> {
  const worker = await bundleOf("src/rules/rule-worker.ts", [bundleLazyPackages]);
  const entry = await bundleOf("src/main.ts", [inlineSchemas, bundleLazyPackages, inlineWorker(worker.code)]);
  const modules = entry.moduleIds.filter((id) => id.includes("node_modules"));
  const code = `#!/usr/bin/env node\n${entry.code}`;
  if (/new URL\([^)]*schemas/.test(code)) throw new Error("the bundle would read a schema at run time");
  if (!code.includes("data:text/javascript")) throw new Error("the bundle lacks the thread of the rules");
  writeFileSync(file, `${code}\n${licenseComment(modules)}`, { mode: 0o755 });
}

/** One module and everything that it imports, as one chunk. */
async function bundleOf(input: string, plugins: Plugin[]) {
  const build = await rolldown({
    input: join(ROOT, input),
    platform: "node",
    plugins,
    external: ["pg-native"],
    onLog: (level, log) => {
      if (level === "warn") throw new Error(log.message);
    },
  });
  const { output } = await build.generate({
    format: "esm",
    codeSplitting: false,
    minify: true,
    comments: { legal: false },
  });
  await build.close();
  if (output.length !== 1) throw new Error("the bundle has more than one file");
  return output[0];
}

/** Puts the code of the thread that evaluates rules into its URL. */
function inlineWorker(code: string): Plugin {
  const url = `new URL("data:text/javascript;base64,${Buffer.from(code).toString("base64")}")`;
  return {
    name: "inline-worker",
    transform: {
      filter: { id: /run-rules\.ts$/ },
      handler: (text) => text.replace("new URL(file, import.meta.url)", url),
    },
  };
}

/** Replaces reading a file of `schemas/` by its text. */
const inlineSchemas: Plugin = {
  name: "inline-schemas",
  transform: {
    filter: { id: /\/src\// },
    handler: (code) =>
      code.replace(
        /\breadFileSync\(\s*new URL\("(?:\.\.\/)+schemas\/([\w.-]+)", import\.meta\.url\), "utf8"\)/g,
        (_, name) => JSON.stringify(readFileSync(join(ROOT, "schemas", String(name)), "utf8")),
      ),
  },
};

/** Packages loaded on first use through `createRequire` become lazy modules of the bundle. */
const bundleLazyPackages: Plugin = {
  name: "bundle-lazy-packages",
  transform: {
    filter: { id: /\/src\//, code: /createRequire/ },
    handler: (code) =>
      code
        .replace(/\bload\("([\w./-]+)"\)/g, 'require("$1")')
        .replace(/^const load = .*$/m, "")
        .replace(/^import \{ createRequire \}.*$/m, ""),
  },
};

function licenseComment(modules: readonly string[]): string {
  const folders = [...new Set(modules.map(packageFolder))].sort();
  const texts = folders.map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    const file = readdirSync(folder).find((one) => /^(licen[cs]e|copying)/i.test(one));
    const text =
      file === undefined ? "The package contains no license file." : readFileSync(join(folder, file), "utf8");
    return `${name} ${version} (${license})\n\n${text.trim()}`;
  });
  return `/*\n${texts.join("\n\n----\n\n").replaceAll("*/", "* /")}\n*/\n`;
}

function packageFolder(id: string): string {
  let folder = dirname(id);
  while (
    !existsSync(join(folder, "package.json")) ||
    (basename(dirname(folder)) !== "node_modules" && !basename(dirname(folder)).startsWith("@"))
  )
    folder = dirname(folder);
  return folder;
}
