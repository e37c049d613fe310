//! What a failed assertion was about, where it shows the line or says it: the function that
//! it called, the words that its author put beside it.

use super::lacks::{Subject, SubjectKind};
use super::shifted::measured;
use crate::engine::common_words::COMMON_WORDS;
use jelly_base::model::Failure;
use jelly_base::text::{LazyPattern, WordList};

/// Letters and words of an author's words that tell of one thing.
const LETTERS: usize = 12;
const WORDS: usize = 3;

/// The subjects of a failed assertion: of a number that came out too large or too small.
/// What a function does to other values in other ways is another fault of it.
pub(super) fn tested<'t>(
    failure: &Failure,
    said: impl Iterator<Item = &'t str>,
    text: &'t str,
) -> Vec<Subject> {
    let said: Vec<&str> = said.chain([text]).collect();
    let mut found = Vec::new();
    found.extend(said.iter().find_map(|said| noted(said)).map(about));
    let suite = failure
        .classname
        .as_deref()
        .filter(|suite| !suite.is_empty());
    let called = said.iter().find_map(|said| called(said)).zip(suite);
    let whose = whose(text);
    // Who forgets a hundred forgets it of every amount.
    let powers = suite.and_then(|suite| {
        let (_, times) = said.iter().find_map(|said| measured(said))?;
        let power = times.log10();
        let is_power = power.fract() == 0.0 && (2.0..=6.0).contains(&power.abs());
        is_power.then(|| about(format!("ten to {power}")).within(suite))
    });
    found.extend(powers);
    if (called.is_some() || whose.is_some())
        && let Some((is_larger, times)) = said.iter().find_map(|said| measured(said))
    {
        let way = if is_larger { "larger" } else { "smaller" };
        if let Some((function, suite)) = called {
            found.push(called_for(function, way).within(suite));
            found.push(called_for(function, &format!("{times:.3} times")));
        }
        // An object has its value from many places, of which one makes it so many times it.
        found.extend(whose.map(|whose| about(format!("{whose} {times:.3} times"))));
    }
    // What is no number differs in no way that could be told apart.
    let measured = said.iter().find_map(|said| measured(said));
    if let Some((function, suite)) = called.filter(|_| measured.is_none()) {
        found.push(called_for(function, "another").within(suite));
    }
    found.extend(asked(text, &said));
    found
}

/// What an assertion was about.
fn about(words: impl AsRef<str>) -> Subject {
    Subject::new(SubjectKind::Tested, words.as_ref())
}

/// A function that an assertion asked, with how what it gave differs from what was wanted.
fn called_for(function: &str, difference: &str) -> Subject {
    Subject::new(SubjectKind::Called, &format!("{function} {difference}"))
}

/// The function of a subject of [`SubjectKind::Called`].
pub(super) fn function_of(subject: &Subject) -> Option<&str> {
    let is_called = subject.kind == SubjectKind::Called;
    subject.name.split(' ').next().filter(|_| is_called)
}

/// The function whose value an assertion compares, whatever suite it is in: a method by its
/// class, as pytest tells it, or a function by a name of several words.
fn asked(text: &str, said: &[&str]) -> Option<Subject> {
    static BOUND: LazyPattern = LazyPattern::ascii(
        r"\bwhere ([a-z_]\w+) = <([A-Za-z_][\w.]*\.[A-Z]\w+) object at 0x[0-9a-f]+>\.([a-z_]\w+)",
    );
    if let Some(found) = BOUND.captures(text).filter(|found| found[1] == found[3]) {
        return Some(about(format!("of {}.{}", &found[2], &found[1])));
    }
    let function = value_of(text).or_else(|| said.iter().find_map(|said| called(said)))?;
    let has_words = function[1..].contains(|c: char| c == '_' || c.is_ascii_uppercase());
    // What many classes have is the method of one that is not told.
    let is_of_any = ["to_", "is_", "as_", "has_"];
    let is_of_any = is_of_any.iter().any(|begin| function.starts_with(begin));
    // Numbers that differ in another way are of another fault.
    let way = match said.iter().find_map(|said| measured(said)) {
        Some((true, _)) => "larger",
        Some((false, _)) => "smaller",
        None => "another",
    };
    let is_function = text.contains(&format!("<function {function} at "));
    let is_method = text.contains(&format!(".{function}(")) && !is_function;
    (has_words && !is_of_any && !is_method).then(|| called_for(function, way))
}

