"""The page of a report as a C array: the template with its style and script, allowed by their hashes and nothing else.

    embed.py PAGE.html PAGE.css PAGE.js OUT.c
"""
import base64
import hashlib
import pathlib
import sys

page, style, script = (pathlib.Path(path).read_text() for path in sys.argv[1:4])
for name, text in (("STYLE", style), ("SCRIPT", script)):
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    page = page.replace(f"@{name}-HASH@", f"'sha256-{digest}'").replace(f"@{name}@", text)
rows = page.encode() + b"\0"
lines = [", ".join(map(str, rows[i:i + 24])) for i in range(0, len(rows), 24)]
pathlib.Path(sys.argv[4]).write_text('#include "report/report.h"\n\nconst char clt_page_template[] = {\n  '
                                     + ",\n  ".join(lines) + "};\n")
