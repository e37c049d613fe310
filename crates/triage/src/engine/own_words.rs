//! Words of the product's own that sound like those of a machine: `permission
//! denied for coupon SPRING`, raised by a line of the product.
//!
//! Main function: [`owner_rule`]. A class and the place that raised it are evidence
//! that comes before words.

use super::clues::{self, Origin};
use super::facts::{Facts, FailureSource};
use super::field::Strength;
use super::rule::Rule;
use super::system_names::{OWN_WORDS, names_machine, names_system};
use std::borrow::Cow;

/// Whose the class of an exception is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ClassOwner {
    Product,
    /// Or nobody's: no class is told.
    Language,
    Library,
}

/// The rule for what `rule` takes for a machine's or a service's refusal,
/// `said`, where it is the product's own: raised by its line, in a class that is
/// none of a library, with nothing in it that a machine or a service would name.
pub(super) fn owner_rule(rule: &Rule, facts: &Facts<'_>, said: &str) -> Option<&'static str> {
    let of_own_class = OWN_WORDS
        .root_causes_of_own_classes
        .contains(&rule.root_cause);
    let by_words = facts.source == FailureSource::Report
        && matches!(rule.strength, Strength::Signature | Strength::Hint)
        && (OWN_WORDS.root_causes.contains(&rule.root_cause) || of_own_class);
    if !by_words || has_cause_of_system(facts) {
        return None;
    }
    // Perl and others tell the place among their words.
    let frame = clues::product_frame(facts.failure).unwrap_or_default();
    let line = |c: char| c.is_ascii_digit() || c == ':';
    let said = match said.split_once(&frame) {
        Some((before, after)) if !frame.is_empty() => {
            Cow::Owned(format!("{before}{}", after.trim_start_matches(line)))
        }
        Some(_) | None => Cow::Borrowed(said),
    };
    // So do Go's tests.
    let said = match said.split_once("_test.go:") {
        Some((_, told)) => told.trim_start_matches(line),
        None => &said,
    };
    let (said, panicked) = match said.split_once(" panicked at ") {
        // Rust keeps tests in the files that they test.
        Some((_, told)) => {
            let place = told.split(".rs:").next().unwrap_or_default();
            (
                told.trim_start(),
                !frame.is_empty() || !clues::is_test(place),
            )
        }
        None => (said, false),
    };
    let class = class_of(facts, said);
    let told = class.and_then(|class| said.split_once(class));
    let words = told.map_or(said, |(_, words)| words.trim_start_matches([':', ')', ' ']));
    let words = match class {
        Some(_) => without_code(words),
        None => words,
    };
    if names_machine(words) {
        return None;
    }
    let plain = || !of_own_class && !words.is_empty() && !names_system(words);
    let origin = facts.raised_in();
    // A promise that jest saw rejected has the stack of the test.
    if let Origin::Test | Origin::Unknown = origin
        && let Some(words) = rejected_with(facts)
    {
        let own = !names_machine(words) && (!names_system(words) || is_explained(words));
        return own.then_some("exception/in-product");
    }
    match origin {
        Origin::Product => {
            let is_own = match class_owner(facts, &frame, class) {
                ClassOwner::Product => true,
                ClassOwner::Language => plain(),
                ClassOwner::Library => false,
            };
            let is_open = !is_own && !of_own_class && !words.trim().is_empty();
            if is_open && class_owner(facts, &frame, class) == ClassOwner::Language {
                return Some("exception/unknown-class");
            }
            is_own.then_some("exception/in-product")
        }
        // Rust names the file that panicked, without a stack.
        Origin::Unknown if panicked => match said.contains("called `") {
            true => plain().then_some("rust/panic-by-code"),
            false => (plain() || is_explained(words)).then_some("rust/panic-with-message"),
        },
        // Nothing tells where, and no system raises these.
        Origin::Unknown if is_of_values(class) && plain() => Some("exception/unknown-class"),
        // Tests in Go tell an error in a line of their own, without a stack.
        Origin::Test | Origin::Unknown => {
            let text = facts.failure.text.as_deref().unwrap_or_default();
            let told = text.contains("_test.go:") && !text.contains("\ngoroutine ");
            (told && plain()).then_some("go/said-by-test")
        }
        Origin::Library | Origin::Trimmed => None,
    }
}

/// Words without a code of the system that stands before a sentence of the
/// product's, as in `EPERM: drawer 4 is reserved`.
fn without_code(words: &str) -> &str {
    match words.split_once(": ") {
        Some((code, rest))
            if code.len() > 3
                && code.starts_with('E')
                && code.bytes().all(|b| b.is_ascii_uppercase())
                && is_explained(words) =>
        {
            rest
        }
        Some(_) | None => words,
    }
}

/// Whether words go on behind a colon in a sentence about a thing of the product,
/// which has a number, and about nothing that machines do: `connection refused:
/// order 12 is closed`.
fn is_explained(words: &str) -> bool {
    const SENTENCE: usize = 3;
    let rest = words.split_once(": ").map(|(_, rest)| rest);
    rest.is_some_and(|rest| {
        let lower = rest.to_ascii_lowercase();
        let of_machine = |word: &str| {
            let mut begins = OWN_WORDS.of_machines.iter();
            begins.any(|begin| word.starts_with(begin.as_str()))
        };
        rest.split_whitespace().count() >= SENTENCE
            && rest.bytes().any(|b| b.is_ascii_digit())
            && !lower.split_whitespace().any(of_machine)
            && !names_system(rest)
    })
}

/// The words of what a promise was rejected with, where its class is none of the
/// language or of a client of services.
fn rejected_with<'f>(facts: &Facts<'f>) -> Option<&'f str> {
    let text = facts.failure.text.as_deref()?;
    let (_, value) = text.split_once("Rejected to value: [")?;
    let (class, words) = value.lines().next()?.split_once(": ")?;
    let is_name = class
        .bytes()
        .all(|b| b.is_ascii_alphanumeric() || b == b'_');
    let known = OWN_WORDS.of_scripts.iter().any(|known| known == class);
    (is_name && !known).then(|| words.trim_end_matches(']'))
}

