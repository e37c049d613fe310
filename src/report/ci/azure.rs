//! Logging commands of Azure Pipelines, one a line.
//!
//! Source: "Logging commands" and the escapes of `azure-pipelines-task-lib`:
//! `%`, CR and LF everywhere, `;` and `]` in properties besides.

use super::notices::{Notice, NoticeLevel};
use jelly_base::text::{Notation, disarmed, one_line, sanitize, truncate};

/// To be printed on stdout.
#[must_use]
pub fn azure_commands(notices: &[Notice]) -> String {
    notices.iter().map(issue).collect()
}

fn issue(notice: &Notice) -> String {
    let Notice {
        level,
        file,
        line,
        column,
        title,
        text,
        id: _,
    } = notice;
    let type_ = match level {
        NoticeLevel::Error => "error",
        NoticeLevel::Warning => "warning",
    };
    let number = |number: &Option<u32>| number.map(|number| number.to_string());
    let properties: [(&str, Option<String>); 4] = [
        ("type", Some(type_.to_owned())),
        ("sourcepath", file.clone()),
        ("linenumber", number(line)),
        ("columnnumber", number(column)),
    ];
    // There is no place for a title.
    let said = match title {
        Some(title) => format!("{}\n{}", one_line(title, 300), sanitize(text)),
        None => sanitize(text).into_owned(),
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
            let value = escape(&one_line(value.as_ref()?, 4000))
                .replace(';', "%3B")
                .replace(']', "%5D");
            Some(format!("{key}={value};"))
        })
        .collect();
    let space = if properties.is_empty() { "" } else { " " };
    let said = escape(truncate(said.trim_end(), 4000).as_ref());
    format!("##vso[{name}{space}{properties}]{said}\n")
}

/// A value of a command; one in it would be for another console.
fn escape(text: &str) -> String {
    let value = text
        .replace('%', "%AZP25")
        .replace('\r', "%0D")
        .replace('\n', "%0A");
    disarmed(&value, Notation::Plain).into_owned()
}