/// The function whose value pytest compares, by whatever name.
pub(super) fn asked_function(text: &str) -> Option<&str> {
    static FUNCTION: LazyPattern =
        LazyPattern::ascii(r"\bwhere [^\n=]+ = <function ([A-Za-z_][\w.]*) at 0x[0-9a-f]+>\(");
    Some(FUNCTION.captures(text)?.get(1)?.as_str())
}

/// The function that gave the value, as pytest tells it.
fn value_of(text: &str) -> Option<&str> {
    static VALUE: LazyPattern =
        LazyPattern::ascii(r"(?m)^E? *\+ +where [^\n=]+ = ([a-z_]\w{5,})\(");
    let name = VALUE.captures(text)?.get(1)?.as_str();
    (!is_helper(name)).then_some(name)
}

/// The function that a test asks and that raised itself, of a value that it can't take: with
/// other values it may give wrong ones.
pub(super) fn raised_in(text: &str, said: &str) -> Option<Subject> {
    const OF_VALUES: WordList = WordList(
        "ArithmeticError ArithmeticException ArgumentError DateTimeException DateTimeParseException \
         FloatDomainError IndexError InvalidOperation NumberFormatException OverflowError RangeError \
         ValueError ZeroDivisionError",
    );
    let class = said.split([':', ' ']).next().unwrap_or_default();
    let class = class.rsplit('.').next().unwrap_or_default();
    if !OF_VALUES.has(class) {
        return None;
    }
    let function = called(text)?;
    let innermost = text.rfind("\n    def ").map(|at| &text[at..])?;
    let is_own = innermost
        .trim_start()
        .starts_with(&format!("def {function}("));
    let has_words = function[1..].contains(|c: char| c == '_' || c.is_ascii_uppercase());
    (is_own && has_words).then(|| called_for(function, "another"))
}

