//! Reads how a framework selects a test, and selects one: the section `rerun`
//! of the files in `frameworks/`, whose page says what may stand there.

use super::recipe::{Join, Recipe};
use super::target::Target;
use crate::frameworks;
use jelly_base::model::FailureView;
use regex::Regex;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::{LazyLock, OnceLock};

/// The name of a test, or several, in the words of a command.
const TESTS: &str = "{tests}";

/// From the particular to the general: `mocha-junit-reporter` writes for
/// Cypress as well, and `junit` is in most names.
static SELECTORS: LazyLock<Vec<Selector>> =
    LazyLock::new(|| serde_json::from_str(frameworks::RERUN).unwrap_or_default());

/// How to run the test again; `None` where its framework is unknown, has no
/// way to select a test, or needs what the report does not tell. `is_group`:
/// other cases of the report stand below this one.
pub(in crate::survey) fn target(
    dialect: &str,
    test: &FailureView<'_>,
    is_group: bool,
) -> Option<Target> {
    let dialect = dialect.to_ascii_lowercase();
    let selector = SELECTORS.iter().find(|selector| {
        let is_in = |writer: &String| dialect.contains(writer.as_str());
        selector.writers.iter().any(is_in) || selector.exactly.contains(&dialect)
    })?;
    selector.target(Values::of_test(test, is_group))
}

/// How one framework selects a test.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Selector {
    name: String,
    /// Parts of the names of what writes its reports.
    #[serde(default)]
    writers: Vec<String>,
    /// Whole names of the same.
    #[serde(default)]
    exactly: Vec<String>,
    /// How characters are written that would mean something.
    #[serde(default)]
    literal: BTreeMap<String, String>,
    #[serde(default, rename = "let")]
    lets: Vec<Let>,
    ways: Vec<Way>,
}

/// A value that others are made of, where its conditions hold.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Let {
    set: String,
    to: String,
    #[serde(default, rename = "if")]
    conditions: Vec<Condition>,
    /// Texts within the value, and what stands for them.
    #[serde(default)]
    replace: Vec<(String, String)>,
}

/// A command, for tests of which its conditions hold; without any words, there
/// is none for them.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Way {
    #[serde(default, rename = "if")]
    conditions: Vec<Condition>,
    /// The framework whose ways are taken instead.
    like: Option<String>,
    /// Shell text before the words, which is not quoted.
    shell: Option<String>,
    /// Words of the command. What comes out empty is left out.
    #[serde(default)]
    run: Vec<String>,
    /// What stands between the names of tests that share a word.
    join: Option<String>,
    #[serde(default)]
    id: String,
    /// The names by which the framework may know the test.
    #[serde(default)]
    tests: Vec<String>,
    #[serde(default)]
    also: String,
    note: Option<String>,
}

impl Selector {
    fn target(&'static self, mut values: Values) -> Option<Target> {
        values.literal = &self.literal;
        for step in &self.lets {
            let before = values.named.len();
            if !values.hold(&step.conditions) {
                values.named.truncate(before);
                continue;
            }
            let mut value = values.fill(&step.to);
            for (from, to) in &step.replace {
                value = value.replace(from, to);
            }
            values.set(&step.set, value);
        }
        let way = self.ways.iter().find(|way| values.hold(&way.conditions))?;
        if let Some(other) = &way.like {
            let other = SELECTORS.iter().find(|selector| selector.name == *other)?;
            return other.target(values);
        }
        way.target(&values)
    }
}

impl Way {
    fn target(&'static self, values: &Values) -> Option<Target> {
        if self.run.is_empty() {
            return None;
        }
        let of_tests = self.run.iter().position(|word| word.contains(TESTS));
        let words = |words: &[String]| -> Vec<String> {
            let filled = words.iter().map(|word| values.fill(word));
            filled.filter(|word| !word.is_empty()).collect()
        };
        let (before, join, after) = match of_tests {
            None => (words(&self.run), Join::Nothing, Vec::new()),
            Some(at) => {
                let (begin, end) = self.run[at].split_once(TESTS)?;
                let (begin, end) = (values.fill(begin), values.fill(end));
                let join = match &self.join {
                    Some(between) => Join::OneWord(begin, between.clone(), end),
                    None if begin.is_empty() => Join::Words,
                    None => Join::Prefixed(begin),
                };
                (words(&self.run[..at]), join, words(&self.run[at + 1..]))
            }
        };
        let names = self.tests.iter().map(|name| values.fill(name));
        let also = values.fill(&self.also);
        Some(Target {
            id: values.fill(&self.id),
            recipe: Recipe {
                before,
                raw: self.shell.as_deref(),
                join,
                after,
            },
            names: names.filter(|name| !name.is_empty()).collect(),
            note: self.note.as_deref(),
            also: Some(also).filter(|also| !also.is_empty()),
        })
    }
}

