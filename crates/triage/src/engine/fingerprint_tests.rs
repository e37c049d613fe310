use super::fingerprints;
use crate::engine::Engine;
use jelly_base::model::{Assertion, AssertionTarget, Failure, MismatchPlace, Phase};
use proptest::prelude::*;

/// What differs from run to run and means nothing.
#[derive(Debug, Clone)]
struct Run {
    root: String,
    tmp: String,
    host: String,
    pod: String,
    ip: String,
    container: String,
    uuid: String,
    hash: String,
    stamp: String,
    addr: u64,
    port: u16,
    pid: u32,
    line: u32,
    ms: u32,
    thread: u8,
    backwards: bool,
}

fn run() -> impl Strategy<Value = Run> {
    let root = prop_oneof![
        "/home/[a-z]{2,6}/work/shop/shop".prop_map(|s| s),
        "/tmp/ws-[0-9]{4}/shop".prop_map(|s| s),
        Just("/builds/acme/shop".to_owned()),
        "/var/lib/jenkins/workspace/shop@[2-9]".prop_map(|s| s),
        "/Users/[a-z]{3,8}/shop".prop_map(|s| s),
    ];
    let places = (
        root,
        prop_oneof![
            "/tmp/pytest-of-ci/pytest-[0-9]{1,3}",
            "/builds/tmp\\.[A-Za-z0-9]{10}/pytest-of-ci/pytest-[0-9]{1,3}",
        ],
        "ci-runner-[0-9]{1,3}",
        // As Kubernetes makes them: of no vowels, and not of letters only.
        "[0-9a-f]{9}-[bcdfghjkl]{2}[2456789][mnpqrstvwxz]{2}",
        (0u8..=255, 1u8..=254).prop_map(|(a, b)| format!("10.20.{a}.{b}")),
    );
    let ids = (
        "[0-9]{2}[0-9a-f]{10}",
        // Of more than four digits, as chance makes them.
        "[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{7}1e5b9",
        "[0-9a-f]{40}",
        (1u8..=28, 0u8..24, 0u8..60, 0u16..1000)
            .prop_map(|(d, h, m, ms)| format!("2026-05-{d:02}T{h:02}:{m:02}:07.{ms:03}Z")),
        0x1000_0000_u64..,
    );
    let numbers = (
        // One that a service is known by is none that chance gave.
        (32768u16..).prop_filter("of a service", |port| {
            ![50_000, 50_051, 50_070, 54_321, 61_616].contains(port)
        }),
        100u32..,
        1u32..9999,
        1u32..90_000,
        any::<u8>(),
        any::<bool>(),
    );
    (places, ids, numbers).prop_map(
        |(
            (root, tmp, host, pod, ip),
            (container, uuid, hash, stamp, addr),
            (port, pid, line, ms, thread, backwards),
        )| Run {
            root,
            tmp,
            host,
            pod,
            ip,
            container,
            uuid,
            hash,
            stamp,
            addr,
            port,
            pid,
            line,
            ms,
            thread,
            backwards,
        },
    )
}

/// How a test is called.
#[derive(Debug, Clone)]
struct Test {
    class: String,
    name: String,
}

fn test() -> impl Strategy<Value = Test> {
    ("[A-Z][a-z]{3,7}Test", "test_[a-z]{4,9}").prop_map(|(class, name)| Test { class, name })
}

type Shape = fn(&Run, &Test, &str) -> (Option<String>, Option<String>, String);

