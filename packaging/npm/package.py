"""Makes the npm packages: one that is installed, and one for a platform.

    package.py VERSION OUT [PLATFORM-ARCH=PROGRAM ...]

The first names all platforms as optional, so that npm takes the one that fits.
"""

import json
import pathlib
import shutil
import sys

HERE = pathlib.Path(__file__).parent
ROOT = HERE.parent.parent
PLATFORMS = ["linux-x64", "linux-arm64", "darwin-x64", "darwin-arm64"]
COMMON = {
    "description": "Tests MCP servers in CI, triages failures, and never blames code for a broken environment",
    "license": "MIT OR Apache-2.0",
    "keywords": ["mcp", "testing", "ci", "triage", "junit"],
}


def write(folder, manifest):
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps(manifest | COMMON, indent=2) + "\n"
    (folder / "package.json").write_text(text)
    for name in ["LICENSE-APACHE", "LICENSE-MIT"]:
        shutil.copy(ROOT / name, folder)


def main(version, out, *programs):
    out = pathlib.Path(out)
    for given in programs:
        platform, program = given.split("=", 1)
        if platform not in PLATFORMS:
            sys.exit(f"no package is made for {platform}: {', '.join(PLATFORMS)}")
        name = f"jelly-mcp-{platform}"
        system, processor = platform.split("-")
        write(
            out / name,
            {"name": name, "version": version, "os": [system], "cpu": [processor], "files": ["bin"]},
        )
        (out / name / "bin").mkdir(exist_ok=True)
        target = out / name / "bin" / "jelly"
        shutil.copy(program, target)
        target.chmod(0o755)
    main = out / "jelly-mcp"
    write(
        main,
        {
            "name": "jelly-mcp",
            "version": version,
            "bin": {"jelly": "jelly.js"},
            "files": ["jelly.js"],
            "engines": {"node": ">=18"},
            "optionalDependencies": {f"jelly-mcp-{p}": version for p in PLATFORMS},
        },
    )
    shutil.copy(HERE / "jelly.js", main)
    shutil.copy(HERE / "README.md", main)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
