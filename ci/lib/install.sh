#!/usr/bin/env bash
# Installs the packages of this copy of the program: the versions and hashes of its lockfile, and no install scripts.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

if [ -d node_modules/commander ]; then
  echo "workspace is installed already."
  exit 0
fi
# A registry that does not answer is asked again; a wrong hash is final.
npm ci --omit=dev --ignore-scripts --no-audit --no-fund --fetch-retries=4
