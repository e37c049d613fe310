//! Lines of a stack: where a program was, and no statement about what went
//! wrong.

use regex::Regex;
use std::sync::LazyLock;

/// The place that a line of a stack names, or `None` for any other line.
///
/// Places are paths, `package.Class.method(File.java:1)` on the JVM, or empty
/// where the line names none.
pub(super) fn place(line: &str) -> Option<&str> {
    let line = line.trim();
    if let Some(rest) = line.strip_prefix("at ") {
        return called_at(rest);
    }
    // Vitest
    if let Some(rest) = line.strip_prefix("❯ ") {
        return Some(rest.rsplit(' ').next().unwrap_or(rest));
    }
    // Apex: `Class.OrderService.close: line 88, column 1`
    if let Some(rest) = line.strip_prefix("Class.")
        && let Some((class, _)) = rest.split_once(": line ")
    {
        return Some(class.split('.').next().unwrap_or(class));
    }
    // Dart: `test/cart_test.dart 14:5   main.<fn>`
    if let Some((path, rest)) = line.split_once(' ')
        && (path.starts_with("package:") || path.starts_with("dart:") || path.ends_with(".dart"))
        && !rest.starts_with(|c: char| c.is_ascii_uppercase())
    {
        return Some(path);
    }
    if line.starts_with("... ") && (line.ends_with(" more") || line.ends_with(" omitted")) {
        return Some("");
    }
    if let Some(rest) = line.strip_prefix("File \"") {
        return rest.split_once("\", line ").map(|(path, _)| path);
    }
    // RSpec and Perl mark their lines as comments.
    let line = line.strip_prefix("# ").unwrap_or(line);
    let line = line.strip_prefix("from ").unwrap_or(line);
    if let Some((path, _)) = line.split_once(".rb:")
        && !path.contains(' ')
        && (line.contains(":in ") || line.ends_with(|c: char| c.is_ascii_digit()))
    {
        return Some(&line[..path.len() + 3]);
    }
    if line.starts_with('#') && line.as_bytes().get(1).is_some_and(u8::is_ascii_digit) {
        let rest = line.trim_start_matches(|c: char| c == '#' || c.is_ascii_digit());
        return Some(rest.trim());
    }
    if line.contains(".go:") && line.contains(" +0x") {
        return line.split(':').next();
    }
    if line.starts_with("goroutine ") && line.ends_with(':') {
        return Some("");
    }
    bare(line)
}

/// `at` is an English word too.
fn called_at(rest: &str) -> Option<&str> {
    let rest = rest.trim_end_matches(" {").trim_end_matches(',');
    let called = rest.ends_with([')', '>'])
        || rest.contains(":line ")
        || rest.contains(" in <")
        || rest
            .rsplit(':')
            .next()
            .is_some_and(|end| !end.is_empty() && end.bytes().all(|b| b.is_ascii_digit()));
    if !called {
        return None;
    }
    if let Some((_, place)) = rest.rsplit_once(" in ")
        && place.contains(":line ")
    {
        return Some(place);
    }
    // `fn (path:1:2)` of JavaScript; the JVM writes no space there.
    match rest.rsplit_once(" (") {
        Some((_, place)) => Some(place.trim_end_matches(')')),
        None => Some(rest),
    }
}

/// A path with a line number and nothing else that says anything.
fn bare(line: &str) -> Option<&str> {
    static BARE: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(
            r"(?x)^(?:\([^)]*\)\ )?
            (?P<path>[\w./\\~@<>\[\]-]*\.(?:py|php|exs?|erl|swift|m|kt|kts|scala|dart|lua|pl|t|pm|cc|cpp|cxx|h|hpp|c|rs|go|ts|tsx|js|mjs|cjs|jsx|vue|cs|fs|vb|java|groovy)):\d+
            (?::\d+)?:?\s*(?:in\ \S.*|\(\w+\)|[A-Z]\w*(?:Error|Exception|Failed|Failure)?|\S+/\d+)?$",
        )
        .ok()
    });
    let found = BARE.as_ref()?.captures(line)?;
    found.name("path").map(|path| path.as_str())
}

#[cfg(test)]
mod tests {
    use super::place;

    #[test]
    fn stacks_of_every_language_are_told_from_sentences() {
        for (line, path) in [
            (
                "\tat shop.Cart.name(Cart.java:6)",
                "shop.Cart.name(Cart.java:6)",
            ),
            (
                "    at Object.price (/srv/js/shop.test.js:9:11)",
                "/srv/js/shop.test.js:9:11",
            ),
            ("at a.test.ts:2:52", "a.test.ts:2:52"),
            (
                "   at Shop.Tests.Cart.Total() in /src/CartTests.cs:line 27",
                "/src/CartTests.cs:line 27",
            ),
            (
                "  File \"/srv/app/shop.py\", line 3, in total",
                "/srv/app/shop.py",
            ),
            ("    mt.rb:7:in `test_err'", "mt.rb"),
            (
                "     # ./spec/cart_spec.rb:3:in `block'",
                "./spec/cart_spec.rb",
            ),
            (
                "/srv/build/php/ShopTest.php:11",
                "/srv/build/php/ShopTest.php",
            ),
            (
                "#0 /srv/shop.php(12): total()",
                "/srv/shop.php(12): total()",
            ),
            ("app/shop.py:26: ZeroDivisionError", "app/shop.py"),
            ("tests/test_code.py:14: ", "tests/test_code.py"),
            ("\t/src/shop/cart.go:12 +0x1d", "/src/shop/cart.go"),
            ("(shop 0.1.0) lib/shop.ex:3: Shop.total/1", "lib/shop.ex"),
            ("test/shop_test.exs:12: (test)", "test/shop_test.exs"),
            ("... 12 more", ""),
        ] {
            assert_eq!(place(line), Some(path), "{line}");
        }
        for line in [
            "at least one item expected",
            "app/shop.py:12: error: Incompatible return value type",
            "shop_test.go:12: got 1, want 2",
            "a_spec.lua:1: connection refused",
            "AssertionError: expected 1 to be 2",
            "# of items: 3",
            "dial tcp 127.0.0.1:80",
        ] {
            assert_eq!(place(line), None, "{line}");
        }
    }
}
