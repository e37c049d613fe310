//! Names as they are the same in the next run.

use super::LazyPattern;
use regex::Captures;
use std::borrow::Cow;

/// Date and time as of RFC 3339, and near it.
pub const MOMENT: &str =
    r"\b\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?:[Zz]|[+-]\d{2}:?\d{2})?";
/// A UUID as it is written.
pub const UUID: &str = r"\b[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b";

/// What a writer puts into the name of a suite that is of this run alone, each
/// in a group that names its replacement.
///
/// Unlike the parts of a message, a name tells two things apart that stand
/// side by side in one run. So only what can't tell them apart is taken:
/// moments and not days, numbers of runs and not `suite-2`, folders of a
/// machine and not those of the project, and no version of a browser.
const VOLATILE: &str = r"(?x)
  (?P<uuid>\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b)
| (?P<time>(?:19|20)\d\d-[01]\d-[0-3]\d[T\ _-]+[0-2]\d[:._-]?[0-5]\d(?:[:._-]?[0-5]\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?
    |(?:19|20)\d\d[01]\d[0-3]\d[T\ _-]?[0-2]\d[0-5]\d(?:[0-5]\d(?:\d{3})?)?
    |\d{1,2}[/.]\d{1,2}[/.](?:19|20)\d\d,?\ \d{1,2}:\d\d(?::\d\d)?(?:\ [AP]M)?
    |(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)\ [A-Z][a-z]{2}\ \ ?\d{1,2}\ \d\d:\d\d:\d\d(?:\ [A-Z]{3,4})?(?:\ \d{4})?)
| (?P<epoch>1[5-9]\d{8}(?:\d{3})?)
| (?P<folder>(?:[A-Za-z]:)?[/\\](?:
      home[/\\]runner[/\\]work[/\\][^/\\\s]+[/\\][^/\\\s]+
    | Users[/\\]runner[/\\]work[/\\][^/\\\s]+[/\\][^/\\\s]+
    | a[/\\][^/\\\s]+[/\\][^/\\\s]+
    | builds[/\\][^/\\\s]+[/\\][^/\\\s]+
    | (?:[^/\\\s]+[/\\])*workspace[/\\][^/\\\s]+
    | (?:home|Users)[/\\][^/\\\s]+
    | root
    | private[/\\]tmp[/\\][^/\\\s]+
    | tmp[/\\][^/\\\s]+
    | var[/\\]tmp[/\\][^/\\\s]+
    | (?:private[/\\])?var[/\\]folders[/\\][^/\\\s]+[/\\][^/\\\s]+[/\\]T
  )[/\\])
| (?P<port>(?P<peer>\blocalhost|\b127\.0\.0\.1|\[::1\]):\d{5}\b)
| (?P<pod>(?P<app>\b[a-z][a-z0-9]*(?:-[a-z0-9]+)*)-(?:[0-9a-f]{8,10}-[a-z0-9]{5})\b)
| (?P<host>\bip(?:-\d{1,3}){4}\b|\b[\w.+-]+@[A-Za-z0-9][\w-]*\b)
| (?P<run>(?P<word>\b(?i:build|run|job|pipeline|execution))(?P<mark>[\ _:\#-]{1,3})\d{3,}\b)
| (?P<hex>\b[0-9a-f]{12}\b|\b[0-9a-f]{40}\b|\b[0-9a-f]{64}\b)
";

static VOLATILE_PARTS: LazyPattern = LazyPattern::new(VOLATILE);

/// `name`, of a suite or a class, without what is of one run: moments, ids,
/// numbers of builds, machines, and folders that a machine keeps its
/// checkouts in. Two suites of one run stay two.
#[must_use]
pub fn stable_name(name: &str) -> Cow<'_, str> {
    if is_plain(name) {
        return Cow::Borrowed(name);
    }
    VOLATILE_PARTS.replace_all(name, |found: &Captures<'_>| {
        let is = |group| found.name(group).is_some();
        let part = |group| found.name(group).map_or("", |part| part.as_str());
        let whole = &found[0];
        if is("uuid") {
            "<uuid>".to_owned()
        } else if is("time") || is("epoch") {
            "<time>".to_owned()
        } else if is("folder") {
            "<dir>/".to_owned()
        } else if is("port") {
            format!("{}:<port>", part("peer"))
        } else if is("pod") {
            format!("{}-<host>", part("app"))
        } else if is("host") {
            "<host>".to_owned()
        } else if is("run") {
            format!("{}{}<number>", part("word"), part("mark"))
        } else if is("hex") && is_id(whole) {
            "<id>".to_owned()
        } else {
            whole.to_owned()
        }
    })
}

/// Whether nothing in `name` is taken for volatile, as in that of nearly every
/// class: it is asked for every failure, and takes a hundredth of the pattern's
/// time.
fn is_plain(name: &str) -> bool {
    // Years have four digits, and the shortest ids twelve letters of sixteen.
    const YEAR: usize = 4;
    const ID: usize = 12;
    let (mut digits, mut hex) = (0, 0);
    let (mut numbered, mut suspect, mut joined) = (false, false, false);
    for byte in name.bytes() {
        if byte.is_ascii_digit() {
            digits += 1;
            numbered = true;
            // A number behind such a sign may be that of a build.
            suspect |= digits >= YEAR || digits == YEAR - 1 && joined;
        } else {
            digits = 0;
            joined = matches!(byte, b' ' | b'_' | b'#');
        }
        hex = match byte {
            b'0'..=b'9' | b'a'..=b'f' => hex + 1,
            b'/' | b'\\' | b'@' => return false,
            _ => 0,
        };
        suspect |= hex >= ID || matches!(byte, b'-' | b':') || !byte.is_ascii();
    }
    !(numbered && suspect)
}

/// Whether it is an id, and no number or word that happens to be as long.
fn is_id(hex: &str) -> bool {
    hex.bytes().any(|b| b.is_ascii_digit()) && hex.bytes().any(|b| b.is_ascii_alphabetic())
}

#[cfg(test)]
mod tests {
    use super::stable_name;
    use proptest::prelude::*;

    #[test]
    fn what_is_of_one_run_is_no_part_of_a_name() {
        let same = [
            ("TestAcme-20251114214921", "TestAcme-20251115080000"),
            (
                "smoke 2026-11-22T09:10:11.123Z",
                "smoke 2026-11-23T10:00:00Z",
            ),
            ("smoke_20261122_091011", "smoke_20261123_101500"),
            ("API 22.11.2026 09:10", "API 23.11.2026 11:45"),
            ("run-1763802000123", "run-1763888400456"),
            ("ci@BUMBLEBEE shop", "ci@fv-az123-456 shop"),
            (
                "/home/runner/work/shop/shop/phpunit.xml",
                "/Users/runner/work/shop/shop/phpunit.xml",
            ),
            (
                "/home/ann/src/shop.js",
                "/var/lib/jenkins/workspace/shop_PR-128@2/src/shop.js",
            ),
            (r"C:\Jenkins\workspace\shop\a.dll", r"D:\a\shop\shop\a.dll"),
            ("/tmp/tmp.Xy12/e2e.spec.ts", "/builds/team/shop/e2e.spec.ts"),
            ("e2e http://localhost:49152", "e2e http://localhost:53211"),
            ("shop-7d9f8b6c5d-x2x9z smoke", "shop-66b7c9d8f4-abcde smoke"),
            ("on ip-10-0-1-23", "on ip-10-0-9-4"),
            ("Build #1234 smoke", "Build #1301 smoke"),
            (
                "job 0d5e8a52-7c1a-4b4e-9d55-6b0a86a9b6f1",
                "job 1f0c6c1e-2222-4b4e-9d55-6b0a86a9b6f2",
            ),
            ("in 4f2a9c01bd37", "in 9c01bd374f2a"),
        ];
        for (one, other) in same {
            assert_eq!(stable_name(one), stable_name(other));
            assert_ne!(one, stable_name(one));
        }
    }

    #[test]
    fn suites_of_one_run_stay_apart() {
        let apart = [
            ("suite-1", "suite-2"),
            ("run 1", "run 2"),
            (
                "Chrome 98.0.4758.102 (Linux x86_64)",
                "Chrome 99.0.4844.51 (Linux x86_64)",
            ),
            ("chromium", "firefox"),
            ("Europe 2024-01-01", "Europe 2024-01-02"),
            ("src/a/index.js", "src/b/index.js"),
            ("/home/ann/a/index.js", "/home/ann/b/index.js"),
            ("http://localhost:8080", "http://localhost:8081"),
            ("TC2688", "TC2689"),
            ("ipv4 10.0.0.1", "ipv4 10.0.0.2"),
            ("issue 1234567", "issue 1234568"),
            ("net461", "net472"),
            ("Crc32Test", "Crc64Test"),
            ("100000000000", "200000000000"),
            (
                "UI_MyTask_AC_BulkActions_ApproveAll_AddCommentNo_TC2688",
                "UI_MyTask_AC_BulkActions_ApproveAll_AddCommentYes_TC2689",
            ),
        ];
        for (one, other) in apart {
            assert_ne!(stable_name(one), stable_name(other));
        }
    }

    #[test]
    fn names_of_classes_are_left_as_they_are() {
        for name in ["shop.CartTest", "Nums/P", "test_é", "", "a\\b", "gtest/3"] {
            assert_eq!(stable_name(name), name);
        }
    }

    proptest! {
        #[test]
        fn a_plain_name_has_nothing_that_the_pattern_finds(
            name in "(build|run|job|[a-f0-9]{1,13}|[ _#.]|[0-9]{1,5}|[A-Za-z]{1,4}){0,6}"
        ) {
            prop_assume!(super::is_plain(&name) && name.contains(|c: char| c.is_ascii_digit()));
            prop_assert!(!super::VOLATILE_PARTS.is_match(&name), "{}", name);
        }

        #[test]
        fn a_stable_name_is_stable(name in "[ -~é]{0,60}") {
            let once = stable_name(&name).into_owned();
            let twice = stable_name(&once).into_owned();
            prop_assert_eq!(once, twice);
        }
    }
}