/// The function that the failing line calls first, as pytest, Jest and RSpec show that
/// line, and as tests in Go tell it: `Shift() = 3, want 4`.
fn called(text: &str) -> Option<&str> {
    static CALLED: LazyPattern = LazyPattern::new(
        r"(?xm) ^>\ +(?:assert\ (?:not\ )?)?([a-z_]\w{5,})\(
              | ^\s*>\s*\d+\s\|\s+(?:await\ )?expect\((?:await\ )?([a-z]\w{5,})\(
              | Failure/Error:\ expect\(((?:[A-Z]\w*(?:::[A-Z]\w*)*\.[a-z]\w{2,}|[a-z]\w{5,})[?!]?)\(
              | (?:^|:\ |\()([A-Z]\w{3,})\([^()\n]*\)\ =\ \S
              | \bwhere\ [^\n=]+\ =\ <function\ ([a-z_]\w{5,})\ at\ 0x
              | ^>\ +assert\ (?:not\ )?(?:[a-z_]\w*\.)+([a-z_]\w{5,})\(
              | \bThe\ difference\ between\ ([a-z_]\w{5,})\(
              | \bequality\ of\ these\ values:\s+([a-z_]\w{5,})\(",
    );
    let found = CALLED.captures(text)?;
    let name = (1..=8).find_map(|part| found.get(part))?.as_str();
    (!is_helper(name)).then_some(name)
}

/// Whether a function is part of many tests, by how its name begins.
fn is_helper(name: &str) -> bool {
    let mut helpers = COMMON_WORDS.helpers.iter();
    helpers.any(|helper| name.starts_with(helper.as_str()))
}

/// The attribute of an object that gave the value, as pytest tells it:
/// `where 3 = Price(net=2).gross`.
fn whose(text: &str) -> Option<String> {
    static WHOSE: LazyPattern =
        LazyPattern::new(r"(?m)^E +\+ +where [^\n]+ = ([A-Z]\w+)\([^\n]*\)\.(\w+)(?:\([^\n]*\))?$");
    let found = WHOSE.captures(text)?;
    Some(format!("{}.{}", &found[1], &found[2]))
}

/// What the author of an assertion put beside it with a value, but for its numbers.
fn noted(text: &str) -> Option<String> {
    static NOTED: LazyPattern = LazyPattern::new(
        r"(?xm) \bassertion\ `[^`\n]+`\ failed:\ ([^\n]+)
              | ^\s*Messages:\s+([^\n]+)
              | ^([^\n]*\d[^\n]*)\nFailed\ asserting\ that\b
              | ^(?:\w+\.)*(?:\w*Error|\w*Exception):?\ ([^\n:]+)\ ==>\ expected:",
    );
    const SIGNS: [&str; 4] = ["assertion `", "Messages:", "Failed asserting", " ==> "];
    if !SIGNS.iter().any(|sign| text.contains(sign)) {
        return None;
    }
    let found = NOTED.captures(text)?;
    let words = (1..=4).find_map(|part| found.get(part))?.as_str();
    // On one line with the values these stand behind it.
    let words = words.split(" left: ").next().unwrap_or(words);
    if words.starts_with("Expected") {
        return None;
    }
    let letters = words.chars().filter(|c| c.is_alphabetic()).count();
    let has_value = words.contains(|c: char| c.is_ascii_digit());
    let mut counts = COMMON_WORDS.counts.iter();
    let counts = counts.any(|word| words.contains(word.as_str()));
    let is_telling =
        letters >= LETTERS && words.split_whitespace().count() >= WORDS && has_value && !counts;
    let bare = words.split(|c: char| c.is_ascii_digit() || c == '.' || c == '-');
    let bare: Vec<&str> = bare.filter(|part| !part.is_empty()).collect();
    is_telling.then(|| bare.concat())
}

#[cfg(test)]
mod tests {
    use super::{about, asked, called, called_for, noted, raised_in};

    #[test]
    fn the_function_of_the_failing_line_is_told() {
        for (text, name) in [
            (
                "    x = 3\n>       assert clearance(depth=x) == 4\nE       assert 3 == 4",
                Some("clearance"),
            ),
            (
                "  11 |\n> 12 |   expect(roundTo(3)).toBe(4)",
                Some("roundTo"),
            ),
            (
                "Failure/Error: expect(Tax::Rate.net(3)).to eq(4)",
                Some("Tax::Rate.net"),
            ),
            ("x_test.go:3: Shift(3) = 4, want 5", Some("Shift")),
            (">       assert client.get('/x').status == 200", None),
            (">       assert get_page('/x') == 200", None),
            (">       assert value == 200", None),
        ] {
            assert_eq!(called(text), name, "{text}");
        }
    }

    #[test]
    fn the_function_of_a_value_is_one_in_all_suites() {
        let of = |text: &str| asked(text, &[text]);
        let method = "E  AssertionError: assert datetime.date(2026, 1, 1) == 5\nE   +  where datetime.date(2026, 1, 1) = next_after(3)\nE   +    where next_after = <jobs.cron.Cron object at 0x7f4b37288710>.next_after";
        assert_eq!(of(method), Some(about("of jobs.cron.Cron.next_after")));
        let function = "E       AssertionError: assert datetime.date(2026, 1, 3) == datetime.date(2026, 3, 1)\nE        +  where datetime.date(2026, 1, 3) = parse_date('01.03.2026')";
        assert_eq!(of(function), Some(called_for("parse_date", "another")));
        let number = "E    assert 3 == 4\nE     +  where 3 = shelf_count([])";
        assert_eq!(of(number), Some(called_for("shelf_count", "smaller")));
        assert_eq!(
            of("E    assert 3 == 4\nE     +  where 3 = shelves([])"),
            None
        );
        let raised = ">       assert parse_date(text) == want\n\ntests/test_dates.py:18:\n\n    def parse_date(text):\n>           return date(y, mo, d)\nE           ValueError: month must be in 1..12";
        let told = raised_in(raised, "ValueError: month must be in 1..12");
        assert_eq!(
            told.map(|one| one.name.into_string()).as_deref(),
            Some("parse_date another")
        );
        assert_eq!(raised_in(raised, "TypeError: month must be in 1..12"), None);
    }

    #[test]
    fn an_author_s_words_are_told_but_for_their_numbers() {
        let first = "assertion `left == right` failed: drift 2.3 must be applied once\n  left: 1";
        let second = "assertion `left == right` failed: drift 7.4 must be applied once\n  left: 2";
        assert!(noted(first).is_some());
        assert_eq!(noted(first), noted(second));
        assert_eq!(noted("assertion `left == right` failed: case 3"), None);
        assert_eq!(noted("assertion `left == right` failed\n  left: 1"), None);
    }
}
