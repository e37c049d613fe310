//! Versions and the ranges that packages write of them.
//!
//! Main type: [`Version`]. Of PyPI's ranges (PEP 440) and npm's (node-semver)
//! it reads what packages write; a range that it can't read is neither met nor
//! broken.

use std::cmp::Ordering;
use std::fmt;

/// Parts that are compared; longer versions are rare, and their ends of no
/// account.
const PARTS: usize = 4;

/// The numbers of a version. What follows them (`rc1`, `-beta.2`) is left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Version(Vec<u64>);

impl Version {
    pub(super) fn of(text: &str) -> Option<Self> {
        let text = text.trim().trim_start_matches(['v', '=']).trim_start();
        let numbers = text
            .split(|c: char| !c.is_ascii_digit() && c != '.')
            .next()?;
        let parts: Vec<u64> = numbers
            .split('.')
            .take(PARTS)
            .map_while(|part| part.parse().ok())
            .collect();
        (!parts.is_empty()).then_some(Self(parts))
    }

    fn part(&self, index: usize) -> u64 {
        self.0.get(index).copied().unwrap_or_default()
    }

    /// The first version after it that may break what was written for it: the
    /// next major one, below 1.0 the next minor one.
    pub(super) fn next_breaking(&self) -> Self {
        self.next_at(usize::from(self.part(0) == 0))
    }

    /// The first version that may have broken what was written before it.
    pub(super) fn series(&self) -> Self {
        let kept = usize::from(self.part(0) == 0) + 1;
        Self((0..kept).map(|index| self.part(index)).collect())
    }

    /// Its first two numbers.
    pub(super) fn minor(&self) -> Self {
        Self(vec![self.part(0), self.part(1)])
    }

    /// The number at this place raised by one, and what follows left out.
    fn next_at(&self, index: usize) -> Self {
        let mut parts: Vec<u64> = (0..=index).map(|at| self.part(at)).collect();
        if let Some(last) = parts.last_mut() {
            *last = last.saturating_add(1);
        }
        Self(parts)
    }

    fn starts_with(&self, other: &Self) -> bool {
        (0..other.0.len()).all(|index| self.part(index) == other.part(index))
    }
}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(
            (0..PARTS)
                .map(|i| self.part(i))
                .cmp((0..PARTS).map(|i| other.part(i))),
        )
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts: Vec<String> = self.0.iter().map(u64::to_string).collect();
        f.write_str(&parts.join("."))
    }
}

/// The comparisons of PyPI's ranges, the longer first.
const OPERATORS: &[&str] = &["===", "~=", "==", "!=", ">=", "<=", ">", "<"];

/// Operator and version of each part of `>=1.2,<2`.
fn python_parts(range: &str) -> impl Iterator<Item = Option<(&'static str, &str)>> {
    range
        .split(',')
        .map(str::trim)
        .filter(|part| !part.is_empty())
        .map(|part| {
            let operator = OPERATORS.iter().find(|op| part.starts_with(**op))?;
            Some((*operator, part[operator.len()..].trim()))
        })
}

/// Whether a range of PyPI holds this version.
pub(super) fn python_allows(range: &str, version: &Version) -> Option<bool> {
    let mut all = true;
    for part in python_parts(range) {
        let (operator, text) = part?;
        let other = Version::of(text)?;
        let prefix = text.ends_with(".*");
        all &= match operator {
            ">=" => *version >= other,
            "<=" => *version <= other,
            ">" => *version > other,
            "<" => *version < other,
            "!=" if prefix => !version.starts_with(&other),
            "!=" => version.partial_cmp(&other) != Some(Ordering::Equal),
            "~=" => {
                *version >= other
                    && version.starts_with(&Version(
                        other.0[..other.0.len().saturating_sub(1).max(1)].to_vec(),
                    ))
            }
            _ if prefix => version.starts_with(&other),
            _ => version.partial_cmp(&other) == Some(Ordering::Equal),
        };
    }
    Some(all)
}

/// The lowest version that a range of PyPI holds, where it names one.
pub(super) fn python_least(range: &str) -> Option<Version> {
    python_parts(range)
        .flatten()
        .filter(|(operator, _)| matches!(*operator, ">=" | ">" | "~=" | "==" | "==="))
        .find_map(|(_, text)| Version::of(text))
}

/// Whether a range of npm holds this version.
pub(super) fn npm_allows(range: &str, version: &Version) -> Option<bool> {
    let mut read = false;
    for alternative in range.split("||") {
        match npm_all(alternative, version) {
            Some(true) => return Some(true),
            Some(false) => read = true,
            None => return None,
        }
    }
    read.then_some(false)
}

