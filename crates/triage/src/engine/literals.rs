//! Which literals a text must contain for a pattern to match it.

use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Class, Hir, HirKind};

/// Shorter literals are in every text.
const SHORTEST: usize = 3;
/// Longer ones tell no more than their beginning.
const LONGEST: usize = 24;
/// Texts that a part of a pattern matches, where they are all known.
const MOST: usize = 64;
/// Literals of one pattern: long lists of names of exceptions have more than
/// a hundred.
const BRANCHES: usize = 256;
/// Nesting of a pattern that is looked into.
const DEPTH: usize = 64;

/// What is known of all that an expression matches. Letters of ASCII are in
/// lower case.
struct Known {
    /// All texts it matches, where they are few.
    exact: Option<Vec<Vec<u8>>>,
    /// One of these is in whatever it matches.
    required: Option<Vec<Vec<u8>>>,
}

impl Known {
    const NOTHING: Self = Self {
        exact: None,
        required: None,
    };

    fn exactly(texts: Vec<Vec<u8>>) -> Self {
        Self {
            exact: Some(texts),
            required: None,
        }
    }

    /// The better of both ways to tell a match by its literals.
    fn literals(self) -> Option<Vec<Vec<u8>>> {
        better(self.exact.filter(|texts| is_telling(texts)), self.required)
    }
}

/// The literals, in lower case, of which any text that `pattern` matches
/// contains one, whatever its case; `None` where the pattern has no such, as
/// `\d+` has none.
pub(super) fn literals(pattern: &str) -> Option<Vec<String>> {
    // As the patterns are compiled; see `builder` of the engine.
    let hir = ParserBuilder::new()
        .unicode(false)
        .utf8(false)
        .multi_line(true)
        .build()
        .parse(pattern)
        .ok()?;
    let mut literals: Vec<String> = known(&hir, DEPTH)
        .literals()?
        .into_iter()
        .map(|literal| {
            let cut = &literal[..literal.len().min(LONGEST)];
            let text = cut.utf8_chunks().next()?.valid();
            (text.len() >= SHORTEST).then(|| text.to_owned())
        })
        .collect::<Option<_>>()?;
    literals.sort_unstable();
    literals.dedup();
    Some(literals)
}

fn is_telling(literals: &[Vec<u8>]) -> bool {
    !literals.is_empty()
        && literals.len() <= BRANCHES
        && literals.iter().all(|literal| literal.len() >= SHORTEST)
}

/// Words that stand in most failures, and so tell no more than three letters.
const COMMON: [&[u8]; 9] = [
    b"error",
    b"exception",
    b"expect",
    b"expected",
    b"failed",
    b"failure",
    b"message",
    b"timed out",
    b"timeout",
];

/// Fewer texts contain a longer literal, and more texts one of many.
fn score(literals: &[Vec<u8>]) -> i64 {
    let telling = |literal: &Vec<u8>| match COMMON.contains(&literal.as_slice()) {
        true => SHORTEST,
        false => literal.len(),
    };
    let shortest = literals.iter().map(telling).min().unwrap_or(0);
    let many = i64::from(literals.len().max(1).ilog2());
    4 * shortest.min(12) as i64 - many
}

fn better(one: Option<Vec<Vec<u8>>>, other: Option<Vec<Vec<u8>>>) -> Option<Vec<Vec<u8>>> {
    match (one, other) {
        (Some(one), Some(other)) if score(&other) > score(&one) => Some(other),
        (Some(one), _) => Some(one),
        (None, other) => other,
    }
}

fn known(hir: &Hir, depth: usize) -> Known {
    if depth == 0 {
        return Known::NOTHING;
    }
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => Known::exactly(vec![Vec::new()]),
        HirKind::Literal(literal) => Known::exactly(vec![literal.0.to_ascii_lowercase()]),
        HirKind::Class(class) => letters(class).map_or(Known::NOTHING, Known::exactly),
        HirKind::Capture(capture) => known(&capture.sub, depth - 1),
        HirKind::Repetition(repetition) => {
            let inner = known(&repetition.sub, depth - 1);
            match (repetition.min, repetition.max) {
                (0, Some(1)) => Known {
                    exact: inner.exact.map(|mut texts| {
                        texts.push(Vec::new());
                        texts
                    }),
                    required: None,
                },
                (0, _) => Known::NOTHING,
                (1, Some(1)) => inner,
                (_, _) => Known {
                    exact: None,
                    required: inner.literals(),
                },
            }
        }
        HirKind::Concat(parts) => sequence(parts, depth - 1),
        HirKind::Alternation(branches) => choice(branches, depth - 1),
    }
}

