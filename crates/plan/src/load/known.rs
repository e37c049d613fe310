//! `known-failures.yaml`: a strict list of known failures.
//!
//! Main function: [`read_known`].

use super::path::Path;
use super::problem::PlanError;
use super::reader::Reader;
use crate::PlanSource;
use crate::syntax::{self, Data, Entry, Node};
use jelly_base::model::KnownEntry;
use jelly_base::text::{close_names, is_unseen};

/// The keys of an entry.
const KEYS: [&str; 8] = [
    "test",
    "test_fingerprint",
    "fingerprint",
    "any_test",
    "reason",
    "owner",
    "expires",
    "flaky",
];

/// Reads the list.
///
/// # Errors
/// All that is wrong with it, in the order of the file.
pub fn read_known(source: PlanSource) -> Result<Vec<KnownEntry>, PlanError> {
    let (root, troubles) = syntax::parse(&source);
    let mut reader = Reader::new(&source.text, troubles);
    let mut known = Vec::new();
    match &root {
        Some(root) if !matches!(root.data, Data::Null) => {
            known = reader.known(root, &source);
        }
        // A file of comments names nothing.
        Some(_) | None => {}
    }
    let problems = reader.into_problems();
    if problems.is_empty() {
        Ok(known)
    } else {
        Err(PlanError::new(source, Vec::new(), problems))
    }
}

impl<'t> Reader<'t> {
    fn known(&mut self, root: &Node<'t>, source: &PlanSource) -> Vec<KnownEntry> {
        let path = Path::ROOT;
        let mut known: Vec<KnownEntry> = Vec::new();
        let entries = self.entries(root, path, "`version` and `known`");
        let entries = entries.unwrap_or(&[]);
        self.refuse_others(entries, path, &["version", "known"]);
        match root.entry("version").map(|entry| &entry.value) {
            Some(version) if self.written(version) == "1" => {}
            Some(version) => {
                let message = "the version of this list is 1";
                self.problem(version.span, path.key("version"), message.to_owned());
            }
            None => {
                self.problem(root.span, path, "the list has no `version`".to_owned())
                    .hint("begin it with `version: 1`");
            }
        }
        let Some(list) = root.entry("known").map(|entry| &entry.value) else {
            return known;
        };
        let path = path.key("known");
        // Nothing is known any more.
        if matches!(list.data, Data::Null) {
            return known;
        }
        for (at, node) in self
            .list(list, path, "known failures")
            .unwrap_or(&[])
            .iter()
            .enumerate()
        {
            let path = path.index(at);
            let Some(entry) = self.known_entry(node, path, source) else {
                continue;
            };
            if let Some(earlier) = known.iter().find(|it| names_the_same(it, &entry)) {
                let message = format!("the same failure is listed at {}", earlier.at);
                self.problem(node.span, path, message)
                    .hint("leave one of the two: they may differ in reason, owner or expiry");
                continue;
            }
            known.push(entry);
        }
        known
    }