/// Whether all comparisons of one alternative hold.
fn npm_all(text: &str, version: &Version) -> Option<bool> {
    if let Some((from, to)) = text.split_once(" - ") {
        let to = Version::of(to)?;
        let below = *version <= to || version.starts_with(&to);
        return Some(*version >= Version::of(from)? && below);
    }
    // `>= 18` is one comparison.
    let mut joined = text.trim().to_owned();
    for operator in [">=", "<=", ">", "<", "^", "~", "="] {
        while joined.contains(&format!("{operator} ")) {
            joined = joined.replace(&format!("{operator} "), operator);
        }
    }
    let mut all = true;
    for word in joined.split_whitespace() {
        all &= npm_one(word, version)?;
    }
    Some(all)
}

fn npm_one(word: &str, version: &Version) -> Option<bool> {
    if matches!(word, "*" | "x" | "X" | "latest") {
        return Some(true);
    }
    let operator = ["^", "~", ">=", "<=", ">", "<", "="]
        .into_iter()
        .find(|operator| word.starts_with(operator))
        .unwrap_or_default();
    let other = Version::of(&word[operator.len()..])?;
    Some(match operator {
        ">=" => *version >= other,
        "<=" => *version <= other || version.starts_with(&other),
        ">" => *version > other && !version.starts_with(&other),
        "<" => *version < other,
        "^" => {
            let zeros = (0..other.0.len())
                .take_while(|at| other.part(*at) == 0)
                .count();
            let held = zeros.min(other.0.len() - 1);
            *version >= other && *version < other.next_at(held)
        }
        "~" => *version >= other && *version < other.next_at((other.0.len() - 1).min(1)),
        // `18`, `18.x`, `1.2.3`.
        _ => version.starts_with(&other),
    })
}

#[cfg(test)]
mod tests {
    use super::{Version, npm_allows, python_allows, python_least};

    fn version(text: &str) -> Version {
        Version::of(text).unwrap()
    }

    #[test]
    fn ranges_of_pypi_are_read() {
        for (range, text, held) in [
            ("", "2.3.0", Some(true)),
            (">=1.6.0", "2.3.0", Some(true)),
            ("<2,>=1.6.0", "2.3.0", Some(false)),
            ("<2,>=1.6.0", "1.30.0", Some(true)),
            ("~=1.4", "1.9", Some(true)),
            ("~=1.4.2", "1.5", Some(false)),
            ("==1.*", "1.30.0", Some(true)),
            ("==1.2", "1.2.0", Some(true)),
            ("!=1.3.*", "1.3.4", Some(false)),
            (">=1.0 ; python", "2.0", Some(true)),
            ("@ git", "2.0", None),
        ] {
            assert_eq!(python_allows(range, &version(text)), held, "{range} {text}");
        }
        assert_eq!(python_least("<3,>=1.2.1"), Some(version("1.2.1")));
        assert_eq!(python_least("<3"), None);
    }

    #[test]
    fn ranges_of_npm_are_read() {
        for (range, text, held) in [
            (">=18", "v16.20.2", Some(false)),
            (">= 18.0.0", "20.1.0", Some(true)),
            ("^20.19.0 || >=22.12.0", "20.20.2", Some(true)),
            ("^20.19.0 || >=22.12.0", "21.0.0", Some(false)),
            ("18 || 20", "20.1.0", Some(true)),
            ("18.x", "18.4.0", Some(true)),
            (">=18 <21", "22.0.0", Some(false)),
            ("^0.6.0", "0.7.0", Some(false)),
            ("^0.6.0", "0.6.3", Some(true)),
            ("^1.12.0", "0.6.0", Some(false)),
            ("~1.2.3", "1.3.0", Some(false)),
            ("1.2 - 2", "2.9.0", Some(true)),
            (">16", "16.20.2", Some(false)),
            ("*", "1.0.0", Some(true)),
            ("workspace:*", "1.0.0", None),
        ] {
            assert_eq!(npm_allows(range, &version(text)), held, "{range} {text}");
        }
    }

    #[test]
    fn the_border_of_a_series_is_the_next_number_that_may_break() {
        assert_eq!(version("1.6.0").next_breaking().to_string(), "2");
        assert_eq!(version("0.27").next_breaking().to_string(), "0.28");
        assert_eq!(version("2.3.0").series().to_string(), "2");
        assert_eq!(version("0.28.1").series().to_string(), "0.28");
        assert_eq!(Version::of("rc1"), None);
    }
}
