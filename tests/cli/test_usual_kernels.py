"""clatune init on PoCL, on kernels in the manner of other suites: the file works once only the TODOs are filled in.
With the argument verify, the default configurations must pass the check plan, too."""
import json
import pathlib
import shutil
import sys

from harness import CliTest, has_device, main

FOLDER = pathlib.Path(__file__).parent / "usual"
HALF = [1, 2, 4, 8]
BLOCK = [1, 2, 4, 8, 16, 32, 64]
WHOLE_PLAN = sys.argv[1:] == ["verify"]
LINE = [8, 16, 32, 64, 128, 256, 512]


class UsualKernels(CliTest):
    def setUp(self):
        super().setUp()
        shutil.copytree(FOLDER, self.folder, dirs_exist_ok=True)

    def check(self, name, values, *options, todos=None, arguments=None, sizes=()):
        """todos, arguments: a user's text in place of each TODO but the Reference's, which is struck out."""
        self.said = self.clatune("init", f"{name}.cl", "--device", "pocl", *options).stderr
        problem = json.loads((self.folder / f"{name}.json").read_text())
        parameters = problem["ConfigurationSpace"]["TuningParameters"]
        self.assertEqual({p["Name"]: p["Values"] for p in parameters}, values)
        self.assertTrue(problem.pop("Reference").startswith("TODO "))
        kernel = problem["KernelSpecification"]
        places = [(kernel["GlobalSize"], key, value) for key, value in (todos or {}).items()]
        entries = {a["Name"]: a for a in kernel["Arguments"]}
        places += [(entries[key.split(".")[0]], key.split(".")[1], value) for key, value in (arguments or {}).items()]
        for parent, key, value in places:
            self.assertRegex(str(parent[key]), "^TODO ", key)
            parent[key] = value
        self.assertNotIn("TODO", json.dumps(problem))
        (self.folder / f"{name}.json").write_text(json.dumps(problem))
        sizes = [word for size in sizes for word in ("--size", size)]
        self.run_it(name, *sizes)
        return problem

    def run_it(self, name, *options):
        """Fails if the configuration does not run or gives an incorrect result."""
        if WHOLE_PLAN:
            self.assertEqual(self.clatune_json("verify", f"{name}.json", "--device", "pocl", *options)["correct"], True)
        else:
            self.clatune("measure", f"{name}.json", "--device", "pocl", "--rounds", "1", *options)

    def test_add(self):
        problem = self.check("add", {"block_size_x": LINE})
        self.assertEqual(problem["KernelSpecification"]["LocalSize"], {"X": "block_size_x"})
        self.assertRegex(self.said, "note: add.cl: macros without a definition became .*: block_size_x; --define NAME=1,2,4 gives other values")

    def test_product(self):
        sizes = {"block_size_x": BLOCK, "block_size_y": BLOCK, "tile_size_x": HALF, "tile_size_y": HALF}
        problem = self.check("product", sizes, todos={"X": "WIDTH // tile_size_x", "Y": "WIDTH // tile_size_y"},
                             arguments={f"{name}.Size": ["WIDTH", "WIDTH"] for name in "abc"}, sizes=["WIDTH=128"])
        self.assertEqual([p["Name"] for p in problem["ProblemParameters"]], ["WIDTH"])
        self.assertIn("problem parameters: WIDTH;", self.said)
        self.clatune("verify", "product.json", "--device", "pocl", "--size", "WIDTH=128", "--sample", "2")

    def test_blur(self):
        self.check("blur", {"use_padding": [0, 1], "block_size_x": BLOCK, "block_size_y": BLOCK, "tile_size_x": HALF},
                   todos={"X": "image_width // tile_size_x", "Y": "image_width"}, sizes=["image_width=64"],
                   arguments={"out.Size": ["image_width", "image_width"],
                              "in.Size": ["image_width + filter_width", "image_width + filter_height"]})

    def test_inside(self):
        problem = self.check("inside", {"use_method": [0, 1, 2], "block_size_x": LINE, "tile_size_x": HALF, "loop_unroll_factor": HALF},
                             "--define", "VERTICES=40", todos={"X": "size_n // tile_size_x"}, arguments={"corners.Size": 40})
        self.assertEqual(problem["KernelSpecification"]["CompilerOptions"], ["-DVERTICES=40"])

    def test_potential(self):
        self.check("potential", {"USE_CONSTANT_MEMORY": [0, 1], "VECTOR_SIZE": [1, 2, 4], "INNER_UNROLL_FACTOR": HALF,
                                 "WORK_GROUP_SIZE_X": BLOCK, "WORK_GROUP_SIZE_Y": BLOCK},
                   todos={"X": "64 // VECTOR_SIZE", "Y": "64"}, arguments={"energies.Size": "64 * 64"}, sizes=["size_atom_count=64"])
        self.run_it("potential", "--size", "size_atom_count=64", "--configuration",
                    "USE_CONSTANT_MEMORY=1 VECTOR_SIZE=4 INNER_UNROLL_FACTOR=4")

    def test_total(self):
        self.check("total", {"WORK_GROUP_SIZE_X": [64, 128], "ITEMS_PER_THREAD": [1, 2, 4, 8, 16, 32], "USE_TREE": [0, 1]},
                   "--define", "WORK_GROUP_SIZE_X=64,128", todos={"X": "size_n // ITEMS_PER_THREAD"}, arguments={"out.Size": "size_n"})

    def test_gemm(self):
        sizes = ("MWG", "NWG", "KWG", "KWI", "MDIMC", "NDIMC")
        a, b, c = "size_size_m * size_size_k", "size_size_n * size_size_k", "size_size_m * size_size_n"
        problem = self.check("gemm", {**{name: BLOCK for name in sizes}, "SA": [0, 1], "VWN": [1, 2, 4]},
                             todos={"X": "size_size_m // MWG * MDIMC", "Y": "size_size_n // NWG * NDIMC"},
                             arguments={"a.Size": a, "b_vectors.Size": b, "c.Size": c},
                             sizes=["size_size_m=64", "size_size_n=32", "size_size_k=16"])
        self.assertEqual([a["Type"] for a in problem["KernelSpecification"]["Arguments"][3:]], ["float"] * 3)
        self.assertEqual(problem["KernelSpecification"]["LocalSize"], {"X": "MDIMC", "Y": "NDIMC"})

    def test_convolution(self):
        self.check("convolution", {"TBX": BLOCK, "TBY": BLOCK, "WPTX": HALF, "WPTY": HALF, "LOCAL": [0, 1], "UNROLL_FACTOR": HALF},
                   todos={"X": "size_size_x // WPTX", "Y": "size_size_y // WPTY"}, sizes=["size_size_x=64", "size_size_y=32"],
                   arguments={"in.Size": ["size_size_x + 6", "size_size_y + 6"], "weights.Size": "49",
                              "out.Size": ["size_size_x", "size_size_y"]})

    def test_poly_gemm(self):
        problem = self.check("poly_gemm", {"DIM_X": [4, 8, 16, 32, 64, 128, 256], "DIM_Y": BLOCK},
                             sizes=["size_ni=32", "size_nj=64", "size_nk=16"])
        self.assertEqual(problem["KernelSpecification"]["GlobalSize"], {"X": "size_nj", "Y": "size_ni"})
        arguments = problem["KernelSpecification"]["Arguments"]
        self.assertEqual({a["Type"] for a in arguments}, {"float", "int"})
        self.assertEqual([a["Size"] for a in arguments[:3]], [["size_nk", "size_ni"], ["size_nj", "size_nk"], ["size_nj", "size_ni"]])

    def test_poly_atax(self):
        problem = self.check("poly_atax", {"local_x": [4, 8, 16, 32, 64, 128, 256]}, "--kernel", "rows_times_x",
                             sizes=["size_nx=64", "size_ny=32"])
        self.assertEqual(problem["KernelSpecification"]["Arguments"][0]["Size"], ["size_ny", "size_nx"])
        self.assertEqual(problem["KernelSpecification"]["CompilerOptions"], ["-DCLEAR_VALUE=1"])
        self.assertEqual(problem["KernelSpecification"]["GlobalSize"], {"X": "size_nx"})

    def test_poly_conv(self):
        problem = self.check("poly_conv", {"local_x": [4, 8, 16, 32, 64, 128, 256], "local_y": [1, 2, 4, 8, 16, 32]},
                             arguments={"A.Size": "NI * NJ"})
        self.assertEqual(problem["KernelSpecification"]["CompilerOptions"], ["-DDATA_TYPE=float"])
        self.assertIn("float: DATA_TYPE;", self.said)

    def test_hotspot(self):
        image = ["size_grid_cols", "size_grid_rows"]
        problem = self.check("hotspot", {"RD_WG_SIZE_0_0": [2, 4, 8, 16, 32, 64, 128]}, todos=dict(zip("XY", image)),
                             arguments={f"{name}.Size": image for name in ("power", "before", "after")})
        self.assertEqual(problem["KernelSpecification"]["LocalSize"], {"X": "RD_WG_SIZE_0_0", "Y": "RD_WG_SIZE_0_0"})

    def test_srad(self):
        problem = self.check("srad", {"RD_WG_SIZE": [32, 64, 128, 256, 512, 1024]}, "--kernel", "prepare", todos={"X": "size_d_Ne"})
        self.assertEqual(problem["KernelSpecification"]["LocalSize"], {"X": "RD_WG_SIZE"})
        self.assertEqual(problem["KernelSpecification"]["CompilerOptions"], ["-DEDGE_BLOCK_Y=1"])

    def test_lud(self):
        inner = "size_matrix_dim - BLOCK_SIZE"
        tiles = {f"{name}.Size": "BLOCK_SIZE * BLOCK_SIZE" for name in ("peri_row", "peri_col")}
        self.check("lud", {"BLOCK_SIZE": BLOCK}, todos={"X": inner, "Y": inner}, sizes=["size_matrix_dim=64"],
                   arguments={"m.Size": ["size_matrix_dim", "size_matrix_dim"], "offset.FillValue": 0, **tiles})

    def test_nearest(self):
        problem = self.check("nearest", {"local_x": [4, 8, 16, 32, 64, 128, 256]}, arguments={"places.Type": "float2"})
        self.assertEqual([a["Type"] for a in problem["KernelSpecification"]["Arguments"]], ["float2", "float", "int", "float", "float"])


if not has_device("pocl"):
    sys.exit(77)
del sys.argv[1:]  # unittest's
if __name__ == "__main__":
    main()
