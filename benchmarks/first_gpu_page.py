"""The results of benchmarks/first_gpu.py, as text: made of its folder alone. Each device has a part of its own in the page."""
import json
import pathlib
import re

import tables

BEGIN, END = "<!-- GPUs: begin -->\n", "<!-- GPUs: end -->"


def steps_of(folder, names):
    paths = [folder / f"steps/{name}.json" for name in names]
    return [json.loads(path.read_text()) for path in paths if path.exists()]


def merged(results):
    """The tables of all steps; rows under the same title and head are together."""
    out = []
    for found in (t for result in results for t in result["tables"]):
        same = next((t for t in out if t["head"] and (t["title"], t["head"]) == (found["title"], found["head"])), None)
        if same:
            same["rows"] += found["rows"]
        else:
            out.append({**found, "rows": list(found["rows"])})
    return out


def part(folder, names):
    """The device's name, and its part of the page."""
    device = json.loads((folder / "device.json").read_text())
    name = re.sub(r"[^\w .,:()@+-]", "", device["name"]).strip()
    results = steps_of(folder, names)
    minutes = sum(result["took_s"] for result in results) / 60
    said = [f"### {name}", f"`benchmarks/first_gpu.py FOLDER --minutes {device['minutes']:g}{' --small' if device['small'] else ''}`: "
            f"driver {device['driver_version']} ({device['platform_name']}), clatune {device['clatune']}, {device['date']}, "
            f"took {minutes:.0f} min."]
    for found in merged(results):
        said.append(f"**{found['title']}**")
        said += [found["text"]] if found["text"] else []
        said += [tables.markdown(found["head"], found["rows"])] if found["head"] else []
    missing = sorted(set(names) - {result["step"] for result in results}, key=names.index)
    said += [f"Failed: {result['step']}: {result['why']}" for result in results if result["state"] == "failed"]
    said += [f"Not measured: {', '.join(missing)}."] if missing else []
    return name, "\n\n".join(said) + "\n", device["type"] == "gpu"


def replace_part(page, name, text):
    """The page's text with this device's part; the other devices' parts stay, and text of no device goes."""
    if page.count(BEGIN) != 1 or page.count(END) != 1:
        raise SystemExit(f"first_gpu.py: the page has no '{BEGIN.strip()}' and '{END}'")
    before, rest = page.split(BEGIN)
    inside, after = rest.split(END)
    parts = {p.splitlines()[0][4:]: p.strip() + "\n" for p in re.split(r"^(?=### )", inside, flags=re.M) if p.startswith("### ")}
    parts[name] = text
    return before + BEGIN + "\n" + "\n".join(parts[n] for n in sorted(parts)) + "\n" + END + after


def write(folder, names, page):
    if not (folder / "device.json").exists():
        raise SystemExit(f"first_gpu.py: '{folder}' holds no results")
    name, text, is_gpu = part(folder, names)
    (folder / "report.md").write_text(text)
    own = tables.ROOT / "docs/notebook/results.md"
    page = pathlib.Path(page) if page else own if is_gpu and own.exists() else None
    if page:
        page.write_text(replace_part(page.read_text(), name, text))
    print(f"{folder / 'report.md'}{f', {page}' if page else ''}")
