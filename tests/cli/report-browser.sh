#!/bin/bash
# Reports of the kinds of runs that people have, in a browser, where Chromium is installed: they say nothing on its console, ask
# nothing of the network, have the figures that they should, and show them by day and by night, on a wide window and a narrow one,
# with all texts inside the pictures and numbers of axes apart.
. "$TUTTI_TEST_SRCDIR/tests/cli/harness.sh"
. "$TUTTI_TEST_SRCDIR/tests/cli/recipes.sh"
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome) ||
  { echo "no Chromium here"; exit 77; }
export HOME=$PWD
ini=$TUTTI_TEST_SRCDIR/ini
make_table
make_stripes

# browse PAGE OPTION...: the page in the browser.
browse() {
  what="$browser $*"
  timeout 120 "$browser" --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run --disable-extensions \
    --disable-background-networking --disable-component-update --disable-sync --user-data-dir="$PWD/profile" \
    --enable-logging=stderr "${@:2}" "file://$PWD/$1" >out 2>err </dev/null
  code=$?
  expect_code 0
}
# expect_shown PAGE NAME OPTION...: a picture of the page, in NAME.png.
expect_shown() {
  local name=$2
  browse "$1" --log-net-log="$PWD/$name.net" --window-size=1200,4000 --screenshot="$PWD/$name.png" "${@:3}"
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
# expect_layout PAGE WIDTH FIGURE...: laid out that wide, nothing is out of place, and these figures have pictures; a figure with a
# colon at its end has a table alone. The page is in a frame: a window of Chromium is never narrower than 500.
expect_layout() {
  local page=$1 width=$2 figure
  python3 - "$page" "$TUTTI_TEST_SRCDIR/tests/cli/report.js" "$width" >measured.html <<'PY'
import html, re, sys
page, script = (open(path, encoding="utf-8").read() for path in sys.argv[1:3])
page = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", page)
page = page.replace("</body>", "<script>" + script + "</script></body>")
print(f'<!DOCTYPE html><body><iframe style="border:0;width:{sys.argv[3]}px;height:1000px" srcdoc="{html.escape(page)}"></iframe>\n</body>')
PY
  browse measured.html --window-size="$((width + 100)),1000" --dump-dom
  sed -n 's/^<pre id="measured">//; /^width /p; /^figure /p; /^wrong: /p' out >found
  grep '^wrong: ' found >out
  what="$page, $width wide"
  expect_empty out
  expect_in found "width $width"
  for figure in "${@:3}"; do
    checks=$((checks + 1))
    case $figure in
      *:) grep -qE "^figure ${figure%:} 0 [1-9]" found || complain "expected a table ${figure%:}" ;;
      *) grep -qE "^figure $figure [1-9]" found || complain "expected a picture of $figure" ;;
    esac
  done
}
# expect_kept_together PAGE: on paper, no heading is torn from what it is of. Pages are columns here, which break at the same places.
expect_kept_together() {
  python3 - "$1" <<'PY' >paper.html
import re, sys
page = open(sys.argv[1], encoding="utf-8").read()
page = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", page)
page = page.replace("@media screen", "@media speech").replace("@media print{", "@media all{")
page = page.replace("</style>", "html{width:680px}body{width:680px;height:960px;columns:680px 1;column-fill:auto;column-gap:0}</style>", 1)
print(page.replace("</body>", """<script>
const lines = [], heads = [...document.querySelectorAll("h2, h3, h4")].filter((head) => head.getClientRects().length);
const column = (rect) => Math.floor((rect.left + scrollX + 1) / 680);
for (const head of heads) {
  let next = head.nextElementSibling, rects = [];
  while (next && rects.length === 0) {
    rects = [...next.getClientRects()].filter((rect) => rect.height > 0);
    next = next.nextElementSibling;
  }
  if (rects.length && column(head.getClientRects()[0]) !== column(rects[0]))
    lines.push("torn: " + head.textContent);
}
document.body.innerHTML = "";
const said = document.createElement("pre");
said.textContent = ["headings " + heads.length, ...lines, ""].join("\\n");
document.body.append(said);
</script></body>"""))
PY
  browse paper.html --window-size=700,1000 --dump-dom
  sed -n 's/^.*<pre>//; /^headings /p; /^torn: /p' out >found
  grep '^torn: ' found >out
  what="$1, on paper"
  expect_empty out
  checks=$((checks + 1))
  [ "$(sed -n 's/^headings //p' found)" -ge 20 ] || complain "expected headings"
}
# expect_page NAME FIGURE...: the report of a run, in one window.
expect_page() {
  tutti report "$1" --to "$1.html"
  expect_code 0
  expect_layout "$1.html" 1200 "${@:2}"
  expect_shown "$1.html" "$1-day"
  checks=$((checks + 1))
  [ "$(colours "$1-day")" -gt 100 ] || complain "expected pictures, found $(colours "$1-day") values"
}
# expect_everywhere NAME FIGURE...: and in others.
expect_everywhere() {
  expect_page "$@"
  expect_layout "$1.html" 400 "${@:2}"
  expect_shown "$1.html" "$1-night" --force-dark-mode --blink-settings=preferredColorScheme=0
  checks=$((checks + 1))
  ! cmp -s "$1-day.png" "$1-night.png" || complain "expected other colours by night"
}

