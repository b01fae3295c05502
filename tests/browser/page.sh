#!/usr/bin/env bash
# Pages of finished and running runs in Debian's Chromium, driven by the puppeteer-core that package-lock.json pins. Skipped
# with a word where chromium, node or the package cannot be had. With SBPS_SHOTS=FOLDER pictures are left there.
helper=$(realpath "$1")
. "$(dirname "$0")/../cli/common.sh"

skip() {
    echo "skipped: $1"
    exit 77
}
browser=$(command -v chromium) || skip 'chromium is missing'
command -v node >/dev/null && command -v npm >/dev/null || skip 'node or npm is missing'
folder=$(dirname "$sbps")/browser
here=$root/tests/browser
mkdir -p "$folder"
if ! cmp -s "$here/package-lock.json" "$folder/installed.json"; then
    cp "$here/package.json" "$here/package-lock.json" "$folder"
    (cd "$folder" && timeout 300 npm ci --ignore-scripts --no-audit --no-fund >npm.log 2>&1) || skip 'npm cannot have puppeteer-core'
    cp "$here/package-lock.json" "$folder/installed.json"
fi
cp "$here/page.mjs" "$folder"

"$sbps" simulate logistic --rows 2000 --dim 4 --seed 1 -o table.csv || exit 1
"$sbps" sample table.csv --model logistic --target y --sampler sbps --seed 2 --progress off -o run.nc 2>/dev/null || fault run 'no run'
"$helper" many.nc 10000 || fault many 'the helper failed'
"$helper" hundred.nc 100 || fault hundred 'the helper failed'
"$sbps" report run.nc table.csv -o run.html || fault run 'no page'
"$sbps" report many.nc -o many.html || fault many 'no page'
"$sbps" report hundred.nc -o hundred.html || fault hundred 'no page'
cases=$((cases + 1))
timeout 600 node "$folder/page.mjs" "$browser" "$work" "$sbps" || fault browser "exit $?"
finish
