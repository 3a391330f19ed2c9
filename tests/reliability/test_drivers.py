"""What drivers do in addition to building and running: caches in the home folder, status codes of their own, platforms that are broken or
not registered."""
import fcntl
import json
import shutil

from simulation import DRIVER, SimulatedTest, main

CACHES = {"CUDA_CACHE_PATH": None, "AMD_COMGR_CACHE": "0", "NEO_CACHE_PERSISTENT": "0"}  # None: it is elsewhere


class Caches(SimulatedTest):
    def setUp(self):
        super().setUp()
        self.environment["HOME"] = str(self.folder / "home")
        (self.folder / "home").mkdir()
        for name in CACHES:
            self.environment.pop(name, None)
        self.simulate(time_s="1e-5 + 1e-7 * a", caches=[{"file": name, "off": f"{name}={off}" if off else name} for name, off in CACHES.items()])

    def left(self):
        self.tune("--budget", "5", "--store", "none", "--searcher", "random")
        return {path.name for path in (self.folder / "home").iterdir() if path.is_file()}

    def test_nothing_appears_in_the_home_folder(self):
        self.assertEqual(self.left(), set())

    def test_what_the_user_has_set_stays(self):
        self.environment.update({"AMD_COMGR_CACHE": "1", "NEO_CACHE_PERSISTENT": ""})
        self.assertEqual(self.left(), {"AMD_COMGR_CACHE"})


class Arguments(SimulatedTest):
    def test_a_kernel_without_parameters_builds_where_its_arguments_cannot_be_described(self):
        with open(self.folder / "copy.cl", "a") as file:
            file.write("kernel void nothing(void) {}\n")
        for extensions, status, reasons in (("cl_nv_compiler_options", 0, {"none"}), ("", 4, {"compile-error"})):
            self.simulate(time_s="1e-5 + 1e-7 * a", undescribed_arguments=True, extensions=extensions)
            run = self.clatune("tune", *self.subject, "--budget", "3", "--store", f"{extensions}.sqlite", "--searcher", "random",
                               expect=status)
            self.assertEqual({reason for _, reason, _ in self.rows(f"{extensions}.sqlite")}, reasons, run.stderr)


class Statuses(SimulatedTest):
    def test_statuses_of_vendors_are_named(self):
        named = {-9999: "NVIDIA: a kernel read or wrote outside its buffers", -1001: "CL_PLATFORM_NOT_FOUND_KHR",
                 -1057: "CL_DEVICE_PARTITION_FAILED_EXT", -52: "CL_INVALID_KERNEL_ARGS", -70: "CL_INVALID_DEVICE_QUEUE",
                 -1121: "CL_CONTEXT_TERMINATED_KHR", -12345: "unknown status"}
        self.write_problem(len(named), 1)
        self.inject(*({"at": "launch", "do": "error", "code": code, "when": f"a == {i}"} for i, code in enumerate(named)))
        words = [word for i in range(len(named)) for word in ("--configuration", f"a={i}")]
        answer = self.clatune_json("measure", *self.subject, *words, "--quiet", expect=5)
        for m, (code, name) in zip(answer["measurements"], named.items(), strict=True):
            self.assertIn(f"{name} ({code})", m["log"])


