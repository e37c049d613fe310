//! Reads how a framework selects a test, and selects one: the section `rerun`
//! of the files in `frameworks/`, whose page says what may stand there.

use super::plan::Hint;
use super::recipe::{Join, Recipe};
use super::target::Target;
use crate::frameworks::spec::{
    Change, Comparison, Condition, Framework, Placeholder, Rerun, RerunWay, Template,
};
use crate::frameworks::{called, of_writer};
use jelly_base::model::FailureView;

/// The name of a test, or several, among the values of a word.
const TESTS: &str = "tests";

/// How to run the test again; `None` where its framework is unknown, has no
/// way to select a test, or needs what neither the report nor the hint tells.
pub(super) fn target(dialect: &str, test: &FailureView<'_>, hint: &Hint) -> Option<Target> {
    target_of(of_writer(dialect)?, TestValues::of_test(test, hint))
}

fn target_of(framework: &'static Framework, mut values: TestValues) -> Option<Target> {
    let own = &framework.rerun;
    let shared = called(framework.language).map(|language| &language.rerun);
    let all = || shared.into_iter().chain([own]);
    values.literal = all()
        .map(|rerun| rerun.literal)
        .rfind(|literal| !literal.is_empty())
        .unwrap_or_default();
    for value in all().flat_map(|rerun| rerun.values) {
        let before = values.named.len();
        if !values.hold(value.when) {
            values.named.truncate(before);
            continue;
        }
        let mut text = values.fill(&value.to);
        for (from, to) in value.replace {
            text = text.replace(from, to);
        }
        values.set(value.set, text);
    }
    let way = own.ways.iter().find(|way| values.hold(way.when))?;
    if let Some(other) = way.like {
        return target_of(called(other)?, values);
    }
    let told = |of: fn(&'static Rerun) -> &'static Template| {
        all()
            .map(|rerun| values.fill(of(rerun)))
            .rfind(|told| !told.is_empty())
    };
    Some(Target {
        file: told(|rerun| &rerun.file),
        module: told(|rerun| &rerun.module),
        ..target_by(way, &values)?
    })
}

fn target_by(way: &'static RerunWay, values: &TestValues) -> Option<Target> {
    if way.run.is_empty() {
        return None;
    }
    let words = |words: &[Template]| -> Vec<String> {
        let filled = words.iter().map(|word| values.fill(word));
        filled.filter(|word| !word.is_empty()).collect()
    };
    let of_tests = way.run.iter().enumerate().find_map(|(at, word)| {
        let piece = word.pieces.iter().position(|piece| piece.value == TESTS)?;
        Some((at, word, piece))
    });
    let (before, join, after) = match of_tests {
        None => (words(way.run), Join::Nothing, Vec::new()),
        Some((at, word, piece)) => {
            let begin = values.filled(&word.pieces[..piece]) + word.pieces[piece].before;
            let end = values.filled(&word.pieces[piece + 1..]) + word.end;
            let join = match way.join {
                Some(between) => Join::OneWord(begin, between.to_owned(), end),
                None if begin.is_empty() => Join::Words,
                None => Join::Prefixed(begin),
            };
            (words(&way.run[..at]), join, words(&way.run[at + 1..]))
        }
    };
    let names = way.tests.iter().map(|name| values.fill(name));
    let also = values.fill(&way.also);
    Some(Target {
        id: values.fill(&way.id),
        recipe: Recipe {
            before,
            raw: way.shell.map(str::to_owned),
            join,
            after,
        },
        names: names.filter(|name| !name.is_empty()).collect(),
        note: way.note,
        also: Some(also).filter(|also| !also.is_empty()),
        file: None,
        module: None,
    })
}

/// What is known of a test, by name.
struct TestValues {
    /// The last one of a name counts.
    named: Vec<(&'static str, String)>,
    literal: &'static [(&'static str, &'static str)],
}

impl TestValues {
    fn of_test(test: &FailureView<'_>, hint: &Hint) -> Self {
        let innermost = test.suite.rsplit(" > ").next().unwrap_or_default();
        let group = if hint.is_group { "yes" } else { "" };
        let texts = [
            ("report", test.report),
            ("suites", test.suite),
            ("suite", innermost),
            ("class", test.classname),
            ("name", test.name),
            ("title", test.name.trim()),
            ("file", test.file.unwrap_or_default()),
            ("group", group),
            ("place", hint.file.as_deref().unwrap_or_default()),
        ];
        let mut named: Vec<_> = texts.map(|(name, text)| (name, text.to_owned())).into();
        named.push(("heading", test.title()));
        named.extend(hint.told.iter().cloned());
        Self {
            named,
            literal: &[],
        }
    }

    fn set(&mut self, name: &'static str, value: String) {
        self.named.push((name, value));
    }

    fn get(&self, name: &str) -> &str {
        let found = self.named.iter().rev().find(|(known, _)| *known == name);
        found.map_or("", |(_, value)| value)
    }

    fn fill(&self, template: &Template) -> String {
        self.filled(template.pieces) + template.end
    }

    fn filled(&self, pieces: &[Placeholder]) -> String {
        let mut filled = String::new();
        for piece in pieces {
            let mut value = self.get(piece.value).to_owned();
            for change in piece.changes {
                value = self.changed(value, change);
            }
            filled += piece.before;
            filled += &value;
            if !value.is_empty() {
                filled += piece.suffix;
            }
        }
        filled
    }

    fn changed(&self, value: String, change: &Change) -> String {
        match change {
            Change::Trim => value.trim().to_owned(),
            Change::Literal => value.chars().map(|c| self.literally(c)).collect(),
            Change::Path if value.starts_with('-') => format!("./{value}"),
            Change::Path => value,
            Change::Pack(between) => {
                let parts = value.split(between).filter(|part| !part.is_empty());
                parts.collect::<Vec<_>>().join(between)
            }
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
        let mut conditions = conditions.iter();
        conditions.all(|condition| self.holds(condition) != condition.negated)
    }

    fn holds(&mut self, condition: &'static Condition) -> bool {
        let text = self.fill(&condition.text);
        let other = self.fill(&condition.other);
        match condition.sign {
            Comparison::Exists => !text.is_empty(),
            Comparison::Contains => text.contains(&other),
            Comparison::Equals => text == other,
            Comparison::Ends => {
                let lead = text.strip_suffix(&other);
                lead.inspect(|lead| self.set("lead", (*lead).to_owned()))
                    .is_some()
            }
            Comparison::Begins => {
                let rest = text.strip_prefix(&other);
                rest.inspect(|rest| self.set("rest", (*rest).to_owned()))
                    .is_some()
            }
            Comparison::Matches => {
                let Some(pattern) = condition.pattern.get() else {
                    return false;
                };
                let Some(found) = pattern.captures(&text) else {
                    return false;
                };
                for name in pattern.capture_names().flatten() {
                    let value = found.name(name).map_or("", |group| group.as_str());
                    self.set(name, value.to_owned());
                }
                true
            }
        }
    }
}
