//! What can be wrong with a rule that could be read.

use super::advice;
use super::field::Strength;
use super::pattern::{builder, own_pattern};
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

/// Gathers flaws.
#[derive(Default)]
struct Flaws(Vec<Flaw>);

impl Flaws {
    fn add(&mut self, place: Place, message: impl Into<String>, hint: Option<&str>) {
        self.0.push(Flaw {
            place,
            message: message.into(),
            hints: hint.map(str::to_owned).into_iter().collect(),
        });
    }
}

/// Examples and look-alikes that a rule needs, of each.
pub(super) const EXAMPLES: usize = 2;

/// How a rule contradicts itself. `domain` is what its id must begin with.
pub(super) fn flaws(rule: &Rule, domain: Option<&str>) -> Vec<Flaw> {
    let mut flaws = Flaws::default();
    let is_of = |domain: &str| {
        let rest = rule.id.strip_prefix(domain);
        let name = rest.and_then(|rest| rest.strip_prefix('/'));
        name.is_some_and(|name| !name.is_empty())
    };
    if let Some(domain) = domain.filter(|domain| !is_of(domain)) {
        let message = format!("its id does not begin with `{domain}/`");
        flaws.add(Place::Key("id"), message, None);
    }
    if rule.error_category.is_some() != rule.retryable.is_some() {
        let message = "`error_category` and `retryable` must be given together or not at all";
        let given = match rule.retryable {
            Some(_) => "retryable",
            None => "error_category",
        };
        flaws.add(Place::Key(given), message, None);
    }
    let may_pass = matches!(
        rule.error_category,
        None | Some(ErrorCategory::Infrastructure | ErrorCategory::Timeout)
    );
    if rule.retryable == Some(true) && !may_pass {
        let message = "only INFRASTRUCTURE and TIMEOUT may pass on a rerun";
        let hint = "write `retryable: false`";
        flaws.add(Place::Key("retryable"), message, Some(hint));
    }
    let missing = match rule.strength {
        Strength::Signature | Strength::Hint => rule
            .patterns
            .is_empty()
            .then_some(("a signature or hint needs a pattern", "add `patterns`")),
        Strength::Fact | Strength::Fallback => rule.when.is_empty().then_some((
            "a fact or fallback needs a typed condition",
            "add `when`, as in `when: { source: report }`",
        )),
    };
    if let Some((message, hint)) = missing {
        flaws.add(Place::Key("strength"), message, Some(hint));
    }
    let idle = [
        ("unless", rule.unless.is_empty()),
        ("fields", rule.fields.is_empty()),
    ];
    for (key, _) in idle.iter().filter(|(_, is_empty)| !is_empty) {
        if rule.patterns.is_empty() {
            let message = format!("`{key}` means nothing without `patterns`");
            flaws.add(Place::Key(key), message, None);
        }
    }
    if let Err(message) = advice::validate(&rule.advice, &rule.patterns) {
        flaws.add(Place::Key("advice"), message, None);
    }
    flaws.0
}

/// As [`flaws`], with what the tests of the program see to for its own rules.
pub(super) fn own_flaws(rule: &Rule) -> Vec<Flaw> {
    let mut flaws = Flaws(flaws(rule, None));
    if !is_id(&rule.id) {
        let message = format!("`{}` can't be the id of a rule", rule.id);
        let hint = "write `domain/name` in small letters, digits and `-`, as in `shop/no-stock`";
        flaws.add(Place::Key("id"), message, Some(hint));
    }
    if !is_word(&rule.root_cause) {
        let message = format!("`{}` can't be a root cause", rule.root_cause);
        let hint = "write it in snake_case, as in `connection_refused`";
        flaws.add(Place::Key("root_cause"), message, Some(hint));
    }
    for (key, list) in [("patterns", &rule.patterns), ("unless", &rule.unless)] {
        for (index, pattern) in list.iter().enumerate() {
            let place = Place::Item(key, index);
            match builder(&own_pattern(pattern)).build() {
                Err(error) => {
                    let message = format!("this is no regular expression: {}", reason(&error));
                    let hint = "the syntax is that of docs.rs/regex; look-around is not in it";
                    flaws.add(place, message, Some(hint));
                }
                Ok(regex) if regex.is_match(b"") => {
                    flaws.add(place, "this pattern matches every text", None);
                }
                Ok(_) => {}
            }
        }
    }
    for (key, count, hint) in [
        (
            "examples",
            rule.examples().len(),
            "texts that the rule must recognise; `jelly rules test` tries them",
        ),
        (
            "lookalikes",
            rule.lookalikes().len(),
            "texts that look like its kind and are none; `jelly rules test` tries them",
        ),
    ] {
        if count < EXAMPLES {
            let message =
                format!("a rule needs at least {EXAMPLES} entries under `{key}`, not {count}");
            flaws.add(Place::Key(key), message, Some(hint));
        }
    }
    flaws.0
}

/// The last line of a regex error, which says what is wrong; those before it
/// quote the pattern.
fn reason(error: &regex::Error) -> String {
    let text = error.to_string();
    let last = text.lines().last().unwrap_or_default().trim();
    last.strip_prefix("error: ").unwrap_or(last).to_owned()
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
