//! From a script's text to a [`Script`]: the one place of the mock that knows
//! YAML.

use super::spec::Script;
use super::units;
use jelly_base::files::open_to_read;
use std::path::{Path, PathBuf};

/// What is wrong with a script.
#[derive(Debug, thiserror::Error)]
pub enum ScriptError {
    #[error("can't read the script {}: {source}", path.display())]
    Read {
        path: PathBuf,
        source: std::io::Error,
    },
    /// Rendered with its place, the line and a caret.
    #[error("{0}")]
    Parse(String),
    #[error("{0}")]
    Invalid(String),
}

/// Reads a script from a file.
///
/// # Errors
/// The file can't be read, is no YAML, or says something a mock can't be.
pub fn load(path: &Path) -> Result<Script, ScriptError> {
    let text = open_to_read(path)
        .and_then(std::io::read_to_string)
        .map_err(|source| ScriptError::Read {
            path: path.to_owned(),
            source,
        })?;
    parse(&text, path)
}

/// Reads a script from its text; `path` is for messages.
///
/// # Errors
/// As [`load`].
pub fn parse(text: &str, path: &Path) -> Result<Script, ScriptError> {
    // An empty file, or one of comments only, is the empty script.
    let blank = text
        .lines()
        .all(|line| line.trim().is_empty() || line.trim_start().starts_with('#'));
    let script: Script = if blank {
        Script::default()
    } else {
        serde_yaml::from_str_with_options(text, options())
            .map_err(|error| ScriptError::Parse(show(&error, text, path)))?
    };
    script
        .check()
        .map_err(|problem| ScriptError::Invalid(format!("{}: {problem}", path.display())))?;
    Ok(script)
}

/// YAML as people mean it: `n`, `no` and `on` are words, not booleans.
fn options() -> serde_yaml::Options {
    serde_yaml::options! { strict_booleans: true }
}

/// `FILE:LINE:COLUMN: problem`, then the line with a caret below it.
fn show(error: &serde_yaml::Error, text: &str, path: &Path) -> String {
    let place = error.location();
    let message = plain_message(error);
    let Some(place) = place.filter(|place| place.line() > 0) else {
        return format!("{}: {message}", path.display());
    };
    let line = usize::try_from(place.line()).unwrap_or(usize::MAX);
    let column = usize::try_from(place.column()).unwrap_or(1).max(1);
    let source = text.lines().nth(line - 1).unwrap_or_default();
    let gutter = line.to_string();
    format!(
        "{}:{line}:{column}: {message}\n{gutter} | {source}\n{:width$} | {:>column$}",
        path.display(),
        "",
        "^",
        width = gutter.len(),
    )
}