/// Whether what was raised was caused by an error of the system, which the report
/// tells with it.
fn has_cause_of_system(facts: &Facts<'_>) -> bool {
    const CHAINS: [&str; 6] = [
        "direct cause of the following",
        "During handling of the above",
        "aused by",
        "[cause]",
        "---- ",
        "---> ",
    ];
    let text = facts.failure.text.as_deref().unwrap_or_default();
    CHAINS.iter().any(|chain| text.contains(chain)) && clues::tells_of_system(text)
}

/// Whether a class tells of a value that is wrong, as programs raise it by hand.
fn is_of_values(class: Option<&str>) -> bool {
    const OF_VALUES: [&str; 6] = [
        "ArgumentError",
        "DomainException",
        "IllegalArgumentException",
        "InvalidArgumentException",
        "RangeError",
        "ValueError",
    ];
    let last = class.and_then(|class| class.rsplit(['.', ':', '\\']).next());
    last.is_some_and(|last| OF_VALUES.contains(&last))
}

/// The class that is told, in the words or beside them.
fn class_of<'f>(facts: &Facts<'f>, said: &'f str) -> Option<&'f str> {
    let told = said.strip_prefix("E ").unwrap_or(said).trim_start();
    clues::class(told).or(facts.failure.type_.as_deref())
}

/// Whose class it is, by its name and by the line that raised it.
fn class_owner(facts: &Facts<'_>, frame: &str, class: Option<&str>) -> ClassOwner {
    let f = facts.failure;
    let Some(class) = class else {
        return ClassOwner::Language;
    };
    let of_php = class.contains('\\');
    let class = class.replace("::", ".").replace('\\', ".");
    let begins = |known: &String| class.starts_with(known.as_str());
    let Some((first, _)) = class.split_once('.') else {
        if OWN_WORDS.of_systems.iter().any(begins) {
            return ClassOwner::Library;
        }
        // JavaScript knows no packages, and few errors of its own.
        let scripts = [".js", ".ts", ".jsx", ".tsx", ".mjs", ".cjs", ".vue"];
        let scripted = scripts.iter().any(|end| frame.ends_with(end));
        return match scripted && !OWN_WORDS.of_scripts.contains(&class) {
            true => ClassOwner::Product,
            false => ClassOwner::Language,
        };
    };
    if OWN_WORDS.standard.iter().any(begins) {
        return ClassOwner::Language;
    }
    if OWN_WORDS.of_systems.iter().any(begins) || clues::is_library(&class) {
        return ClassOwner::Library;
    }
    // A package of the product is in the path or the function that raised it,
    // or in the name of the test.
    let package = match class.match_indices('.').nth(1) {
        Some((second, _)) if first.len() < 4 => &class[..second],
        Some(_) | None => first,
    };
    let function = clues::product_function(f).unwrap_or_default();
    let test = f.classname.as_deref().unwrap_or_default();
    let places = format!(".{frame} {function} {test}.").replace("::", ".");
    let places = places
        .replace(['/', '\\', ' ', '#'], ".")
        .to_ascii_lowercase();
    let package = format!(".{}.", package.to_ascii_lowercase());
    let class = class.to_ascii_lowercase();
    let mut namespaces: Vec<&str> = class.split('.').collect();
    namespaces.pop();
    // Folders of PHP are called as namespaces are, but for the first of them.
    let in_folder = of_php && places.split('.').any(|part| namespaces.contains(&part));
    match in_folder || places.contains(&package) {
        true => ClassOwner::Product,
        // Composer keeps what it installs in one folder, which tells libraries.
        false if of_php => ClassOwner::Language,
        false => ClassOwner::Library,
    }
}

