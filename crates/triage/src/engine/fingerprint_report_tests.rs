use super::fingerprints;
use crate::engine::Engine;
use jelly_base::model::{Failure, Label};

/// The fingerprint of its cause.
fn print(failure: &Failure) -> String {
    Engine::builtin().diagnose(failure).fingerprint
}

/// A failure of a report with nothing but what is told here.
fn reported(type_: &str, text: &str) -> Failure {
    Failure {
        classname: Some("com.acme.CartTest".into()),
        name: Some("total".into()),
        type_: (!type_.is_empty()).then(|| type_.into()),
        text: Some(text.into()),
        ..Failure::default()
    }
}

#[test]
fn whom_a_client_of_python_asked_is_told_by_its_arguments() {
    let refused = |arguments: &str| {
        let text = format!(
            "def test_a():\n>       connect()\n\ntests/test_a.py:9: \n_ _ _\n\n{arguments}, timeout = 1\n\n/usr/lib/python3.11/socket.py:836: in create_connection\nE   ConnectionRefusedError: [Errno 111] Connection refused\n\n/usr/lib/python3.11/socket.py:836: ConnectionRefusedError"
        );
        print(&reported("", &text))
    };
    let address = |port: &str| refused(&format!("address = ('127.0.0.1', {port})"));
    assert_ne!(address("5432"), address("6379"));
    assert_eq!(address("41853"), address("39127"));
    assert_ne!(
        refused("host = 'mqtt-broker', port = 1883"),
        refused("host = 'mqtt-bridge', port = 1883")
    );
}

#[test]
fn what_chai_cut_is_told_by_what_mocha_draws() {
    let compared = |member: &str| {
        let text = format!(
            "AssertionError: expected {{ net: 50 }} to deeply equal {{ Object (net, vat, ...) }}\n    at Context.<anonymous> (test/a.js:5:65)\n\n      + expected - actual\n\n       {{\n      +  \"{member}\": \"8400\"\n         \"net\": 50\n       }}"
        );
        print(&reported("AssertionError", &text))
    };
    assert_ne!(compared("account"), compared("costCentre"));
    assert_eq!(compared("account"), compared("account"));
}

#[test]
fn a_report_that_says_nothing_is_told_by_the_last_line_that_was_printed() {
    let printed = |status: &str, pid: &str| {
        print(&Failure {
            system_out: Some(format!(
                "2026-11-26 23:08:12 [{pid}] INFO import\nimporter {pid} exited with status {status}\n"
            )),
            dialect: Some("ctest".into()),
            ..reported("", "")
        })
    };
    assert_ne!(printed("64", "30899"), printed("78", "30899"));
    assert_eq!(printed("64", "30899"), printed("64", "11122"));
}

#[test]
fn the_same_exception_in_two_functions_of_the_product_is_two_causes() {
    for (stack, one, other) in [
        (
            "TypeError: x is undefined\n    at Object.customer [as {}] (/srv/shop/src/cart.js:9:1)\n    at f (/srv/a.test.js:3:1)",
            "apply_discount",
            "apply_tax",
        ),
        (
            "TypeError: x is null\n ❯ Object.{} src/cart.js:49:12\n ❯ vitest/options.test.mjs:27:36",
            "applyDiscount",
            "applyTax",
        ),
        (
            "TypeError: x is undefined\n    at {} (/srv/shop/src/cart.js:9:1)\n    at f (/srv/a.test.js:3:1)",
            "Cart.total",
            "Cart.clear",
        ),
        (
            "java.lang.IllegalStateException: not open\n\tat com.acme.{}(Cart.java:9)\n\tat com.acme.CartTest.total(CartTest.java:9)\n\tat java.lang.reflect.Method.invoke(Method.java:1)",
            "Cart.total",
            "Cart.clear",
        ),
        (
            "Traceback (most recent call last):\n  File \"/srv/tests/test_a.py\", line 3, in test_a\n  File \"/srv/app/cart.py\", line 9, in {}\nValueError: bad",
            "total",
            "clear",
        ),
        (
            "    def {}(self):\n>       raise ValueError('bad')\nE       ValueError: bad\n\napp/cart.py:12: ValueError",
            "total",
            "clear",
        ),
        (
            "panic: nil map\n\ngoroutine 7 [running]:\nacme.test/shop.(*Cart).{}(0xc00001)\n\t/srv/shop/cart.go:12 +0x1d\nacme.test/shop.TestX(0xc00002)\n\t/srv/shop/cart_test.go:9 +0x2a",
            "Total",
            "Clear",
        ),
        (
            "System.InvalidOperationException : not open\n   at Acme.Cart.{}() in /src/Cart.cs:line 12\n   at Acme.Tests.CartTests.T() in /src/tests/CartTests.cs:line 4",
            "Total",
            "Clear",
        ),
    ] {
        let of = |function: &str| {
            let failure = reported("", &stack.replace("{}", function));
            fingerprints(&failure, "code_exception", None).cause
        };
        assert_ne!(of(one), of(other), "{stack}");
        // A dead server is one cause, whoever called it.
        let of = |function: &str| {
            let failure = reported("", &stack.replace("{}", function));
            fingerprints(&failure, "connection_refused", None).cause
        };
        assert_eq!(of(one), of(other), "{stack}");
    }
}

