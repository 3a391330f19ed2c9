"""Builds the wheel (PEP 517): the package, and next to it the command with its worker, libraries, headers and shipped problems.

Needs meson, ninja and the rest of scripts/install-packages, but nothing from PyPI. Settings (pip's --config-settings NAME=VALUE):
    build=FOLDER    takes the files built in this meson folder, in place of building them
    libraries=yes   takes along the libraries that clatune needs, for machines that lack these packages; not with build
"""
from __future__ import annotations

import base64
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sysconfig
import tempfile
import tomllib
import zipfile
from collections.abc import Iterator, Mapping
from typing import Optional

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
SETTINGS = ("build", "libraries")
# The tree of a wheel may be anywhere. DT_RPATH, which also holds for the libraries that the libraries need.
RPATH = "-Wl,--disable-new-dtags,-rpath,$ORIGIN:$ORIGIN/..:$ORIGIN/../lib:$ORIGIN/../../lib"
# Drivers may need later ones than these, so that they are left to the system.
SYSTEM = re.compile(r"lib(c|m|dl|pthread|rt|gcc_s|stdc\+\+|z)\.so")

Settings = Optional[Mapping[str, str]]


class BuildError(Exception):
    pass


def get_requires_for_build_wheel(config_settings: Settings = None) -> list[str]:
    return []


def build_sdist(sdist_directory: str, config_settings: Settings = None) -> str:
    raise BuildError("the package is a part of clatune's source tree, which is distributed as a whole: see scripts/release")


def get_requires_for_build_sdist(config_settings: Settings = None) -> list[str]:
    return []


def run(*command: str | os.PathLike[str]) -> str:
    # pip's isolation hides meson's own modules from it.
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONNOUSERSITE")}
    try:
        done = subprocess.run(command, text=True, capture_output=True, env=environment)
    except FileNotFoundError as error:
        raise BuildError(f"there is no program '{command[0]}'; scripts/install-packages installs it") from error
    if done.returncode:
        raise BuildError(f"{' '.join(map(str, command))} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def installed(build: str | None, work: pathlib.Path, *options: str) -> pathlib.Path:
    """The files that 'meson install' installs."""
    if build is None:
        folder = work / "build"
        run("meson", "setup", folder, ROOT, "-Dtests=false", "-Dsource_headers=false", f"-Dc_link_args={RPATH}", *options)
        run("ninja", "-C", folder)
    else:
        folder = pathlib.Path(build).resolve()
        if not (folder / "build.ninja").exists():
            raise BuildError(f"'{folder}' is no build folder")
    run("meson", "install", "-C", folder, "--no-rebuild", "--strip", "--destdir", work / "root")
    program, = (work / "root").rglob("bin/clatune")
    return program.parent.parent


def command_files(prefix: pathlib.Path) -> Iterator[tuple[str, pathlib.Path]]:
    """The command's part of the wheel: (path below clatune/command, file)."""
    yield "bin/clatune", prefix / "bin/clatune"
    for program in sorted((prefix / "libexec").rglob("clatune-*")):
        yield program.relative_to(prefix).as_posix(), program
    library = next(prefix.rglob("libclatune.so.0"))  # lib, lib64, lib/x86_64-linux-gnu
    yield "lib/libclatune.so.0", library.resolve()
    for layer in (library.parent / "clatune").glob("*.so"):
        yield f"lib/clatune/{layer.name}", layer
    for folder in ("include/clatune", "share/clatune"):
        for file in sorted((prefix / folder).rglob("*")):
            if file.is_file():
                yield file.relative_to(prefix).as_posix(), file


def needed_libraries(files: list[pathlib.Path]) -> list[tuple[str, pathlib.Path]]:
    found = {}
    for line in run("ldd", *files).splitlines():
        match = re.match(r"\s*(\S+) => (/\S+)", line)
        if match and not SYSTEM.match(match[1]) and not match[1].startswith("libclatune"):
            found[f"lib/{match[1]}"] = pathlib.Path(match[2]).resolve()
    return sorted(found.items())


class Wheel:
    def __init__(self, path: pathlib.Path):
        self.archive = zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED)
        self.record: list[str] = []

    def add(self, name: str, content: bytes, executable: bool = False) -> None:
        entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
        entry.external_attr = (0o100755 if executable else 0o100644) << 16
        entry.compress_type = zipfile.ZIP_DEFLATED
        self.archive.writestr(entry, content)
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        self.record.append(f"{name},sha256={digest},{len(content)}")

    def close(self, info: str) -> None:
        self.record.append(f"{info}/RECORD,,")
        self.archive.writestr(f"{info}/RECORD", "\n".join(self.record) + "\n")
        self.archive.close()


