"""A small host project that has clatune as a meson subproject."""
import os
import pathlib
import re
import unittest

from tree import MESON, SOURCE, TreeTest, main

MESON_BUILD = """project('host', 'c', default_options: ['c_std=c11'])
clatune = dependency('clatune', version: '>=0.1', fallback: ['clatune', 'clatune_dep'])
host = executable('host', 'host.c', dependencies: clatune)
test('host', host, args: files('problem.json'))
"""
PROBLEM = """{"ConfigurationSpace": {"TuningParameters": [{"Name": "block", "Type": "int", "Values": "[8, 16]", "Default": 16}]},
 "ProblemParameters": [{"Name": "width", "Default": 2048}],
 "KernelSpecification": {"Language": "OpenCL", "KernelName": "copy", "KernelFile": "copy.cl", "GlobalSize": {"X": "width"},
  "LocalSize": {"X": "block"}, "Arguments": [{"Name": "out", "Type": "float", "MemoryType": "Vector", "AccessType": "WriteOnly",
   "Size": "width"}]}}
"""


class Subproject(TreeTest):
    def setUp(self):
        self.host = self.folder / "host"
        (self.host / "subprojects").mkdir(parents=True)
        (self.host / "subprojects/clatune").symlink_to(SOURCE)
        (self.host / "meson.build").write_text(MESON_BUILD)
        (self.host / "host.c").write_text((SOURCE / "tests/install/host.c").read_text())
        (self.host / "problem.json").write_text(PROBLEM)
        (self.host / "copy.cl").write_text("kernel void copy(global float *out) { out[get_global_id(0)] = 1; }\n")

    def meson(self, *words):
        return self.run_here([MESON, *words], self.host, PKG_CONFIG_PATH="")

    def test_a_host_project(self):
        self.meson("setup", "build", "--wrap-mode=nodownload", "-Doptimization=0", "-Ddebug=false")
        built = self.host / "build/subprojects/clatune"
        self.assertFalse((built / "tests").exists() or (built / "benchmarks").exists())
        ninja = ["ninja", "-C", "build"]
        targets = re.findall("^(\\S+): (?!phony)", self.run_here([*ninja, "-t", "targets", "all"], self.host), re.M)
        # All objects have the same options: one of each kind, and what is generated. All of them: suite long.
        some = [one for one in targets if re.search("host.p/host.c.o|clatune-worker.p/serve.c.o|internal.a.p/.*(problem_load|schema|store_sqlite).*[.]c.o", one)]
        self.assertGreaterEqual(len(some), 4, targets)
        self.run_here([*ninja, *some], self.host)
        self.run_here([*ninja, "-n", "host", "subprojects/clatune/src/worker/child/clatune-worker"], self.host)
        if "CLATUNE_FIGURES" in os.environ:
            self.meson("compile", "-C", "build", "host", "clatune-worker")
            said = self.run_here(["build/host", "problem.json"], self.host, LD_LIBRARY_PATH="")
            self.assertIn("default: -Dblock=16 -Dwidth=2048", said)


if __name__ == "__main__":
    main()