#[test]
fn the_code_of_an_error_of_node_means_something() {
    let of = |code: &str| {
        let text = format!(
            "Error: request failed\n    at f (/srv/a.js:1:1)\n    at g (/srv/a.js:2:1) {{\n  errno: -111,\n  code: '{code}'\n}}"
        );
        fingerprints(&reported("", &text), "some_cause", None).cause
    };
    assert_ne!(of("ECONNREFUSED"), of("ETIMEDOUT"));
    assert_ne!(
        of("ERR_HTTP_HEADERS_SENT"),
        of("ERR_HTTP_INVALID_STATUS_CODE")
    );
}

#[test]
fn where_a_failure_says_nothing_its_log_does() {
    let of = |type_: &str, log: &str| {
        let failure = Failure {
            message: (!type_.is_empty()).then(|| type_.into()),
            type_: (!type_.is_empty()).then(|| type_.into()),
            system_out: Some(log.into()),
            ..Failure::default()
        };
        fingerprints(&failure, "unknown", None).cause
    };
    for (type_, log, one, other) in [
        (
            "",
            "thread 'a' (12) panicked at src/a.rs:1:2:\n{}\n",
            "cart is empty",
            "stock is gone",
        ),
        (
            "",
            "=== RUN A\npanic: {}\n\ngoroutine 1 [running]:",
            "cart is empty",
            "stock is gone",
        ),
        (
            "undefined",
            "  Given the cart is {} ... undefined in 0.000s\n",
            "empty",
            "full",
        ),
    ] {
        assert_ne!(
            of(type_, &log.replace("{}", one)),
            of(type_, &log.replace("{}", other)),
            "{log}"
        );
    }
}

#[test]
fn a_report_of_another_release_has_no_fingerprint_for_this_one() {
    let of = |print: &str| {
        let label = [
            ("jelly.side", "test"),
            ("jelly.root_cause", "unknown"),
            ("jelly.rule", "unknown/no-rule"),
            ("jelly.fingerprint", print),
            ("jelly.test_fingerprint", print),
        ];
        let failure = Failure {
            label: Label::from_properties(label),
            ..reported("", "nothing is known of this")
        };
        Engine::builtin().diagnose(&failure).fingerprint
    };
    assert_eq!(of("j2:0123456789abcdef"), "j2:0123456789abcdef");
    let made = of("j1:0123456789abcdef");
    assert!(
        made.starts_with("j2:") && made != "j2:0123456789abcdef",
        "{made}"
    );
}

#[test]
fn the_first_algorithm_gives_what_it_gave() {
    let refused = Failure {
        message: Some("connect to db:5432 refused after 31 ms, pid=4711".into()),
        ..reported(
            "java.net.ConnectException",
            "java.net.ConnectException: connect to db:5432 refused after 31 ms, pid=4711\n\tat shop.Cart.total(Cart.java:12)",
        )
    };
    let refused = Failure {
        classname: Some("shop.CartTest".into()),
        ..refused
    };
    let wrong = Failure {
        message: Some("AssertionError: assert 3 == 4".into()),
        classname: Some("tests.test_cart".into()),
        name: Some("test_total".into()),
        ..reported(
            "",
            "def test_total():\n>       assert total() == 4\nE       AssertionError: assert 3 == 4\n\ntests/test_cart.py:4: AssertionError",
        )
    };
    for (failure, expected) in [
        (refused, "j1:38a5d8688b4f459c"),
        (wrong, "j1:f0791d9c1c04e21b"),
    ] {
        let engine = Engine::builtin();
        assert_eq!(engine.first_test_fingerprint(&failure), expected);
        assert!(
            engine
                .diagnose(&failure)
                .test_fingerprint
                .starts_with("j2:")
        );
    }
}
