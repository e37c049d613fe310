//! Words of the product's own that sound like those of a machine: `permission
//! denied for coupon SPRING`, raised by a line of the product.
//!
//! Main function: [`is_own`]. A class and the place that raised it are evidence
//! that comes before words.

use super::clues::{self, Origin};
use super::facts::{Facts, FailureSource};
use super::field::Strength;
use super::rule::Rule;
use super::system_names::{OWN_WORDS, names_system};

/// Whether what `rule` takes for a machine's or a service's refusal, `said`, is
/// the product's own: raised by its line, in a class that is none of a library,
/// with nothing in it that a machine or a service would name.
pub(super) fn is_own(rule: &Rule, facts: &Facts<'_>, said: &str) -> bool {
    facts.source == FailureSource::Report
        && matches!(rule.strength, Strength::Signature | Strength::Hint)
        && OWN_WORDS.root_causes.contains(&rule.root_cause)
        && facts.raised_in() == Origin::Product
        && !names_system(said)
        && is_own_class(facts, said)
}

/// Whether the class, where one is told, is of the language or the product.
fn is_own_class(facts: &Facts<'_>, said: &str) -> bool {
    let told = said.trim_start_matches(['E', ' ']);
    let class = clues::class(told).or_else(|| facts.failure.type_.as_deref());
    let Some(class) = class else {
        return true;
    };
    let Some((first, _)) = class.split_once('.') else {
        return true;
    };
    if OWN_WORDS
        .standard
        .iter()
        .any(|known| class.starts_with(known.as_str()))
    {
        return true;
    }
    // A package of the product is in the path of the line that raised it.
    let package = match class.match_indices('.').nth(1) {
        Some((second, _)) if first.len() < 4 => &class[..second],
        Some(_) | None => first,
    };
    let frame = clues::product_frame(facts.failure).unwrap_or_default();
    frame.replace('/', ".").contains(package)
}

#[cfg(test)]
mod tests {
    use crate::engine::Engine;
    use jelly_base::model::{Failure, Side};

    fn side(type_: &str, text: &str) -> (Side, String) {
        let diagnosis = Engine::builtin().diagnose(&Failure {
            element: Some("failure".into()),
            name: Some("closes".into()),
            type_: (!type_.is_empty()).then(|| type_.into()),
            text: Some(text.into()),
            ..Failure::default()
        });
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
                "com.acme.QuotaException",
                "com.acme.QuotaException: quota exceeded: 12 of 10 shelves\n\tat com.acme.Depot.fill(Depot.java:7)\n\tat com.acme.DepotTest.fills(DepotTest.java:9)",
            ),
        ] {
            let code = (Side::Code, "code_exception".to_owned());
            assert_eq!(side(type_, text), code, "{text}");
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
                "com.acme.ApiException",
                "com.acme.ApiException: 401 Unauthorized from https://api.acme.test/v1\n\tat com.acme.Api.get(Api.java:7)\n\tat com.acme.ApiTest.gets(ApiTest.java:9)",
                "auth_failed",
            ),
        ] {
            assert_eq!(side(type_, text), (Side::Test, cause.to_owned()), "{text}");
        }
    }
}
