// Editor support for specs: the JSON Schema, the line that names it, and settings of VS Code and JetBrains.

import { existsSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { assertNoLinkBelow, writeWholeFile } from "../../config/write-file.ts";
import { failureOf } from "../../core/diagnostic.ts";
import { isObject, type JsonObject } from "../../core/json.ts";
import { readRegularFile } from "../../core/regular-file.ts";

const SCHEMA_FILE = "workspace.schema.json";
const TEST_SCHEMA_FILE = "test.schema.json";
const MODELINE = `# yaml-language-server: $schema=./${SCHEMA_FILE}`;

interface EditorSchemas {
  readonly spec: string;
  readonly test: string;
}

/** Writes the files into the folder of a spec. Returns their names. Keeps other settings. */
export function writeEditorFiles(spec: string, schemas: EditorSchemas): readonly string[] {
  const folder = dirname(spec);
  const files = [SCHEMA_FILE, TEST_SCHEMA_FILE, ".vscode/settings.json", JETBRAINS];
  for (const file of files) assertNoLinkBelow(folder, join(folder, file));
  writeWholeFile(join(folder, SCHEMA_FILE), schemas.spec, { over: true });
  writeWholeFile(join(folder, TEST_SCHEMA_FILE), schemas.test, { over: true });
  const text = readRegularFile(spec).toString("utf8");
  if (!text.includes("yaml-language-server:")) writeWholeFile(spec, `${MODELINE}\n${text}`, { over: true });
  const settings = join(folder, ".vscode/settings.json");
  const before = existsSync(settings) ? parsedSettings(settings) : {};
  const others = isObject(before["yaml.schemas"]) ? before["yaml.schemas"] : {};
  const ours = {
    [`./${SCHEMA_FILE}`]: ["workspace.yaml", "**/workspace.yaml"],
    [`./${TEST_SCHEMA_FILE}`]: ["**/*.test.yaml"],
  };
  const after = { ...before, "yaml.schemas": { ...others, ...ours } };
  mkdirSync(dirname(settings), { recursive: true });
  writeWholeFile(settings, `${JSON.stringify(after, undefined, 2)}\n`, { over: true });
  const mappings = join(folder, JETBRAINS);
  const xml = existsSync(mappings) ? readRegularFile(mappings).toString("utf8") : EMPTY;
  const mapped = withMappings(xml);
  if (mapped === undefined)
    throw failureOf("CLI_FILE", `${mappings} has no list of schemas, so it is left unchanged`, {
      hint: `in the settings of the IDE, map ${SCHEMA_FILE} to workspace.yaml under JSON Schema Mappings`,
    });
  mkdirSync(dirname(mappings), { recursive: true });
  writeWholeFile(mappings, mapped, { over: true });
  return files;
}

const JETBRAINS = ".idea/jsonSchemas.xml";
const MAPPINGS = [
  { name: "workspace", schema: SCHEMA_FILE, files: "workspace.yaml" },
  { name: "workspace tests", schema: TEST_SCHEMA_FILE, files: "*.test.yaml" },
] as const;

const entryOf = ({ name, schema, files }: (typeof MAPPINGS)[number]): string => `        <entry key="${name}">
          <value>
            <SchemaInfo>
              <option name="name" value="${name}" />
              <option name="relativePathToSchema" value="${schema}" />
              <option name="patterns">
                <list>
                  <Item>
                    <option name="pattern" value="true" />
                    <option name="path" value="${files}" />
                    <option name="mappingKind" value="Pattern" />
                  </Item>
                </list>
              </option>
            </SchemaInfo>
          </value>
        </entry>
`;

const EMPTY = `<?xml version="1.0" encoding="UTF-8"?>
<project version="4">
  <component name="JsonSchemaMappingsProjectConfiguration">
    <state>
      <map>
      </map>
    </state>
  </component>
</project>
`;

/** The mappings with those of the schemas at the end; undefined if the file has no list of mappings. */
function withMappings(text: string): string | undefined {
  const missing = MAPPINGS.filter(({ schema }) => !text.includes(`value="${schema}"`));
  if (missing.length === 0) return text;
  const end = /^[ \t]*<\/map>/m.exec(text);
  if (end === null || !text.includes("JsonSchemaMappingsProjectConfiguration")) return undefined;
  return `${text.slice(0, end.index)}${missing.map(entryOf).join("")}${text.slice(end.index)}`;
}

function parsedSettings(path: string): JsonObject {
  try {
    const value: unknown = JSON.parse(readRegularFile(path).toString("utf8"));
    if (isObject(value as JsonObject)) return value as JsonObject;
  } catch {
    // Comments are allowed there, and would be lost.
  }
  throw failureOf("CLI_FILE", `${path} is not plain JSON, so it is left unchanged`, {
    hint: `add "yaml.schemas": { "./${SCHEMA_FILE}": ["**/workspace.yaml"] } to it`,
  });
}
