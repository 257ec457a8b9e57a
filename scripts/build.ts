// Builds what is shipped (`npm run build`): dist/ with the few files of the npm package, and workspace.mjs, one file with its
// packages, schemas, and their licenses.

import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { type OutputOptions, type Plugin, type RolldownPluginOption, rolldown } from "rolldown";
import { lazyBuiltins } from "./lazy-builtins.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));

/**
 * Writes the files of the npm package to `folder`. Packages that every `validate` or `plan` loads are part of them; the
 * others are loaded from `node_modules` when a run needs them. `facts` are what the program says about its build.
 */
export async function writePackage(folder: string, facts = buildFacts()): Promise<void> {
  const output = await bundleOf(
    { main: "src/main.ts" },
    [moveSchemas, bundlePackages(IN_PACKAGE)],
    (id) => isDependency(id) && !IN_PACKAGE.test(id),
    {
      entryFileNames: "[name].js",
      chunkFileNames: "[name].js",
      // Loading has a price for each file: what one command needs is one file.
      codeSplitting: { groups: [...GROUPS] },
    },
    facts,
  );
  const files = new Set(output.map(({ fileName }) => fileName));
  for (const { fileName, code, imports, dynamicImports } of output) {
    if (/new URL\("(?:\.\.\/){2,}schemas/.test(code))
      throw new Error(`${fileName} would read a schema elsewhere`);
    const missing = [...imports, ...dynamicImports].find(
      (id) => !files.has(id) && !isDependency(id) && !id.startsWith("node:"),
    );
    if (missing !== undefined) throw new Error(`${fileName} would import ${missing}, which is not installed`);
    writeFileSync(join(folder, fileName), code);
  }
  writeFileSync(join(folder, "LICENSES.txt"), licenses(output.flatMap(({ moduleIds }) => moduleIds)));
}

/** Comes before the program, which an older Node cannot load. `bin/workspace.js` says the same for the package. */
const NODE_CHECK = `{
  const [major, minor] = process.versions.node.split(".").map(Number);
  if (major < 22 || major === 23 || (major === 22 && minor < 19)) {
    process.stderr.write(
      "error CLI_NOT_INSTALLED: Node " + process.versions.node +
        " is too old: this program needs Node 24 or newer (or Node 22 from 22.19 on)\\n  hint: install a newer Node\\n",
    );
    process.exit(1);
  }
}`;

/**
 * Writes the bundle to `file`, executable. Throws if a module is missing or if the program would read a file next to
 * it.
 */
export async function writeBundle(file: string): Promise<void> {
  const entry = await oneFile("src/main.ts", [inlineSchemas, bundlePackages(/./)]);
  // A static import of a module that an older Node lacks would fail before the check.
  const early = entry.imports.filter((id) => id.replace(/^node:/, "") !== "module");
  if (early.length > 0)
    throw new Error(`the bundle would import ${early.join(", ")} before its check of Node`);
  const code = `#!/usr/bin/env node\n${NODE_CHECK}\n${entry.code}`;
  if (/new URL\([^)]*schemas/.test(code)) throw new Error("the bundle would read a schema at run time");
  const text = licenses(entry.moduleIds).replaceAll("*/", "* /");
  writeFileSync(file, `${code}\n/*\n${text}\n*/\n`, { mode: 0o755 });
}

const DEPENDENCIES = Object.keys(
  (JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { dependencies: object }).dependencies,
);

function isDependency(id: string): boolean {
  return DEPENDENCIES.some((name) => id === name || id.startsWith(`${name}/`));
}

/** Packages whose modules every `validate` or `plan` loads. */
const IN_PACKAGE = /^(commander|croner|cronstrue|fastest-levenshtein|picocolors|undici)$/;

/** The modules of a group, and all that they import, are in one file; the first group that needs a module has it. */
const GROUPS = [
  { name: "version", test: /src\/(?:config\/(?:version|streams)|cli\/exit-process)\.ts$/, priority: 4 },
  { name: "start", test: /src\/cli\/process\.ts$/, priority: 3 },
  {
    name: "validate",
    test: /src\/(?:cli\/commands\/validate|workflow\/invocation\/invocation)\.ts$/,
    priority: 2,
  },
  { name: "plan", test: /src\/cli\/(?:commands\/plan|output\/(?:run-signals|progress))\.ts$/, priority: 1 },
] as const;

/** One module and everything that it imports, as one file. */
async function oneFile(input: string, plugins: Plugin[]) {
  const [file, ...more] = await bundleOf({ main: input }, plugins, ["pg-native"], { codeSplitting: false });
  if (file === undefined || more.length > 0) throw new Error("the bundle has more than one file");
  return file;
}

async function bundleOf(
  input: Readonly<Record<string, string>>,
  plugins: RolldownPluginOption,
  external: string[] | ((id: string) => boolean),
  options: OutputOptions,
  facts = buildFacts(),
) {
  const build = await rolldown({
    input: Object.fromEntries(Object.entries(input).map(([name, path]) => [name, join(ROOT, path)])),
    platform: "node",
    transform: { define: { WORKSPACE_BUILD: JSON.stringify(facts) } },
    plugins: [lazyBuiltins, onlyConnections, plugins],
    external,
    onLog: (level, log) => {
      if (level === "warn" && log.code !== "INEFFECTIVE_DYNAMIC_IMPORT") throw new Error(log.message);
    },
  });
  const { output } = await build.generate({
    format: "esm",
    minify: true,
    comments: { legal: false },
    ...options,
  });
  await build.close();
  return output.map((file) => {
    if (file.type !== "chunk") throw new Error(`${file.fileName} is not a file of code`);
    return file;
  });
}

/**
 * The commit and its date, which are the same for every build of it. Empty without git; a build in a container, which has no
 * repository, gets BUILD_COMMIT and SOURCE_DATE_EPOCH.
 */
export function buildFacts(env: NodeJS.ProcessEnv = process.env): { commit?: string; date?: string } {
  const git = (...words: string[]): string | undefined =>
    existsSync(join(ROOT, ".git"))
      ? spawnSync("git", words, { cwd: ROOT, encoding: "utf8" }).stdout?.trim() || undefined
      : undefined;
  const commit =
    env.BUILD_COMMIT?.slice(0, 12) || git("describe", "--always", "--dirty", "--exclude=*", "--abbrev=12");
  const seconds = Number(env.SOURCE_DATE_EPOCH || git("log", "-1", "--format=%ct"));
  return { commit, date: seconds > 0 ? new Date(seconds * 1000).toISOString() : undefined };
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

/** The files of the package are in one folder, next to `schemas/`. */
const moveSchemas: Plugin = {
  name: "move-schemas",
  transform: {
    filter: { id: /\/src\//, code: /schemas\// },
    handler: (code) => code.replace(/new URL\("(?:\.\.\/)+schemas\//g, 'new URL("../schemas/'),
  },
};

/** Packages that are loaded on first use through `createRequire` become lazy modules of the bundle, if `isIn` matches their names. */
const bundlePackages = (isIn: RegExp): Plugin => ({
  name: "bundle-packages",
  transform: {
    filter: { id: /\/src\//, code: /createRequire/ },
    handler: (text) => {
      const code = text.replace(/\bload\("([\w./@-]+)"\)/g, (call, id: string) =>
        isIn.test(id) ? `require("${id}")` : call,
      );
      if (/\bload\("/.test(code)) return code;
      return code.replace(/^const load = .*$/m, "").replace(/^import \{ createRequire \}.*$/m, "");
    },
  },
});

/**
 * undici with connections and requests alone: its entry also loads fetch, sockets, caches, and mocks, which the program does not use, and with them
 * the streams of the web and the workers of Node. What a connection itself takes of them, it takes when a body needs it.
 */
const onlyConnections: Plugin = {
  name: "only-connections",
  resolveId: {
    order: "pre",
    filter: { id: /^\.\/lib\/(?:cache|interceptor|mock|web)\// },
    handler: (_id, importer) => (/\/undici\/index\.js$/.test(importer ?? "") ? UNUSED_PART : null),
  },
  load: {
    filter: { id: /^\0unused-part/ },
    handler: () => ({
      code: "module.exports = new Proxy(class {}, { get: () => class {} });",
      moduleType: "js",
    }),
  },
};

const UNUSED_PART = "\0unused-part.cjs";

export function licenses(modules: readonly string[]): string {
  const inPackages = modules.filter((id) => id.includes("node_modules"));
  const folders = [...new Set(inPackages.map(packageFolder))].sort();
  const texts = folders.map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    const file = readdirSync(folder).find((one) => /^(licen[cs]e|copying)/i.test(one));
    const text =
      file === undefined ? "The package contains no license file." : readFileSync(join(folder, file), "utf8");
    return `${name} ${version} (${license})\n\n${text.trim()}`;
  });
  return texts.join("\n\n----\n\n");
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

if (import.meta.main) {
  const dist = join(ROOT, "dist");
  rmSync(dist, { recursive: true, force: true });
  mkdirSync(dist);
  try {
    await writePackage(dist);
    await writeBundle(join(ROOT, "workspace.mjs"));
  } catch (problem) {
    rmSync(dist, { recursive: true, force: true });
    throw problem;
  }
}
