//! What a diagnosis does not say, since triage sees no files and thinks of
//! plans: where a server's own words point to, and whether that is there.
//!
//! Main function: [`closer_look`]. The cause stays triage's to name.

use crate::model::Diagnosis;
use regex::Regex;
use std::path::Path;
use std::sync::LazyLock;

/// Of stderr, this much of the end is looked at.
const LOOKED_AT: usize = 64 * 1024;

/// A file that could not be opened, by the words of Python and Node.
static PATH: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r#"(?:No such file or directory|ENOENT|Permission denied|EACCES|EROFS|Read-only file system)[^'"\n]{0,80}['"](?P<path>[^'"\n]{1,400})['"]"#,
    )
    .ok()
});

/// A line of a file that could not be read, as parsers of YAML, JSON and TOML
/// say it; the first that holds.
static PLACES: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    [
        r#"in "(?P<file>[^"\n]{1,400})", line (?P<line>\d{1,9})"#,
        r"(?P<file>[^\s:'\x22(]{1,400}\.(?:ya?ml|json|toml|ini|cfg)):(?P<line>\d{1,9})\b",
        r"(?i)\b(?P<file>[^\s:'\x22(]{1,400}\.(?:ya?ml|json|toml|ini|cfg))\b[^\n]{0,120}?\bline (?P<line>\d{1,9})",
        // Not the line of a frame: `File "x.py", line 12`.
        r"(?im)(?:^|[^\x22,\s]|[^\x22,]\s)line (?P<line>\d{1,9})\b",
        r"\((?P<line>\d{1,9}):\d{1,9}\)",
    ]
    .iter()
    .filter_map(|pattern| Regex::new(pattern).ok())
    .collect()
});

/// Makes the advice one for a client's configuration, with what `stderr` points
/// to first. `is_there` says whether a file or folder exists.
pub fn closer_look(diagnosis: &mut Diagnosis, stderr: &str, is_there: impl Fn(&Path) -> bool) {
    let advice = &mut diagnosis.advice;
    for text in [&mut advice.what, &mut advice.why]
        .into_iter()
        .chain(&mut advice.fix)
    {
        for (ours, theirs) in WORDS {
            if text.contains(ours) {
                *text = text.replace(ours, theirs);
            }
        }
    }
    // Variables of a plan, which a configuration does not know.
    advice.fix.retain(|line| {
        !["${port}", "${secret:", "${tmp}", "${workspace}"]
            .iter()
            .any(|v| line.contains(v))
    });
    let tail = &stderr[stderr.ceil_char_boundary(stderr.len().saturating_sub(LOOKED_AT))..];
    let seen = match &*diagnosis.root_cause {
        "missing_file" | "missing_directory" => missing(tail, is_there),
        "permission_denied" => refused(tail),
        "invalid_config" => invalid(tail),
        _ => Vec::new(),
    };
    if !seen.is_empty() {
        // The general command for the file would only say the same.
        advice.fix.retain(|line| !line.starts_with("$ ls "));
        advice.fix.splice(0..0, seen);
    }
}

/// Words of plans, and what they are in a client's configuration.
const WORDS: &[(&str, &str)] = &[
    ("in the plan", "in the configuration"),
    ("correct the plan", "correct the configuration"),
    ("that the plan names", "that the configuration names"),
    ("The plan gives", "The configuration gives"),
    ("The plan takes", "The configuration takes"),
    (
        "Raise `startup_timeout` of the server",
        "Give it more time (`--timeout 2m`)",
    ),
    ("the plan's", "the configuration's"),
];

fn path_in(text: &str) -> Option<&str> {
    let found = PATH.as_ref()?.captures_iter(text).last()?;
    found.name("path").map(|path| path.as_str())
}

/// A file can't be made where its folder is missing, and logs are what servers
/// make first.
fn missing(text: &str, is_there: impl Fn(&Path) -> bool) -> Vec<String> {
    let Some(path) = path_in(text).map(Path::new) else {
        return Vec::new();
    };
    match path.parent() {
        Some(folder) if path.is_absolute() && !is_there(folder) => {
            let shown = folder.display();
            vec![
                format!("The folder {shown} does not exist: create it, or name another one."),
                format!("$ mkdir -p {}", word(&shown.to_string())),
            ]
        }
        Some(_) | None => Vec::new(),
    }
}

