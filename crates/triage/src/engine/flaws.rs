//! What can be wrong with a rule that could be read.

use super::advice;
use super::field::Strength;
use super::pattern::builder;
use super::rule::Rule;
use jelly_base::model::ErrorCategory;

/// Where in a rule something is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Key(&'static str),
    /// An item of a list, from 0.
    Item(&'static str, usize),
}

/// One thing that is wrong with a rule.
#[derive(Debug)]
pub(super) struct Flaw {
    pub(super) place: Place,
    /// A fragment in lower case.
    pub(super) message: String,
    pub(super) hints: Vec<String>,
}

impl Flaw {
    fn new(place: Place, message: impl Into<String>) -> Self {
        Self {
            place,
            message: message.into(),
            hints: Vec::new(),
        }
    }

    fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }
}

/// Examples and look-alikes that a rule needs, of each.
pub(super) const EXAMPLES: usize = 2;

/// How a rule contradicts itself. `domain` is what its id must begin with.
pub(super) fn flaws(rule: &Rule, domain: Option<&str>) -> Vec<Flaw> {
    let mut flaws = Vec::new();
    if let Some(domain) = domain
        && rule
            .id
            .strip_prefix(domain)
            .and_then(|rest| rest.strip_prefix('/'))
            .is_none_or(str::is_empty)
    {
        let message = format!("its id does not begin with `{domain}/`");
        flaws.push(Flaw::new(Place::Key("id"), message));
    }
    if rule.error_category.is_some() != rule.retryable.is_some() {
        let message = "`error_category` and `retryable` must be given together or not at all";
        let given = match rule.retryable {
            Some(_) => "retryable",
            None => "error_category",
        };
        flaws.push(Flaw::new(Place::Key(given), message));
    }
    if rule.retryable == Some(true)
        && !matches!(
            rule.error_category,
            None | Some(ErrorCategory::Infrastructure | ErrorCategory::Timeout)
        )
    {
        let message = "only INFRASTRUCTURE and TIMEOUT may pass by themselves";
        flaws.push(Flaw::new(Place::Key("retryable"), message).hint("write `retryable: false`"));
    }
    match rule.strength {
        Strength::Signature | Strength::Hint if rule.patterns.is_empty() => {
            let message = "a signature or hint needs a pattern";
            flaws.push(Flaw::new(Place::Key("strength"), message).hint("add `patterns`"));
        }
        Strength::Fact | Strength::Fallback if rule.when.is_empty() => {
            let message = "a fact or fallback needs a typed condition";
            flaws.push(
                Flaw::new(Place::Key("strength"), message)
                    .hint("add `when`, as in `when: { source: report }`"),
            );
        }
        Strength::Fact | Strength::Signature | Strength::Hint | Strength::Fallback => {}
    }
    if rule.patterns.is_empty() {
        let lists = [
            ("unless", rule.unless.is_empty()),
            ("fields", rule.fields.is_empty()),
        ];
        for (key, empty) in lists {
            if !empty {
                let message = format!("`{key}` means nothing without `patterns`");
                flaws.push(Flaw::new(Place::Key(key), message));
            }
        }
    }
    if let Err(message) = advice::validate(&rule.advice, &rule.patterns) {
        flaws.push(Flaw::new(Place::Key("advice"), message));
    }
    flaws
}

/// As [`flaws`], with what the tests of the program see to for its own rules.
pub(super) fn own_flaws(rule: &Rule) -> Vec<Flaw> {
    let mut flaws = flaws(rule, None);
    if !is_id(&rule.id) {
        let message = format!("`{}` can't be the id of a rule", rule.id);
        flaws.push(
            Flaw::new(Place::Key("id"), message).hint(
                "write `domain/name` in small letters, digits and `-`, as in `shop/no-stock`",
            ),
        );
    }
    if !is_word(&rule.root_cause) {
        let message = format!("`{}` can't be a root cause", rule.root_cause);
        flaws.push(
            Flaw::new(Place::Key("root_cause"), message)
                .hint("write it in snake_case, as in `connection_refused`"),
        );
    }
    for (key, list) in [("patterns", &rule.patterns), ("unless", &rule.unless)] {
        for (index, pattern) in list.iter().enumerate() {
            if let Err(error) = builder(pattern).build() {
                flaws.push(
                    Flaw::new(
                        Place::Item(key, index),
                        format!("this is no regular expression: {}", reason(&error)),
                    )
                    .hint("the syntax is that of docs.rs/regex; look-around is not in it"),
                );
            } else if matches_everything(pattern) {
                let message = "this pattern matches every text";
                flaws.push(Flaw::new(Place::Item(key, index), message));
            }
        }
    }
    for (key, count) in [
        ("examples", rule.examples.len()),
        ("lookalikes", rule.lookalikes.len()),
    ] {
        if count < EXAMPLES {
            let message =
                format!("a rule needs at least {EXAMPLES} entries under `{key}`, not {count}");
            flaws.push(Flaw::new(Place::Key(key), message).hint(match key {
                "examples" => "texts that the rule must recognise; `jelly rules test` tries them",
                _ => "texts that look like its kind and are none; `jelly rules test` tries them",
            }));
        }
    }
    flaws
}

/// The last line of a regex error, which says what is wrong; those before it
/// quote the pattern.
fn reason(error: &regex::Error) -> String {
    let text = error.to_string();
    let last = text.lines().last().unwrap_or_default().trim();
    last.strip_prefix("error: ").unwrap_or(last).to_owned()
}

fn matches_everything(pattern: &str) -> bool {
    builder(pattern)
        .build()
        .is_ok_and(|regex| regex.is_match(b""))
}

/// `domain/name`.
fn is_id(id: &str) -> bool {
    let part = |part: &str| {
        !part.is_empty()
            && part
                .chars()
                .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '_')
    };
    id.split_once('/')
        .is_some_and(|(domain, name)| part(domain) && part(name))
}

fn is_word(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_lowercase())
        && word
            .chars()
            .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
}