#[cfg(test)]
mod tests {
    use crate::engine::test_failure::diagnose;
    use jelly_base::model::Side;

    fn side(type_: &str, text: &str) -> (Side, String) {
        let diagnosis = diagnose(type_, text);
        (diagnosis.side, diagnosis.root_cause)
    }

    #[test]
    fn what_the_product_refuses_in_its_own_words_is_the_products() {
        for (type_, text) in [
            (
                "",
                "tests/test_books.py:15: \n\n    def close(user):\n>       raise PermissionError(f\"{user} is not permitted to close the books\")\nE       PermissionError: clerk is not permitted to close the books\n\nshop/books.py:20: PermissionError",
            ),
            (
                "DomainException",
                "Tests\\CouponTest::testForbidden\nDomainException: Permission denied for coupon SPRING: tier too low\n\n/app/src/Coupon.php:58\n/app/tests/Unit/CouponTest.php:55\n",
            ),
            (
                "",
                "tests/test_shop.py:20: in test_x\n    run()\nsrc/shop/roles.py:9: in grant\n    raise RoleError(\"authentication failed for role clerk: unknown grade\")\nE   shop.roles.RoleError: authentication failed for role clerk: unknown grade",
            ),
            (
                "",
                "System.UnauthorizedAccessException : role clerk may not close books\n   at Acme.Books.Close(User u) in /srv/src/Books.cs:line 33\n   at Acme.Tests.AuthTests.Roles() in /srv/tests/AuthTests.cs:line 18",
            ),
            (
                "VoucherError",
                "VoucherError: token expired: voucher SPRING ended 2026-10-01\n ❯ redeem src/voucher.ts:18:9\n ❯ src/plan.test.ts:19:5",
            ),
            (
                "",
                "tests/test_shop.py:20: in test_x\n    run()\nsrc/shop/breaker.py:9: in call\n    raise ServiceUnavailable(\"circuit is open: 503\")\nE   shop.errors.ServiceUnavailable: circuit for tariff is open: 503",
            ),
            (
                "com.acme.NoRouteToHostException",
                "com.acme.NoRouteToHostException: no route to host zone DE-BY for parcel class L\n\tat com.acme.Router.route(Router.java:7)\n\tat com.acme.RouterTest.zone(RouterTest.java:9)",
            ),
            (
                "Shop::Slots::Unavailable",
                "Failure/Error: slots.book(7)\n\nShop::Slots::Unavailable:\n  service unavailable for slot 7\n# ./app/services/slots.rb:22:in 'Shop::Slots#book'\n# ./spec/models/slot_spec.rb:9",
            ),
            (
                "App\\Domain\\NoRouteToHost",
                "Tests\\RoutesTest::testRoute\nApp\\Domain\\NoRouteToHost: no route to host family 7 from airport TXL\n\n/app/src/Domain/Routes.php:18\n/app/tests/RoutesTest.php:55\n",
            ),
            (
                "",
                "Error: connect ECONNREFUSED warehouse policy\n    at Cart.reserve (src/cart.cjs:6:39)\n    at Context.<anonymous> (t/mocha/cart.test.cjs:5:61)",
            ),
            (
                "NetworkError",
                "NetworkError: network of partner 7 is unreachable\n ❯ link src/partner.ts:18:9\n ❯ src/plan.test.ts:19:5",
            ),
            (
                "",
                "died: service unavailable for zone 4 at /app/lib/Shop/Courier.pm line 41.",
            ),
            (
                "com.acme.QuotaException",
                "com.acme.QuotaException: quota exceeded: 12 of 10 shelves\n\tat com.acme.Depot.fill(Depot.java:7)\n\tat com.acme.DepotTest.fills(DepotTest.java:9)",
            ),
        ] {
            let code = (Side::Code, "code_exception".to_owned());
            assert_eq!(side(type_, text), code, "{text}");
        }
    }

