//! In which order evidence counts, and how a text is read once it is known to
//! be an assertion's.

use super::clues::{self, Text};
use super::field::{Field, Strength};
use super::rule::Rule;
use jelly_base::model::ErrorCategory;
use serde::Serialize;

/// The text that is the name of a class, by the name of its field.
pub(super) const CLASS: &str = "type";

/// How much a match counts, by its rule and by its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum MatchLevel {
    Fact,
    Signature,
    Hint,
    /// A signature or hint in what a test printed.
    #[serde(rename = "line of output")]
    Printed,
    Fallback,
}

/// The order of evidence. What a test printed counts less than anything that
/// its report says, and more than nothing.
pub(super) fn level(rule: &Rule, reserve: bool) -> MatchLevel {
    match rule.strength {
        Strength::Fact => MatchLevel::Fact,
        Strength::Signature | Strength::Hint if reserve => MatchLevel::Printed,
        Strength::Signature => MatchLevel::Signature,
        Strength::Hint => MatchLevel::Hint,
        Strength::Fallback => MatchLevel::Fallback,
    }
}

/// Rules that know an assertion by how frameworks write it.
pub(super) fn is_syntax(rule: &Rule) -> bool {
    rule.strength == Strength::Fact
        && rule.error_category == Some(ErrorCategory::Assertion)
        && rule.fields.contains(&Field::Report)
}

/// The text for rules that are no assertions, once an assertion is found.
pub(super) fn without_values<'a>(text: &Text<'a>) -> Text<'a> {
    Text {
        field: text.field,
        name: text.name,
        text: match text.field {
            // What was printed is not what was compared, and a class is
            // compared with nothing.
            Field::Log | Field::Class | Field::Title => text.written().clone(),
            Field::Report
            | Field::Spawn
            | Field::Stderr
            | Field::Stdout
            | Field::Answer
            | Field::Message => clues::masked(text.written()).into(),
        },
        as_written: None,
        shown: text.shown.clone(),
        rank: text.rank,
        reserve: text.reserve,
    }
}

/// Leaves out texts that say again what one before them said: a head, a line
/// and the whole of a message are often the same. They come from the most
/// telling, so whatever a rule finds in the second one counts no more than in
/// the first, unless that was the name of a class.
pub(super) fn without_repeated(texts: &mut Vec<Text<'_>>) {
    let is_class = |text: &Text<'_>| text.name == CLASS;
    let mut kept = 0;
    for index in 0..texts.len() {
        let repeated = texts[..kept].iter().any(|before| {
            before.field == texts[index].field
                && is_class(before) == is_class(&texts[index])
                && before.text == texts[index].text
        });
        if !repeated {
            texts.swap(kept, index);
            kept += 1;
        }
    }
    texts.truncate(kept);
}
