"""clatune sweep --slurm without Slurm: the job's script, the input of sbatch, and refusals. A replacement for sbatch notes its input."""
import json
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "reliability"))
from simulation import SimulatedTest, main  # noqa: E402
from harness import ANSWERS, check_answer  # noqa: E402

PLAN = {"Problems": {"Problem": "../copy.json", "Sizes": [{"n": 1024}, {"n": 2048}]}, "Searchers": "random", "Seeds": [1, 2], "Budgets": 5,
        "Devices": ["Simulated"], "Tuning": {"Finalists": 0}}
NAME = "it's \"a\" $(plan)"
SBATCH = """#!/bin/sh
for word; do printf '%s\\n' "$word" >> words; done
cat > script
echo "Submitted batch job 17"
"""


class Slurm(SimulatedTest):
    def setUp(self):
        super().setUp()
        (self.folder / NAME).mkdir()
        self.plan = f"{NAME}/x.json"
        (self.folder / self.plan).write_text(json.dumps(PLAN))
        self.program("sbatch", SBATCH)

    def program(self, name, text):
        folder = self.folder / "bin"
        folder.mkdir(exist_ok=True)
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
        self.environment["PATH"] = f"{folder}:/usr/bin:/bin"

    def script(self, *options):
        return self.clatune("sweep", self.plan, "--slurm", "--dry-run", *options).stdout

    def run_script(self, script, **more):
        """As Slurm does."""
        run = subprocess.run(["sh", "-c", script], cwd=self.folder, env={**self.environment, "SLURM_JOB_ID": "17", **more}, text=True,
                             capture_output=True)
        self.assertEqual(run.returncode, 0, run.stderr)
        return run.stdout

    def finished(self, path):
        file = self.folder / path
        return sorted((line["sizes"]["n"], line["seed"]) for line in map(json.loads, file.read_text().splitlines())) if file.exists() else []

    def test_the_script_does_what_was_typed(self):
        script = self.script("--only", "n=1024", "--only", "seed=2 n=2048", "--store", "it's a store.sqlite", "-q")
        self.program("squeue", "#!/bin/sh\necho 9999999999\n")
        self.run_script(script)
        results = f"{NAME}/x.results.jsonl"
        self.assertEqual(self.finished(results), [(1024, 1), (1024, 2), (2048, 2)])
        self.assertTrue((self.folder / "it's a store.sqlite").exists())
        for end, n in (("1", 0), ("9999999999", 4)):  # the environment is asked first
            (self.folder / results).unlink()
            self.run_script(self.script("--store", "s.sqlite"), SLURM_JOB_END_TIME=end)
            self.assertEqual(len(self.finished(results)), n)
        self.program("squeue", "#!/bin/sh\necho N/A\n")
        self.assertIn("4 finished (4 before)", self.run_script(self.script()))

    def test_an_array_of_shards(self):
        script = self.script("--shard", "%a/2", "--output", "of %a.jsonl")
        self.assertIn("\n#SBATCH --array=1-2\n", script)
        for i in "12":
            self.run_script(script, SLURM_ARRAY_TASK_ID=i, SLURM_JOB_END_TIME="9999999999")
        self.assertEqual(self.finished("of 1.jsonl"), [(1024, 1), (2048, 1)])
        self.assertEqual(self.finished("of 2.jsonl"), [(1024, 2), (2048, 2)])

    def test_what_sbatch_gets(self):
        passed = ["--array=1-2", "-p", "two words", "--"]
        answer = json.loads(self.clatune("sweep", self.plan, "--shard=%a/2", "--slurm", "--json", "--", *passed).stdout)
        self.assertEqual(answer, {"job": 17, "sbatch": "Submitted batch job 17"})
        check_answer(ANSWERS / "sweep.json", answer)
        self.assertEqual(self.clatune_json("sweep", self.plan, "--slurm", "--dry-run", "--shard=%a/2"), {"script": self.script("--shard=%a/2")})
        self.assertEqual((self.folder / "words").read_text().splitlines(), passed)
        self.assertEqual((self.folder / "script").read_text(), self.script("--shard=%a/2"))
        self.assertEqual(self.clatune("sweep", self.plan, "--slurm").stdout, "Submitted batch job 17\n")

    def test_two_dashes_without_slurm(self):
        self.assertIn("4 tunings", self.clatune("sweep", "--dry-run", "--", self.plan).stdout)
        self.assertIn("--array=1-2", self.clatune("sweep", self.plan, "--", "--array=1-2", expect=2).stderr)
        self.assertIn("PLAN", self.clatune("sweep", "--slurm", "--", self.plan, expect=2).stderr)

    def test_no_password_in_the_script(self):
        for url in ("postgresql://me:secret@h/d", "postgres://h/d?sslmode=require&password=secret", "postgresql:///d?password=secret"):
            run = self.clatune("sweep", self.plan, "--slurm", "--dry-run", "--store", url, expect=2)
            self.assertNotIn("secret", run.stdout + run.stderr)
            self.assertIn("pgpass", run.stderr)
            self.assertIn("pgpass", self.clatune("sweep", "--slurm", "--dry-run", url, expect=2).stderr)
        for url in ("postgresql://me@h:5432/d", "postgres:///?service=farm", "postgresql://[::1]:5432/a%20b"):
            self.assertIn(f"--store '{url}'", self.script("--store", url))

    def test_what_is_refused(self):
        self.assertIn("--shard %a/N", self.clatune("sweep", self.plan, "--slurm", "--", "--array=1-4", expect=2).stderr)
        self.assertIn("x.json", self.clatune("sweep", "x.json", "--slurm", expect=1).stderr)
        self.program("sbatch", "#!/bin/sh\necho 'sbatch: error: invalid partition' >&2\nexit 3\n")
        self.assertIn("sbatch ended with exit code 3: sbatch: error: invalid partition\n",
                      self.clatune("sweep", self.plan, "--slurm", expect=1).stderr)
        run = self.clatune("sweep", self.plan, "--slurm", expect=1, PATH="/nowhere")
        self.assertIn("cannot run 'sbatch'", run.stderr)
        self.assertIn("--dry-run", run.stderr)


if __name__ == "__main__":
    main()
