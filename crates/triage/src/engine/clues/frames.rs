//! Lines of a stack: where a program was, and no statement about what went
//! wrong.

use jelly_base::text::{LazyPattern, WordSet};
use memchr::{memchr, memchr_iter, memrchr_iter};

/// The place that a line of a stack names, or `None` for any other line.
///
/// Places are paths, `package.Class.method(File.java:1)` on the JVM, or empty
/// where the line names none.
pub(super) fn place(line: &str) -> Option<&str> {
    // Python draws a group of exceptions as a tree.
    let line = line.trim().trim_start_matches("| ").trim_start();
    let first = *line.as_bytes().first()?;
    if first == b'a'
        && let Some(rest) = line.strip_prefix("at ")
    {
        return called_at(rest);
    }
    // TAP
    if first == b'a'
        && let Some(rest) = line.strip_prefix("at: ")
    {
        return called_at(rest.trim_matches('"'));
    }
    // Vitest
    if !first.is_ascii()
        && let Some(rest) = line.strip_prefix("❯ ")
    {
        return Some(rest.rsplit(' ').next().unwrap_or(rest));
    }
    // Apex: `Class.OrderService.close: line 88, column 1`
    if first == b'C'
        && let Some(rest) = line.strip_prefix("Class.")
        && let Some((class, _)) = rest.split_once(": line ")
    {
        return Some(class.split('.').next().unwrap_or(class));
    }
    // Dart: `test/cart_test.dart 14:5   main.<fn>`
    if let Some(space) = memchr(b' ', line.as_bytes())
        && let path = &line[..space]
        && (path.starts_with("package:") || path.starts_with("dart:") || path.ends_with(".dart"))
        && !line[space + 1..].starts_with(|c: char| c.is_ascii_uppercase())
    {
        return Some(path);
    }
    if first == b'.'
        && line.starts_with("... ")
        && (line.ends_with(" more") || line.ends_with(" omitted"))
    {
        return Some("");
    }
    // Julia: `@ Shop src/cart.jl:12`
    if first == b'@'
        && let Some(place) = line.trim_end_matches(" [inlined]").rsplit(' ').next()
        && place.contains(".jl:")
    {
        return Some(place);
    }
    // Erlang: `in function cart:load/1 (src/cart.erl, line 12)`
    if first == b'i'
        && line.starts_with("in ")
        && let Some((before, _)) = line.split_once(".erl, line ")
    {
        let open = before.rfind('(').map_or(0, |at| at + 1);
        return line.get(open..before.len() + ".erl".len());
    }
    // Clojure: `shop.cart$total.invokeStatic (cart.clj:12)`
    if let Some((called, file)) = line.split_once(" (")
        && file.contains(".clj:")
        && file.ends_with(')')
        && !called.contains(' ')
    {
        return Some(line);
    }
    // R draws a tree: `2.   └─shop:::add(x, 3) at shop/R/total.R:12:3`
    if first.is_ascii_digit() && line.contains('─') {
        let called = line.rsplit_once(" at ");
        return Some(
            called
                .and_then(|(_, place)| before_colon(place, ".R"))
                .unwrap_or_default(),
        );
    }
    if first == b'F'
        && let Some(rest) = line.strip_prefix("File \"")
    {
        return rest.split_once("\", line ").map(|(path, _)| path);
    }
    // RSpec and Perl mark their lines as comments.
    let line = match first {
        b'#' => line.strip_prefix("# ").unwrap_or(line),
        _ => line,
    };
    let line = match line.starts_with('f') {
        true => line.strip_prefix("from ").unwrap_or(line),
        false => line,
    };
    if line.starts_with('#') && line.as_bytes().get(1).is_some_and(u8::is_ascii_digit) {
        let ruby = ruby(line);
        let rest = line.trim_start_matches(|c: char| c == '#' || c.is_ascii_digit());
        return ruby.or(Some(rest.trim()));
    }
    // All others have a number behind a colon.
    memchr(b':', line.as_bytes())?;
    if first == b'(' && is_of_elixir_itself(line) {
        return Some("");
    }
    // Elixir shows the arguments of a call that nothing fits:
    // `(shop 0.1.0) lib/shop/cart.ex:9: Shop.Cart.total(nil)`
    if first == b'('
        && let Some((_, path)) = line.split_once(") ")
        && let Some(path) = before_colon(path, ".ex")
        && !path.contains(' ')
    {
        return Some(path);
    }
    let mut of_go = false;
    let mut of_ruby = false;
    let mut of_haskell = false;
    for colon in memchr_iter(b':', line.as_bytes()) {
        match &line.as_bytes()[..colon] {
            [.., b'.', b'g', b'o'] => of_go = true,
            [.., b'.', b'r', b'b'] => of_ruby = true,
            [.., b'.', b'h', b's'] => of_haskell = true,
            _ => {}
        }
    }
    if of_ruby && let Some(path) = ruby(line) {
        return Some(path);
    }
    if of_haskell && let Some(path) = haskell(line) {
        return Some(path);
    }
    if of_go && line.contains(" +0x") {
        return line.split(':').next();
    }
    if line.starts_with("goroutine ") && line.ends_with(':') {
        return Some("");
    }
    bare(line)
}

