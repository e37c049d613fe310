//! Texts for arguments, by what their schema and their name say.
//!
//! Main function: [`texts`].

use super::choice::words;
use super::parts::{Parts, names_error};
use super::pattern::text_for;
use super::sample::Paths;
use jelly_plan::BoundedSchema;
use serde_json::{Value, json};

/// How much of a description is searched for an example.
const MAX_READ: usize = 2000;
/// The longest text that is made.
const MAX_TEXT: u64 = 1000;
/// So many texts at most are thought of.
const MAX_TEXTS: usize = 3;

/// What many patterns are written for.
const KNOWN: &[&str] = &[
    "hello",
    "HELLO",
    "2025-01-01",
    "2025-01-01T12:00:00Z",
    "12:00",
    "12:00:00",
    "2025-01",
    "en",
    "US",
    "USD",
    "en-US",
    "1",
    "1.0.0",
    "user@example.com",
    "https://example.com/",
    "example.com",
    "#000000",
    "127.0.0.1",
    "00000000-0000-4000-8000-000000000000",
];

/// Texts that fit the schema, the likeliest first; none where only a person
/// knows one.
pub(super) fn texts(name: &str, parts: &Parts<'_>, paths: Paths<'_>) -> Vec<String> {
    let form = Form::of(parts);
    let format = parts.text("format").and_then(of_format);
    if let Some(text) = format.filter(|text| form.fits(text)) {
        return vec![text.to_owned()];
    }
    let path = match Named::of(name) {
        Named::File => Some(paths.file),
        Named::Folder => Some(paths.folder),
        Named::Path => Some(paths.either),
        Named::Other => None,
    };
    if let Some(path) = path {
        let path = path.filter(|path| form.fits(path));
        return path.map(str::to_owned).into_iter().collect();
    }
    let about = parts.text("description").unwrap_or_default();
    let about = &about[..about.floor_char_boundary(MAX_READ)];
    let usual = usual(name, about);
    let mut found: Vec<String> = Vec::new();
    let quoted = choices_in(about);
    for text in example_in(about).into_iter().chain(usual).chain(quoted) {
        if form.fits(text) && !found.iter().any(|known| known == text) {
            found.push(text.to_owned());
        }
    }
    if found.is_empty() && !form.patterns.is_empty() {
        found.extend(form.made());
    }
    // What a server gave out itself is not of any length.
    if found.is_empty() && form.patterns.is_empty() && usual.is_some() {
        found.extend(form.stretched());
    }
    // A tool that does as it is told answers an error to these.
    found.sort_by_key(|text| names_error(text));
    found.truncate(MAX_TEXTS);
    found
}

/// What a text may look like.
struct Form<'a> {
    least: u64,
    most: Option<u64>,
    patterns: Vec<&'a str>,
    /// Absent where a pattern is none.
    judge: Option<BoundedSchema>,
}

impl<'a> Form<'a> {
    fn of(parts: &Parts<'a>) -> Self {
        let patterns: Vec<&str> = parts.all("pattern").filter_map(Value::as_str).collect();
        let all: Vec<Value> = patterns
            .iter()
            .map(|one| json!({ "pattern": one }))
            .collect();
        Self {
            least: parts.least("minLength").unwrap_or(0),
            most: parts.most("maxLength"),
            judge: BoundedSchema::compile(&json!({ "allOf": all })).ok(),
            patterns,
        }
    }

    fn fits(&self, text: &str) -> bool {
        let length = text.chars().count() as u64;
        let judged = |judge: &BoundedSchema| judge.is_valid(&Value::from(text)) == Ok(true);
        length >= self.least
            && self.most.is_none_or(|most| length <= most)
            && (self.patterns.is_empty() || self.judge.as_ref().is_some_and(judged))
    }

    /// A text for the patterns.
    fn made(&self) -> Option<String> {
        let known = KNOWN.iter().find(|text| self.fits(text));
        known.map(|text| (*text).to_owned()).or_else(|| {
            self.patterns.iter().find_map(|pattern| {
                // Without what may be left out, then with more and more of it.
                let mut made = [0, 1, 2, 4, 8, 16, 32, 64]
                    .into_iter()
                    .filter_map(|more| text_for(pattern, more));
                made.find(|text| !text.is_empty() && self.fits(text))
            })
        })
    }

    /// A text of the length that is asked for.
    fn stretched(&self) -> Option<String> {
        let most = self.most.unwrap_or(MAX_TEXT);
        if self.least > most.min(MAX_TEXT) {
            return None;
        }
        let mut text = String::from("hello");
        while (text.len() as u64) < self.least {
            text.push_str(if text.ends_with("hello") {
                " world"
            } else {
                " hello"
            });
        }
        text.truncate(usize::try_from(most).unwrap_or(usize::MAX));
        let text = text.replace(' ', if text.ends_with(' ') { "-" } else { " " });
        self.fits(&text).then_some(text)
    }
}

