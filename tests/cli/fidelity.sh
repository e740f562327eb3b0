#!/bin/bash
# docs/fidelity.md is true about this tree: each file, folder, recipe and key that it names exists, each of its rows says one of the
# words that its head explains, and each file that claims to do what a paper does is named in it.
set -u
cd "$TUTTI_TEST_SRCDIR" || exit 1
failed=0
complain() { echo "$*"; failed=1; }

# check PAGE: what is wrong with it, a line each.
check() {
  local page=$1 name key
  # Files and folders: what stands in backticks and begins with a folder of this tree. `a/{b,c}.ini` and `a/*.ini` name several.
  grep -o '`[^`]*`' "$page" | tr -d '`' | grep -E '^(core|engine|program|plugins|backends|spaces|ini|tests|docs|include|template)/[^ ]*$' | sort -u |
    while read -r name; do
      for one in $(eval "echo $(printf '%s' "$name" | tr -cd 'A-Za-z0-9_./*{},-')"); do
        [ -e "$one" ] || echo "names $name: there is no $one"
      done
    done
  # Keys of recipes.
  grep -oE '`(run|data|evaluation|space|backend|hyperparameters|builder|surrogate|acquisition|maximiser|selector|executor)\.[a-z_0-9]+( = [^`]*)?`' "$page" |
    tr -d '`' | sed 's/ = .*//' | sort -u |
    while read -r key; do
      grep -qE "\`([a-z]+\.)?${key#*.}\`|^ *${key#*.} *=|\.${key#*.}\b" docs/plugins.md docs/recipes.md docs/data.md || echo "names $key: no such key in docs/plugins.md, docs/recipes.md or docs/data.md"
    done
  # Rows: four columns, the last of which begins with a word of the head.
  awk -F'|' '
    /^## / { section = $0 }
    section != "" && /^\|/ && !/^\| *(paper|---)/ && !/^\|[-| ]*$/ {
      if (NF != 6) { print "line " NR ": " NF - 2 " columns where 4 are expected: " substr($0, 1, 80); next }
      verdict = $5; gsub(/[*]/, "", verdict); sub(/^ */, "", verdict)
      if (verdict !~ /^(same|differs|parameter|silent|not yet)/) print "line " NR ": the last column begins with none of same, differs, parameter, silent, not yet: " substr(verdict, 1, 60)
    }' "$page"
  # Claims of sameness elsewhere.
  grep -rlE "(as|like) in (the|their|its) paper|(paper|papers)'s?\b" --include='*.c' --include='*.h' --include='*.ini' --include='*.md' core engine plugins backends spaces ini docs include |
    grep -vE '^docs/(fidelity|plugins|metrics)\.md$' | sort |
    while read -r name; do
      grep -qF "$name" "$page" || covered "$page" "$name" || echo "$name speaks of what its paper does, and the page does not name it"
    done
}

# covered PAGE FILE: whether a pattern of the page, such as `ini/smbo/*.ini`, or a folder of it means the file.
covered() {
  local page=$1 file=$2 pattern one
  while read -r pattern; do
    for one in $(eval "echo $(printf '%s' "$pattern" | tr -cd 'A-Za-z0-9_./*{},-')"); do
      [ "$one" = "$file" ] && return 0
    done
  done < <(grep -o '`[^`]*[*{][^`]*`' "$page" | tr -d '`' | grep / | sort -u)
  while read -r pattern; do
    case $file in "$pattern"*) return 0 ;; esac
  done < <(grep -oE '`(plugins|backends|spaces|ini|core|engine)/[^`]*/`' "$page" | tr -d '`' | sort -u)
  return 1
}

said=$(check docs/fidelity.md)
[ -z "$said" ] || complain "$said"

# It does find what is wrong.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
finds() {
  local said=$1
  check "$work/page.md" > "$work/out"
  grep -qF -- "$said" "$work/out" || complain "expected '$said', found: $(cat "$work/out")"
}
page() { cp docs/fidelity.md "$work/page.md"; }
page; echo '| 1 | a | `ini/nowhere.ini` | same |' >> "$work/page.md"; finds 'there is no ini/nowhere.ini'
page; echo '| 1 | a | `builder.nothing_such` | same |' >> "$work/page.md"; finds 'names builder.nothing_such'
page; echo '| 1 | a | b | perhaps |' >> "$work/page.md"; finds 'begins with none of'
page; echo '| 1 | a | same |' >> "$work/page.md"; finds '3 columns where 4 are expected'
grep -vF agebo docs/fidelity.md > "$work/page.md"; finds 'plugins/builder/agebo.c speaks of what its paper does'
exit $failed