/// The message without place and snippet, with a suggestion for a field that
/// does not exist.
fn plain_message(error: &serde_yaml::Error) -> String {
    let mut bare = error.without_snippet();
    while let serde_yaml::Error::WithSnippet { error, .. } = bare {
        bare = error;
    }
    match bare {
        serde_yaml::Error::SerdeUnknownField {
            field, expected, ..
        } => format!(
            "unknown field `{field}`{}; known are {}",
            units::did_you_mean(field, expected.iter().copied()),
            expected.join(", ")
        ),
        // Every other error of the parser, an enum of its own, speaks for
        // itself, but for the place that it appends.
        other => {
            let text = other.to_string();
            text.find(" at line ")
                .map_or(text.clone(), |end| text[..end].to_owned())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Script, parse};
    use crate::fault::{At, End, Kind};
    use crate::spec::{Eras, UnknownMethods};
    use serde_json::json;
    use std::path::Path;

    fn read(text: &str) -> Script {
        parse(text, Path::new("mock.yaml")).unwrap_or_else(|e| panic!("{e}"))
    }

    fn error(text: &str) -> String {
        parse(text, Path::new("mock.yaml")).unwrap_err().to_string()
    }

    #[test]
    fn a_script_says_what_the_server_is_and_what_goes_wrong() {
        let script = read(
            r#"
name: weather
era: legacy
unknown_methods: ignore
state_file: state.json
faults:
  - exit@call:2=7
  - { kind: stderr, at: spawn, value: "Error: no: such" }
  - { kind: huge, value: 10 }
starts:
  - exit: 1
  - {}
tools:
  - name: greet
    inputSchema: { type: object, properties: { name: { type: string } } }
    responses:
      - text: "Hello ${args.name}"
        delay: 20ms
      - isError: true
        faults: [exit]
    cycle: true
"#,
        );
        assert_eq!(script.era, Eras::Legacy);
        assert_eq!(script.unknown_methods, UnknownMethods::Ignore);
        assert_eq!(script.faults[0].kind, Kind::Exit(End::Code(7)));
        assert_eq!(script.faults[0].at, At::NthCall(2));
        assert_eq!(
            script.faults[1].kind,
            Kind::Stderr("Error: no: such".into())
        );
        assert_eq!(script.faults[2].kind, Kind::Huge(10));
        assert_eq!(script.starts[0].exit, Some(1));
        let tool = &script.tools[0];
        assert!(tool.cycle && tool.responses.len() == 2 && tool.responses[1].is_error);
        assert_eq!(
            tool.responses[0].text.as_ref().unwrap().0,
            json!("Hello ${args.name}")
        );
    }

    #[test]
    fn every_script_that_ships_can_be_read_and_says_what_it_is_for() {
        let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("fixtures/mock");
        let mut seen = 0;
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let text = std::fs::read_to_string(&path).unwrap();
            assert!(text.starts_with("# "), "{}", path.display());
            let script = parse(&text, &path).unwrap_or_else(|e| panic!("{e}"));
            let stem = path.file_stem().unwrap().to_string_lossy().into_owned();
            assert!(
                script.name == Some(stem.clone()) || stem == "quickstart",
                "{stem}"
            );
            seen += 1;
        }
        assert!(seen >= 16, "{seen}");
    }

    #[test]
    fn an_empty_script_is_a_healthy_server() {
        for text in ["", "# only a comment\n", "{}"] {
            let script = read(text);
            assert_eq!(script.era, Eras::Both);
            assert!(script.faults.is_empty() && script.tools.is_empty());
        }
    }

    #[test]
    fn a_misspelt_field_is_shown_with_its_place_and_what_was_meant() {
        let text = error("name: x\ntool:\n  - name: a\n");
        assert!(
            text.starts_with("mock.yaml:2:1: unknown field `tool`"),
            "{text}"
        );
        assert!(text.contains("did you mean `tools`?"), "{text}");
        assert!(text.contains("2 | tool:\n  | ^"), "{text}");
    }

    #[test]
    fn a_misspelt_fault_is_shown_with_its_place_and_what_was_meant() {
        let text = error("faults:\n  - junk\n  - exot@call\n");
        assert!(text.starts_with("mock.yaml:3:5: "), "{text}");
        assert!(text.contains("did you mean `exit`?"), "{text}");
    }

    #[test]
    fn a_reference_that_means_nothing_is_shown_with_its_place() {
        let text = error("tools:\n  - name: a\n    response:\n      text: '${arg.x}'\n");
        assert!(text.contains("unknown reference `${arg.x}`"), "{text}");
        assert!(text.starts_with("mock.yaml:"), "{text}");
    }

    #[test]
    fn what_can_not_be_meant_is_refused() {
        assert!(error("starts: [{exit: 1}]").contains("state_file"));
        assert!(error("persist: true").contains("state_file"));
        assert!(error("page_size: 0").contains("at least 1"));
        assert!(error("tools: [{name: a}, {name: a}]").contains("two tools"));
        assert!(error("tools: [{name: a, response: {}, responses: [{}]}]").contains("keep one"));
        assert!(error("tools: [{name: a, responses: []}]").contains("empty list"));
        assert!(error("tools: [{name: a, response: {faults: [ignore_eof]}}]").contains("manner"));
        assert!(error("era: future").contains("future"));
    }
}
