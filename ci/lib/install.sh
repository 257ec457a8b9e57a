#!/usr/bin/env bash
# Installs the packages of this copy of the program: the versions and hashes of its lockfile, and no install scripts.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

# The scripts and the program are TypeScript, which an older Node cannot load.
node -e '
  const [major] = process.versions.node.split(".");
  if (Number(major) >= 24) process.exit(0);
  console.error(`error: Node ${process.versions.node} is too old: the pipeline needs Node 24 or newer`);
  process.exit(1);
'

# npm records what it installed at the end; a runner that keeps its folders can have an older or an incomplete copy.
if node -e '
  const { packages: wanted } = require("./package-lock.json");
  const { packages: present } = require("./node_modules/.package-lock.json");
  const isPresent = ([path, one]) =>
    !path.startsWith("node_modules/") || one.dev || one.optional || one.version === present[path]?.version;
  process.exit(Object.entries(wanted).every(isPresent) ? 0 : 1);
' 2>/dev/null; then
  echo "workspace is installed already."
  exit 0
fi
# A registry that does not answer is asked again; a wrong hash is final.
npm ci --omit=dev --ignore-scripts --no-audit --no-fund --fetch-retries=4
