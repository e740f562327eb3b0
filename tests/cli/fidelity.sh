#!/bin/bash
# docs/fidelity.md is true about this tree: each file, folder, recipe and key that it names exists, each of its rows says one of the
# words that its head explains, each file that claims to do what a paper does is named in it, and each table and figure of the papers.
set -u
cd "$TUTTI_TEST_SRCDIR" || exit 1
failed=0
complain() { echo "$*"; failed=1; }

# keys: every section.key of docs/plugins.md. Parameters of a plugin count for the section of its kind, those of backends for
# [hyperparameters], too, and those of sources for [data].
keys() {
  {
    printf '%s.plugin\n' data space backend builder pruner selector executor
    awk '
      /^## / { kind = tolower($2); sub(/s$/, "", kind); if ($2 == "Sections") kind = "" }
      /^### / { name = $2 }
      /^\| `/ {
        key = $2
        gsub(/`/, "", key)
        print (kind == "" ? name : kind == "source" ? "data" : kind) "." key
        if (kind == "backend")
          print "hyperparameters." key
      }' docs/plugins.md
  } | sort -u
}

# numbered TEXT: "Table 1-3, Figure 1" as lines, "Table 1" and so on.
numbered() {
  tr , '\n' <<<"$1" | while read -r kind range; do
    case $range in
      *-*) for i in $(seq "${range%-*}" "${range#*-}"); do echo "$kind $i"; done ;;
      *) echo "$kind $range" ;;
    esac
  done
}

# rows_of PAGE PAPER: the tables and figures that the first column of the paper's rows names, as such lines. It may say
# "Figures 1, 3 - 5 and 9", "Fig. 6, 14-16; 8", "Table II".
rows_of() {
  awk -v heading="## $2" '
    /^## / { here = $0 == heading }
    here && /^\|/ {
      split($0, column, "|")
      text = column[2]
      while (match(text, /(Tables?|Figures?|Fig\.) ([IVX]+|[0-9]+(( ?- ?|, | and |; )[0-9]+)*)/)) {
        list = substr(text, RSTART, RLENGTH)
        text = substr(text, RSTART + RLENGTH)
        what = list ~ /^T/ ? "Table" : "Figure"
        sub(/^[A-Za-z.]+ /, "", list)
        gsub(/ and |; /, ", ", list)
        gsub(/ ?- ?/, "-", list)
        count = split(list, part, ", ")
        for (i = 1; i <= count; i++) {
          split(part[i] "-" part[i], range, "-")
          print what, range[1]
          for (k = range[1] + 1; k <= range[2] + 0; k++)
            print what, k
        }
      }
    }' "$1"
}

# check PAGE: what is wrong with it, a line each.
check() {
  local page=$1 name key
  # Files and folders: what stands in backticks and begins with a folder of this tree. `a/{b,c}.ini` and `a/*.ini` name several.
  grep -o '`[^`]*`' "$page" | tr -d '`' | grep -E '^(core|engine|program|plugins|backends|spaces|ini|tests|docs|include|template|build-aux|python)/[^ ]*$' | sort -u |
    while read -r name; do
      for one in $(eval "echo $(printf '%s' "$name" | tr -cd 'A-Za-z0-9_./*{},-')"); do
        [ -e "$one" ] || echo "names $name: there is no $one"
      done
    done
  # Keys of recipes: section and key, as docs/plugins.md has them.
  grep -oE "\`($(keys | cut -d. -f1 | sort -u | paste -sd '|'))\.[a-z_0-9]+( = [^\`]*)?\`" "$page" |
    tr -d '`' | sed 's/ = .*//' | sort -u | comm -23 - <(keys) | sed 's/.*/names &: no such key in docs\/plugins.md/'
  # Tables and figures of the papers.
  while IFS=: read -r paper what; do
    comm -23 <(numbered "$what" | sort -u) <(rows_of "$page" "$paper" | sort -u) | sed "s/^/$paper: no row has /"
  done <<'END'
AutoDEUQ:Table I, Table II, Figure 1-3
NES:Table 1-4, Figure 1-24
NASBOT:Table 1-3, Figure 1-2
SMBO-ensemble:Table 1-2, Figure 1-2
NOMU:Table 1-18, Figure 1-27
END
  # Rows: four columns, the last of which begins with a word of the head.
  awk -F'|' '
    /^## / { section = $0 }
    section != "" && /^\|/ && !/^\| *(paper|---)/ && !/^\|[-| ]*$/ {
      if (NF != 6) { print "line " NR ": " NF - 2 " columns where 4 are expected: " substr($0, 1, 80); next }
      verdict = $5; gsub(/[*]/, "", verdict); sub(/^ */, "", verdict)
      if (verdict !~ /^(same|differs|parameter|silent|not yet)/) print "line " NR ": the last column begins with none of same, differs, parameter, silent, not yet: " substr(verdict, 1, 60)
    }' "$page"
  # No row stands there twice.
  grep '^|' "$page" | awk -F'|' '$2 !~ /^ *(paper.*|-+) *$/ { print $2 "|" $3 }' | sort | uniq -d | sed 's/^/row twice:/'
  # Claims of sameness elsewhere.
  grep -rlE "(as|like) in (the|their|its) paper|(paper|papers)'s?\b|(the [A-Za-z]+ paper|NES paper)\b|as [A-Z][a-z]+ et al\.|[Tt]his is (AutoDEUQ|NES|NASBOT|NOMU)\b" \
    --include='*.c' --include='*.h' --include='*.ini' --include='*.md' core engine program plugins backends spaces ini docs include template README.md |
    grep -vE '^docs/(fidelity|plugins)\.md$' | sort |
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
for key in selector.trees data.kappa space.points run.nodes pruner.nothing fit.nothing calibrator.nothing; do
  page; echo "| 1 | a | \`$key\` | same |" >> "$work/page.md"; finds "names $key: no such key"
done
page; echo '| 1 | a | `build-aux/nowhere` | same |' >> "$work/page.md"; finds 'there is no build-aux/nowhere'
page; sed -n '/^| III-A | Batch/p' docs/fidelity.md >> "$work/page.md"; finds 'row twice: III-A | Batch size'
# Without the rows whose first column has the pattern, that table or figure is missed.
while IFS=: read -r paper what pattern; do
  awk -F'|' -v pattern="$pattern" '!/^\|/ || $2 !~ pattern' docs/fidelity.md > "$work/page.md"
  finds "$paper: no row has $what"
done <<'END'
AutoDEUQ:Table I:Table I($|[ ,])
AutoDEUQ:Table II:Table II
AutoDEUQ:Figure 3:Figure 3
NES:Table 1:Table 1
NES:Figure 10:Fig[.] 10
NASBOT:Figure 2:Figure 2
NASBOT:Table 3:Table 3
SMBO-ensemble:Table 2:Table 2
SMBO-ensemble:Figure 1:Figures 1
NOMU:Table 4:Table
END
page; echo '| 1 | a | b | perhaps |' >> "$work/page.md"; finds 'begins with none of'
page; echo '| 1 | a | same |' >> "$work/page.md"; finds '3 columns where 4 are expected'
grep -vF agebo docs/fidelity.md > "$work/page.md"; finds 'plugins/builder/agebo.c speaks of what its paper does'
exit $failed
