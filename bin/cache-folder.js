// Where an installed program keeps its compiled code between runs. A user who can write there can run code as this user, so the
// folder belongs to the user, no other user can write to it or replace it, and it is outside of the repository that a command works on.

import { dirname, isAbsolute, join, relative, sep } from "node:path";

const { existsSync, lstatSync, mkdirSync, realpathSync } = process.getBuiltinModule("node:fs");
const WRITABLE_BY_OTHERS = 0o022;
const STICKY = 0o1000;

/**
 * Returns the folder, which exists then; undefined without a safe one.
 * @param {{ env: Record<string, string | undefined>, home: string, cwd: string, platform: string, uid: number | undefined }} user
 * @returns {string | undefined}
 */
export function cacheFolder({ env, home, cwd, platform, uid }) {
  try {
    const base = baseFolder(env, home, platform);
    if (base === undefined) return undefined;
    const wanted = join(base, "workspace", "compiled");
    const checkout = checkoutOf(realpathSync(cwd));
    if (isInside(checkout, wanted)) return undefined;
    mkdirSync(wanted, { recursive: true, mode: 0o700 });
    const folder = realpathSync(wanted);
    if (isInside(checkout, folder)) return undefined;
    return platform === "win32" || isPrivate(folder, uid) ? folder : undefined;
  } catch {
    return undefined;
  }
}

function baseFolder(env, home, platform) {
  const [named, usual] =
    platform === "win32"
      ? [env.LOCALAPPDATA, join(home, "AppData", "Local")]
      : [env.XDG_CACHE_HOME, join(home, platform === "darwin" ? "Library/Caches" : ".cache")];
  const base = named === undefined || named === "" ? usual : named;
  return isAbsolute(base) ? base : undefined;
}

/** The user owns the folder; the folders above belong to the user or to root. A sticky folder keeps others from renaming it. */
function isPrivate(folder, uid) {
  const { mode, uid: owner } = lstatSync(folder);
  if (owner !== uid || (mode & WRITABLE_BY_OTHERS) !== 0) return false;
  for (let at = dirname(folder); ; at = dirname(at)) {
    const above = lstatSync(at);
    if (above.uid !== uid && above.uid !== 0) return false;
    if ((above.mode & WRITABLE_BY_OTHERS) !== 0 && (above.mode & STICKY) === 0) return false;
    if (dirname(at) === at) return true;
  }
}

/** The repository of a folder; the folder itself outside of one. */
function checkoutOf(folder) {
  for (let at = folder; ; at = dirname(at)) {
    if (existsSync(join(at, ".git"))) return at;
    if (dirname(at) === at) return folder;
  }
}

function isInside(outer, inner) {
  const path = relative(outer, inner);
  return path === "" || !(path === ".." || path.startsWith(`..${sep}`) || isAbsolute(path));
}