/// `(elixir 1.14.0) lib/gen_server.ex:1030: GenServer.call/3`: paths of
/// Elixir's applications are relative, so only the name tells whose it is.
fn is_of_elixir_itself(line: &str) -> bool {
    const APPLICATIONS: [&str; 17] = [
        "elixir",
        "stdlib",
        "kernel",
        "erts",
        "ex_unit",
        "mix",
        "logger",
        "ecto",
        "ecto_sql",
        "db_connection",
        "postgrex",
        "phoenix",
        "phoenix_live_view",
        "plug",
        "mint",
        "finch",
        "jason",
    ];
    line.strip_prefix('(')
        .and_then(|inside| inside.split([' ', ')']).next())
        .is_some_and(|name| APPLICATIONS.contains(&name))
}

fn ruby(line: &str) -> Option<&str> {
    let path = before_colon(line, ".rb")?;
    (!path.contains(' ') && (line.contains(":in ") || line.ends_with(|c: char| c.is_ascii_digit())))
        .then_some(path)
}

/// `head, called at src/Cart.hs:22:11 in shop-0.1:Cart`, or the lines of a
/// function, `src/Cart.hs:(20,1)-(22,14)`.
fn haskell(line: &str) -> Option<&str> {
    if let Some((_, place)) = line.split_once(", called at ") {
        return before_colon(place, ".hs");
    }
    let (path, lines) = line.split_once(".hs:(")?;
    let spans = lines
        .bytes()
        .all(|b| b.is_ascii_digit() || b",()-".contains(&b));
    (spans && !path.contains(' ')).then(|| &line[..path.len() + ".hs".len()])
}

/// What stands before the first colon that comes right behind `ending`.
pub(super) fn before_colon<'l>(line: &'l str, ending: &str) -> Option<&'l str> {
    memchr_iter(b':', line.as_bytes())
        .map(|colon| &line[..colon])
        .find(|before| before.ends_with(ending))
}

fn has_behind_colon(line: &str, word: &str) -> bool {
    memchr_iter(b':', line.as_bytes()).any(|colon| line[colon + 1..].starts_with(word))
}

/// `at` is an English word too.
fn called_at(mut rest: &str) -> Option<&str> {
    while let Some(before) = rest.strip_suffix(" {") {
        rest = before;
    }
    let rest = rest.trim_end_matches(',');
    let lined = has_behind_colon(rest, "line ");
    let called = rest.ends_with([')', '>'])
        || lined
        || rest.contains(" in <")
        || rest
            .rsplit(':')
            .next()
            .is_some_and(|end| !end.is_empty() && end.bytes().all(|b| b.is_ascii_digit()));
    if !called {
        return None;
    }
    if lined
        && let Some((_, place)) = rest.rsplit_once(" in ")
        && place.contains(":line ")
    {
        return Some(place);
    }
    // `fn (path:1:2)` of JavaScript; the JVM writes no space there.
    let bytes = rest.as_bytes();
    let mut open = memrchr_iter(b'(', bytes);
    match open.find(|at| *at > 0 && bytes[at - 1] == b' ') {
        // `Promise.all (index 0)` is where a promise stands among others.
        Some(open) if rest[open..].starts_with("(index ") => Some(""),
        Some(open) => Some(rest[open + 1..].trim_end_matches(')')),
        None => Some(rest),
    }
}

/// A path with a line number and nothing else that says anything.
fn bare(line: &str) -> Option<&str> {
    static BARE: LazyPattern = LazyPattern::new(PATH_AND_LINE);
    if line.is_ascii() {
        return plain(line);
    }
    let found = BARE.captures(line)?;
    found.name("path").map(|path| path.as_str())
}

const PATH_AND_LINE: &str = r"(?x)^(?:\([^)]*\)\ )?
    (?P<path>[\w./\\~@<>\[\]-]*\.(?:py|php|exs?|erl|swift|m|kt|kts|scala|dart|lua|pl|t|pm|cc|cpp|cxx|h|hpp|c|rs|go|ts|tsx|js|mjs|cjs|jsx|vue|cs|fs|vb|java|groovy|clj|cljs|jl|hs|nim|cr|zig|[Rr])):\d+
    (?::\d+)?:?\s*(?:in\ \S.*|\(\w+\)|[A-Z]\w*(?:Error|Exception|Failed|Failure)?|\S+/\d+)?$";

