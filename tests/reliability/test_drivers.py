"""What drivers do besides building and running: caches in the home folder, status codes of their own, platforms that are broken or
not registered."""
from simulation import SimulatedTest, main

CACHES = {"CUDA_CACHE_DISABLE": "1", "AMD_COMGR_CACHE": "0", "NEO_CACHE_PERSISTENT": "0", "MESA_SHADER_CACHE_DISABLE": "1"}


class Caches(SimulatedTest):
    def setUp(self):
        super().setUp()
        self.environment["HOME"] = str(self.folder / "home")
        (self.folder / "home").mkdir()
        for name in CACHES:
            self.environment.pop(name, None)
        self.simulate(time_s="1e-5 + 1e-7 * a", caches=[{"file": name, "off": f"{name}={off}"} for name, off in CACHES.items()])

    def left(self):
        self.tune("--budget", "5", "--store", "none", "--searcher", "random")
        return {path.name for path in (self.folder / "home").iterdir() if path.is_file()}

    def test_nothing_appears_in_the_home_folder(self):
        self.assertEqual(self.left(), set())

    def test_what_the_user_has_set_stays(self):
        self.environment.update({"CUDA_CACHE_DISABLE": "0", "AMD_COMGR_CACHE": "0", "NEO_CACHE_PERSISTENT": ""})
        self.assertEqual(self.left(), {"CUDA_CACHE_DISABLE"})


class Statuses(SimulatedTest):
    def test_statuses_of_vendors_are_named(self):
        named = {-9999: "NVIDIA: a kernel read or wrote outside its buffers", -1001: "CL_PLATFORM_NOT_FOUND_KHR",
                 -1057: "CL_DEVICE_PARTITION_FAILED_EXT", -52: "CL_INVALID_KERNEL_ARGS", -70: "CL_INVALID_DEVICE_QUEUE",
                 -1121: "CL_CONTEXT_TERMINATED_KHR", -12345: "an unknown status"}
        self.write_problem(len(named), 1)
        self.inject(*({"at": "launch", "do": "error", "code": code, "when": f"a == {i}"} for i, code in enumerate(named)))
        words = [word for i in range(len(named)) for word in ("--configuration", f"a={i}")]
        answer = self.clatune_json("measure", *self.subject, *words, "--quiet", expect=5)
        for m, (code, name) in zip(answer["measurements"], named.items(), strict=True):
            self.assertIn(f"{name} ({code})", m["log"])


if __name__ == "__main__":
    main()
