"""Installs what packaging/build made, offline and from nothing, and runs it.

    check.py OUT [--glibc 2.17] [--seconds 10]
    check.py --program PROGRAM

The second form packs a program that is there already, quickly and without
maturin: the same installations and runs, for every change.

Through the wheel and through npm alike: the quick start, every exit code, and
what becomes of a run whose launcher is told to end or killed. With --glibc the
program must run where glibc is no newer than that.
"""

import argparse
import concurrent.futures
import os
import pathlib
import re
import shutil
import signal
import struct
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile

ROOT = pathlib.Path(__file__).parent.parent
TOOL = "version: 1\nname: {name}\nservers: {{ m: {{ command: jelly, args: [mock{more}] }} }}\nsteps:\n  - {step}\n"
PLANS = {
    # Exit code: what the plan's step is, and what its server is given besides.
    0: ("{ id: a, server: m, tool: echo, args: { message: hi } }", ""),
    1: ("{ id: a, server: m, tool: add, args: { a: 2, b: 2 }, expect: { structured: { equals: { sum: 5 } } } }", ""),
    3: ("{ id: a, server: m, tool: echo, args: { message: hi } }", ', --files, "${workspace}/../nowhere/at/all"'),
    4: ("{ id: a, server: m, tool: ecko, args: { message: hi } }", ""),
}
failed = []


def check(holds, what):
    print(("ok    " if holds else "FAILED"), what, flush=True)
    if not holds:
        failed.append(what)


def timed(what, limit, command, **more):
    begun = time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True, **more)
    took = time.monotonic() - begun
    if done.returncode != 0:
        print(done.stdout + done.stderr)
    check(done.returncode == 0 and took <= limit, f"{what} in {took:.1f} s (at most {limit:.0f})")


def without_volatile(text):
    text = re.sub(r"\d+(\.\d+)? ?(ms|s)\b|<1 ms", "TIME", text)
    return re.sub(r"\d{8}-\d{6}-[0-9a-f]{4}", "RUN", text)


def alive(mark):
    """The processes whose arguments hold the mark."""
    found = []
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if mark.encode() in (process / "cmdline").read_bytes():
                found.append(int(process.name))
        except OSError:
            pass
    return [pid for pid in found if pid != os.getpid()]


