//! Blanks in a configuration, filled as its client would.
//!
//! Main function: [`fill`]. The forms are those of VS Code and Cursor
//! (`${env:NAME}`, `${input:id}`, `${workspaceFolder}`, `${userHome}`) and of
//! Claude Code (`${NAME}`, `${NAME:-default}`).

use std::collections::BTreeMap;
use std::path::Path;

/// What blanks are filled from.
#[derive(Debug, Clone, Copy)]
pub struct Surroundings<'a> {
    pub env: &'a BTreeMap<String, String>,
    /// Answers to VS Code's inputs, by id.
    pub inputs: &'a BTreeMap<String, String>,
    /// The folder that is worked in.
    pub project: &'a Path,
    pub home: Option<&'a Path>,
}

/// A text without blanks, as far as they could be filled.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filled {
    /// What can't be filled stands in it as it was written.
    pub text: String,
    /// Blanks that nothing fills, as they are written.
    pub left: Vec<String>,
    /// Names of the variables and inputs that gave values, with these.
    pub taken: Vec<(String, String)>,
}

/// Fills the blanks of `text`, once: what a value brings is text.
#[must_use]
pub fn fill(text: &str, around: &Surroundings<'_>) -> Filled {
    let mut filled = Filled::default();
    let mut rest = text;
    while let Some(open) = rest.find("${") {
        let Some(close) = rest[open..].find('}').map(|at| open + at) else {
            break;
        };
        filled.text.push_str(&rest[..open]);
        let (blank, inside) = (&rest[open..=close], &rest[open + 2..close]);
        match value(inside, around) {
            Value::Is(value) => filled.text.push_str(&value),
            Value::Taken(name, value) => {
                filled.text.push_str(&value);
                filled.taken.push((name, value));
            }
            Value::Left => {
                filled.text.push_str(blank);
                filled.left.push(blank.to_owned());
            }
            Value::NoBlank => filled.text.push_str(blank),
        }
        rest = &rest[close + 1..];
    }
    filled.text.push_str(rest);
    filled
}

enum Value {
    Is(String),
    /// From a variable or input of this name.
    Taken(String, String),
    Left,
    /// It only looks like one.
    NoBlank,
}

fn value(inside: &str, around: &Surroundings<'_>) -> Value {
    let taken = |name: &str, value: Option<&String>| match value {
        Some(value) => Value::Taken(name.to_owned(), value.clone()),
        None => Value::Left,
    };
    let path =
        |path: Option<&Path>| path.map_or(Value::Left, |p| Value::Is(p.display().to_string()));
    if let Some(name) = inside.strip_prefix("env:") {
        return taken(name, around.env.get(name));
    }
    if let Some(id) = inside.strip_prefix("input:") {
        return taken(id, around.inputs.get(id));
    }
    match inside {
        "workspaceFolder" | "workspaceRoot" => return path(Some(around.project)),
        "workspaceFolderBasename" => {
            return path(around.project.file_name().map(Path::new));
        }
        "userHome" => return path(around.home),
        "pathSeparator" | "/" => return Value::Is(std::path::MAIN_SEPARATOR.to_string()),
        _ => {}
    }
    let (name, otherwise) = match inside.split_once(":-") {
        Some((name, otherwise)) => (name, Some(otherwise)),
        None => (inside, None),
    };
    let is_name = !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    match (is_name, around.env.get(name), otherwise) {
        (false, _, _) => Value::NoBlank,
        (true, None, Some(otherwise)) => Value::Is(otherwise.to_owned()),
        (true, value, _) => taken(name, value),
    }
}

#[cfg(test)]
mod tests {
    use super::{Surroundings, fill};
    use std::collections::BTreeMap;
    use std::path::Path;

    #[test]
    fn blanks_are_filled_as_the_clients_do() {
        let env = BTreeMap::from([("KEY".to_owned(), "k${KEY}".to_owned())]);
        let inputs = BTreeMap::from([("my-id".to_owned(), "typed".to_owned())]);
        let around = Surroundings {
            env: &env,
            inputs: &inputs,
            project: Path::new("/work/app"),
            home: Some(Path::new("/home/me")),
        };
        for (text, filled, left) in [
            ("a ${env:KEY} b", "a k${KEY} b", &[][..]),
            ("${KEY}", "k${KEY}", &[]),
            ("${KEY:-x}${NONE:-y}", "k${KEY}y", &[]),
            ("${input:my-id}", "typed", &[]),
            ("${workspaceFolder}/x", "/work/app/x", &[]),
            ("${userHome}${/}x", "/home/me/x", &[]),
            ("${workspaceFolderBasename}", "app", &[]),
            (
                "${NONE} ${env:NO}",
                "${NONE} ${env:NO}",
                &["${NONE}", "${env:NO}"],
            ),
            ("${input:other}", "${input:other}", &["${input:other}"]),
            ("${", "${", &[]),
            ("${a b}", "${a b}", &[]),
        ] {
            let got = fill(text, &around);
            assert_eq!(got.text, filled, "{text}");
            assert_eq!(got.left, left, "{text}");
        }
    }
}