def information() -> tuple[str, str, dict[str, bytes]]:
    """The version, the wheel's tag, and the files of its folder .dist-info."""
    project = tomllib.loads((HERE / "pyproject.toml").read_text())["project"]
    found = re.search(r'CLT_VERSION "([\d.]+)"', (ROOT / "include/clatune/version.h").read_text())
    if found is None:
        raise BuildError("include/clatune/version.h has no version")
    tag = f"py3-none-{re.sub(r'[-.]', '_', sysconfig.get_platform())}"
    lines = ["Metadata-Version: 2.1", f"Name: {project['name']}", f"Version: {found[1]}", f"Summary: {project['description']}",
             f"License: {project['license']['text']}", f"Requires-Python: {project['requires-python']}"]
    lines += [f"Requires-Dist: {one}" for one in project["dependencies"]]
    lines += ["Description-Content-Type: text/markdown", "", (HERE / project["readme"]).read_text()]
    scripts = "".join(f"{name} = {function}\n" for name, function in project["scripts"].items())
    return found[1], tag, {"METADATA": "\n".join(lines).encode(),
                           "WHEEL": f"Wheel-Version: 1.0\nGenerator: clatune_build\nRoot-Is-Purelib: false\nTag: {tag}\n".encode(),
                           "entry_points.txt": f"[console_scripts]\n{scripts}".encode(),
                           "LICENSE": (ROOT / "LICENSE").read_bytes()}


def prepare_metadata_for_build_wheel(metadata_directory: str, config_settings: Settings = None) -> str:
    version, _, files = information()
    folder = pathlib.Path(metadata_directory) / f"clatune-{version}.dist-info"
    folder.mkdir()
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return folder.name


def build_wheel(wheel_directory: str, config_settings: Settings = None, metadata_directory: str | None = None) -> str:
    settings = dict(config_settings or {})
    unknown = [name for name in settings if name not in SETTINGS]
    if unknown:
        raise BuildError(f"there is no setting '{unknown[0]}'; there are: {', '.join(SETTINGS)}")
    if settings.get("libraries", "no") not in ("yes", "no"):
        raise BuildError(f"libraries is yes or no, not '{settings['libraries']}'")
    with_libraries = settings.get("libraries") == "yes"
    if with_libraries and "build" in settings:
        raise BuildError("libraries=yes needs a build of its own, without the setting build")
    version, tag, files = information()
    info = f"clatune-{version}.dist-info"
    name = f"clatune-{version}-{tag}.whl"
    work = pathlib.Path(tempfile.mkdtemp(prefix="clatune-wheel-"))
    try:
        options = ["-Dlibclang=disabled"] if with_libraries else []  # with LLVM it would be most of the wheel
        tree = list(command_files(installed(settings.get("build"), work, *options)))
        if with_libraries:
            tree += needed_libraries([file for place, file in tree if place.startswith(("bin/", "lib"))])
        wheel = Wheel(pathlib.Path(wheel_directory) / name)
        for file in sorted((HERE / "clatune").rglob("*")):
            if file.suffix in (".py", ".c") or file.name == "py.typed":
                wheel.add(file.relative_to(HERE).as_posix(), file.read_bytes())
        for place, file in tree:
            wheel.add(f"clatune/native/{place}", file.read_bytes(), place.startswith(("bin/", "lib")))
        for file_name, content in files.items():
            wheel.add(f"{info}/{file_name}", content)
        wheel.close(info)
    finally:
        shutil.rmtree(work)
    return name