    #[test]
    fn what_may_be_of_either_is_undecided_in_a_class_of_nobodys() {
        for (type_, text) in [
            (
                "",
                "tests/test_books.py:15: \n\n    def check(token):\n>       raise ValueError(\"token expired\")\nE       ValueError: token expired\n\nshop/books.py:20: ValueError",
            ),
            (
                "java.lang.IllegalStateException",
                "java.lang.IllegalStateException: quota exceeded\n\tat com.acme.Depot.fill(Depot.java:7)\n\tat com.acme.DepotTest.fills(DepotTest.java:9)",
            ),
        ] {
            let of = diagnose(type_, text);
            assert_eq!((of.side, of.ambiguous), (Side::Test, true), "{text}");
            assert_eq!(of.root_cause, "code_exception", "{text}");
        }
    }

    #[test]
    fn what_a_test_in_go_tells_of_the_products_rules_fails_it() {
        for said in [
            "unexpected error: permission denied by policy \"p7\"",
            "Redeem() error = token expired: voucher SPRING",
            "Dock(7): connection refused by policy",
        ] {
            let text = format!("=== RUN   TestX\n    policy_test.go:20: {said}\n--- FAIL: TestX");
            let code = (Side::Code, "assertion_mismatch".to_owned());
            assert_eq!(side("", &text), code, "{said}");
        }
        for said in [
            "unexpected error: open /srv/out: permission denied",
            "dial tcp 127.0.0.1:5432: connect: connection refused",
            "unexpected error: service unavailable",
        ] {
            let text = format!("=== RUN   TestX\n    policy_test.go:20: {said}\n--- FAIL: TestX");
            assert_eq!(side("", &text).0, Side::Test, "{said}");
        }
    }

    #[test]
    fn what_a_system_or_a_service_refuses_is_not() {
        for (type_, text, cause) in [
            (
                "",
                "tests/test_books.py:15: in test_x\n    close()\nshop/books.py:20: in close\n    open(path)\nE   PermissionError: [Errno 13] Permission denied: '/srv/books'",
                "permission_denied",
            ),
            (
                "",
                "tests/test_books.py:15: in test_x\n    close()\nshop/books.py:20: in close\n    connect()\nE   psycopg2.OperationalError: FATAL: password authentication failed for user \"shop\"",
                "auth_failed",
            ),
            (
                "",
                "tests/test_shop.py:20: in test_x\n    run()\nE   RuntimeError: authentication failed for role clerk",
                "auth_failed",
            ),
            (
                "",
                "tests/test_shop.py:20: in test_x\n    run()\nsrc/shop/store.py:9: in get\n    raise StoreDown(url)\nE   shop.errors.StoreDown: cannot reach http://rates.internal:8080/v1: connection refused",
                "connection_refused",
            ),
            (
                "Redis::CannotConnectError",
                "Failure/Error: cache.get\n\nRedis::CannotConnectError:\n  Connection refused\n# ./app/services/cache.rb:22:in 'Shop::Cache#get'\n# ./spec/cache_spec.rb:9",
                "connection_refused",
            ),
            (
                "",
                "tests/test_x.py:20: in test_x\n    run()\nsrc/shop/socket.py:9: in read\n    self.s.recv(9)\nE   socket.timeout: timed out",
                "network_timeout",
            ),
            (
                "java.net.ConnectException",
                "java.net.ConnectException: Connection refused\n at shop.store$save.invokeStatic (store.clj:12)\n    shop.store_test$fn__170.invokeStatic (store_test.clj:9)",
                "connection_refused",
            ),
            (
                "",
                "Traceback (most recent call last):\n  File \"/usr/lib/python3.12/socket.py\", line 837, in create_connection\n    sock.connect(sa)\nConnectionRefusedError: [Errno 111] Connection refused\n\nThe above exception was the direct cause of the following exception:\n\nTraceback (most recent call last):\n  File \"/srv/tests/test_store.py\", line 9, in test_get\n    get()\n  File \"/srv/shop/store.py\", line 31, in get\n    raise StoreDown('the store is unavailable') from error\nshop.store.StoreDown: the store is unavailable",
                "connection_refused",
            ),
            (
                "",
                "Failure:\ntest_fee(PilotTest) [/srv/lib/pilot.rb:20]:\nArgumentError: no fee for Hamnavoe (pilot office did not answer: Net::ReadTimeout)\n    /srv/lib/pilot.rb:20:in `rescue in fee'\n    /srv/test/pilot_test.rb:8:in `test_fee'",
                "network_timeout",
            ),
            (
                "com.acme.ApiException",
                "com.acme.ApiException: 401 Unauthorized from https://api.acme.test/v1\n\tat com.acme.Api.get(Api.java:7)\n\tat com.acme.ApiTest.gets(ApiTest.java:9)",
                "auth_failed",
            ),
        ] {
            assert_eq!(side(type_, text), (Side::Test, cause.to_owned()), "{text}");
        }
    }
}
