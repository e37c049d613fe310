//! Blanks in a configuration, filled as its client would.
//!
//! Main functions: [`fill_as_client`], [`fill`] for what is no client's, and
//! [`pieces`] for who keeps them as blanks. The forms are those of VS Code and
//! Cursor (`${env:NAME}`, `${input:id}`, `${workspaceFolder}`, `${userHome}`) and
//! of Claude Code (`${NAME}`, `${NAME:-default}`).

use super::entry::Spot;
use jelly_base::text::is_variable_name;
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

/// A part of a text, its blank filled where it is one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    Text(String),
    /// From an environment variable.
    Variable {
        name: String,
        value: String,
    },
    /// From an answer to an input.
    Answer {
        id: String,
        value: String,
    },
    /// A blank that nothing fills, as it is written.
    Left(String),
}

/// What a server gets of this text: its blanks filled, but for a client that
/// fills none.
#[must_use]
pub fn fill_as_client(spot: &Spot, around: &Surroundings<'_>) -> Filled {
    match spot.is_literal {
        true => Filled {
            text: spot.text.clone(),
            ..Filled::default()
        },
        false => fill(&spot.text, around),
    }
}

/// The blanks of a text, as they are written: what some client fills.
pub(super) fn blanks(text: &str) -> impl Iterator<Item = &str> {
    let parts = parts(text).into_iter();
    parts.filter_map(|part| match part {
        Part::Blank(blank) => Some(blank),
        Part::Text(_) => None,
    })
}

/// Fills the blanks of `text`, once: what a value brings is text.
#[must_use]
pub fn fill(text: &str, around: &Surroundings<'_>) -> Filled {
    let mut filled = Filled::default();
    for piece in pieces(text, around) {
        match piece {
            Piece::Text(text) => filled.text.push_str(&text),
            Piece::Variable { name, value } | Piece::Answer { id: name, value } => {
                filled.text.push_str(&value);
                filled.taken.push((name, value));
            }
            Piece::Left(blank) => {
                filled.text.push_str(&blank);
                filled.left.push(blank);
            }
        }
    }
    filled
}

/// The same with every value apart from the text around it.
#[must_use]
pub fn pieces(text: &str, around: &Surroundings<'_>) -> Vec<Piece> {
    let parts = parts(text).into_iter();
    let pieces = parts.map(|part| match part {
        Part::Text(text) => Piece::Text(text.to_owned()),
        Part::Blank(blank) => value(blank, around),
    });
    pieces.collect()
}

/// A text as it is written.
enum Part<'t> {
    Text(&'t str),
    /// `${…}`, with a name in it that some client knows.
    Blank(&'t str),
}

fn parts(text: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some(open) = rest.find("${") {
        let Some(close) = rest[open..].find('}').map(|at| open + at) else {
            break;
        };
        if open > 0 {
            parts.push(Part::Text(&rest[..open]));
        }
        let blank = &rest[open..=close];
        parts.push(match is_filled_by_some(&rest[open + 2..close]) {
            true => Part::Blank(blank),
            // It only looks like a blank.
            false => Part::Text(blank),
        });
        rest = &rest[close + 1..];
    }
    if !rest.is_empty() {
        parts.push(Part::Text(rest));
    }
    parts
}

/// Whether what stands between the braces is a name that some client fills.
fn is_filled_by_some(inside: &str) -> bool {
    let name = inside.split_once(":-").map_or(inside, |(name, _)| name);
    ["env:", "input:"]
        .iter()
        .any(|begin| inside.starts_with(begin))
        || inside == "/"
        || is_variable_name(name)
}

fn value(blank: &str, around: &Surroundings<'_>) -> Piece {
    let inside = &blank["${".len()..blank.len() - "}".len()];
    let left = || Piece::Left(blank.to_owned());
    let variable = |name: &str| match around.env.get(name) {
        Some(value) => Piece::Variable {
            name: name.to_owned(),
            value: value.clone(),
        },
        None => left(),
    };
    let path =
        |path: Option<&Path>| path.map_or_else(left, |p| Piece::Text(p.display().to_string()));
    if let Some(name) = inside.strip_prefix("env:") {
        return variable(name);
    }
    if let Some(id) = inside.strip_prefix("input:") {
        return match around.inputs.get(id) {
            Some(value) => Piece::Answer {
                id: id.to_owned(),
                value: value.clone(),
            },
            None => left(),
        };
    }
    match inside {
        "workspaceFolder" | "workspaceRoot" => return path(Some(around.project)),
        "workspaceFolderBasename" => {
            return path(around.project.file_name().map(Path::new));
        }
        "userHome" => return path(around.home),
        "pathSeparator" | "/" => return Piece::Text(std::path::MAIN_SEPARATOR.to_string()),
        _ => {}
    }
    let (name, otherwise) = match inside.split_once(":-") {
        Some((name, otherwise)) => (name, Some(otherwise)),
        None => (inside, None),
    };
    match (around.env.get(name), otherwise) {
        (None, Some(otherwise)) => Piece::Text(otherwise.to_owned()),
        (Some(_), _) | (None, None) => variable(name),
    }
}

/// `$NAME` as `${NAME}`.
pub(super) fn with_braces(text: &str) -> String {
    let mut parts = text.split('$');
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part
            .find(|c: char| c != '_' && !c.is_ascii_alphanumeric())
            .unwrap_or(part.len());
        let (name, rest) = part.split_at(end);
        if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
            out.push('$');
            out.push_str(part);
        } else {
            out.push_str(&format!("${{{name}}}{rest}"));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{Surroundings, fill, with_braces};
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

    #[test]
    fn a_variable_without_braces_gets_them() {
        for (text, wanted) in [
            ("$KEY", "${KEY}"),
            ("Bearer $A_B.c", "Bearer ${A_B}.c"),
            ("${KEY}", "${KEY}"),
            ("5$ and $1", "5$ and $1"),
        ] {
            assert_eq!(with_braces(text), wanted);
        }
    }
}