    fn known_entry(
        &mut self,
        node: &Node<'t>,
        path: Path<'_>,
        source: &PlanSource,
    ) -> Option<KnownEntry> {
        let before = self.problems_so_far();
        let entries = self.entries(node, path, "a known failure")?;
        self.refuse_others(entries, path, &KEYS);
        let mut text = |key: &'static str| {
            let entry = entries.iter().find(|entry| entry.key == key)?;
            let value = self
                .fixed_string(&entry.value, path.key(key), key)?
                .to_owned();
            // What nobody sees says nothing.
            if value.chars().all(|c| c.is_whitespace() || is_unseen(c)) {
                let message = format!("the `{key}` is blank");
                self.problem(entry.value.span, path.key(key), message)
                    .hint("fill it in, or leave the key out where it is not needed");
                return None;
            }
            if key.ends_with("fingerprint") && !is_fingerprint(&value) {
                let message = format!("`{value}` is no fingerprint");
                self.problem(entry.value.span, path.key(key), message)
                    .hint("write it as a report has it: `j2:` and 16 hexadecimal digits");
                return None;
            }
            Some(value)
        };
        let mut entry = KnownEntry {
            test: text("test"),
            test_fingerprint: text("test_fingerprint"),
            fingerprint: text("fingerprint"),
            reason: text("reason").unwrap_or_default(),
            owner: text("owner"),
            ..KnownEntry::default()
        };
        let mut flag = |key: &'static str| {
            let entry = entries.iter().find(|entry| entry.key == key)?;
            self.boolean(&entry.value, path.key(key))
        };
        entry.any_test = flag("any_test").unwrap_or_default();
        entry.flaky = flag("flaky").unwrap_or_default();
        if let Some(expires) = entries.iter().find(|entry| entry.key == "expires") {
            entry.expires = self.day(&expires.value, path.key("expires"));
        }
        let has = |key: &str| entries.iter().any(|entry| entry.key == key);
        let mut wrong = |message: &str, hint: &str| {
            self.problem(node.span, path, message.to_owned()).hint(hint);
        };
        if !has("reason") {
            wrong(
                "the entry has no `reason`",
                "say why it is accepted for now, as in `reason: waits for issue 12`",
            );
        }
        match (has("test"), has("test_fingerprint"), has("fingerprint")) {
            (false, false, false) => wrong(
                "the entry names no failure",
                "name its `test`, best with its `test_fingerprint`, or a `fingerprint` with \
                 `any_test: true`",
            ),
            (false, true, _) => wrong(
                "a `test_fingerprint` belongs to a `test`, which is not named",
                "add `test: PLAN > SERVER > STEP`",
            ),
            (false, false, true) if !entry.any_test => wrong(
                "a `fingerprint` alone covers every test, which the entry does not say",
                "add `any_test: true`, or name a `test`",
            ),
            (true, _, _) if entry.any_test => wrong(
                "the entry names a `test` and says `any_test`",
                "leave one of them out",
            ),
            _ => {}
        }
        entry.at = source.at(self.at(node.span));
        (self.problems_so_far() == before).then_some(entry)
    }

    fn refuse_others(&mut self, entries: &[Entry<'t>], path: Path<'_>, known: &[&str]) {
        for entry in entries {
            let key = entry.key.as_ref();
            if known.contains(&key) {
                continue;
            }
            let close = close_names(key, known.iter().copied());
            let problem = self.problem(entry.key_span, path, format!("unknown key `{key}`"));
            match close.first() {
                Some(close) => problem.hint(format!("did you mean `{close}`?")),
                None => problem.hint(format!("there are `{}`", known.join("`, `"))),
            };
        }
    }

    /// A day of the calendar, as `2027-01-31`.
    fn day(&mut self, node: &Node<'t>, path: Path<'_>) -> Option<String> {
        let text = self.word(node, path)?.into_owned();
        if is_day(&text) {
            return Some(text);
        }
        self.problem(node.span, path, format!("`{text}` is no day"))
            .hint("write year, month and day, as in 2027-01-31");
        None
    }
}

/// Whether any failure can have it: one that is cut or misspelled would cover
/// nothing, and nobody would hear of it.
fn is_fingerprint(text: &str) -> bool {
    let digits = text
        .strip_prefix("j2:")
        .or_else(|| text.strip_prefix("j1:"));
    let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    digits.is_some_and(|digits| digits.len() == 16 && digits.bytes().all(is_digit))
}

/// Whether two entries stand for the same failures.
fn names_the_same(one: &KnownEntry, other: &KnownEntry) -> bool {
    let of = |it: &'_ KnownEntry| {
        (
            it.test.clone(),
            it.test_fingerprint.clone(),
            it.fingerprint.clone(),
        )
    };
    of(one) == of(other)
}

fn is_day(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let [year, month, day] = parts.as_slice() else {
        return false;
    };
    let number = |text: &str, digits: usize| {
        let fits = text.len() == digits && text.bytes().all(|b| b.is_ascii_digit());
        fits.then(|| text.parse::<u32>().ok()).flatten()
    };
    let (Some(year), Some(month), Some(day)) = (number(year, 4), number(month, 2), number(day, 2))
    else {
        return false;
    };
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        2 if leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => 0,
    };
    (1..=days).contains(&day)
}

