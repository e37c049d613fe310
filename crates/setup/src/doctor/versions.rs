//! Versions and the ranges that packages write of them.
//!
//! Main type: [`Version`]. PyPI's ranges (PEP 440) and npm's (node-semver) are
//! read by a library each; a range that it can't read is neither met nor
//! broken.

use nodejs_semver::Range;
use pep440_rs::{Operator, VersionSpecifiers};
use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr as _;

/// Parts that are compared; longer versions are rare, and their ends of no
/// account.
const PARTS: usize = 4;

/// The numbers of a version, and its pre-release.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Version {
    numbers: Vec<u64>,
    /// `rc1`, `-beta.2`; empty for a release.
    prerelease: String,
}

impl Version {
    pub(super) fn of(text: &str) -> Option<Self> {
        let text = text.trim().trim_start_matches(['v', '=']).trim_start();
        let end = text
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .unwrap_or(text.len());
        let numbers: Vec<u64> = text[..end]
            .split('.')
            .take(PARTS)
            .map_while(|part| part.parse().ok())
            .collect();
        if numbers.is_empty() {
            return None;
        }
        let word = text.split([' ', ',', '+']).next().unwrap_or_default();
        let is_prerelease = pep440_rs::Version::from_str(word).map_or_else(
            |_| word[end.min(word.len())..].starts_with('-'),
            |version| version.any_prerelease(),
        );
        let start = if is_prerelease { end } else { word.len() };
        let prerelease = word[start..].to_owned();
        Some(Self {
            numbers,
            prerelease,
        })
    }

    fn of_numbers(numbers: impl IntoIterator<Item = u64>) -> Self {
        Self {
            numbers: numbers.into_iter().collect(),
            prerelease: String::new(),
        }
    }

    fn part(&self, index: usize) -> u64 {
        self.numbers.get(index).copied().unwrap_or_default()
    }

    /// The release that a pre-release comes before.
    pub(super) fn release(self) -> Self {
        Self::of_numbers(self.numbers)
    }

    /// Whether it is below 1.0.
    pub(super) fn is_early(&self) -> bool {
        self.part(0) == 0
    }

    /// The first version after it that may break what was written for it: the
    /// next major one, below 1.0 the next minor one.
    pub(super) fn next_breaking(&self) -> Self {
        match self.part(0) {
            0 => Self::of_numbers([0, self.part(1).saturating_add(1)]),
            major => Self::of_numbers([major.saturating_add(1)]),
        }
    }

    /// The first version that may have broken what was written before it.
    pub(super) fn series(&self) -> Self {
        let kept = usize::from(self.part(0) == 0) + 1;
        Self::of_numbers((0..kept).map(|index| self.part(index)))
    }

    /// Its first two numbers.
    pub(super) fn minor(&self) -> Self {
        Self::of_numbers([self.part(0), self.part(1)])
    }
}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        let numbers = |version: &Self| [0, 1, 2, 3].map(|index| version.part(index));
        let is_release = |version: &Self| version.prerelease.is_empty();
        Some((numbers(self), is_release(self)).cmp(&(numbers(other), is_release(other))))
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let numbers: Vec<String> = self.numbers.iter().map(u64::to_string).collect();
        write!(f, "{}{}", numbers.join("."), self.prerelease)
    }
}

/// What of a requirement is its range, and not its environment marker.
fn specifiers(range: &str) -> Option<VersionSpecifiers> {
    let range = range.split(';').next().unwrap_or_default();
    VersionSpecifiers::from_str(range.trim().trim_end_matches(',')).ok()
}

/// Whether a range of PyPI holds this version.
pub(super) fn python_allows(range: &str, version: &Version) -> Option<bool> {
    let version = pep440_rs::Version::from_str(&version.to_string()).ok()?;
    Some(specifiers(range)?.contains(&version))
}

/// The lowest version that a range of PyPI holds, where it names one.
pub(super) fn python_least(range: &str) -> Option<Version> {
    let specifiers = specifiers(range)?;
    let mut lower = specifiers
        .iter()
        .filter(|specifier| match specifier.operator() {
            Operator::Equal
            | Operator::EqualStar
            | Operator::ExactEqual
            | Operator::TildeEqual
            | Operator::GreaterThan
            | Operator::GreaterThanEqual => true,
            Operator::NotEqual
            | Operator::NotEqualStar
            | Operator::LessThan
            | Operator::LessThanEqual => false,
        });
    Version::of(&lower.next()?.version().to_string())
}

/// Whether a range of npm holds this version.
pub(super) fn npm_allows(range: &str, version: &Version) -> Option<bool> {
    // A tag, and what npm reads as `*`.
    let range = match range.trim() {
        "latest" | "" => "*",
        range => range,
    };
    let numbers = [0, 1, 2].map(|index| version.part(index).to_string());
    let text = format!("{}{}", numbers.join("."), version.prerelease);
    let version = nodejs_semver::Version::parse(text).ok()?;
    Some(Range::parse(range).ok()?.satisfies(&version))
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
            (">=2.0", "2.0.0rc1", Some(false)),
            ("<2", "2.0.0rc1", Some(false)),
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
            ("^2.0.0", "2.0.0-beta.1", Some(false)),
            ("^2.0.0-beta.0", "2.0.0-beta.1", Some(true)),
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
        assert!(version("2.0.0rc1") < version("2.0") && version("2.0.0-rc.1") > version("1.9"));
        assert_eq!(version("v24.0.0-nightly").release().to_string(), "24.0.0");
        assert_eq!(version("1.2.0+local").to_string(), "1.2.0");
    }
}
