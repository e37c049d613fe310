//! Conditions of C++ over which the same was thrown: no stack tells where, but both call one
//! function.

use super::group::{CAUSES, Group};
use crate::engine::skeleton;
use jelly_base::model::FailureView;
use jelly_base::text::{LazyPattern, WordList};

/// What is called on any value, or is the framework's.
const OF_ANY: WordList = WordList(
    "Approx Contains EndsWith Equals Matches StartsWith WithinAbs WithinRel abs at back begin c_str ceil count data dynamic_cast empty end fabs find first floor front get \
     length max min move number pow round second size sqrt static_cast std str string to_string \
     value what",
);

/// Pairs of groups of one cause.
pub(super) fn thrown_alike(views: &[FailureView<'_>], groups: &[Group]) -> Vec<(usize, usize)> {
    let mut known: Vec<Thrown<'_>> = Vec::new();
    let mut found = Vec::new();
    for (at, group) in groups.iter().enumerate().take(CAUSES) {
        let first = group.victims.first().map(|first| &views[*first]);
        let Some(thrown) = first.and_then(|view| Thrown::of(at, view)) else {
            continue;
        };
        if let Some(other) = known.iter().find(|other| other.is_alike(&thrown)) {
            found.push((other.group, at));
        }
        known.push(thrown);
    }
    found
}

struct Thrown<'v> {
    group: usize,
    report: &'v str,
    said: String,
    /// The functions of the project that the condition calls, each with what it is of.
    called: Vec<String>,
}

impl<'v> Thrown<'v> {
    fn of(group: usize, view: &FailureView<'v>) -> Option<Self> {
        let is_native = view.kind.rule.starts_with("native/");
        if !is_native || view.kind.root_cause != "code_exception" {
            return None;
        }
        let (_, evidence) = view.evidence?;
        let condition = view.message?;
        let called = calls(condition);
        let said = skeleton(evidence);
        // Where the condition is what is quoted, nothing tells what was thrown.
        (!called.is_empty() && !evidence.contains(condition)).then_some(Self {
            group,
            report: view.report,
            said,
            called,
        })
    }

    fn is_alike(&self, other: &Self) -> bool {
        // What several functions are given is made for each of them.
        let are_bare = self.called.len() == 1 || other.called.len() == 1;
        let is_called = |function| other.called.contains(function);
        let is_one = match are_bare {
            true => self.called.iter().any(is_called),
            false => self.called.first() == other.called.first(),
        };
        self.report == other.report && self.said == other.said && is_one
    }
}

/// The functions that a condition calls, as `money::parse`; what is called on what another gave
/// is one with it, as in `make_cart().total()`: either may have thrown.
fn calls(condition: &str) -> Vec<String> {
    static CALL: LazyPattern =
        LazyPattern::ascii(r"(?:\b[A-Za-z_]\w*(?:::|\.|->))*\b([A-Za-z_]\w+)\(");
    const READ: usize = 1000;
    let condition = &condition[..condition.floor_char_boundary(READ.min(condition.len()))];
    let mut found: Vec<(usize, String)> = Vec::new();
    for call in CALL.captures_iter(condition) {
        let (Some(whole), Some(name)) = (call.get(0), call.get(1)) else {
            continue;
        };
        let before = &condition[..whole.start()];
        let is_macro = name.as_str().len() > 2 && !name.as_str().contains(char::is_lowercase);
        if OF_ANY.has(name.as_str()) || is_macro {
            continue;
        }
        let told = whole.as_str().trim_end_matches('(').to_owned();
        let given = before
            .strip_suffix(").")
            .or_else(|| before.strip_suffix(")->"));
        let giver = given.and_then(|given| {
            let mut known = found.iter_mut().rev();
            known.find(|(at, _)| closes(&condition[*at..given.len() + 1]))
        });
        match giver {
            Some((at, chain)) => {
                chain.push('.');
                chain.push_str(&told);
                *at = whole.end();
            }
            None => found.push((whole.end(), told)),
        }
    }
    found.into_iter().map(|(_, told)| told).collect()
}

/// Whether a text that begins behind a bracket ends with the one that closes it.
fn closes(text: &str) -> bool {
    let mut open = 1_usize;
    for (at, letter) in text.char_indices() {
        match letter {
            '(' => open += 1,
            ')' => open -= 1,
            _ => {}
        }
        if open == 0 {
            return at + 1 == text.len();
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::calls;

    #[test]
    fn functions_are_told_with_what_they_are_of() {
        for (condition, told) in [
            ("parse_money(\"1\") == 1", vec!["parse_money"]),
            ("ParseMoney(\"1\") == Approx(1)", vec!["ParseMoney"]),
            ("xml::parse(s) == 1", vec!["xml::parse"]),
            (
                "make_cart(1, of(2)).total() == 3",
                vec!["make_cart.total", "of"],
            ),
            ("number(load(\"flute\"), \"cutoff\") == 2", vec!["load"]),
            ("size(a.begin()) == 2", Vec::new()),
        ] {
            assert_eq!(calls(condition), told, "{condition}");
        }
    }
}
