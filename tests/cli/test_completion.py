"""Completion scripts: how the shells use them, and that nothing of the help is missing."""
import re
import shutil
import subprocess

from harness import CliTest, main


class Completion(CliTest):
    def bash(self, *words):
        """The completions that bash offers after these words."""
        script = self.clatune("completion", "bash").stdout + f"""
COMP_WORDS=({' '.join(repr(w) for w in words)})
COMP_CWORD={len(words) - 1}
_clatune
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
        run = subprocess.run(["bash", "-c", script], cwd=self.folder, text=True, capture_output=True, check=True)
        self.assertEqual(run.stderr, "")
        return run.stdout.split()

    def test_bash(self):
        self.assertEqual(self.bash("clatune", "tu"), ["tune"])
        self.assertIn("--budget", self.bash("clatune", "tune", "--bu"))
        self.assertIn("surrogate", self.bash("clatune", "tune", "--searcher", ""))
        self.assertEqual(self.bash("clatune", "lookup", "x.json", "--format", "he"), ["header"])
        (self.folder / "problem.json").touch()
        self.assertIn("problem.json", self.bash("clatune", "tune", "prob"))

    def test_every_option_of_the_help_is_offered(self):
        commands = re.findall(r"^  (\w+) ", self.clatune("--help").stdout.split("commands:")[1].split("\n\n")[0], re.M)
        self.assertIn("tune", commands)
        for command in commands:
            options = set(re.findall(r"^  (--[\w-]+)", self.clatune(command, "--help").stdout, re.M))
            offered = set(self.bash("clatune", command, "--"))
            self.assertLessEqual(options, offered, command)

    def check(self, shell, *check):
        script = self.clatune("completion", shell).stdout
        self.assertIn("stagnation", script)
        if shutil.which(shell):
            subprocess.run([shell, *check], input=script, text=True, check=True)

    def test_zsh(self):
        self.check("zsh", "-n")

    def test_fish(self):
        self.check("fish", "--no-execute")

    def test_another_shell(self):
        self.assertIn("bash, zsh or fish", self.clatune("completion", "csh", expect=2).stderr)


if __name__ == "__main__":
    main()
