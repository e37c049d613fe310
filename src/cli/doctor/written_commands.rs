//! The commands that the sources of remedies and the texts of rules hold: no example has to
//! lead to one for it to be known.

use regex::Regex;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// First words of texts that look like commands, and are none.
const NO_PROGRAMS: &[&str] = &[
    "args", "at", "await", "cart", "catch", "command", "env", "exec", "fetch", "from", "full",
    "has", "import", "install", "left", "machines", "not", "package", "panic", "panicked", "path",
    "select", "url", "value",
];

/// The text of a file without comments and tests, its strings each in one line.
fn own_text(path: &Path) -> String {
    let text = fs::read_to_string(path).unwrap();
    let own = text.split("\n#[cfg(test)]").next().unwrap_or_default();
    let joined = Regex::new(r"\\\n\s*").unwrap().replace_all(own, "");
    let lines = joined.lines().filter(|line| {
        let line = line.trim_start();
        !line.starts_with("//") && !line.starts_with('#')
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn files(folder: &str, ending: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let entries = fs::read_dir(&folder).unwrap();
    let mut files: Vec<PathBuf> = entries
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|own| own == ending))
        .filter(|path| !path.to_string_lossy().contains("_tests"))
        .collect();
    files.sort();
    files
}

/// Whether a text in backquotes, or a string of a remedy, is a command: a program, and words
/// that are none of a sentence.
fn is_command(text: &str) -> bool {
    let mut words = text.split_whitespace();
    let first = words.next().unwrap_or_default();
    let is_program = Regex::new(r"^(?:[a-z][a-z0-9.-]*|\{[^}]*\})$").unwrap();
    words.next().is_some() && is_program.is_match(first) && !NO_PROGRAMS.contains(&first)
}

/// Commands in backquotes in what rules and remedies say.
fn quoted(text: &str) -> Vec<String> {
    let quoted = Regex::new(r"`([^`\n]+)`").unwrap();
    let found = quoted.captures_iter(text).map(|it| it[1].to_owned());
    found.filter(|text| is_command(text)).collect()
}

/// The strings of a source that are a command as a whole.
fn strings(text: &str) -> Vec<String> {
    let patterns = Regex::new(r##"LazyPattern::\w+\(\s*r?#?"(?:[^"\\]|\\.)*""##).unwrap();
    let text = patterns.replace_all(text, "");
    let string = Regex::new(r#""((?:[^"\\]|\\.)*)""#).unwrap();
    let word =
        Regex::new(r"^(?:'?\{[^}]*\}\S*|--?[\w-]+(?:=\S*)?|[a-z][\w.-]*|&&|\||[^\s`]*/[^\s`]*)$")
            .unwrap();
    let varies = Regex::new(r"\{|(?:^| )--?[a-z]").unwrap();
    let run = Regex::new(r#"(?:\.run|Fix::command)\(\s*(?:format!\(\s*)?"((?:[^"\\]|\\.)*)""#);
    let said = run.unwrap();
    let said = said.captures_iter(&text).map(|it| it[1].to_owned());
    let whole = string.captures_iter(&text).map(|it| it[1].to_owned());
    let whole = whole.filter(|text| {
        let is_sentence = text.ends_with(['.', ':', ',', ';']);
        is_command(text)
            && !is_sentence
            && varies.is_match(text)
            && text.split_whitespace().all(|it| word.is_match(it))
    });
    said.chain(whole).collect()
}

/// All of them, with the placeholders as they are written.
pub(super) fn written_commands() -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    for path in files("crates/setup/src/doctor/remedy", "rs") {
        let text = own_text(&path);
        all.extend(quoted(&text));
        all.extend(strings(&text));
    }
    for path in files("crates/triage/src/engine/rules", "yaml") {
        // What a rule looks for, and its examples, are not what it prints.
        let text = own_text(&path);
        let mut is_advice = false;
        let mut kept = Vec::new();
        for line in text.lines() {
            match line.trim() {
                head if head.starts_with("advice:") => is_advice = true,
                "examples:" | "lookalikes:" => is_advice = false,
                _ => {}
            }
            if is_advice {
                kept.push(line);
            }
        }
        all.extend(quoted(&kept.join("\n")));
    }
    // `\"` of a string.
    all.into_iter()
        .map(|text| text.replace("\\\"", "\""))
        .collect()
}

#[test]
fn commands_are_read_off_the_sources() {
    let all = written_commands();
    for known in [
        "sudo systemctl start docker",
        "podman machine start",
        "mv {} {}",
        "npm install && npm run build",
        "uv python list --only-installed",
    ] {
        assert!(all.contains(known), "{known}: {all:#?}");
    }
    assert!(all.len() > 80, "{}", all.len());
}
