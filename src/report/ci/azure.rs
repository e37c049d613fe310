//! Logging commands of Azure Pipelines, one a line.
//!
//! Source: "Logging commands" and the escapes of `azure-pipelines-task-lib`:
//! `%`, CR and LF everywhere, `;` and `]` in properties besides.

use super::notices::{Notice, escape};
use jelly_base::text::{one_line, sanitize, truncate};

/// How `%` is written.
const PERCENT: &str = "%AZP25";

/// To be printed on stdout.
#[must_use]
pub fn azure_commands(notices: &[Notice]) -> String {
    notices.iter().map(issue).collect()
}

fn issue(notice: &Notice) -> String {
    let [file, line, column] = notice.position();
    let properties: [(&str, Option<String>); 4] = [
        ("type", Some(notice.level.name().to_owned())),
        ("sourcepath", file),
        ("linenumber", line),
        ("columnnumber", column),
    ];
    // There is no place for a title.
    let text = sanitize(&notice.text);
    let said = match &notice.title {
        Some(title) => format!("{}\n{text}", one_line(title, 300)),
        None => text.into_owned(),
    };
    command("task.logissue", &properties, &said)
}

/// Has the Markdown file shown beside the result.
#[must_use]
pub fn azure_summary(file: &str) -> String {
    command("task.uploadsummary", &[], file)
}

/// Has the JUnit files taken over as test results.
#[must_use]
pub fn azure_publish(files: &[String]) -> String {
    let properties: [(&str, Option<String>); 4] = [
        ("type", Some("JUnit".to_owned())),
        ("mergeResults", Some("true".to_owned())),
        ("runTitle", Some("jelly".to_owned())),
        ("resultFiles", Some(files.join(","))),
    ];
    command("results.publish", &properties, "")
}

fn command(name: &str, properties: &[(&str, Option<String>)], said: &str) -> String {
    let properties: String = properties
        .iter()
        .filter_map(|(key, value)| {
            let value = escape(&one_line(value.as_ref()?, 4000), PERCENT)
                .replace(';', "%3B")
                .replace(']', "%5D");
            Some(format!("{key}={value};"))
        })
        .collect();
    let space = if properties.is_empty() { "" } else { " " };
    let said = escape(&truncate(said.trim_end(), 4000), PERCENT);
    format!("##vso[{name}{space}{properties}]{said}\n")
}
