#!/bin/bash
# A report in a browser, where Chromium is installed: it says nothing on its console, asks nothing of the network, and shows
# pictures, by day and by night.
. "$TUTTI_TEST_SRCDIR/tests/cli/harness.sh"
. "$TUTTI_TEST_SRCDIR/tests/cli/recipes.sh"
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome) ||
  { echo "no Chromium here"; exit 77; }
export HOME=$PWD
make_table

# expect_shown PAGE NAME OPTION...: a picture of the page, in NAME.png.
expect_shown() {
  local page=$1 name=$2
  what="$browser $page ${*:3}"
  timeout 120 "$browser" --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run --disable-extensions \
    --disable-background-networking --disable-component-update --disable-sync --user-data-dir="$PWD/profile-$name" \
    --enable-logging=stderr --log-net-log="$PWD/$name.net" --window-size=1200,4000 --screenshot="$PWD/$name.png" "${@:3}" \
    "file://$PWD/$page" >out 2>err </dev/null
  code=$?
  expect_code 0
  expect_not_in err CONSOLE
  checks=$((checks + 2))
  [ -s "$name.png" ] || complain "expected a picture"
  # Chromium asks its maker for the time and for updates.
  ! grep -o '"url":"https\?://[^"]*' "$name.net" | grep -v '//[a-z0-9.]*google[a-z]*\.com/' >err || complain "expected no request"
}
# colours NAME: how many different bytes rows of the picture have: a page without pictures or styles has few.
colours() {
  python3 - "$1.png" <<'PY'
import struct, sys, zlib
data, at, packed = open(sys.argv[1], "rb").read(), 8, b""
while at < len(data):
    length, kind = struct.unpack(">I4s", data[at : at + 8])
    packed += data[at + 8 : at + 8 + length] if kind == b"IDAT" else b""
    at += length + 12
print(len(set(zlib.decompress(packed))))
PY
}

regression_recipe >small.ini
tutti run small.ini --out small --quiet
expect_code 0
tutti report small --to small.html
expect_code 0
tutti ablate small.ini --swap selector.size=1,3 --seeds 2 --out ablation --quiet
expect_code 0
tutti report ablation --to ablation.html
expect_code 0
for page in small ablation; do
  expect_shown $page.html $page-day
  expect_shown $page.html $page-night --force-dark-mode --blink-settings=preferredColorScheme=0
  checks=$((checks + 2))
  [ "$(colours $page-day)" -gt 100 ] || complain "expected pictures, found $(colours $page-day) values"
  ! cmp -s $page-day.png $page-night.png || complain "expected other colours by night"
done
finish
