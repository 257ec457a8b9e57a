// Paths as forges count them: from the root of the repository, with slashes.

import type { RunInfo } from "../text/run-info.ts";

/** `file` is relative to the working directory, or absolute. Undefined for a file outside of the repository. */
export function repositoryPath(file: string, { checkout }: Pick<RunInfo, "checkout">): string | undefined {
  const path = slashed(file, checkout?.root ?? "");
  const isAbsolute = /^(\/|[A-Za-z]:\/)/.test(path);
  if (checkout === undefined) return isAbsolute ? undefined : parts(path)?.join("/");
  const whole = parts(isAbsolute ? path : `${slashed(checkout.cwd, checkout.root)}/${path}`);
  const root = parts(slashed(checkout.root, checkout.root));
  if (whole === undefined || root === undefined || root.some((part, at) => whole[at] !== part))
    return undefined;
  return whole.slice(root.length).join("/");
}

/** Elsewhere than on Windows a backslash is part of a name. */
const slashed = (path: string, root: string): string =>
  /^[A-Za-z]:/.test(root) ? path.replaceAll("\\", "/") : path;

/** Without `.` and `..`; undefined for a path that leads out of where it starts. */
function parts(path: string): readonly string[] | undefined {
  const found: string[] = [];
  for (const part of path.split("/")) {
    if (part === "..") {
      if (found.pop() === undefined) return undefined;
    } else if (part !== "" && part !== ".") found.push(part);
  }
  return found;
}