/// Failures as frameworks write them: type, message and text around something
/// that `means` something.
const SHAPES: &[Shape] = &[
    |r, t, means| {
        let message = format!("KeyError: '{means}'");
        let text = format!(
            "self = <app.Cart object at 0x{:x}>\n\n    def {}():\n>       table[code]\nE       \
             {message}\n\n{}/app/shop.py:{}: KeyError",
            r.addr, t.name, r.root, r.line
        );
        (None, Some(message), text)
    },
    |r, t, means| {
        let set = if r.backwards {
            "{'b', 'a'}"
        } else {
            "{'a', 'b'}"
        };
        let message = format!("assert {set} == {{'{means}'}}");
        let text = format!(
            "def {}():\nE       {message}\nE         Extra items in the left set:\nE         {}\n\n\
             tests/t.py:{}: AssertionError",
            t.name,
            if r.backwards {
                "'b'\nE         'a'"
            } else {
                "'a'\nE         'b'"
            },
            r.line
        );
        (None, Some(message), text)
    },
    |r, _, means| {
        let text = format!(
            "Error: expect(received).toBe(expected) // Object.is equality\n\nExpected: \
             \"{means}\"\nReceived: \"x\"\n    at Object.toBe ({}/js/a.test.js:{}:9)\n    at \
             new Promise (<anonymous>)\n",
            r.root, r.line
        );
        (None, None, text)
    },
    |r, t, means| {
        let text = format!(
            "java.lang.AssertionError: expected:<{means}> but was:<x>\n\tat \
             com.acme.{}.{}({}.java:{})\n\tat java.base/java.lang.Thread.run(Thread.java:{})\n",
            t.class, t.name, t.class, r.line, r.line
        );
        let message = format!("expected:<{means}> but was:<x>");
        (Some("java.lang.AssertionError".into()), Some(message), text)
    },
    |r, t, means| {
        let text = format!(
            "com.acme.OuterException: while {}\n\tat com.acme.{}.{}(A.java:{})\nCaused by: \
             java.net.ConnectException: {means} at {}:{} in {} ms\n\tat x.Y.z(Y.java:{})\n",
            t.name, t.class, t.name, r.line, r.ip, r.port, r.ms, r.line
        );
        (Some("com.acme.OuterException".into()), None, text)
    },
    |r, t, means| {
        let text = format!(
            "thread '{}' ({}) panicked at src/lib.rs:{}:5:\nassertion `left == right` failed\n  \
             left: \"{means}\"\n right: \"x\"\nnote: run with `RUST_BACKTRACE=1`",
            t.name, r.pid, r.line
        );
        let message = format!(
            "thread '{}' ({}) panicked at src/lib.rs:{}:5",
            t.name, r.pid, r.line
        );
        (
            Some("test failure with exit code 101".into()),
            Some(message),
            text,
        )
    },
    |r, t, means| {
        let text = format!(
            "=== RUN   {}\n    cart_test.go:{}: \n        \tError Trace:\t{}/cart_test.go:{}\n        \
             \tError:      \tNot equal: \n        \t            \texpected: \"{means}\"\n        \
             \t            \tactual  : \"x\"\n        \tTest:       \t{}\n--- FAIL: {} \
             (0.{:02}s)\n",
            t.name,
            r.line,
            r.root,
            r.line,
            t.name,
            t.name,
            r.ms % 100
        );
        (None, Some("Failed".into()), text)
    },
    |r, _, means| {
        let message = format!(
            "{} ERROR [http-nio-8080-exec-{}] order {} of {means} in container {} on pod \
             shop-{} is gone",
            r.stamp, r.thread, r.uuid, r.container, r.pod
        );
        (Some("RuntimeError".into()), Some(message.clone()), message)
    },
    |r, t, means| {
        let text = format!(
            "{}::{}\nFailed asserting that '{means}' is identical to \
             'x'.\n\n{}/tests/{}.php:{}\n",
            t.class, t.name, r.root, t.class, r.line
        );
        (
            Some("PHPUnit\\Framework\\ExpectationFailedException".into()),
            None,
            text,
        )
    },
    |r, _, means| {
        let message = format!("expected \"{means}\" to eq \"x\"");
        let text = format!(
            "Failure/Error: expect(a).to eq \"x\"\n\n  {message}\n\n  # \
             ./spec/cart_spec.rb:{}:in `block (2 levels) in <top (required)>'\n",
            r.line
        );
        (
            Some("RSpec::Expectations::ExpectationNotMetError".into()),
            Some(message),
            text,
        )
    },
    |r, _, means| {
        let message = format!("no such element: {{\"selector\":\"#{means}\"}}");
        let text = format!(
            "{message}\n  (Session info: chrome=156.0.{}.7)\nStacktrace:\n#0 0x{:x} \
             <unknown>\n#1 0x{:x} <unknown>\n",
            r.ms, r.addr, r.addr
        );
        (Some("NoSuchElementException".into()), Some(message), text)
    },
    |r, _, means| {
        let message = format!(
            "FileNotFoundError: [Errno 2] No such file: '{}/test_x0/{means}.csv' (pid={}) on \
             node {}, commit {}",
            r.tmp, r.pid, r.host, r.hash
        );
        (None, Some(message), String::new())
    },
    |r, _, means| {
        let map = if r.backwards {
            "{\"b\": [1, 2], \"a\": {\"y\": 1, \"x\": 2}}"
        } else {
            "{\"a\": {\"x\": 2, \"y\": 1}, \"b\": [1, 2]}"
        };
        let message = format!("bad payload {map} of {means}");
        (Some("ValueError".into()), Some(message), String::new())
    },
    |r, _, means| {
        let message =
            format!("Assert.Equal() Failure: Values differ\nExpected: {means}\nActual:   x");
        let text = format!(
            "   at Acme.CartTests.Total() in {}/CartTests.cs:line {}\n",
            r.root, r.line
        );
        (Some("Xunit.Sdk.EqualException".into()), Some(message), text)
    },
    |r, _, means| {
        let text = format!(
            "{}/cart_test.cc:{}\nExpected equality of these values:\n  total()\n    Which is: \
             {means}\n  24\n",
            r.root, r.line
        );
        (None, None, text)
    },
];

