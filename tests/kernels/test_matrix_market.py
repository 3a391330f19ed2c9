"""from_matrix_market.py converts MatrixMarket files to the input of the family spmv: test_matrix_market.py FOLDER CC, which compiles the module."""
import ctypes
import gzip
import json
import os
import pathlib
import shlex
import struct
import subprocess
import sys
import tempfile
import unittest

ROOT, CC = pathlib.Path(sys.argv[1]), shlex.split(sys.argv[2])
SPMV = ROOT / "kernels_cl/families/spmv"
SMALL = "%%MatrixMarket matrix coordinate real symmetric\n% of three rows, one of them empty but for the last column\n3 3 3\n1 1 2.5\n3 2 -4\n3 3 1e1\n"


class Array(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("type", ctypes.c_char_p), ("extent", ctypes.c_size_t * 3), ("data", ctypes.c_void_p),
                ("bytes", ctypes.c_size_t)]


class Scalar(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("value", ctypes.c_double)]


class Call(ctypes.Structure):
    _fields_ = [("arrays", ctypes.c_void_p), ("n_arrays", ctypes.c_size_t), ("scalars", ctypes.POINTER(Scalar)), ("n_scalars", ctypes.c_size_t),
                ("target", ctypes.POINTER(Array)), ("seed", ctypes.c_uint64), ("references", ctypes.c_void_p), ("n_references", ctypes.c_size_t),
                ("configuration", ctypes.c_char_p), ("message", ctypes.c_char_p)]


class MatrixMarket(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def convert(self, text, name="small.mtx"):
        path = self.folder / name
        path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
        return subprocess.run([sys.executable, SPMV / "from_matrix_market.py", self.folder, path], capture_output=True, text=True, check=False)

    def made(self, text, name="small.mtx"):
        """The input that is printed, and the file's content."""
        said = self.convert(text, name)
        self.assertEqual(said.returncode, 0, said.stderr)
        line = json.loads(said.stdout)
        return line, (self.folder / f"{line['seed']}.csr").read_bytes()

    def call(self, function, line, c_type, n, **more):
        data = (c_type * n)()
        target = Array(b"target", b"", (n, 1, 1), ctypes.addressof(data), ctypes.sizeof(data))
        names = {**{k: line[k] for k in ("kind", "n", "degree", "seed")}, **more}
        scalars = (Scalar * len(names))(*(Scalar(k.encode(), v) for k, v in names.items()))
        rc = function(ctypes.byref(Call(None, 0, scalars, len(names), ctypes.pointer(target), 1, None, 0, None, None)))
        return rc, list(data)

    def test_a_symmetric_matrix_has_both_halves(self):
        line, content = self.made(SMALL)
        self.assertEqual({k: line[k] for k in ("kind", "n", "degree")}, {"kind": 8, "n": 3, "degree": 1})
        self.assertEqual(content, b"CSR1" + struct.pack("<2i4i4i4f", 3, 4, 0, 1, 2, 4, 0, 2, 1, 2, 2.5, -4, -4, 10))

    def test_a_packed_file_gives_the_same(self):
        self.assertEqual(self.made(SMALL)[1], self.made(SMALL, "small.mtx.gz")[1])

    def test_a_pattern_has_ones_and_is_filled_up_to_a_square(self):
        line, content = self.made("%%MatrixMarket matrix coordinate pattern general\n2 4 2\n2 4\n1 1\n")
        self.assertEqual(line["n"], 4)
        self.assertEqual(content, b"CSR1" + struct.pack("<2i5i2i2f", 4, 2, 0, 1, 2, 2, 2, 0, 3, 1, 1))

    def test_what_is_wrong_is_said(self):
        for text, why in ((SMALL.replace("real", "complex"), "small.mtx:1: complex symmetric matrices are not supported"),
                          (SMALL.replace("coordinate", "array"), "small.mtx:1: not a MatrixMarket file"),
                          (SMALL.replace("3 2 -4", "3 5 -4"), "small.mtx:5: the entry 3, 5 is outside of 3 x 3"),
                          (SMALL.replace("3 2 -4", "3 2 x"), "small.mtx:5: cannot be read"),
                          (SMALL.replace("3 3 3", "3 3 4"), "3 entries where 4 are stated")):
            said = self.convert(text)
            self.assertEqual(said.returncode, 1)
            self.assertIn(why, said.stderr)

    def test_the_module_reads_it_and_nothing_else(self):
        subprocess.run([*CC, "-fopenmp", "-shared", "-fPIC", "-I", ROOT / "include", SPMV / "spmv.c", "-o", self.folder / "spmv.so", "-lm"],
                       check=True)
        module = ctypes.CDLL(str(self.folder / "spmv.so"))
        os.environ["SPMV_MATRICES"] = str(self.folder)
        line, content = self.made(SMALL)
        counted = self.call(module.count, line, ctypes.c_double, 4)
        self.assertEqual((counted[0], counted[1][:3]), (0, [4, 2, 3]))
        self.assertEqual(self.call(module.csr_columns, line, ctypes.c_int, 4, nonzeros=4), (0, [0, 2, 1, 2]))
        self.assertEqual(self.call(module.csr_values, line, ctypes.c_float, 4, nonzeros=4), (0, [2.5, -4, -4, 10]))
        self.assertNotEqual(self.call(module.csr_columns, line, ctypes.c_int, 4, nonzeros=5)[0], 0)
        path = self.folder / f"{line['seed']}.csr"
        for damaged in (content[:-1], content.replace(b"CSR1", b"CSR2"), content[:8] + struct.pack("<i", 99) + content[12:],
                        content[:28] + struct.pack("<i", 3) + content[32:], content[:12] + struct.pack("<i", 1) + content[16:]):
            path.write_bytes(damaged)
            self.assertNotEqual(self.call(module.count, line, ctypes.c_double, 4)[0], 0, damaged)
        path.unlink()
        self.assertNotEqual(self.call(module.count, line, ctypes.c_double, 4)[0], 0)


unittest.main(argv=sys.argv[:1])
