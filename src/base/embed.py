"""A text as a C array: embed.py TEXT NAME OUT.c"""
import pathlib
import sys

text = pathlib.Path(sys.argv[1]).read_bytes() + b"\0"
rows = ",\n  ".join(", ".join(map(str, text[i:i + 24])) for i in range(0, len(text), 24))
pathlib.Path(sys.argv[3]).write_text(f"extern const char {sys.argv[2]}[];\nconst char {sys.argv[2]}[] = {{\n  {rows}}};\n")