/// What is known of a test, by name.
struct Values {
    /// The last one of a name counts.
    named: Vec<(&'static str, String)>,
    literal: &'static BTreeMap<String, String>,
}

static NONE: BTreeMap<String, String> = BTreeMap::new();

impl Values {
    fn of_test(test: &FailureView<'_>, is_group: bool) -> Self {
        let innermost = test.suite.rsplit(" > ").next().unwrap_or_default();
        let group = if is_group { "yes" } else { "" };
        let texts = [
            ("report", test.report),
            ("suites", test.suite),
            ("suite", innermost),
            ("class", test.classname),
            ("name", test.name),
            ("title", test.name.trim()),
            ("file", test.file.unwrap_or_default()),
            ("group", group),
        ];
        let mut named: Vec<_> = texts.map(|(name, text)| (name, text.to_owned())).into();
        named.push(("heading", test.title()));
        Self {
            named,
            literal: &NONE,
        }
    }

    fn set(&mut self, name: &'static str, value: String) {
        self.named.push((name, value));
    }

    fn get(&self, name: &str) -> &str {
        let found = self.named.iter().rev().find(|(known, _)| *known == name);
        found.map_or("", |(_, value)| value)
    }

    /// `text` with values for their names in braces. Behind a bar stands what
    /// is done to the value, behind a question mark what follows it, unless it
    /// is empty.
    fn fill(&self, text: &str) -> String {
        let mut filled = String::with_capacity(text.len());
        let mut rest = text;
        while let Some((before, (asked, behind))) = rest
            .split_once('{')
            .and_then(|(before, behind)| Some((before, behind.split_once('}')?)))
        {
            filled.push_str(before);
            rest = behind;
            let (asked, suffix) = asked.split_once('?').unwrap_or((asked, ""));
            let mut steps = asked.split('|');
            let mut value = self.get(steps.next().unwrap_or_default()).to_owned();
            for step in steps {
                value = self.changed(&value, step);
            }
            filled.push_str(&value);
            if !value.is_empty() {
                filled.push_str(suffix);
            }
        }
        filled + rest
    }

    fn changed(&self, value: &str, step: &str) -> String {
        match step {
            "trim" => value.trim().to_owned(),
            "literal" => value.chars().map(|c| self.literally(c)).collect(),
            // No option begins so.
            "path" if value.starts_with('-') => format!("./{value}"),
            step => match step.strip_prefix("pack:") {
                // Without its empty parts.
                Some(between) => {
                    let parts = value.split(between).filter(|part| !part.is_empty());
                    parts.collect::<Vec<_>>().join(between)
                }
                None => value.to_owned(),
            },
        }
    }

    fn literally(&self, c: char) -> String {
        let mut known = self.literal.iter();
        match known.find(|(meaning, _)| meaning.contains(c)) {
            Some((_, written)) => written.replace("{}", c.encode_utf8(&mut [0; 4])),
            None => c.to_string(),
        }
    }

    /// Whether all hold; what they find becomes known.
    fn hold(&mut self, conditions: &'static [Condition]) -> bool {
        conditions
            .iter()
            .all(|condition| condition.holds(self) != condition.negated)
    }
}

/// `TEXT ~ PATTERN`, `TEXT == TEXT`, `^=` for a beginning, `$=` for an end; a
/// `!` before the sign turns it round.
#[derive(Debug, Deserialize)]
#[serde(from = "String")]
struct Condition {
    text: String,
    negated: bool,
    sign: char,
    other: String,
    /// Compiled when it is first asked.
    pattern: OnceLock<Option<Regex>>,
}

impl From<String> for Condition {
    fn from(written: String) -> Self {
        let mut parts = written.splitn(3, ' ');
        let mut part = || parts.next().unwrap_or_default().to_owned();
        // Filters have no spaces, arguments of theirs neither.
        let (text, sign, other) = (part(), part(), part());
        let bare = sign.strip_prefix('!').unwrap_or(&sign);
        Self {
            negated: bare.len() < sign.len(),
            sign: bare.chars().next().unwrap_or_default(),
            text,
            other,
            pattern: OnceLock::new(),
        }
    }
}

impl Condition {
    fn holds(&'static self, values: &mut Values) -> bool {
        let text = values.fill(&self.text);
        if self.sign == '~' {
            let pattern = self.pattern.get_or_init(|| Regex::new(&self.other).ok());
            let Some(pattern) = pattern else { return false };
            let Some(found) = pattern.captures(&text) else {
                return false;
            };
            for name in pattern.capture_names().flatten() {
                let value = found.name(name).map_or("", |group| group.as_str());
                values.set(name, value.to_owned());
            }
            return true;
        }
        let other = values.fill(&self.other);
        match self.sign {
            '^' => match text.strip_prefix(&other) {
                Some(rest) => {
                    values.set("rest", rest.to_owned());
                    true
                }
                None => false,
            },
            '$' => text.ends_with(&other),
            _ => text == other,
        }
    }
}
