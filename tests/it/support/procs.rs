//! Who is still alive of a call of jelly: itself, its servers, their children
//! and whoever left their session.
//!
//! Every process of a test's calls carries the project folder in its
//! environment, so that none can hide by changing its parent, group or
//! session.

use super::{Call, Project};
use std::fs;
use std::thread;
use std::time::{Duration, Instant};

pub const MARK: &str = "IT_PROJECT";

/// How often a condition is looked at while it is waited for.
const LOOK: Duration = Duration::from_millis(5);

/// Marks all the processes that the call will start.
pub fn marked(project: &Project, call: Call) -> Call {
    call.env(MARK, project.dir())
}

/// A living process of a marked call.
#[derive(Debug)]
pub struct Proc {
    pub pid: u32,
    pub parent: u32,
    pub argv: String,
}

/// All of them, jelly's own two processes included.
pub fn alive(project: &Project) -> Vec<Proc> {
    let mark = format!("{MARK}={}", project.dir().display());
    fs::read_dir("/proc")
        .expect("these tests need /proc")
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter_map(|pid: u32| {
            let read = |name: &str| {
                let bytes = fs::read(format!("/proc/{pid}/{name}")).ok()?;
                Some(String::from_utf8_lossy(&bytes).into_owned())
            };
            // A zombie has no environment any more.
            let environ = read("environ")?;
            environ.split('\0').find(|entry| *entry == mark)?;
            let stat = read("stat")?;
            let mut fields = stat.rsplit_once(')')?.1.split_ascii_whitespace();
            if matches!(fields.next()?, "Z" | "X") {
                return None;
            }
            Some(Proc {
                pid,
                parent: fields.next()?.parse().ok()?,
                argv: read("cmdline")?.replace('\0', " "),
            })
        })
        .collect()
}

/// How many of them are this program, from wherever it was started.
pub fn count_of(project: &Project, program: &str) -> usize {
    let is_it = |process: &&Proc| {
        let first = process.argv.split(' ').next().unwrap_or_default();
        first.rsplit('/').next() == Some(program)
    };
    alive(project).iter().filter(is_it).count()
}

/// Waits until nobody is alive.
#[track_caller]
pub fn none_within(project: &Project, limit: Duration) {
    let since = Instant::now();
    loop {
        let alive = alive(project);
        if alive.is_empty() {
            return;
        }
        assert!(since.elapsed() < limit, "left after {limit:?}: {alive:#?}");
        thread::sleep(LOOK);
    }
}

/// Waits until something can be found, and returns it.
#[track_caller]
pub fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let limit = Duration::from_secs(30);
    let since = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(since.elapsed() < limit, "not within {limit:?}: {what}");
        thread::sleep(LOOK);
    }
}
