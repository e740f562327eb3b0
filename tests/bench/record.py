"""What a comparison found, for the table of `make bench-all`: a line of JSON for each, in the file that BENCH_RECORD names, if it does."""
import json
import os
import statistics


def record(what, unit, ours, theirs, peer, ratios=None, share=None):
    """`ours` and `theirs` in `unit`; `ratios`: how much better ours was, one of each round; `share` of a limit, in words."""
    path = os.environ.get("BENCH_RECORD")
    if not path:
        return
    better_when_less = not unit.endswith("/s")
    ratios = ratios or [theirs / ours if better_when_less else ours / theirs]
    line = {"what": what, "unit": unit, "ours": ours, "theirs": theirs, "peer": peer, "ratio": statistics.median(ratios),
            "low": min(ratios), "high": max(ratios), "share": share or ""}
    with open(path, "a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")