fn refused(text: &str) -> Vec<String> {
    path_in(text).map_or_else(Vec::new, |path| {
        vec![
            format!("{path} can't be opened or written: check its permissions and its folder's."),
            format!("$ ls -ld {}", word(path)),
        ]
    })
}

fn invalid(text: &str) -> Vec<String> {
    let Some(found) = PLACES
        .iter()
        .find_map(|place| place.captures_iter(text).last())
    else {
        return Vec::new();
    };
    let line = found.name("line").map_or("", |line| line.as_str());
    let place = match found.name("file") {
        Some(file) => format!("{}:{line}", file.as_str()),
        None => format!("line {line}"),
    };
    vec![format!(
        "Look at {place}, and at the line before it: at quotes, indentation, brackets and commas."
    )]
}

/// A word as a POSIX shell reads it.
#[must_use]
pub fn word(text: &str) -> String {
    let plain = !text.is_empty()
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "-_./:@%+,".contains(c));
    if plain {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::closer_look;
    use crate::model::{Advice, Diagnosis, Side};
    use std::path::Path;

    fn advised(root_cause: &str, fix: &[&str], stderr: &str) -> Vec<String> {
        let mut diagnosis = Diagnosis {
            side: Side::Test,
            ambiguous: false,
            error_category: None,
            root_cause: root_cause.to_owned(),
            retryable: None,
            rule: "x/y".to_owned(),
            evidence: None,
            fingerprint: String::new(),
            test_fingerprint: String::new(),
            advice: Advice {
                fix: fix.iter().map(|line| (*line).to_owned()).collect(),
                ..Advice::default()
            },
            ..Diagnosis::BLANK
        };
        closer_look(&mut diagnosis, stderr, |path| path == Path::new("/there"));
        diagnosis.advice.fix
    }

    #[test]
    fn a_log_whose_folder_is_missing_says_so() {
        let told =
            "FileNotFoundError: [Errno 2] No such file or directory: '/var/log/none/a b.log'";
        assert_eq!(
            advised("missing_file", &["$ ls -l x"], told),
            [
                "The folder /var/log/none does not exist: create it, or name another one.",
                "$ mkdir -p /var/log/none"
            ]
        );
        let told = "ENOENT: no such file or directory, open '/there/a.json'";
        assert_eq!(advised("missing_file", &["$ ls -l x"], told), ["$ ls -l x"]);
    }

    #[test]
    fn a_file_that_may_not_be_written_is_named() {
        let told = "PermissionError: [Errno 13] Permission denied: '/var/log/it.log'";
        let fix = advised("permission_denied", &[], told);
        assert!(fix[0].contains("/var/log/it.log") && fix[0].contains("permissions"));
        assert_eq!(fix[1], "$ ls -ld /var/log/it.log");
    }

    #[test]
    fn the_line_of_an_invalid_file_is_named() {
        for (told, place) in [
            (
                "ScannerError: mapping values\n  in \"config.yaml\", line 15, column 9",
                "config.yaml:15",
            ),
            ("/etc/app.json:15:3: unexpected", "/etc/app.json:15"),
            (
                "cannot read app.toml: expected a value at line 15",
                "app.toml:15",
            ),
            (
                "File \"/srv/server.py\", line 12, in <module>\nJSONDecodeError: Expecting value: line 15 column 2 (char 9)",
                "line 15",
            ),
            ("yaml: line 15: did not find expected key", "line 15"),
            (
                "YAMLException: bad indentation of a mapping entry (15:4)",
                "line 15",
            ),
        ] {
            let fix = advised("invalid_config", &[], told);
            assert!(fix[0].contains(&format!("at {place},")), "{told}: {fix:?}");
        }
    }

    #[test]
    fn the_line_of_the_servers_own_code_is_none_of_the_file() {
        let told = "File \"/srv/server.py\", line 12, in <module>\nJSONDecodeError";
        assert_eq!(advised("invalid_config", &[], told), [""; 0]);
    }

    #[test]
    fn advice_speaks_of_configurations() {
        let fix = ["Name it in the plan.", "Write `${port}` there."];
        assert_eq!(
            advised("other", &fix, ""),
            ["Name it in the configuration."]
        );
    }
}
