//! What a program stumbled over at a line of its own.
//!
//! Main function: [`stumbled`]; main type: [`Stumble`].

use super::clues::{class, is_test};
use super::template::skeleton;
use jelly_base::text::WordList;

/// Exceptions that a runtime raises and hardly anybody by hand: what they say
/// are values.
const OF_RUNTIMES: WordList = WordList(
    "ArithmeticError ArrayIndexOutOfBoundsException AttributeError BadMapError BoundsError \
     CaseClauseError ClassCastException FunctionClauseError IndexError IndexOutOfBoundsException \
     IndexOutOfRangeException InvalidCastException KeyError MatchError MethodError NoMethodError \
     NullPointerException NullReferenceException StringIndexOutOfBoundsException TypeError",
);

/// What a program stumbled over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stumble {
    /// The line and the class of what was raised there.
    pub at: String,
    words: Vec<String>,
}

impl Stumble {
    /// What is equal where the same was raised, but for values; nothing where no class
    /// of it is known.
    #[must_use]
    pub fn key(&self) -> Option<String> {
        let key = format!("{} {}", self.at, self.words.join(" "));
        let key = key.trim_end();
        key.contains(' ').then(|| key.to_owned())
    }

    /// Whether both say the same but for values, at the same line.
    #[must_use]
    pub fn is_like(&self, other: &Self) -> bool {
        let words = || self.words.iter().zip(&other.words);
        let same = words().filter(|(one, other)| one == other).count();
        // A line that raises what it is given says something else each time.
        let alike = self.words.len() == other.words.len() && 5 * same >= 3 * self.words.len();
        self.at == other.at && alike
    }
}

/// What was stumbled over at `place`, a line of the product; `None` for a line of
/// a test.
#[must_use]
pub fn stumbled(place: &str, said: &str) -> Option<Stumble> {
    if is_test(place) {
        return None;
    }
    let class = class(said).unwrap_or_default();
    let last = class.rsplit(['.', ':', '\\', '$']).next().unwrap_or(class);
    let told = said.split_once(class).map_or(said, |(_, told)| told);
    let told = told.trim_start_matches([':', ')', ' ']);
    let words = match OF_RUNTIMES.has(last) {
        true => Vec::new(),
        false => skeleton(&without_values(told))
            .split_whitespace()
            .map(str::to_owned)
            .collect(),
    };
    Some(Stumble {
        at: format!("{place} {class}"),
        words,
    })
}

/// The text without what stands in quotes or brackets.
fn without_values(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut closing = None;
    for c in text.chars() {
        if closing.is_some() {
            if closing == Some(c) {
                closing = None;
                out.push(c);
            }
            continue;
        }
        closing = match c {
            '"' | '`' => Some(c),
            // `can't`
            '\'' if !out.ends_with(char::is_alphanumeric) => Some(c),
            '{' => Some('}'),
            '[' => Some(']'),
            _ => None,
        };
        out.push(c);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::stumbled;

    fn same(place: &str, one: &str, other: &str) -> bool {
        let both = stumbled(place, one).zip(stumbled(place, other));
        both.is_some_and(|(one, other)| one.is_like(&other))
    }

    #[test]
    fn values_are_no_causes_of_their_own() {
        for (one, other) in [
            (
                "KeyError: key :price not found in: %{qty: 2}",
                "KeyError: key :price not found in: %{}",
            ),
            (
                "TypeError: add(): Argument #1 must be of type int, string given",
                "TypeError: add(): Argument #1 must be of type int, null given",
            ),
            (
                "ValueError: could not convert string to float: 'x'",
                "ValueError: could not convert string to float: '9,5'",
            ),
            (
                "PlanError: plan free has no seats left",
                "PlanError: plan pro has no seats left",
            ),
            (
                "java.util.NoSuchElementException: key not found: vat",
                "java.util.NoSuchElementException: key not found: net",
            ),
            ("Test Panicked", "Test Panicked"),
        ] {
            assert!(same("src/cart.py:9", one, other), "{one}");
            assert!(!same("tests/test_cart.py:9", one, other), "{one}");
        }
    }

    #[test]
    fn what_one_line_raises_in_other_words_is_another_cause() {
        let said = [
            "ValueError: no slot is free",
            "ValueError: no badge is read",
        ];
        assert!(!same("src/check.py:9", said[0], said[1]));
        assert!(!same("src/check.py:9", "KeyError: 'a'", "TypeError: 'a'"));
    }
}
