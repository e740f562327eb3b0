#!/usr/bin/env python3
"""report.py PAGE FOLDER: check a page of tutti report, and write each figure's CSV files to FOLDER.

The page has to be well-formed as XML, without scripts, with identifiers that are told apart and links that lead
somewhere, and nothing in it may make a browser load something."""
import base64
import os
import re
import sys
import xml.etree.ElementTree as tree

page, folder = sys.argv[1:3]
text = open(page, encoding="utf-8").read()
root = tree.fromstring(text)
failures = []


def check(right, what):
    if not right:
        failures.append(what)


ids = [e.get("id") for e in root.iter() if e.get("id")]
check(len(ids) == len(set(ids)), "identifiers stand twice: " + ", ".join(sorted(i for i in set(ids) if ids.count(i) > 1)))
links = 0
for element in root.iter():
    name = element.tag.split("}")[-1]
    check(name not in ("script", "iframe", "object", "embed", "link", "base", "form"), f"an element {name}")
    for key, value in element.attrib.items():
        check(not key.lower().startswith("on"), f"an attribute {key}")
        check("javascript:" not in value.lower() and "url(" not in value, f"{key}={value[:60]}")
        if key.split("}")[-1] in ("href", "src"):
            check(value.startswith(("#", "data:text/csv;", "data:image/")), f"{name} {key}={value[:60]}")
            check(value[0] != "#" or value[1:] in ids, f"a link to {value}, which is nowhere")
            if value.startswith("data:text/csv;charset=utf-8;base64,"):
                csv = base64.b64decode(value.split(",", 1)[1], validate=True)
                os.makedirs(folder, exist_ok=True)
                with open(os.path.join(folder, os.path.basename(element.get("download"))), "wb") as out:
                    out.write(csv)
                links += 1
bare = re.sub(r'xmlns(:\w+)?="[^"]*"', "", text)
bare = re.sub(r"data:[\w/;=-]+,[A-Za-z0-9+/=]*", "", bare)
shown = "".join(root.itertext())
check(len(re.findall(r"https?://", bare)) == len(re.findall(r"https?://", shown)), "an address outside of texts")
check("@import" not in text and "url(" not in bare, "a style that loads something")
check("Content-Security-Policy" in text, "no policy")
for failure in failures:
    print("FAILED:", failure)
if failures:
    sys.exit(1)
print(f"page: {links} tables, {len(list(root.iter('{http://www.w3.org/2000/svg}svg')))} pictures")
