// Makes everything that a release publishes, once, and proves each step without a network (`npm run release -- [--tag v1.2.3] [--out FOLDER] [--name NPM_NAME]`).
// Without a tag it is a dry run: of an unreleased version, and with a stand-in for the name of the npm package.

import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const ROOT = fileURLToPath(new URL("..", import.meta.url));

/** Licenses that allow to distribute a package inside the single file, with its text next to it. */
const LICENSES = [
  "MIT",
  "ISC",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "Apache-2.0",
  "Unlicense",
  "(MIT OR CC0-1.0)",
  "0BSD",
];

export interface Release {
  readonly version: string;
  /** `v1.2.3`; undefined for a dry run. */
  readonly tag: string | undefined;
  /** The folder with the results. */
  readonly out: string;
  /** Name of the npm package: the one in package.json stays private. */
  readonly packageName: string;
}

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly [member: string]: unknown;
}

const readJson = <T>(path: string): T => JSON.parse(readFileSync(path, "utf8"));

function run(command: string, args: readonly string[], cwd = ROOT): string {
  const done = spawnSync(command, args, { cwd, encoding: "utf8", maxBuffer: 64 * 1024 * 1024 });
  if (done.status !== 0)
    throw new Error(`${command} ${args.join(" ")}: ${done.stderr || done.error?.message}`);
  return done.stdout;
}

const kilobytes = (path: string): string => `${Math.round(readFileSync(path).length / 1024)} KB`;

