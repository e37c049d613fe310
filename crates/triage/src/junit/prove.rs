//! What `prove -v` says around the TAP of the files that it shows.

use super::suites::counts;
use jelly_base::model::Failure;

/// How `prove` tells the status of a file that is none of a passed one.
const DUBIOUS: &str = "Dubious, test returned ";

/// The file of `t/a.t .. `, behind which `prove -v` shows what this file wrote.
pub(super) fn begun_file(line: &str) -> Option<&str> {
    let (path, dots) = line.trim_end().rsplit_once(' ')?;
    let is_file = path.ends_with(".t") || path.contains(['.', '/']) && line.ends_with(' ');
    (is_file && dots.len() > 1 && dots.bytes().all(|byte| byte == b'.')).then_some(path)
}

/// A file that `prove -v` shows.
pub(super) struct ShownFile {
    pub path: String,
    /// How many of its tests failed.
    pub failed: u64,
    /// What it wrote that is of no test.
    pub said: String,
    /// Its status was told.
    told: bool,
}

impl ShownFile {
    pub fn new(path: &str) -> Self {
        Self {
            path: path.to_owned(),
            failed: 0,
            said: String::new(),
            told: false,
        }
    }

    /// The failure of the file itself, if the line at its end tells one: a status that is
    /// not the number of its failed tests, or an end by a signal, of which `prove` only says
    /// that all had passed.
    pub fn failed_by_itself(&mut self, line: &str) -> Option<Failure> {
        let line = line.trim_end();
        let failure = Failure {
            element: Some("error".to_owned()),
            message: Some(line.to_owned()),
            text: Some(format!("{line}\n{}", self.said)),
            ..Failure::default()
        };
        if line.starts_with(DUBIOUS) {
            self.told = true;
            // Most that write TAP end with 1 for whatever number.
            let of_tests = line.starts_with("Dubious, test returned 1 ") && self.failed > 0;
            return (!of_tests && !counts(&failure, self.failed)).then_some(failure);
        }
        let is_red = line.starts_with("No subtests run") || line.starts_with("All ");
        (is_red && !std::mem::replace(&mut self.told, true)).then_some(failure)
    }
}

/// What `prove -v` says of a file behind all that it wrote. What follows is no
/// more of its tests.
pub(super) fn ends_file(line: &str) -> bool {
    line == "ok"
        || line.starts_with(DUBIOUS)
        || line.starts_with("No subtests run")
        || line.starts_with("All ") && line.trim_end().ends_with(" subtests passed")
        || line.starts_with("Failed ") && line.trim_end().ends_with(" subtests")
}
