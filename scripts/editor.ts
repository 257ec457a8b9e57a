// Builds the extension for VS Code (`npm run editor`): one file of code, packed as release/workspace-spec-VERSION.vsix.

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { strToU8, zipSync } from "fflate";
import { rolldown } from "rolldown";
import { licenses } from "./build.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const FOLDER = join(ROOT, "editors", "vscode");

interface Manifest {
  readonly name: string;
  readonly displayName: string;
  readonly description: string;
  readonly version: string;
  readonly publisher: string;
  readonly engines: { readonly vscode: string };
}

const TYPES = `<?xml version="1.0" encoding="utf-8"?>
<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension=".json" ContentType="application/json"/><Default Extension=".vsixmanifest" ContentType="text/xml"/><Default Extension=".js" ContentType="application/javascript"/><Default Extension=".md" ContentType="text/markdown"/><Default Extension=".txt" ContentType="text/plain"/></Types>
`;

/** The package as VS Code installs it. */
export async function extensionPackage(): Promise<Uint8Array> {
  const manifest = JSON.parse(readFileSync(join(FOLDER, "package.json"), "utf8")) as Manifest;
  const { code, modules } = await bundledExtension();
  const files = {
    "[Content_Types].xml": TYPES,
    "extension.vsixmanifest": vsixManifest(manifest),
    "extension/package.json": readFileSync(join(FOLDER, "package.json"), "utf8"),
    "extension/README.md": readFileSync(join(FOLDER, "README.md"), "utf8"),
    "extension/LICENSE.txt": readFileSync(join(ROOT, "LICENSE"), "utf8"),
    "extension/LICENSES.txt": licenses(modules),
    "extension/extension.js": code,
  };
  const entries = Object.entries(files).map(([path, text]) => [path, strToU8(text)] as const);
  return zipSync(Object.fromEntries(entries), { level: 9, mtime: "1980-01-01" });
}

async function bundledExtension(): Promise<{ readonly code: string; readonly modules: readonly string[] }> {
  const build = await rolldown({
    input: join(FOLDER, "extension.mts"),
    platform: "node",
    external: ["vscode"],
  });
  const { output } = await build.generate({ format: "cjs", minify: true, codeSplitting: false });
  await build.close();
  const [file] = output;
  return { code: file.code, modules: file.moduleIds };
}

function vsixManifest({ name, displayName, description, version, publisher, engines }: Manifest): string {
  return `<?xml version="1.0" encoding="utf-8"?>
<PackageManifest Version="2.0.0" xmlns="http://schemas.microsoft.com/developer/vsx-schema/2011">
  <Metadata>
    <Identity Language="en-US" Id="${name}" Version="${version}" Publisher="${publisher}"/>
    <DisplayName>${displayName}</DisplayName>
    <Description xml:space="preserve">${description}</Description>
    <Categories>Programming Languages,Linters</Categories>
    <Properties><Property Id="Microsoft.VisualStudio.Code.Engine" Value="${engines.vscode}"/></Properties>
    <License>extension/LICENSE.txt</License>
  </Metadata>
  <Installation><InstallationTarget Id="Microsoft.VisualStudio.Code"/></Installation>
  <Dependencies/>
  <Assets>
    <Asset Type="Microsoft.VisualStudio.Code.Manifest" Path="extension/package.json" Addressable="true"/>
    <Asset Type="Microsoft.VisualStudio.Services.Content.Details" Path="extension/README.md" Addressable="true"/>
    <Asset Type="Microsoft.VisualStudio.Services.Content.License" Path="extension/LICENSE.txt" Addressable="true"/>
  </Assets>
</PackageManifest>
`;
}

if (import.meta.main) {
  const { name, version } = JSON.parse(readFileSync(join(FOLDER, "package.json"), "utf8")) as Manifest;
  const file = join(ROOT, "release", `${name}-${version}.vsix`);
  mkdirSync(join(ROOT, "release"), { recursive: true });
  writeFileSync(file, await extensionPackage());
  process.stdout.write(`Wrote ${file}.\n`);
}
