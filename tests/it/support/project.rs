//! A project folder that lives as long as its test.

use super::{Call, Ended, Run};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

pub struct Project {
    /// Removed when dropped.
    _root: TempDir,
    /// Below the root, so that there is an outside that is the test's too.
    dir: PathBuf,
}

impl Project {
    /// An empty project folder.
    pub fn empty() -> Self {
        let root = tempfile::tempdir().unwrap();
        // Resolved, since reports name folders so.
        let dir = root.path().canonicalize().unwrap().join("project");
        fs::create_dir(&dir).unwrap();
        Self { _root: root, dir }
    }

    /// With `plan.yaml`.
    pub fn with(plan: &str) -> Self {
        let project = Self::empty();
        project.write("plan.yaml", plan);
        project
    }

    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// A path in the project; `../x` is outside of it and still the test's.
    pub fn path(&self, name: &str) -> PathBuf {
        match name.strip_prefix("../") {
            Some(name) => self.dir.with_file_name(name),
            None => self.dir.join(name),
        }
    }

    /// The same as text, to stand in a plan.
    pub fn at(&self, name: &str) -> String {
        self.path(name).display().to_string()
    }

    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        path
    }

    /// A file that can be executed.
    pub fn script(&self, name: &str, content: &str) -> PathBuf {
        let path = self.write(name, content);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    pub fn read(&self, name: &str) -> String {
        let path = self.path(name);
        fs::read_to_string(&path)
            .unwrap_or_else(|error| panic!("{} can't be read: {error}", path.display()))
    }

    pub fn exists(&self, name: &str) -> bool {
        self.path(name).exists()
    }

    /// A call of jelly here, with these arguments.
    pub fn jelly(&self, args: &[&str]) -> Call {
        Call::new(self).args(args)
    }

    /// A call of jelly by another program, whose arguments these are.
    pub fn wrapped(&self, program: &str, args: &[&str]) -> Call {
        Call::by(self, program, args)
    }

    /// jelly at a terminal, where these lines are typed: each with what is
    /// waited for first.
    pub fn at_a_terminal(&self, talk: &[(&str, &str)], args: &[&str]) -> Ended {
        let talk = serde_json::json!(talk).to_string();
        let call = self.wrapped("python3", &["-c", TERMINAL, &talk]);
        call.args(args).env("CI", "").output()
    }

    /// `jelly run plan.yaml`, the seed fixed, with these arguments too.
    pub fn call(&self, args: &[&str]) -> Call {
        // Not by the flag, which printed commands would repeat.
        let call = self.jelly(&["run", "plan.yaml"]).args(args);
        call.env("JELLY_SEED", "1")
    }

    /// That call, run to its end, with what it left in `reports/`.
    pub fn run(&self, args: &[&str]) -> Run {
        Run::of(self, self.call(args).output())
    }
}

/// Runs a program at a terminal, and types: pairs of what to wait for, and a
/// line.
const TERMINAL: &str = r#"
import json, os, pty, select, sys
talk = json.loads(sys.argv[1])
pid, fd = pty.fork()
if pid == 0: os.execv(sys.argv[2], sys.argv[2:])
seen, rest = b"", b""
while True:
    if not select.select([fd], [], [], 40)[0]: print("silence after", seen); sys.exit(99)
    try: chunk = os.read(fd, 65536)
    except OSError: break
    if not chunk: break
    seen += chunk; rest += chunk
    while talk and talk[0][0].encode() in rest:
        wanted, line = talk.pop(0)
        rest = rest.split(wanted.encode(), 1)[1]
        os.write(fd, line.encode() + b"\n")
sys.stdout.write(seen.decode())
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) if not talk else 98)
"#;

/// What `jelly run` does with this plan.
pub fn run(plan: &str) -> Run {
    Project::with(plan).run(&[])
}