/// The endings of [`PATH_AND_LINE`].
static SOURCES: WordSet = WordSet::new(
    "py php ex exs erl swift m kt kts scala dart lua pl t pm cc cpp cxx h hpp c rs go ts tsx js \
     mjs cjs jsx vue cs fs vb java groovy clj cljs jl hs nim cr zig R r",
);

/// What [`PATH_AND_LINE`] finds in a line of ASCII, by hand: it is asked of
/// every line of every failure.
fn plain(line: &str) -> Option<&str> {
    // An application's name in brackets, as Elixir writes it.
    let begin = line
        .strip_prefix('(')
        .and_then(|inside| inside.split_once(')'))
        .and_then(|(_, rest)| rest.strip_prefix(' '))
        .unwrap_or(line);
    let (path, after) = begin.split_once(':')?;
    let (_, source) = path.rsplit_once('.')?;
    let word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let is_path = SOURCES.has(source)
        && path.bytes().all(|byte| {
            word(byte)
                || matches!(
                    byte,
                    b'.' | b'/' | b'\\' | b'~' | b'@' | b'<' | b'>' | b'[' | b']' | b'-'
                )
        });
    if !is_path || !after.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    // `lib/shop.ex:3: Shop.total/1`; digits and colons may belong to either.
    let ends_in_number = |text: &str| {
        text.rsplit_once('/').is_some_and(|(name, number)| {
            !name.is_empty()
                && !number.is_empty()
                && number.bytes().all(|byte| byte.is_ascii_digit())
        })
    };
    let is_space = |c: char| matches!(c, '\t'..='\r' | ' ');
    if !after.contains(is_space) && ends_in_number(&after[1..]) {
        return Some(path);
    }
    let digits = |text: &'_ str| text.bytes().take_while(u8::is_ascii_digit).count();
    let mut rest = &after[digits(after)..];
    if let Some(column) = rest.strip_prefix(':')
        && digits(column) > 0
    {
        rest = &column[digits(column)..];
    }
    let told = rest
        .strip_prefix(':')
        .unwrap_or(rest)
        .trim_start_matches(is_space);
    let tells_nothing = told.is_empty()
        || told.strip_prefix("in ").is_some_and(|within| {
            !within.is_empty() && !within.starts_with(is_space) && !within.contains('\n')
        })
        || told
            .strip_prefix('(')
            .and_then(|inside| inside.strip_suffix(')'))
            .is_some_and(|inside| !inside.is_empty() && inside.bytes().all(word))
        || told.starts_with(|c: char| c.is_ascii_uppercase()) && told.bytes().all(word)
        || !told.contains(is_space) && ends_in_number(told);
    tells_nothing.then_some(path)
}

#[cfg(test)]
mod tests {
    use super::{PATH_AND_LINE, place, plain};
    use proptest::prelude::*;
    use regex::Regex;
    use std::sync::LazyLock;

    static BARE: LazyLock<Regex> = LazyLock::new(|| Regex::new(PATH_AND_LINE).unwrap());

    proptest! {
        #[test]
        fn by_hand_the_same_places_are_found_as_by_the_expression(
            line in r"(\([a-z)]{0,3}\) ?)?[a-z./ ]{0,3}[.]?(py|go|groovy|h|ts|java|zig|cljs|R|r|x)?[:]?[0-9]{0,2}([:][0-9]{0,2})?[:]?[ \n]{0,2}(in ?[ a\n]{0,2}|\([a )]{0,2}\)|[A-Z][a-z ]{0,3}|[a:]{0,2}/?[0-9]{0,2})?"
        ) {
            let expected = BARE
                .captures(&line)
                .map(|found| found.name("path").unwrap().as_str());
            prop_assert_eq!(plain(&line), expected);
        }
    }

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
            (
                "(elixir 1.14.0) lib/gen_server.ex:1030: GenServer.call/3",
                "",
            ),
            ("test/shop_test.exs:12: (test)", "test/shop_test.exs"),
            (
                "(shop 0.1.0) lib/shop/cart.ex:9: Shop.Cart.total(nil, [])",
                "lib/shop/cart.ex",
            ),
            (
                "| File \"/srv/app/shop.py\", line 3, in total",
                "/srv/app/shop.py",
            ),
            ("... 12 more", ""),
            (
                "errorEmptyList, called at libraries/base/GHC/List.hs:1646:3 in base:GHC.List",
                "libraries/base/GHC/List.hs",
            ),
            ("src/Shop/Cart.hs:(20,1)-(22,14)", "src/Shop/Cart.hs"),
            (
                " 2.   └─shop:::add(x, 3) at shop/R/total.R:12:3",
                "shop/R/total.R",
            ),
            (" 3.     └─base::stop(\"closed\")", ""),
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
