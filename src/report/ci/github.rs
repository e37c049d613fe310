//! Commands of GitHub Actions, one a line.
//!
//! Source: "Workflow commands for GitHub Actions". The escapes are those of
//! `actions/toolkit`: `%`, CR and LF everywhere, `:` and `,` in properties
//! besides.

use super::notices::{Notice, escape};
use jelly_base::text::{one_line, sanitize, truncate};

/// How `%` is written.
const PERCENT: &str = "%25";

/// GitHub shows at most so many errors and warnings of a step, and drops the
/// others silently.
pub const GITHUB_STEP: usize = 10;
/// The same of a job.
pub const GITHUB_JOB: usize = 50;

/// To be printed on stdout.
#[must_use]
pub fn github_commands(notices: &[Notice]) -> String {
    notices.iter().map(command).collect()
}

fn command(notice: &Notice) -> String {
    let [file, line, column] = notice.position();
    let properties: Vec<String> = [
        ("file", file),
        ("line", line),
        ("col", column),
        ("title", notice.title.clone()),
    ]
    .into_iter()
    .filter_map(|(key, value)| {
        let value = escape(&one_line(&value?, 300), PERCENT)
            .replace(':', "%3A")
            .replace(',', "%2C");
        Some(format!("{key}={value}"))
    })
    .collect();
    let (name, text) = (notice.level.name(), sanitize(&notice.text));
    let text = escape(&truncate(text.trim_end(), 4000), PERCENT);
    format!("::{name} {}::{text}\n", properties.join(","))
}
