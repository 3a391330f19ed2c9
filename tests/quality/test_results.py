"""The checked-in tables of quality: their form, that every searcher is in them, and that page and program say the same."""
import collections
import csv
import json
import pathlib
import re
import subprocess
import sys

EVALUATIONS = [10, 25, 50, 100, 200]


def known_searchers(clatune):
    return set(json.loads(subprocess.run([clatune, "version", "--json"], check=True, capture_output=True).stdout)["searchers"]) - {"groups"}  # a recording states no groups


def check_results(path, searchers):
    text = path.read_text()
    rows = list(csv.DictReader(text.splitlines()))
    assert text.splitlines()[0] == "space,searcher,evaluations,fraction,standard_error", text.splitlines()[0]
    found = collections.defaultdict(list)
    for row in rows:
        fraction, error = float(row["fraction"]), float(row["standard_error"])
        assert 0 <= fraction <= 1 and 0 <= error < 0.2, row
        found[row["space"], row["searcher"]].append((int(row["evaluations"]), fraction))
    spaces = {space for space, _ in found}
    assert {searcher for _, searcher in found} == searchers, "the searchers of the table are not clatune's"
    assert len(spaces) >= 10 and len(found) == len(spaces) * len(searchers), "not every searcher has every space"
    for key, points in found.items():
        assert [n for n, _ in points] == EVALUATIONS, (key, points)
        assert points == sorted(points, key=lambda p: (p[1], p[0])), f"{key} gets worse: {points}"
    keys = [(r["space"], r["searcher"], int(r["evaluations"])) for r in rows]
    assert keys == sorted(keys), "not in order"
    return found


def mean(found, searcher, evaluations):
    fractions = [dict(points)[evaluations] for (_, s), points in found.items() if s == searcher]
    return sum(fractions) / len(fractions)


def check_ranks(found, searchers):
    """A searcher that does not beat random search after 200 evaluations has a page that says why."""
    for searcher in searchers - {"random", "exhaustive"}:
        assert mean(found, searcher, 200) > mean(found, "random", 200), f"{searcher} does not beat random"


def check_page(root):
    """docs/notebook/miss-rates.md is written with the table that is compiled in."""
    sys.path.insert(0, str(root / "benchmarks"))
    import miss_rates
    rows = miss_rates.read(miss_rates.TABLE)
    page = miss_rates.PAGE.read_text()
    assert rows and miss_rates.markdown(rows) in page, "docs/notebook/miss-rates.md and src/search/certainty_table.inc differ"
    lines = miss_rates.TABLE.read_text().splitlines()
    assert len(lines) == len(rows) + 1, "lines of the table that are no rows"
    spaces = re.search("\n\nSpaces: (.*)[.]\n", page)[1].split(", ")
    assert {r[2] for r in rows} == {len(spaces)}, "rows of other spaces"
    assert not miss_rates.CHOSEN_ON.intersection(spaces), "what is quoted was measured where settings were chosen"


def check_picture():
    """README.md's picture is drawn from docs/notebook/search-quality.md."""
    import search_picture
    page = search_picture.PAGE.read_text()
    assert search_picture.PICTURE.read_text() == search_picture.picture(page), "docs/pictures/search.svg is old: benchmarks/search_picture.py"
    assert search_picture.picture(re.sub(r"(\| clatune surrogate \| [^|]+) \| [\d.]+ ", r"\1 | 0.5 ", page)) != search_picture.picture(page)


def main(root, clatune):
    searchers = known_searchers(clatune)
    assert len(searchers) >= 9
    found = check_results(root / "tests/quality/results.csv", searchers)
    check_ranks(found, searchers)
    check_page(root)
    check_picture()


main(pathlib.Path(sys.argv[1]), sys.argv[2])