fn failure(shape: usize, run: &Run, test: &Test, means: &str) -> Failure {
    let (type_, message, text) = SHAPES[shape](run, test, means);
    Failure {
        dialect: Some("junit".into()),
        element: Some("failure".into()),
        suite: Some(format!("suite of {}", test.class)),
        classname: Some(test.class.clone()),
        name: Some(test.name.clone()),
        file: Some(format!("{}/{}", run.root, test.class)),
        line: Some(u64::from(run.line)),
        type_,
        message,
        text: (!text.is_empty()).then_some(text),
        ..Failure::default()
    }
}

fn cause(failure: &Failure) -> (String, String) {
    let prints = fingerprints(failure, "some_cause", None);
    (prints.cause, format!("{:?}", prints.template))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(jelly_base::testing::random_cases(400)))]

    #[test]
    fn what_is_volatile_never_changes_a_fingerprint(
        shape in 0..SHAPES.len(),
        (one, other) in (run(), run()),
        test in test(),
        means in "[a-z]{3,7}",
    ) {
        let (one, other) = (failure(shape, &one, &test, &means), failure(shape, &other, &test, &means));
        prop_assert_eq!(cause(&one), cause(&other));
        let of_test = |f: &Failure| fingerprints(f, "some_cause", None).test;
        prop_assert_eq!(of_test(&one), of_test(&other));
    }

    #[test]
    fn the_cause_does_not_depend_on_which_test_it_befell(
        shape in 0..SHAPES.len(),
        run in run(),
        (one, other) in (test(), test()),
        means in "[a-z]{3,7}",
    ) {
        prop_assume!(one.name != other.name);
        let (one, other) = (failure(shape, &run, &one, &means), failure(shape, &run, &other, &means));
        prop_assert_eq!(cause(&one), cause(&other));
        let of_test = |f: &Failure| fingerprints(f, "some_cause", None).test;
        prop_assert_ne!(of_test(&one), of_test(&other));
    }

    #[test]
    fn what_means_something_always_changes_it(
        shape in 0..SHAPES.len(),
        (one, other) in (run(), run()),
        test in test(),
        (means, differs) in ("[a-z]{3,7}", "[a-z]{3,7}"),
    ) {
        prop_assume!(means != differs);
        let (one, other) = (failure(shape, &one, &test, &means), failure(shape, &other, &test, &differs));
        prop_assert_ne!(cause(&one).0, cause(&other).0);
    }

    #[test]
    fn numbers_that_a_test_compares_mean_something(a in 0u32..9999, b in 0u32..9999, r in run(), t in test()) {
        prop_assume!(a != b);
        for shape in [1, 2, 3, 5, 6, 8, 9, 13, 14] {
            let print = |n: u32| cause(&failure(shape, &r, &t, &n.to_string())).0;
            prop_assert_ne!(print(a), print(b), "shape {}", shape);
        }
    }

    #[test]
    fn fields_that_name_the_test_are_no_part_of_the_cause(message in "\\PC{0,60}", name in "\\PC{0,20}") {
        let bare = Failure { message: Some(message.clone()), ..Failure::default() };
        let named = Failure {
            suite: Some(name.clone()),
            classname: Some(name.clone()),
            name: Some(name.clone()),
            file: Some(name.clone()),
            line: Some(7),
            ..bare.clone()
        };
        // A message that is nothing but the name says nothing.
        prop_assume!(!message.contains(name.trim()) || name.trim().is_empty());
        prop_assert_eq!(cause(&bare), cause(&named));
    }
}

#[test]
fn a_long_statement_is_cut_where_lengths_of_volatile_parts_do_not_matter() {
    let long = |port: &str| {
        let message = format!("refused by 127.0.0.1:{port} {}", "word ".repeat(1000));
        let failure = Failure {
            message: Some(message),
            ..Failure::default()
        };
        fingerprints(&failure, "some_cause", None)
    };
    assert_eq!(long("32768"), long("50123"));
    let says = long("50123").template;
    assert!(says.get("says").unwrap().len() <= super::SAYS + 3);
}