/** The section of a version in CHANGELOG.md, without its heading. Throws if a tagged version is called unreleased. */
export function releaseNotes(changelog: string, version: string, tag: string | undefined): string {
  const heading = new RegExp(`^## ${version.replaceAll(".", "\\.")}( \\(.*\\))?$`, "m").exec(changelog);
  if (heading === null) throw new Error(`CHANGELOG.md has no section for ${version}`);
  if (tag !== undefined && heading[1] === " (unreleased)")
    throw new Error(`CHANGELOG.md calls ${version} unreleased: replace the word by the date`);
  const rest = changelog.slice(heading.index + heading[0].length);
  const end = rest.search(/^## /m);
  return `${(end < 0 ? rest : rest.slice(0, end)).trim()}\n`;
}

function notesOf({ version, tag, out }: Release): string {
  if (tag !== undefined && tag !== `v${version}`)
    throw new Error(`the tag is ${tag}, and package.json has version ${version}`);
  const notes = releaseNotes(readFileSync(join(ROOT, "CHANGELOG.md"), "utf8"), version, tag);
  writeFileSync(join(out, "notes.md"), notes);
  return `${notes.split("\n").length} lines`;
}

function built({ version, out }: Release): string {
  run(process.execPath, ["scripts/build.ts"]);
  cpSync(join(ROOT, "workspace.mjs"), join(out, "workspace.mjs"));
  const said = run(process.execPath, [join(out, "workspace.mjs"), "version"], out);
  if (!said.startsWith(`workspace ${version} `)) throw new Error(`workspace.mjs says ${said}`);
  return kilobytes(join(out, "workspace.mjs"));
}

/** The manifest that users install: without the mark that protects a clone, and without what only a clone needs. */
export function publishedManifest(manifest: Manifest, packageName: string): Manifest {
  const { private: _private, scripts: _scripts, devDependencies: _tools, ...rest } = manifest;
  return { ...rest, name: packageName };
}

function packed({ version, out, packageName }: Release): string {
  const staging = mkdtempSync(join(tmpdir(), "release-"));
  try {
    const listed = JSON.parse(run("npm", ["pack", "--json", "--dry-run", "--ignore-scripts"]));
    const [{ files }] = listed as [{ files: readonly { readonly path: string }[] }];
    for (const { path } of files) cpSync(join(ROOT, path), join(staging, path));
    const manifest = publishedManifest(readJson(join(ROOT, "package.json")), packageName);
    writeFileSync(join(staging, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
    run("npm", ["pack", "--ignore-scripts", "--pack-destination", out], staging);
    const file = tarball(out);
    // It starts with the packages of this clone, as it would with those of an installation.
    run("tar", ["-xzf", join(out, file), "-C", staging]);
    symlinkSync(join(ROOT, "node_modules"), join(staging, "package/node_modules"));
    const said = run(process.execPath, [join(staging, "package/bin/workspace.js"), "version"], staging);
    if (!said.startsWith(`workspace ${version} `)) throw new Error(`the package says ${said}`);
    return `${file}, ${files.length} files, ${kilobytes(join(out, file))}`;
  } finally {
    rmSync(staging, { recursive: true, force: true });
  }
}

const tarball = (folder: string): string => readdirSync(folder).find((file) => file.endsWith(".tgz")) ?? "";

interface Locked {
  readonly version?: string;
  readonly license?: string;
  readonly integrity?: string;
  readonly dev?: boolean;
  readonly devOptional?: boolean;
  readonly link?: boolean;
}

/** CycloneDX, from the lockfile: `npm sbom --omit dev` leaves out packages that a tool uses, too, such as ajv. */
export function billOfMaterials(packages: Readonly<Record<string, Locked>>, name: string, version: string) {
  const components = Object.entries(packages)
    .filter(
      ([path, { dev, devOptional, link }]) => path.includes("node_modules/") && !dev && !devOptional && !link,
    )
    .map(([path, { version: of = "", license = "", integrity = "" }]) => {
      const component = path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length);
      const [algorithm = "", digest = ""] = integrity.split("-");
      return {
        "bom-ref": `${component}@${of}`,
        type: "library",
        name: component,
        version: of,
        purl: `pkg:npm/${component.replace("@", "%40")}@${of}`,
        licenses: license.includes(" ") ? [{ expression: license }] : [{ license: { id: license } }],
        hashes: [
          { alg: algorithm.replace("sha", "SHA-"), content: Buffer.from(digest, "base64").toString("hex") },
        ],
      };
    });
  const component = { type: "application", name, version };
  return { bomFormat: "CycloneDX", specVersion: "1.5", version: 1, metadata: { component }, components };
}

function listedComponents({ out, packageName, version }: Release): string {
  const { packages } = readJson<{ packages: Record<string, Locked> }>(join(ROOT, "package-lock.json"));
  const bill = billOfMaterials(packages, packageName, version);
  const { dependencies } = readJson<{ dependencies: Record<string, string> }>(join(ROOT, "package.json"));
  for (const [name, of] of Object.entries(dependencies))
    if (!bill.components.some((component) => component.name === name && component.version === of))
      throw new Error(`the bill of materials lacks ${name} ${of}`);
  const counts = new Map<string, number>();
  for (const { name, licenses } of bill.components) {
    const [first] = licenses;
    const license =
      first !== undefined && "expression" in first ? (first.expression ?? "") : (first?.license?.id ?? "");
    if (!LICENSES.includes(license)) throw new Error(`the license of ${name} is not on the list: ${license}`);
    counts.set(license, (counts.get(license) ?? 0) + 1);
  }
  writeFileSync(join(out, "sbom.cdx.json"), `${JSON.stringify(bill, null, 2)}\n`);
  return `${bill.components.length} packages: ${[...counts].map(([license, number]) => `${number} ${license}`).join(", ")}`;
}

/** The context that takes the place of the stage "build" in the Dockerfile: the image contains the file of this release. */
function imageContext({ out }: Release): string {
  const dockerfile = readFileSync(join(ROOT, "Dockerfile"), "utf8");
  const sources = [...dockerfile.matchAll(/^COPY --from=build (?:--\S+ )*\/(\S+) /gm)].map(
    ([, path = ""]) => path,
  );
  if (sources.length === 0) throw new Error("the Dockerfile copies nothing from its stage build");
  for (const source of sources) {
    mkdirSync(join(out, "image", dirname(source)), { recursive: true });
    cpSync(join(out, basename(source)), join(out, "image", source));
  }
  return `${sources.join(", ")}${imageBuilt(out)}`;
}

function imageBuilt(out: string): string {
  if (spawnSync("docker", ["info"]).status !== 0) return "; not built, because no Docker daemon runs here";
  const context = ["--build-context", `build=${join(out, "image")}`];
  for (const platform of ["linux/amd64", "linux/arm64"])
    run("docker", ["buildx", "build", "--check", ...context, "--platform", platform, ROOT]);
  return "; the Dockerfile has no finding";
}

function publishable({ out }: Release): string {
  run("npm", ["publish", "--dry-run", "--offline", join(out, tarball(out))], out);
  return "npm publish --dry-run";
}

const PUBLISHED = /\.tgz$|^workspace\.mjs$|^sbom\.cdx\.json$/;

function checksums({ out }: Release): string {
  const files = readdirSync(out)
    .filter((file) => PUBLISHED.test(file))
    .sort();
  const lines = files.map(
    (file) =>
      `${createHash("sha256")
        .update(readFileSync(join(out, file)))
        .digest("hex")}  ${file}\n`,
  );
  writeFileSync(join(out, "SHA256SUMS"), lines.join(""));
  run("sha256sum", ["--check", "SHA256SUMS"], out);
  return files.join(", ");
}

const STEPS: readonly (readonly [string, (release: Release) => string])[] = [
  ["release notes", notesOf],
  ["single file", built],
  ["npm package", packed],
  ["bill of materials and licenses", listedComponents],
  ["container image", imageContext],
  ["publication", publishable],
  ["checksums", checksums],
];

if (import.meta.main) {
  const options = { tag: { type: "string" }, out: { type: "string" }, name: { type: "string" } } as const;
  const { tag, out = "release", name = "" } = parseArgs({ options }).values;
  const folder = resolve(out);
  const { version } = readJson<Manifest>(join(ROOT, "package.json"));
  const release = { version, tag, out: folder, packageName: name === "" ? "@example/workspace" : name };
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const [step, work] of STEPS) process.stdout.write(`ok  ${step}: ${work(release)}\n`);
}