#[cfg(test)]
mod tests {
    use super::{is_day, read_known};
    use crate::{PlanError, PlanSource};
    use jelly_base::model::KnownEntry;

    fn read(text: &str) -> Result<Vec<KnownEntry>, PlanError> {
        read_known(PlanSource {
            path: "known-failures.yaml".into(),
            text: text.into(),
            variant: None,
        })
    }

    #[test]
    fn entries_are_read_with_their_places() {
        let known = read(
            "version: 1\nknown:\n  - test: p > s > a\n    test_fingerprint: \"j2:0000000000000001\"\n    reason: \
             waits\n    owner: ann\n    expires: 2027-01-31\n    flaky: true\n  - { fingerprint: \
             \"j2:0000000000000002\", any_test: true, reason: r }\n",
        )
        .unwrap();
        assert_eq!(known.len(), 2);
        assert_eq!(known[0].at, "known-failures.yaml:3:5");
        assert_eq!(known[0].test.as_deref(), Some("p > s > a"));
        assert_eq!(known[0].expires.as_deref(), Some("2027-01-31"));
        assert!(known[0].flaky && known[1].any_test);
        assert_eq!(read("# nothing yet\n").unwrap(), []);
        assert_eq!(read("version: 1\nknown: []\n").unwrap(), []);
    }

    #[test]
    fn what_is_wrong_is_said_with_its_place_and_what_would_help() {
        let entry = |keys: &str| format!("version: 1\nknown:\n  - {{ {keys} }}\n");
        for (text, place, help) in [
            (entry("test: a"), "yaml:3:5", "reason"),
            (entry("reason: r"), "yaml:3:5", "names no failure"),
            (
                entry("reason: r, fingerprint: 'j2:0000000000000001'"),
                ":3:5",
                "any_test: true",
            ),
            (
                entry("reason: r, test_fingerprint: 'j2:0000000000000001'"),
                ":3:5",
                "add `test:",
            ),
            (
                entry("reason: ' ', test: a"),
                ":3:15",
                "the `reason` is blank",
            ),
            (
                format!(
                    "{}  - {{ test: a, reason: other }}\n",
                    entry("test: a, reason: r")
                ),
                ":4:5",
                "listed at known-failures.yaml:3:5",
            ),
            (
                entry("reason: r, test: a, any_test: true"),
                ":3:5",
                "leave one of them out",
            ),
            (
                entry("reason: \"\\u200b\", test: a"),
                ":3:15",
                "the `reason` is blank",
            ),
            (
                entry("reason: r, fingerprint: 'j2:c675b3', any_test: true"),
                ":3:31",
                "16 hexadecimal digits",
            ),
            (entry("reason: r, tset: a"), ":3:18", "did you mean `test`?"),
            (entry("reason: '', test: a"), ":3:15", "can't be empty"),
            (
                entry("reason: r, test: a, expires: 2027-02-30"),
                ":3:36",
                "year, month and day",
            ),
            (entry("reason: r, test: a, flaky: yes"), ":3:34", "true"),
            ("known: []\n".to_owned(), ":1:1", "version: 1"),
            ("version: 2\n".to_owned(), ":1:10", "is 1"),
            ("version: 1\nfailures: []\n".to_owned(), ":2:1", "`known`"),
        ] {
            let error = read(&text).unwrap_err().render(false);
            assert!(
                error.contains(place) && error.contains(help),
                "{text}: {error}"
            );
        }
    }

    #[test]
    fn a_day_is_one_of_the_calendar() {
        for day in ["2027-01-31", "2028-02-29", "2000-02-29"] {
            assert!(is_day(day), "{day}");
        }
        for other in [
            "2027-02-29",
            "2027-1-31",
            "2027-13-01",
            "2027-00-10",
            "soon",
            "1900-02-29",
        ] {
            assert!(!is_day(other), "{other}");
        }
    }
}
