//! Commands of GitHub Actions, one a line.
//!
//! Source: "Workflow commands for GitHub Actions". The escapes are those of
//! `actions/toolkit`: `%`, CR and LF everywhere, `:` and `,` in properties
//! besides.

use super::notices::{Notice, NoticeLevel};
use jelly_base::text::{Notation, disarmed, one_line, sanitize, truncate};

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
    let Notice {
        level,
        file,
        line,
        column,
        title,
        text,
        id: _,
    } = notice;
    let name = match level {
        NoticeLevel::Error => "error",
        NoticeLevel::Warning => "warning",
    };
    let number = |number: &Option<u32>| number.map(|number| number.to_string());
    let properties: Vec<String> = [
        ("file", file.clone()),
        ("line", number(line)),
        ("col", number(column)),
        ("title", title.clone()),
    ]
    .into_iter()
    .filter_map(|(key, value)| {
        let value = escape(&one_line(&value?, 300))
            .replace(':', "%3A")
            .replace(',', "%2C");
        Some(format!("{key}={value}"))
    })
    .collect();
    let text = sanitize(text);
    let text = escape(truncate(text.trim_end(), 4000).as_ref());
    format!("::{name} {}::{text}\n", properties.join(","))
}

/// A value of a command; one in it would be for another console.
fn escape(text: &str) -> String {
    let value = text
        .replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A");
    disarmed(&value, Notation::Plain).into_owned()
}