search=(history workers members:)
models=(sizes pareto metrics: architectures map learning)
values=("${models[@]}" observed)
intervals=(reliability coverage risk doubts)

tutti run "$ini/quickstart.ini" --set run.budget=12 --set hyperparameters.epochs=20 --out quickstart --quiet
expect_code 0
expect_everywhere quickstart "${search[@]}" importance parallel "${values[@]}" "${intervals[@]}" matrix bands

# A target whose digits are many, as prices have, and one whose values differ in the last of them alone.
for scale in 100000 0.0001; do
  awk -F, -v OFS=, -v scale=$scale 'NR > 1 { $4 = sprintf("%.9g", 1000 + scale * $4) } 1' table.csv >scaled.csv
  tutti run "$ini/autodeuq/uci-small.ini" --set data.path=scaled.csv --set data.ignore=kind --set hyperparameters.epochs=3 --set run.budget=14 \
    --set selector.min_size=3 --out "autodeuq-$scale" --quiet
  expect_code 0
  expect_page "autodeuq-$scale" "${search[@]}" importance parallel "${values[@]}" "${intervals[@]}" matrix
done

tutti run "$ini/nes/fashion-mnist-small-shift.ini" --set data.path=images.idx --set data.target_path=labels.idx --set data.split="1 1 1" \
  --set data.limit=0 --set data.shift="1 3 5" --set run.budget=12 --set space.cells=3 --set space.channels=4 \
  --set hyperparameters.epochs=2 --set hyperparameters.batch_size=10 --set selector.size=3 --set builder.population=4 --set builder.parents=2 \
  --out nes --quiet
expect_code 0
expect_page nes "${search[@]}" importance parallel "${models[@]}" severity reliability risk confusion doubts classes:
# Eight splits: the numbers of a metric stand below each other, so that a narrow window has room for them.
expect_layout nes.html 400 metrics:
checks=$((checks + 1))
grep -q 'test</th>[^h]*<th scope="row">test-1</th>[^h]*<th scope="row">test-3</th>' nes.html || complain "expected the severities of a split one after the other"
expect_in nes.html '<div class="stacks">' '<caption>nll</caption>' '<th scope="row">test-5</th>'
expect_not_in quickstart.html '<div class="stacks">'

tutti run "$ini/nasbot/small.ini" --set data.path=table.csv --set data.ignore=kind --set data.limit=0 --set hyperparameters.epochs=2 \
  --set run.budget=12 --set space.max_units=8 --set space.max_layers=20 --set builder.initial=4 --out nasbot --quiet
expect_code 0
expect_page nasbot "${search[@]}" "${values[@]}"

regression_recipe >small.ini
tutti ablate small.ini --swap selector.size=1,3 --seeds 2 --out ablation --quiet
expect_code 0
expect_everywhere ablation results: standings searches "${search[@]}" "${values[@]}" "${intervals[@]}"
expect_kept_together ablation.html
finish