def until(holds, seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if holds():
            return True
        time.sleep(0.02)
    return holds()


def ends(name, jelly, folder, sent, code):
    """What becomes of a run in the midst of a call, when its launcher is sent a signal."""
    mark = f"mark-{name}-{sent.name}"
    (folder / "slow.yaml").write_text(
        TOOL.format(name="slow", more=f", --fault, hang@call, --stderr, {mark}", step=PLANS[0][0])
    )
    with subprocess.Popen([*jelly, "run", "slow.yaml", "--reports-dir", mark], cwd=folder,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as run:
        begun = b""
        for line in run.stdout:
            begun += line
            if line.startswith(b"READY"):
                break
        check(b"READY" in begun, f"{name}: a server is up before {sent.name}")
        run.send_signal(sent)
        run.stdout.read()
    if code is not None:
        check(run.returncode in (code, -sent), f"{name}: {sent.name} is {run.returncode}, wanted {code}")
        check((folder / mark).is_dir(), f"{name}: {sent.name} leaves a report")
    if sys.platform == "linux":
        check(until(lambda: not alive(mark), 10), f"{name}: nothing is left behind after {sent.name}")


def try_out(name, jelly, folder):
    """Runs it as a new user would."""
    folder.mkdir()
    for file in ["quickstart.yaml"]:
        shutil.copy(ROOT / "plans" / file, folder)
    done = subprocess.run([*jelly, "run", "quickstart.yaml"], cwd=folder, capture_output=True, text=True)
    check(done.returncode == 0, f"{name}: the quick start is green")
    for code, (step, more) in PLANS.items():
        (folder / f"{code}.yaml").write_text(TOOL.format(name=f"code {code}", step=step, more=more))
        run = subprocess.run([*jelly, "run", f"{code}.yaml"], cwd=folder, capture_output=True, text=True)
        check(run.returncode == code, f"{name}: exit code {code}, got {run.returncode}")
    run = subprocess.run([*jelly, "run", "absent.yaml"], cwd=folder, capture_output=True, text=True)
    check(run.returncode == 2, f"{name}: exit code 2, got {run.returncode}")
    plan = (folder / "0.yaml").read_text()
    run = subprocess.run([*jelly, "check", "/dev/stdin"], cwd=folder, input=plan, capture_output=True, text=True)
    check(run.returncode == 0, f"{name}: stdin is passed on")
    ends(name, jelly, folder, signal.SIGINT, 130)
    ends(name, jelly, folder, signal.SIGTERM, 143)
    if sys.platform == "linux":
        ends(name, jelly, folder, signal.SIGKILL, None)
    return done.stdout


def by_wheel(options, out, folder):
    """Installs the wheel into an environment of its own, and tries it out."""
    [wheel] = out.glob("*.whl")
    venv = folder / "venv"
    pip = [venv / "bin/pip"]
    bare = []
    if options.program and pip_is_for_others():
        # To install pip takes longer than all that is checked of the wheel.
        bare = ["--without-pip"]
        pip = [sys.executable, "-m", "pip", "--python", venv / "bin/python"]
    subprocess.run([sys.executable, "-m", "venv", *bare, venv], check=True)
    pip += ["install", "--no-index", "--disable-pip-version-check"]
    timed("the wheel installs offline", options.seconds, [*pip, wheel])
    return try_out("wheel", [venv / "bin/jelly"], folder / "by-wheel")


def pip_is_for_others():
    """Whether this Python has a pip that installs for another one: 22.3 and newer."""
    pip = subprocess.run([sys.executable, "-m", "pip", "--version"], capture_output=True, text=True)
    version = re.match(r"pip (\d+)\.(\d+)", pip.stdout)
    return pip.returncode == 0 and version and (int(version[1]), int(version[2])) >= (22, 3)


def by_npm(options, out, folder):
    """Installs the npm packages into a folder of their own, and tries them out."""
    (folder / "npm").mkdir()
    (folder / "npm/package.json").write_text("{}\n")
    archives = sorted(out.glob("*.tgz"))
    npm = ["npm", "install", "--offline", "--no-audit", "--no-fund", *map(str, archives)]
    timed("the npm packages install offline", options.seconds, npm, cwd=folder / "npm",
          env={**os.environ, "npm_config_cache": str(folder / "cache")})
    return try_out("npm", [folder / "npm/node_modules/.bin/jelly"], folder / "by-npm")


def pack(program, out):
    """What packaging/build makes of a program, but for the wheel's metadata."""
    stage = out / "stage"
    stage.mkdir(parents=True)
    slim = shutil.copy(program, stage / "jelly")
    if shutil.which("strip"):
        subprocess.run(["strip", slim], check=True)
    system = {"darwin": "darwin"}.get(sys.platform, "linux")
    processor = {"aarch64": "arm64", "arm64": "arm64"}.get(os.uname().machine, "x64")
    platform = f"{system}-{processor}"
    subprocess.run(
        [sys.executable, ROOT / "packaging/npm/package.py", "0.0.0", stage / "npm", f"{platform}={slim}"], check=True
    )
    for package in (stage / "npm").iterdir():
        with tarfile.open(out / f"{package.name}-0.0.0.tgz", "w:gz", compresslevel=1) as archive:
            archive.add(package, "package")
    with zipfile.ZipFile(out / "jelly_mcp-0.0.0-py3-none-any.whl", "w") as wheel:
        wheel.write(slim, "jelly_mcp-0.0.0.data/scripts/jelly")
        info = "jelly_mcp-0.0.0.dist-info"
        wheel.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: jelly-mcp\nVersion: 0.0.0\n")
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: py3-none-any\n")
        names = [f"{name},,\n" for name in wheel.namelist()]
        wheel.writestr(f"{info}/RECORD", "".join(names) + f"{info}/RECORD,,\n")


def has_what_binstall_wants(out):
    """Whether the archive has the program where Cargo.toml says."""
    import tomllib  # of Python 3.11

    manifest = tomllib.loads((ROOT / "Cargo.toml").read_text())
    version = manifest["workspace"]["package"]["version"]
    wanted = manifest["package"]["metadata"]["binstall"]
    [archive] = out.glob("*.tar.gz")
    target = archive.name.removeprefix(f"jelly-{version}-").removesuffix(".tar.gz")

    def filled(text):
        return text.replace("{ version }", version).replace("{ target }", target)

    with tarfile.open(archive) as members:
        inside = filled(wanted["bin-dir"]) in members.getnames()
    return inside and filled(wanted["pkg-url"]).endswith("/" + archive.name)


def newest_glibc(program):
    """The newest version of glibc that the loader is asked for: by the section
    `.gnu.version_r`, since the program's own texts speak of versions too."""
    data = program.read_bytes()
    if data[:6] != b"\x7fELF\x02\x01":
        sys.exit(f"{program} is no 64-bit little-endian ELF file")
    (table,) = struct.unpack_from("<Q", data, 40)
    size, count = struct.unpack_from("<HH", data, 58)
    # Type, address, offset, length, link and number of entries of each section.
    sections = [struct.unpack_from("<4xI8xQQQII", data, table + n * size) for n in range(count)]
    newest = (0, 0)
    for kind, _, at, _, link, entries in sections:
        if kind != 0x6FFFFFFE:
            continue
        names = sections[link][2]
        for _ in range(entries):
            versions, _, first, following = struct.unpack_from("<2xHIII", data, at)
            each = at + first
            for _ in range(versions):
                name, after = struct.unpack_from("<8xII", data, each)
                text = data[names + name : data.index(b"\0", names + name)]
                found = re.fullmatch(rb"GLIBC_(\d+)\.(\d+)(\.\d+)?", text)
                if found:
                    newest = max(newest, (int(found[1]), int(found[2])))
                each += after
            at += following
    return newest


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("out", type=pathlib.Path, nargs="?")
    options.add_argument("--program", type=pathlib.Path)
    options.add_argument("--glibc")
    options.add_argument("--seconds", type=float, default=10.0)
    options = options.parse_args()
    if (options.out is None) == (options.program is None):
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        if options.program:
            out = folder / "out"
            pack(options.program, out)
        else:
            out = options.out.resolve()
        # One after the other where the time counts that an installation takes.
        with concurrent.futures.ThreadPoolExecutor(2 if options.program else 1) as both:
            shown = [
                both.submit(by_wheel, options, out, folder),
                both.submit(by_npm, options, out, folder),
            ]
        shown = [done.result() for done in shown]
        words = [re.sub(r"by-(wheel|npm)", "FOLDER", without_volatile(text)) for text in shown]
        check(sorted(words[0].splitlines()) == sorted(words[1].splitlines()), "both show the same of the quick start")
        if options.glibc:
            wanted = tuple(map(int, options.glibc.split(".")))
            needed = newest_glibc(folder / "venv/bin/jelly")
            check(needed <= wanted, f"the program needs glibc {needed[0]}.{needed[1]}, at most {options.glibc}")
        if options.out:
            sums = subprocess.run(["sha256sum", "--check", "--quiet", "SHA256SUMS"], cwd=out)
            check(sums.returncode == 0, "the checksums are right")
            check(has_what_binstall_wants(out), "cargo binstall finds the program in the archive")
    if failed:
        sys.exit(f"{len(failed)} failed")


if __name__ == "__main__":
    main()
