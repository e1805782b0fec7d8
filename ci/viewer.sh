#!/usr/bin/env bash
# Builds the page of `zarr view` into zarr/serving/page, with packages of the npm registry. Needs node 20 or newer.
set -euo pipefail
cd "$(dirname "$0")/../viewer"
npm install --no-package-lock --no-audit --no-fund --loglevel=error
npm run --silent check
npx vite build --logLevel warn
