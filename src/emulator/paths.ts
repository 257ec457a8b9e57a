// Paths of the workspace and of the file system: checked and brought into one form.

import { ApiError } from "./errors.ts";

/** The segments of an absolute path; none for the root. A slash at the end is no segment. Throws INVALID_PARAMETER_VALUE. */
export function segmentsOf(path: string): readonly string[] {
  if (!path.startsWith("/")) throw invalid(path, "doesn't start with '/'");
  if (path.includes("\0")) throw invalid(path.replaceAll("\0", "\\0"), "holds a NUL character");
  if (path === "/") return [];
  const segments = path.slice(1, path.endsWith("/") ? -1 : undefined).split("/");
  if (segments.includes("")) throw invalid(path, "has an empty segment");
  if (segments.includes(".") || segments.includes("..")) throw invalid(path, "holds a relative segment");
  return segments;
}

/** The path made of segments. */
export const pathOfSegments = (segments: readonly string[]): string => `/${segments.join("/")}`;

/** The path of a child of a folder. */
export const childPath = (folder: string, name: string): string =>
  folder === "/" ? `/${name}` : `${folder}/${name}`;

function invalid(path: string, why: string): ApiError {
  return new ApiError("INVALID_PARAMETER_VALUE", `Path (${path}) ${why}`);
}
