// DBC: a zip archive with notebooks in their JSON form, alone or in folders.

import { deflateSync, unzipSync, Zip, ZipPassThrough } from "fflate";
import { type JsonObject, objectIn } from "../../core/json.ts";
import { decodeBase64, encodeBase64 } from "../world/encoding.ts";
import { ApiError } from "../world/errors.ts";
import { WORKSPACE } from "../world/limits.ts";
import { type Document, type DocumentFormat, documentOf, notebookOf, write } from "./formats.ts";
import { fromModel, languageNamed, parseObject, toBytes, toModel, unreadable } from "./notebook.ts";

export interface ArchiveEntry {
  readonly segments: readonly string[];
  readonly document?: Document;
}

/** One moment for all entries, so that the same notebooks make the same archive. */
const STAMP = new Date(1980, 0, 1);

/** Throws MAX_NOTEBOOK_SIZE_EXCEEDED as soon as the archive is above the limit. */
export function packArchive(entries: Iterable<ArchiveEntry>): Uint8Array {
  const chunks: Uint8Array[] = [];
  let size = 0;
  const zip = new Zip((error, chunk) => {
    if (error) throw error;
    chunks.push(chunk);
    size += chunk.length;
  });
  for (const { segments, document } of entries) {
    const path = segments.join("/");
    if (document === undefined) addEntry(zip, new ZipPassThrough(`${path}/`), new Uint8Array(0));
    else
      addEntry(zip, new Deflated(`${path}.${document.language.toLowerCase()}`), packed(segments, document));
    if (size > WORKSPACE.content_bytes) throw tooLarge("archive", size);
  }
  zip.end();
  return new Uint8Array(Buffer.concat(chunks));
}

export function tooLarge(what: string, size: number): ApiError {
  return new ApiError(
    "MAX_NOTEBOOK_SIZE_EXCEEDED",
    `The ${what} is larger than ${WORKSPACE.content_bytes} bytes. Found: ${size} bytes.`,
  );
}

/** An entry compressed in one step: the library's stream takes buffers for a large file, however small the entry is. */
class Deflated extends ZipPassThrough {
  override compression = 8;
  protected override process(chunk: Uint8Array<ArrayBuffer>, final: boolean): void {
    this.ondata(null, deflateSync(chunk), final);
  }
}

function addEntry(zip: Zip, entry: ZipPassThrough, bytes: Uint8Array): void {
  entry.mtime = STAMP;
  zip.add(entry);
  entry.push(bytes, true);
}

/** The JSON form, with the stored bytes if the cells alone cannot restore them. */
function packed(segments: readonly string[], document: Document): Uint8Array {
  const notebook = notebookOf(document);
  const model = toModel(notebook, segments.at(-1) ?? "");
  const plain = write(notebook, "SOURCE", "");
  const original: JsonObject =
    document.format === "SOURCE" && Buffer.compare(plain, document.bytes) === 0
      ? {}
      : { original: { format: document.format, content: encodeBase64(document.bytes) } };
  return toBytes(JSON.stringify({ ...model, ...original }));
}

/** The entries of an archive, folders before what they hold only where the archive has it so. */
export function unpackArchive(bytes: Uint8Array): ArchiveEntry[] {
  return [...unzip(bytes)].flatMap(([name, content]) => unpackEntry(name, content) ?? []);
}

/** Entries of an archive about the archive itself do not contain notebooks. */
const MANIFEST = /^(?:manifest\.mf|META-INF\/.*)$/i;

function unpackEntry(name: string, content: Uint8Array): ArchiveEntry | undefined {
  if (MANIFEST.test(name)) return undefined;
  if (name.endsWith("/")) return { segments: safeSegments(name.slice(0, -1)) };
  const dot = name.lastIndexOf(".");
  if (dot < 0 || languageNamed(name.slice(dot + 1)) === undefined)
    throw unreadable("DBC", `the entry ${name} is not a notebook`);
  return { segments: safeSegments(name.slice(0, dot)), document: unpackDocument(name, content) };
}

function unpackDocument(name: string, content: Uint8Array): Document {
  const model = parseObject(content);
  if (model === undefined) throw unreadable("DBC", `the entry ${name} is not JSON`);
  const notebook = fromModel(model, "DBC");
  const { format, content: stored } = objectIn(model.original);
  const document: Document =
    isDocumentFormat(format) && typeof stored === "string"
      ? documentOf(format, decodeBase64("content", stored), notebook.language)
      : { format: "SOURCE", language: notebook.language, bytes: write(notebook, "SOURCE", "") };
  if (document.bytes.length > WORKSPACE.content_bytes)
    throw tooLarge(`notebook ${name}`, document.bytes.length);
  return document;
}

function isDocumentFormat(format: unknown): format is DocumentFormat {
  return format === "SOURCE" || format === "HTML" || format === "JUPYTER";
}

/** Names that climb out of the folder that the archive is imported to are refused. */
function safeSegments(path: string): readonly string[] {
  const segments = path.split("/");
  if (path.includes("\0") || segments.some((segment) => ["", ".", ".."].includes(segment)))
    throw unreadable("DBC", `the entry ${path} is not a relative path`);
  return segments;
}

function unzip(bytes: Uint8Array): Map<string, Uint8Array> {
  const names = new Set<string>();
  let size = 0;
  try {
    const files = unzipSync(bytes, {
      filter: ({ name, originalSize }) => {
        if (names.has(name)) throw unreadable("DBC", `duplicate entry ${name}`);
        names.add(name);
        size += originalSize;
        if (size > WORKSPACE.archive_bytes || names.size > WORKSPACE.archive_entries)
          throw tooLarge("unpacked archive", size);
        return true;
      },
    });
    return new Map(Object.entries(files));
  } catch (error) {
    if (error instanceof ApiError) throw error;
    throw unreadable("DBC", "it is not a zip archive");
  }
}
