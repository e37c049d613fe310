//! A project folder that lives as long as its test.

use super::{Call, Run};
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

    /// `jelly run plan.yaml`, the seed fixed, with these arguments too.
    pub fn call(&self, args: &[&str]) -> Call {
        self.jelly(&["run", "plan.yaml", "--seed", "1"]).args(args)
    }

    /// That call, run to its end, with what it left in `reports/`.
    pub fn run(&self, args: &[&str]) -> Run {
        Run::of(self, self.call(args).output())
    }
}

/// What `jelly run` does with this plan.
pub fn run(plan: &str) -> Run {
    Project::with(plan).run(&[])
}