fn of_format(format: &str) -> Option<&'static str> {
    Some(match format {
        "date-time" => "2025-01-01T12:00:00Z",
        "date" => "2025-01-01",
        "time" => "12:00:00Z",
        "duration" => "PT1H",
        "email" | "idn-email" => "user@example.com",
        "hostname" | "idn-hostname" => "example.com",
        "ipv4" => "127.0.0.1",
        "ipv6" => "::1",
        "uri" | "url" | "iri" | "uri-reference" | "iri-reference" => "https://example.com/",
        "uri-template" => "https://example.com/{name}",
        "uuid" => "00000000-0000-4000-8000-000000000000",
        "json-pointer" => "/hello",
        "relative-json-pointer" => "0/hello",
        "regex" => "hello",
        "byte" | "base64" => "aGVsbG8=",
        _ => return None,
    })
}

/// What the name of a text says it is.
enum Named {
    File,
    Folder,
    Path,
    Other,
}

impl Named {
    fn of(name: &str) -> Self {
        let words = words(name);
        let has = |wanted: &[&str]| words.iter().any(|word| wanted.contains(&word.as_str()));
        if has(&["url", "uri"]) {
            Self::Other
        } else if has(&["filepath", "filename"]) || has(&["file", "files"]) {
            Self::File
        } else if has(&[
            "dir",
            "directory",
            "directories",
            "dirs",
            "folder",
            "folders",
            "repo",
            "repository",
            "root",
            "workspace",
            "cwd",
        ]) {
            Self::Folder
        } else if has(&["path", "paths"]) {
            Self::Path
        } else {
            Self::Other
        }
    }
}

/// A text that most servers have some answer to.
fn usual(name: &str, about: &str) -> Option<&'static str> {
    let words = words(name);
    let last = words.last().map(String::as_str).unwrap_or_default();
    let about = about.to_ascii_lowercase();
    let tells = |wanted: &[&str]| {
        let mut told = about.split(|c: char| !c.is_alphanumeric());
        told.any(|word| wanted.contains(&word))
    };
    Some(match last {
        "url" | "uri" | "link" => "https://example.com/",
        "timezone" | "tz" => "UTC",
        "email" => "user@example.com",
        "date" => "2025-01-01",
        "time" => "12:00",
        "language" | "lang" | "locale" => "en",
        "country" => "US",
        "currency" => "USD",
        "city" | "location" | "place" => "Paris",
        "cron" => "0 12 * * *",
        "expression" | "formula" => "1 + 1",
        "commit" | "ref" | "revision" => "HEAD",
        "sql" => "SELECT 1",
        // What a server gave out itself: nobody guesses it.
        "id" | "ids" | "uuid" | "token" | "key" | "cursor" | "hash" | "sha" | "secret"
        | "password" | "regex" | "command" | "code" | "script" => return None,
        "query" if tells(&["sql", "select"]) => "SELECT 1",
        "target" | "base" | "from" | "since" if tells(&["commit", "branch", "revision"]) => "HEAD",
        _ => "hello",
    })
}

/// The first quoted text after `e.g.`, `for example` or `such as`.
fn example_in(text: &str) -> Option<&str> {
    let lower = text.to_ascii_lowercase();
    let after = ["e.g.", "e.g", "for example", "such as", "example:"]
        .iter()
        .filter_map(|mark| Some(lower.find(mark)? + mark.len()))
        .min()?;
    let rest = &text[after..];
    let (open, found) = quoted(rest)?;
    let good = !found.trim().is_empty() && found.len() <= 80 && !found.contains(char::is_control);
    (open <= 12 && good).then_some(found)
}

/// Where the first quotes open, and what stands in them.
fn quoted(text: &str) -> Option<(usize, &str)> {
    let open = text.find(['\'', '"', '`'])?;
    let quote = text[open..].chars().next()?;
    let inside = &text[open + 1..];
    Some((open, &inside[..inside.find(quote)?]))
}

/// Words in quotes, where a description has several: those that may be chosen
/// from.
fn choices_in(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some((open, inside)) = quoted(rest) {
        rest = &rest[open + inside.len() + 2..];
        let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/');
        if !inside.is_empty() && inside.len() <= 40 && inside.chars().all(is_word) {
            found.push(inside);
        }
    }
    if found.len() < 2 {
        found.clear();
    }
    found
}

#[cfg(test)]
mod tests {
    use super::{choices_in, example_in};

    #[test]
    fn an_example_is_found_where_it_is_called_one() {
        assert_eq!(
            example_in("zone (e.g., 'America/New_York', 'x')"),
            Some("America/New_York")
        );
        assert_eq!(example_in("For example \"a b\"."), Some("a b"));
        assert_eq!(example_in("the 'user'"), None);
        assert_eq!(
            example_in("e.g. any text that is not quoted before 'x'"),
            None
        );
    }

    #[test]
    fn words_in_quotes_may_be_chosen_from() {
        let text = "local branches ('local'), remote ones ('remote'), or all of them";
        assert_eq!(choices_in(text), ["local", "remote"]);
        assert_eq!(choices_in("the `user` alone"), [""; 0]);
        assert_eq!(choices_in("it's 'never' closed 'x"), [""; 0]);
    }
}