#[test]
fn a_rule_that_quotes_another_line_does_not_change_a_fingerprint() {
    let failure = Failure {
        message: Some("connect ECONNREFUSED 127.0.0.1:5432".into()),
        text: Some("Error: connect ECONNREFUSED 127.0.0.1:5432\n    at x (a.js:1:2)".into()),
        ..Failure::default()
    };
    let quoting = |text: &str| {
        let evidence = jelly_base::model::Evidence {
            field: "text".into(),
            text: text.into(),
        };
        fingerprints(&failure, "connection_refused", Some(&evidence)).cause
    };
    assert_eq!(quoting("Error: connect"), quoting("a.js"));
    let logged = jelly_base::model::Evidence {
        field: "system_err".into(),
        text: "disk is full".into(),
    };
    assert_ne!(
        quoting("Error: connect"),
        fingerprints(&failure, "connection_refused", Some(&logged)).cause
    );
}

#[test]
fn a_test_is_the_same_in_a_suite_that_is_named_after_its_run() {
    let of = |suite: &str| {
        let failure = Failure {
            suite: Some(suite.into()),
            classname: Some("shop.CartTest".into()),
            name: Some("total".into()),
            message: Some("expected 1".into()),
            ..Failure::default()
        };
        fingerprints(&failure, "assertion_mismatch", None).test
    };
    assert_eq!(of("TestCart-20261121214921"), of("TestCart-20261122080000"));
    assert_ne!(of("suite-1"), of("suite-2"));
}

/// A mismatch of one step; the answer is the same for all of them.
fn mismatch(target: AssertionTarget, path: Option<&str>, kind: &str) -> Failure {
    Failure {
        phase: Some(Phase::Assert),
        server: Some("s".into()),
        step: Some("sum".into()),
        message: Some(format!("expected something of {kind}")),
        assertion: Some(Assertion {
            kind: kind.into(),
            target: Some(target),
            path: path.map(str::to_owned),
            expected: "a".into(),
            actual: "b".into(),
            ..Assertion::default()
        }),
        ..Failure::default()
    }
}

#[test]
fn two_mismatches_of_one_step_part_by_what_they_look_at() {
    let failures = [
        mismatch(AssertionTarget::Text, None, "equals"),
        mismatch(AssertionTarget::Text, None, "contains"),
        mismatch(AssertionTarget::Stderr, None, "equals"),
        mismatch(AssertionTarget::Json, Some("$.a"), "equals"),
        mismatch(AssertionTarget::Json, Some("$.b"), "equals"),
        mismatch(AssertionTarget::Notification, Some("$.a"), "equals"),
    ];
    let prints: std::collections::BTreeSet<String> = failures
        .iter()
        .map(|failure| fingerprints(failure, "assertion_mismatch", None).test)
        .collect();
    assert_eq!(prints.len(), failures.len());
}

#[test]
fn a_mismatch_is_the_same_whatever_else_of_its_step_does_not_hold() {
    let alone = mismatch(AssertionTarget::Json, Some("$.a"), "equals");
    let mut beside = alone.clone();
    beside.mismatch = Some(MismatchPlace { index: 2, of: 3 });
    beside.message = Some("said otherwise".into());
    beside.assertion.as_mut().unwrap().nearest = Some("$.b".into());
    let of = |failure: &Failure| fingerprints(failure, "assertion_mismatch", None);
    assert_eq!(of(&alone), of(&beside));
    // As histories remember it.
    assert_eq!(of(&alone).cause, "j2:eabb64f6c115af4a");
}

#[test]
fn two_methods_that_a_server_lacks_are_two_causes() {
    let asked = |step: &str, method: &str| {
        let failure: Failure = serde_json::from_value(serde_json::json!({
            "phase": "call", "outcome": "error", "server": "s", "step": step,
            "request": {"method": method},
            "rpc_error": {"code": -32601, "message": "Method not found"},
        }))
        .unwrap();
        let diagnosis = Engine::builtin().diagnose(&failure);
        assert_eq!(diagnosis.root_cause, "method_not_found");
        diagnosis.fingerprint
    };
    let print = asked("a", "prompts/get");
    assert_eq!(asked("b", "prompts/get"), print);
    assert_ne!(asked("c", "resources/read"), print);
}