/// A class as the few letters that it is, upper and lower case being one.
fn letters(class: &Class) -> Option<Vec<Vec<u8>>> {
    /// Letters of one place, before their case is dropped.
    const FEW: usize = 12;
    let mut letters: Vec<u8> = Vec::new();
    let mut add = |first: u8, last: u8| {
        if usize::from(last.saturating_sub(first)) >= FEW || letters.len() >= FEW {
            return false;
        }
        letters.extend((first..=last).map(|letter| letter.to_ascii_lowercase()));
        true
    };
    let few = match class {
        Class::Bytes(class) => class
            .ranges()
            .iter()
            .all(|range| add(range.start(), range.end())),
        Class::Unicode(class) => class
            .ranges()
            .iter()
            .all(|range| range.end().is_ascii() && add(range.start() as u8, range.end() as u8)),
    };
    letters.sort_unstable();
    letters.dedup();
    (few && !letters.is_empty()).then(|| letters.into_iter().map(|letter| vec![letter]).collect())
}

/// What follows each other: the best of its parts, where neighbours of which
/// all texts are known are one part.
fn sequence(parts: &[Hir], depth: usize) -> Known {
    let mut run: Vec<Vec<u8>> = vec![Vec::new()];
    let mut whole = true;
    let mut best: Option<Vec<Vec<u8>>> = None;
    for part in parts {
        let known = known(part, depth);
        if let Some(texts) = &known.exact
            && run.len() * texts.len() <= MOST
            && (run.len() == 1 || run.iter().all(|text| text.len() <= LONGEST))
        {
            run = run
                .iter()
                .flat_map(|before| texts.iter().map(move |text| [&before[..], text].concat()))
                .collect();
            run.sort_unstable();
            run.dedup();
            continue;
        }
        whole = false;
        let ended = std::mem::replace(&mut run, vec![Vec::new()]);
        best = better(best, Some(ended).filter(|texts| is_telling(texts)));
        match known {
            Known {
                exact: Some(texts), ..
            } if texts.len() <= MOST => run = texts,
            known => best = better(best, known.literals()),
        }
    }
    if whole {
        return Known {
            exact: Some(run),
            required: best,
        };
    }
    Known {
        exact: None,
        required: better(best, Some(run).filter(|texts| is_telling(texts))),
    }
}

fn choice(branches: &[Hir], depth: usize) -> Known {
    let mut exact: Option<Vec<Vec<u8>>> = Some(Vec::new());
    let mut required: Option<Vec<Vec<u8>>> = Some(Vec::new());
    for branch in branches {
        let known = known(branch, depth);
        exact = match (exact, &known.exact) {
            (Some(mut all), Some(more)) if all.len() + more.len() <= MOST => {
                all.extend(more.iter().cloned());
                Some(all)
            }
            (_, _) => None,
        };
        required = match (required, known.literals()) {
            (Some(mut all), Some(more)) => {
                all.extend(more);
                Some(all)
            }
            (_, _) => None,
        };
    }
    Known {
        exact,
        required: required.filter(|texts| is_telling(texts)),
    }
}

#[cfg(test)]
mod tests {
    use super::literals;

    #[test]
    fn the_literals_of_a_pattern_are_what_it_can_not_match_without() {
        for (pattern, expected) in [
            ("Connection refused", &["connection refused"][..]),
            (
                "(?i)econn(?:refused|reset)",
                &["econnrefused", "econnreset"],
            ),
            (
                r"\bport (\d+) is (?:in use|taken)",
                &[" is in use", " is taken"],
            ),
            ("time(?:d )?out", &["timed out", "timeout"]),
            ("(?:abc)+x?", &["abc"]),
            ("^Error: .*unexpected", &["unexpected"]),
            // Both are long enough, but one is in most failures.
            ("^Error: .*expected", &["error: "]),
            ("[Ff]ailed", &["failed"]),
            ("(?:foo|bar|quux).*z", &["bar", "foo", "quux"]),
        ] {
            assert_eq!(
                literals(pattern).as_deref(),
                Some(&expected.iter().map(|e| (*e).to_owned()).collect::<Vec<_>>()[..]),
                "{pattern}"
            );
        }
        for pattern in [r"\d+", "(?:abc)?", "abc|x", "a.b.c", "", "(?:abc){0,3}"] {
            assert_eq!(literals(pattern), None, "{pattern}");
        }
    }
}
