import { readFileSync, writeFileSync } from "node:fs";
import { execSync } from "node:child_process";
const files = process.argv.slice(2).length ? process.argv.slice(2) : execSync("git ls-files 'src/**/*.ts' 'test/**/*.ts'").toString().trim().split("\n");
for (const f of files) { let t; try { t = readFileSync(f, "utf8"); } catch { continue; }
  // merge all named imports by module
  const re = /^import (type )?\{([^}]*)\} from "([^"]+)";\n/gm; const mods = new Map(); let m; let dup = false;
  while ((m = re.exec(t))) { const names = m[2].split(",").map(s => s.trim()).filter(Boolean).map(n => m[1] ? `type ${n.replace(/^type /, "")}` : n);
    const e = mods.get(m[3]) ?? { count: 0, names: [] }; e.count++; e.names.push(...names); mods.set(m[3], e); }
  for (const e of mods.values()) { const bare = new Map(); for (const n of e.names) { const b = n.replace(/^type /, ""); if (bare.has(b)) dup = true; const prev = bare.get(b); bare.set(b, prev === undefined ? n : (prev.startsWith("type ") ? n : prev)); } e.out = [...bare.values()]; if (e.count > 1) dup = true; }
  if (!dup) continue; const done = new Set();
  t = t.replace(re, (w, ty, names, mod) => { if (done.has(mod)) return ""; done.add(mod); const o = mods.get(mod).out; return o.every(n => n.startsWith("type ")) ? `import type { ${o.map(n => n.slice(5)).join(", ")} } from "${mod}";\n` : `import { ${o.join(", ")} } from "${mod}";\n`; });
  writeFileSync(f, t); console.log("deduped", f);
}
