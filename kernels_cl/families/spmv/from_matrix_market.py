#!/usr/bin/env python3
"""Makes matrices of the family spmv from MatrixMarket files (.mtx, .mtx.gz).

    from_matrix_market.py FOLDER FILE...

writes FOLDER/NUMBER.csr for each file, where NUMBER is 48 bits of its content's hash, and prints the inputs to put into a
family file's "Train" or "Test". Set SPMV_MATRICES to FOLDER when measuring. A matrix that is not square gets empty rows or columns.
"""
import array
import gzip
import hashlib
import json
import pathlib
import sys

FROM_FILE = 8  # the kind, in matrix.h


def fail(path, line, why):
    sys.exit(f"{path}:{line}: {why}")


def read_entries(path):
    """The size, and {(row, column): value}; values of an entry that is there several times are added."""
    with (gzip.open(path, "rt") if path.suffix == ".gz" else open(path)) as file:
        lines = enumerate(file, 1)
        head = next(lines, (1, ""))[1].lower().split()
        if len(head) != 5 or head[:3] != ["%%matrixmarket", "matrix", "coordinate"]:
            fail(path, 1, "not a MatrixMarket file of a matrix in coordinates")
        field, symmetry = head[3:]
        if field not in ("real", "integer", "pattern") or symmetry not in ("general", "symmetric", "skew-symmetric"):
            fail(path, 1, f"{field} {symmetry} matrices are not supported: real, integer or pattern; general, symmetric or skew-symmetric")
        size, entries, count = None, {}, 0
        for number, line in lines:
            words = line.split()
            if not words or words[0].startswith("%"):
                continue
            try:
                if size is None:
                    rows, columns, expected = map(int, words)
                    size = max(rows, columns)
                    continue
                i, j = int(words[0]) - 1, int(words[1]) - 1
                value = 1.0 if field == "pattern" else float(words[2])
            except (ValueError, IndexError):
                fail(path, number, f"cannot be read: {line.strip()!r}")
            if not (0 <= i < rows and 0 <= j < columns):
                fail(path, number, f"the entry {i + 1}, {j + 1} is outside of {rows} x {columns}")
            count += 1
            entries[i, j] = entries.get((i, j), 0.0) + value
            if symmetry != "general" and i != j:
                entries[j, i] = entries.get((j, i), 0.0) + (-value if symmetry == "skew-symmetric" else value)
        if size is None or count != expected:
            fail(path, number, f"{count} entries where {expected} are stated" if size else "has no size")
    return size, entries


def pack(size, entries):
    """The file's content: numbers of 4 bytes, the lowest first."""
    starts, columns, values = [0] * (size + 1), [], []
    for (i, j), value in sorted(entries.items()):
        starts[i + 1] += 1
        columns.append(j)
        values.append(value)
    for i in range(size):
        starts[i + 1] += starts[i]
    whole, real = array.array("i", [size, len(columns), *starts, *columns]), array.array("f", values)
    if sys.byteorder == "big":
        whole.byteswap()
        real.byteswap()
    return b"CSR1" + whole.tobytes() + real.tobytes()


def main(folder, *files):
    pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
    for path in map(pathlib.Path, files):
        size, entries = read_entries(path)
        content = pack(size, entries)
        number = int.from_bytes(hashlib.sha256(content).digest()[:6], "big")
        (pathlib.Path(folder) / f"{number}.csr").write_bytes(content)
        print(json.dumps({"#": path.name, "kind": FROM_FILE, "n": size, "degree": 1, "seed": number}))


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
