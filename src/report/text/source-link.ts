// The pages of a run's commit, and of the files in it, at the code host of the repository.

import type { Location } from "../../core/diagnostic.ts";

/** The repository of a run. */
export interface RunSource {
  readonly commit?: string;
  readonly repositoryUrl?: string;
  /** The kind of its code host, which decides how pages of commits and files are addressed. */
  readonly forge?: "github" | "gitlab" | "azure";
  /** Where the repository and the working directory are on this machine: forges count paths from the root. Not for output. */
  readonly checkout?: { readonly root: string; readonly cwd: string };
}

const COMMIT_PAGES = { github: "/commit/", gitlab: "/-/commit/", azure: "/commit/" } as const;

/** Undefined without an https address of the repository, a known code host, and a commit. */
export function commitPage(info: RunSource | undefined): string | undefined {
  const source = sourceOf(info);
  return source && `${source.repository}${COMMIT_PAGES[source.forge]}${source.commit}`;
}

/** Also undefined for a file outside of the repository. */
export function filePage(
  { file, line }: Pick<Location, "file" | "line">,
  info: RunSource | undefined,
): string | undefined {
  const source = sourceOf(info);
  const path = info && repositoryPath(file, info)?.toWellFormed();
  if (source === undefined || path === undefined || path === "") return undefined;
  const { repository, forge, commit } = source;
  const encoded = path.split("/").map(encodeURIComponent).join("/");
  if (forge === "azure")
    return `${repository}?path=/${encoded}&version=GC${commit}&line=${line}&lineEnd=${line + 1}&lineStartColumn=1&lineEndColumn=1`;
  return `${repository}${forge === "gitlab" ? "/-" : ""}/blob/${commit}/${encoded}#L${line}`;
}

function sourceOf(info: RunSource | undefined) {
  const { repositoryUrl, forge, commit } = info ?? {};
  const url = repositoryUrl === undefined ? null : URL.parse(repositoryUrl);
  if (url?.protocol !== "https:" || forge === undefined || !/^[0-9a-f]{7,64}$/i.test(commit ?? ""))
    return undefined;
  const repository = `${url.origin}${url.pathname.replace(/(\.git)?\/*$/, "")}`;
  return { repository, forge, commit };
}

/** `file` is relative to the working directory, or absolute. Undefined for a file outside of the repository. */
export function repositoryPath(file: string, { checkout }: Pick<RunSource, "checkout">): string | undefined {
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
  const parts: string[] = [];
  for (const part of path.split("/")) {
    if (part === "..") {
      if (parts.pop() === undefined) return undefined;
    } else if (part !== "" && part !== ".") parts.push(part);
  }
  return parts;
}