class ExclusiveProcess(SimulatedTest):
    """Compute mode EXCLUSIVE_PROCESS: a second process gets no context."""

    def search(self, *options):
        run = self.clatune("tune", *self.subject, "--json", "--searcher", "exhaustive", "--store", "s.sqlite", "--oclgrind", "no", *options)
        self.assertEqual({reason for _, reason, _ in self.rows("s.sqlite")}, {"none"})
        self.assertEqual(len(self.rows("s.sqlite")), 20)
        self.assertEqual(run.stderr.count("the device accepts no further process: "), 1, run.stderr)
        self.assertIn("EXCLUSIVE_PROCESS", run.stderr)
        self.assertNotIn("cannot", run.stderr.replace("cannot create an OpenCL context", "", 1))
        return json.loads(run.stdout)

    def setUp(self):
        super().setUp()
        self.write_problem(5, 4)
        self.simulate(time_s="1e-5 * (1 + 0.1 * abs(a - 3) + 0.1 * abs(b - 2))", exclusive="lock")

    def test_one_worker_goes_on(self):
        answer = self.search("--workers", "3", "--finalists", "0")
        self.assertEqual(answer["best"]["configuration"], {"a": 3, "b": 2})

    def test_finalists_share_a_process(self):
        for workers in ("1", "3"):
            (self.folder / "s.sqlite").unlink(missing_ok=True)
            answer = self.search("--workers", workers, "--finalists", "4")
            self.assertEqual(answer["best"]["configuration"], {"a": 3, "b": 2})

    def test_a_finalist_that_crashes_harms_none_of_the_others(self):
        self.inject({"at": "launch", "do": "abort", "when": "a == 3 and b == 2", "from": 30})
        answer = self.search("--workers", "2", "--finalists", "4")
        self.assertTrue(self.deeds())
        self.assertIn(answer["best"]["configuration"], [{"a": a, "b": b} for a, b in ((2, 2), (4, 2), (3, 1), (3, 3))])

    def test_another_program_has_the_device(self):
        with open(self.folder / "lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            run = self.clatune("tune", *self.subject, "--workers", "3", "--store", "none", expect=1)
        self.assertIn("CL_DEVICE_NOT_AVAILABLE (-2)", run.stderr)


class Platforms(SimulatedTest):
    """Drivers in files of their own, each with its description next to it."""

    def setUp(self):
        super().setUp()
        self.environment["CLATUNE_SIMULATED"] = ""
        self.environment["LD_LIBRARY_PATH"] = str(self.folder / "lib")
        self.environment.pop("RUSTICL_ENABLE", None)
        (self.folder / "lib").mkdir()
        (self.folder / "icd" / "simulated.icd").unlink()

    def add_driver(self, library, registered=True, **description):
        path = self.folder / "lib" / library
        shutil.copy(DRIVER, path)
        (self.folder / "lib" / f"{library}.json").write_text(json.dumps(description))
        if registered:
            (self.folder / "icd" / f"{library}.icd").write_text(f"{path}\n")

    def left_behind(self):
        return list(self.folder.glob("clatune-*"))

    def others_work_beside(self, quirk, said):
        self.add_driver("good.so", devices=[{"name": "Simulated good", "time_s": 1e-5}])
        self.add_driver("other.so", devices=[{"name": "Simulated other", "type": "cpu"}])
        self.add_driver("broken.so", devices=[{"name": "Simulated broken"}], platform_ids=quirk)
        run = self.clatune("devices", "--json")
        self.assertEqual({d["name"] for d in json.loads(run.stdout)["devices"]}, {"Simulated good", "Simulated other"})
        self.assertRegex(run.stderr, "left out the OpenCL driver registered by '.*broken.so.icd': ")
        self.assertIn(said, run.stderr)
        self.assertEqual(run.stderr.count("left out the OpenCL driver"), 1)
        self.assertEqual(self.left_behind(), [])

    def test_a_platform_crashes_when_asked_for(self):
        self.others_work_beside("segv", "SIGSEGV")
        answer = self.clatune_json("tune", "copy.json", "--device", "good", "--budget", "5", "--searcher", "random", "--store", "none")
        self.assertEqual(answer["device"]["name"], "Simulated good")
        self.assertEqual(self.left_behind(), [])

    def test_a_platform_hangs_when_asked_for(self):
        self.others_work_beside("hang", "took too long")

    def test_a_platform_that_is_not_there_is_no_fault(self):
        self.add_driver("good.so", devices=[{"name": "Simulated good"}])
        self.add_driver("none.so", devices=[], platform_ids="error")
        run = self.clatune("devices", "--json")
        self.assertEqual([d["name"] for d in json.loads(run.stdout)["devices"]], ["Simulated good"])
        self.assertEqual(run.stderr, "")

    def test_all_platforms_crash(self):
        self.add_driver("broken.so", devices=[], platform_ids="abort")
        self.assertIn("SIGABRT", self.clatune("devices", expect=1).stderr)

    def test_a_library_that_is_not_registered_is_suggested(self):
        cpu = [{"name": "Simulated CPU", "type": "cpu"}]
        self.add_driver("cpu.so", devices=cpu)
        self.add_driver("libamdocl64.so", registered=False, devices=cpu)
        self.assertEqual(self.clatune("devices").stderr, "")
        self.add_driver("libnvidia-opencl.so.1", registered=False, devices=[*cpu, {"name": "Simulated H100"}])
        run = self.clatune("devices", "--json")
        self.assertEqual([d["name"] for d in json.loads(run.stdout)["devices"]], ["Simulated CPU"])
        self.assertIn("'Simulated H100' is not listed", run.stderr)
        self.assertIn("export OCL_ICD_VENDORS=libnvidia-opencl.so.1\n", run.stderr)
        self.assertEqual(self.clatune("devices", "--quiet").stderr, "")
        for words in (("tune", "copy.json"), ("measure", "copy.json"), ("init", "copy.cl"), ("devices",)):
            said = self.clatune(*words, "--device", "gpu", expect=3).stderr
            self.assertRegex(said, r"no device matches 'gpu'; .*\n.*'Simulated H100' is not listed: [^\0]*/nvidia.icd\n")
        cured = self.clatune_json("devices", OCL_ICD_VENDORS="libnvidia-opencl.so.1")["devices"]
        self.assertEqual([d["name"] for d in cured], ["Simulated CPU", "Simulated H100"])

    def test_a_library_that_crashes_takes_nothing_down(self):
        self.add_driver("cpu.so", devices=[{"name": "Simulated CPU", "type": "cpu"}])
        self.add_driver("libamdocl64.so", registered=False, devices=[], platform_ids="segv")
        run = self.clatune("devices")
        self.assertIn("Simulated CPU", run.stdout)
        self.assertIn("'libamdocl64.so' cannot be used: ", run.stderr)


if __name__ == "__main__":
    main()
