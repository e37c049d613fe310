//! An assertion that ran into its surroundings is none on the code, however its
//! framework wraps the error.

use crate::engine::Engine;
use crate::engine::test_failure::diagnose;
use jelly_base::model::{ErrorCategory, Failure, Side};

/// How a framework writes an assertion that wanted no error; `{e}` stands for
/// the error that came.
struct Wrapping {
    name: &'static str,
    dialect: &'static str,
    type_: &'static str,
    error: Language,
    text: &'static str,
}

#[derive(Clone, Copy, Debug)]
enum Language {
    JavaScript,
    Python,
    Php,
    Ruby,
    Dotnet,
    Jvm,
    Go,
    Cpp,
    Rust,
}

impl Language {
    /// A peer that refuses, and a file that is not there.
    fn errors(self) -> [&'static str; 2] {
        match self {
            Self::JavaScript => [
                "connect ECONNREFUSED 127.0.0.1:59999",
                "ENOENT: no such file or directory, open fixtures/depots.csv",
            ],
            Self::Python => [
                "ConnectionRefusedError(111, 'Connection refused')",
                "FileNotFoundError(2, 'No such file or directory')",
            ],
            Self::Php => [
                "cURL error 7: Failed to connect to 127.0.0.1 port 59999: Connection refused",
                "fopen(fixtures/depots.csv): Failed to open stream: No such file or directory",
            ],
            Self::Ruby => [
                "#<Errno::ECONNREFUSED: Connection refused - connect(2) for 127.0.0.1:59999>",
                "#<Errno::ENOENT: No such file or directory @ rb_sysopen - fixtures/depots.csv>",
            ],
            Self::Dotnet => [
                "System.Net.Sockets.SocketException (111): Connection refused",
                "System.IO.FileNotFoundException: fixtures/depots.csv: No such file or directory",
            ],
            Self::Jvm => [
                "java.net.ConnectException: Connection refused",
                "java.nio.file.NoSuchFileException: fixtures/depots.csv",
            ],
            Self::Go => [
                "dial tcp 127.0.0.1:59999: connect: connection refused",
                "open fixtures/depots.csv: no such file or directory",
            ],
            Self::Cpp => [
                "connect: Connection refused",
                "fixtures/depots.csv: No such file or directory",
            ],
            Self::Rust => [
                "\"warming k1: 127.0.0.1:59999: Connection refused (os error 111)\"",
                "Os { code: 2, kind: NotFound, message: \"No such file or directory\" }",
            ],
        }
    }
}

const fn wrapping(
    name: &'static str,
    dialect: &'static str,
    type_: &'static str,
    error: Language,
    text: &'static str,
) -> Wrapping {
    Wrapping {
        name,
        dialect,
        type_,
        error,
        text,
    }
}

use Language::{Cpp, Dotnet, Go, JavaScript, Jvm, Php, Python, Ruby, Rust};

const WRAPPINGS: &[Wrapping] = &[
    wrapping(
        "Rust, an error for Ok",
        "nextest",
        "",
        Rust,
        "thread 'warms' (98) panicked at tests/store.rs:22:20:\nassertion `left == right` failed\n  left: Err({e})\n right: Ok(())\nstack backtrace:\n   0: store::warms\n             at ./tests/store.rs:22:20",
    ),
    wrapping(
        "ava, an error thrown",
        "",
        "",
        JavaScript,
        "---\n  name: AssertionError\n  message: Error thrown in test\n  values:\n    'Error thrown in test:': |-\n      Error {\n        errno: -111,\n        message: '{e}',\n      }\n  at: 'open (file:///srv/depot.test.js:9:1)'\n...",
    ),
    wrapping(
        "ava, as JSON",
        "",
        "",
        JavaScript,
        "---\n  name: AssertionError\n  details: {\"Error thrown in test:\":\"Error {\\n  message: '{e}',\\n}\"}\n...",
    ),
    wrapping(
        "ava, a promise rejected",
        "",
        "",
        JavaScript,
        "name: AssertionError\nassertion: ''\nvalues:\n  'Rejected promise returned by test. Reason:': |-\n    Error {\n      message: '{e}',\n    }\n",
    ),
    wrapping(
        "ava, notThrows",
        "",
        "",
        JavaScript,
        "name: AssertionError\nassertion: notThrows\nvalues:\n  'Function threw:': |-\n    Error {\n      message: '{e}',\n    }\n",
    ),
    wrapping(
        "chai-as-promised",
        "mocha",
        "AssertionError",
        JavaScript,
        "AssertionError: expected promise to be fulfilled but it was rejected with 'Error: {e}'\n    at Context.<anonymous> (test/depot.js:1:2)",
    ),
    wrapping(
        "chai, null",
        "mocha",
        "AssertionError",
        JavaScript,
        "AssertionError: expected [Error: {e}] to equal null\n    at Context.<anonymous> (test/depot.js:1:2)",
    ),
    wrapping(
        "chai, not to throw",
        "mocha",
        "AssertionError",
        JavaScript,
        "AssertionError: expected [Function] to not throw an error but 'Error: {e}' was thrown\n    at Context.<anonymous> (test/depot.js:1:2)",
    ),
    wrapping(
        "vitest, resolves",
        "vitest",
        "AssertionError",
        JavaScript,
        "AssertionError: promise rejected \"Error: {e}\" instead of resolving\n ❯ test/depot.test.ts:1:2",
    ),
    wrapping(
        "jest, resolves",
        "jest-junit",
        "",
        JavaScript,
        "Error: expect(received).resolves.toBe()\n\nReceived promise rejected instead of resolved\nRejected to value: [Error: {e}]\n    at Object.<anonymous> (test/depot.js:1:2)",
    ),
    wrapping(
        "jest, null",
        "jest-junit",
        "",
        JavaScript,
        "Error: expect(received).toBeNull()\n\nReceived: [Error: {e}]\n    at Object.<anonymous> (test/depot.js:1:2)",
    ),
    wrapping(
        "jest, not to throw",
        "jest-junit",
        "",
        JavaScript,
        "Error: expect(received).not.toThrow()\n\nError name:    \"Error\"\nError message: \"{e}\"\n\n    at Object.<anonymous> (test/depot.js:1:2)",
    ),
    wrapping(
        "node's ifError",
        "node-test",
        "AssertionError",
        JavaScript,
        "AssertionError [ERR_ASSERTION]: ifError got unwanted exception: {e}\n    at Context.<anonymous> (test/depot.js:1:2)",
    ),
    wrapping(
        "node's doesNotReject",
        "node-test",
        "AssertionError",
        JavaScript,
        "AssertionError [ERR_ASSERTION]: Got unwanted rejection.\nActual message: \"{e}\"\n    at Context.<anonymous> (test/depot.js:1:2)",
    ),
    wrapping(
        "tape",
        "",
        "",
        JavaScript,
        "not ok 3 Error: {e}\n  ---\n    operator: error\n    expected: |-\n      undefined\n    actual: |-\n      [Error: {e}]\n  ...",
    ),
    wrapping(
        "pytest.fail",
        "pytest",
        "",
        Python,
        "depots/test_depot.py:3: in test_x\nE   Failed: depot not open: {e}",
    ),
    wrapping(
        "unittest's fail",
        "unittest",
        "AssertionError",
        Python,
        "Traceback (most recent call last):\n  File \"/srv/tests/test_depot.py\", line 3, in test_x\nAssertionError: depot not open: {e}\n",
    ),
    wrapping(
        "unittest's assertTrue",
        "unittest",
        "AssertionError",
        Python,
        "Traceback (most recent call last):\n  File \"/srv/tests/test_depot.py\", line 3, in test_x\nAssertionError: False is not true : depot not open: {e}\n",
    ),
    wrapping(
        "pytest, a message of its own",
        "pytest",
        "",
        Python,
        "E   AssertionError: depot not open: {e}\nE   assert False\n\ntests/test_depot.py:3: AssertionError",
    ),
    wrapping(
        "pytest, None",
        "pytest",
        "",
        Python,
        "E   AssertionError: assert {e} is None\n\ntests/test_depot.py:3: AssertionError",
    ),
    wrapping(
        "PHPUnit's fail",
        "phpunit",
        "PHPUnit\\Framework\\AssertionFailedError",
        Php,
        "Tests\\DepotTest::testOpen\ndepot not open: {e}\n\n/srv/tests/DepotTest.php:9\n",
    ),
    wrapping(
        "PHPUnit's assertTrue",
        "phpunit",
        "PHPUnit\\Framework\\ExpectationFailedException",
        Php,
        "Tests\\DepotTest::testOpen\n{e}\nFailed asserting that false is true.\n\n/srv/tests/DepotTest.php:9\n",
    ),
    wrapping(
        "RSpec, not to raise",
        "rspec",
        "RSpec::Expectations::ExpectationNotMetError",
        Ruby,
        "Failure/Error: expect { open }.not_to raise_error\n\n  expected no Exception, got {e} with backtrace:\n    # ./spec/depot_spec.rb:3:in `block'\n",
    ),
    wrapping(
        "RSpec, nil",
        "rspec",
        "RSpec::Expectations::ExpectationNotMetError",
        Ruby,
        "Failure/Error: expect(error).to be_nil\n\n  expected: nil\n       got: {e}\n# ./spec/depot_spec.rb:3:in `block'\n",
    ),
    wrapping(
        "xUnit, null",
        "xunit",
        "Xunit.Sdk.NullException",
        Dotnet,
        "Assert.Null() Failure: Value is not null\nExpected: null\nActual:   {e}\n   at Depot.Tests.A() in /src/Tests/A.cs:line 3",
    ),
    wrapping(
        "xUnit's Fail",
        "xunit",
        "Xunit.Sdk.FailException",
        Dotnet,
        "Assert.Fail(): depot not open: {e}\n   at Depot.Tests.A() in /src/Tests/A.cs:line 3",
    ),
    wrapping(
        "NUnit, nothing thrown",
        "nunit",
        "",
        Dotnet,
        "  Expected: No Exception to be thrown\n  But was:  <{e}\n   at System.Net.Sockets.Socket.Connect()>",
    ),
    wrapping(
        "NUnit's Fail",
        "nunit",
        "NUnit.Framework.AssertionException",
        Dotnet,
        "depot not open: {e}\n   at Depot.Tests.A() in /src/Tests/A.cs:line 3",
    ),
    wrapping(
        "JUnit 5, a message of its own",
        "junit5",
        "org.opentest4j.AssertionFailedError",
        Jvm,
        "org.opentest4j.AssertionFailedError: depot not open: {e} ==> expected: <true> but was: <false>\n\tat shop.DepotTest.open(DepotTest.java:9)",
    ),
    wrapping(
        "Spock",
        "spock",
        "org.spockframework.runtime.UnallowedExceptionThrownError",
        Jvm,
        "Expected no exception to be thrown, but got 'java.io.IOException'\n\tat shop.DepotSpec.open(DepotSpec.groovy:3)\nCaused by: {e}\n\t... 3 more",
    ),
    wrapping(
        "testify, no error",
        "gotestsum",
        "",
        Go,
        "=== RUN   TestA\n    depot_test.go:9: \n        \tError Trace:\t/srv/depot_test.go:9\n        \tError:      \tReceived unexpected error:\n        \t            \t{e}\n        \tTest:       \tTestA\n--- FAIL: TestA (0.00s)\n",
    ),
    wrapping(
        "testify, nil",
        "gotestsum",
        "",
        Go,
        "=== RUN   TestA\n    depot_test.go:9: \n        \tError Trace:\t/srv/depot_test.go:9\n        \tError:      \tExpected nil, but got: &errors.errorString{s:\"{e}\"}\n        \tTest:       \tTestA\n--- FAIL: TestA (0.00s)\n",
    ),
    wrapping(
        "Go, want nil",
        "gotestsum",
        "",
        Go,
        "=== RUN   TestA\n    depot_test.go:9: Open() returned {e}, want nil\n--- FAIL: TestA (0.00s)\n",
    ),
    wrapping(
        "Go, wantErr",
        "gotestsum",
        "",
        Go,
        "=== RUN   TestA\n    depot_test.go:9: Open() error = {e}, wantErr false\n--- FAIL: TestA (0.00s)\n",
    ),
    wrapping(
        "gotest.tools",
        "gotestsum",
        "",
        Go,
        "=== RUN   TestA\n    depot_test.go:9: assertion failed: error is not nil: {e}\n--- FAIL: TestA (0.00s)\n",
    ),
    wrapping(
        "Gomega, nil",
        "ginkgo",
        "",
        Go,
        "[FAILED] Expected\n    <*net.OpError | 0xc000126000>: {e}\nto be nil\nIn [It] at: /srv/depot_test.go:9",
    ),
    wrapping(
        "GoogleTest, nothing thrown",
        "gtest",
        "",
        Cpp,
        "depot_test.cc:9\nExpected: open() doesn't throw an exception.\n  Actual: it throws std::system_error with description \"{e}\".",
    ),
    wrapping(
        "GoogleTest, a message of its own",
        "gtest",
        "",
        Cpp,
        "Value of: depot.open()\n  Actual: false\nExpected: true\ncannot open {e}",
    ),
];

fn failure(shape: &Wrapping, error: &str) -> Failure {
    let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    Failure {
        element: some("failure"),
        dialect: some(shape.dialect),
        type_: some(shape.type_),
        text: Some(shape.text.replace("{e}", error)),
        ..Failure::default()
    }
}

#[test]
fn a_wrapped_error_of_the_surroundings_is_no_assertion_on_the_code() {
    let mut wrong = Vec::new();
    for shape in WRAPPINGS {
        for error in shape.error.errors() {
            let diagnosis = Engine::builtin().diagnose(&failure(shape, error));
            let category = diagnosis.error_category;
            let told = category.is_some() && category != Some(ErrorCategory::Assertion);
            if diagnosis.side != Side::Test || diagnosis.ambiguous || !told {
                wrong.push(format!("{}: {error}: {}", shape.name, diagnosis.rule));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn what_the_product_rejects_with_stays_the_products() {
    // Those tell of any error that left the test; it need not be an assertion.
    let any = |shape: &&Wrapping| {
        !shape.name.starts_with("ava")
            && !["Spock", "testify, no error", "gotest.tools"].contains(&shape.name)
            && !["jest, not to throw", "chai, not to throw", "pytest.fail"].contains(&shape.name)
            && !["RSpec, not to raise", "NUnit, nothing thrown"].contains(&shape.name)
            && !["PHPUnit's assertTrue", "Go, wantErr"].contains(&shape.name)
    };
    let mut wrong = Vec::new();
    for shape in WRAPPINGS.iter().filter(any) {
        let diagnosis = Engine::builtin().diagnose(&failure(shape, "the depot is closed"));
        if diagnosis.error_category != Some(ErrorCategory::Assertion) {
            wrong.push(format!("{}: {}", shape.name, diagnosis.rule));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn an_error_that_is_compared_or_wanted_stays_an_assertion() {
    for text in [
        "AssertionError: 'Connection refused' not found in 'depot open'",
        "AssertionError: the page should not say Connection refused",
        "AssertionError: ConnectionRefusedError not raised",
        "AssertionError: banner: \"connect ECONNREFUSED 127.0.0.1:1\"",
        "AssertionError: expected [Error: the depot is closed] to equal null",
        "AssertionError: expected 'ENOENT: no such file or directory' to equal 'ok'",
        "---\n  name: AssertionError\n  assertion: is\n  values:\n    'Difference (- actual, + expected):': |-\n      - 'connect ECONNREFUSED 127.0.0.1:1'\n      + 'ok'\n...",
        "    depot_test.go:9: got \"x509: certificate is not valid for any names, but wanted to match a\", want \"ok\"",
    ] {
        let diagnosis = Engine::builtin().diagnose(&Failure {
            element: Some("failure".into()),
            text: Some(text.into()),
            ..Failure::default()
        });
        assert_eq!(
            diagnosis.error_category,
            Some(ErrorCategory::Assertion),
            "{text}: {}",
            diagnosis.rule
        );
    }
}

#[test]
fn what_a_shell_ran_into_is_no_assertion_on_the_code() {
    let bats = |command: &str, status: &str, printed: &str| {
        format!("(in test file test/open.bats, line 5)\n  `{command}' failed{status}\n{printed}")
    };
    for (text, root) in [
        (
            bats(
                "./open.sh",
                " with status 126",
                "/srv/test/open.bats: line 5: ./open.sh: Permission denied",
            ),
            "permission_denied",
        ),
        (
            bats(
                "[ \"$status\" -eq 0 ]",
                "",
                "mkdir: cannot create directory '/opt/depot': Permission denied",
            ),
            "permission_denied",
        ),
        (
            bats(
                "bash open.sh",
                " with status 1",
                "open.sh: line 3: DEPOT_URL: unbound variable",
            ),
            "config_missing",
        ),
        (
            bats(
                "run open $region",
                " with status 1",
                "/srv/test/open.bats: line 5: region: unbound variable",
            ),
            "code_exception",
        ),
        (
            bats(
                "jq . depots.json",
                " with status 127",
                "/srv/test/open.bats: line 5: jq: command not found",
            ),
            "missing_module",
        ),
        (
            bats(
                "[ \"$status\" -eq 0 ]",
                "",
                "cat: fixtures/depots.json: No such file or directory",
            ),
            "data_setup",
        ),
        (
            bats(
                "bash open.sh",
                " with status 2",
                "/srv/test/open.bats: line 9: syntax error near unexpected token `fi'",
            ),
            "compile_error",
        ),
    ] {
        let diagnosis = Engine::builtin().diagnose(&Failure {
            element: Some("failure".into()),
            dialect: Some("bats".into()),
            text: Some(text.clone()),
            ..Failure::default()
        });
        assert_eq!(
            (diagnosis.side, diagnosis.root_cause.as_str()),
            (Side::Test, root),
            "{text}: {}",
            diagnosis.rule
        );
    }
}

#[test]
fn a_model_that_does_not_validate_is_configuration_only_for_settings() {
    let raised = |frame: &str, model: &str| {
        format!(
            "Traceback (most recent call last):\n  File \"/srv/tests/test_depot.py\", line 3, in test_x\n    depot()\n{frame}pydantic_core._pydantic_core.ValidationError: 1 validation error for {model}\nslots\n  Input should be a valid integer [type=int_parsing, input_value='many', input_type=str]\n"
        )
    };
    let product = "  File \"/srv/app/depots.py\", line 3, in depot\n    Depot(slots=x)\n  File \"/srv/venv/lib/python3.11/site-packages/pydantic/main.py\", line 9, in __init__\n    x\n";
    let settings = "  File \"/srv/app/depots.py\", line 3, in depot\n    Depot()\n  File \"/srv/venv/lib/python3.11/site-packages/pydantic_settings/main.py\", line 9, in __init__\n    x\n";
    for (text, side, ambiguous, root) in [
        (
            raised(product, "Depot"),
            Side::Code,
            false,
            "code_exception",
        ),
        (raised("", "Depot"), Side::Test, true, "code_exception"),
        (
            raised(settings, "Depot"),
            Side::Test,
            false,
            "config_missing",
        ),
    ] {
        let diagnosis = Engine::builtin().diagnose(&Failure {
            element: Some("error".into()),
            dialect: Some("pytest".into()),
            text: Some(text.clone()),
            ..Failure::default()
        });
        assert_eq!(
            (
                diagnosis.side,
                diagnosis.ambiguous,
                diagnosis.error_category,
                diagnosis.root_cause.as_str()
            ),
            (side, ambiguous, Some(ErrorCategory::Other), root),
            "{text}: {}",
            diagnosis.rule
        );
    }
}

/// An exception whose stack shows no line of the product is no proof against
/// it, whatever its class.
#[test]
fn only_a_line_of_the_product_holds_an_exception_against_it() {
    let raised = |message: &str, stack: &str| Failure {
        element: Some("error".into()),
        message: Some(message.into()),
        text: Some(format!("{message}\n{stack}")),
        ..Failure::default()
    };
    for message in [
        "TypeError: null is not an object",
        "System.InvalidOperationException: Sequence contains no elements",
        "Error in `total(cart)`: object 'price' not found",
        "MethodError: no method matching total(::Nothing)",
        "uncaught exception: ErrorCall",
    ] {
        for (stack, blamed) in [
            ("", false),
            ("    at pays (/srv/js/cart.test.js:9:1)", false),
            ("    at total (/srv/js/src/cart.js:4:5)", true),
        ] {
            let diagnosis = Engine::builtin().diagnose(&raised(message, stack));
            let found = (diagnosis.side == Side::Code, &*diagnosis.root_cause);
            assert_eq!(found, (blamed, "code_exception"), "{message} {stack}");
        }
    }
}

#[test]
fn an_errors_own_words_in_an_assertion_are_the_machines() {
    for (type_, text) in [
        (
            "AssertionError",
            "AssertionError [ERR_ASSERTION]: archive job must exit 0, got 2: tar: /backups/n1.tar: Cannot write: No space left on device",
        ),
        (
            "org.opentest4j.AssertionFailedError",
            "org.opentest4j.AssertionFailedError: staging must be up, but: org.apache.hc.client5.http.HttpHostConnectException: Connect to http://stg.internal:8080 failed: Connection refused ==> expected: <true> but was: <false>",
        ),
        (
            "AssertionError",
            "ssh: connect to host edge-03.lab port 22: Connection timed out: 255 != 0",
        ),
        (
            "PHPUnit\\Framework\\ExpectationFailedException",
            "Tests\\Feature\\TithesTest::seeds\nFailed asserting that 'SQLSTATE[HY000] [2002] No such file or directory' is null.",
        ),
        (
            "",
            "Error: expect(received).toBe(expected) // Object.is equality\n\nExpected: \"\"\nReceived: \"/bin/sh: 1: pdftotext: not found\n\"",
        ),
        (
            "PrismaClientInitializationError",
            "\nPrismaClientInitializationError: \nInvalid `prisma.event.create()` invocation in\n/home/mira/pocket/src/repo/events.ts:18:29\n\nCan't reach database server at `localhost:34131`\n ❯ createEvent src/repo/events.ts:18:10",
        ),
        (
            "REQUIRE_NOTHROW",
            "FAILED:\n  REQUIRE_NOTHROW( Device::open(path) )\ndue to unexpected exception with message:\n  filesystem error: cannot open file: Permission denied [/dev/dri/renderD128]",
        ),
    ] {
        let of = diagnose(type_, text);
        assert!(
            of.side == Side::Test && !of.ambiguous,
            "{text}: {}",
            of.rule
        );
    }
    for (type_, text) in [
        ("", "AssertionError: assert 'Permission denied' == ''"),
        (
            "",
            "Failed asserting that file \"/app/tests/fixtures/app/dist/main.js\" exists.",
        ),
        (
            "",
            "Error: expect(received).toBe(expected) // Object.is equality\n\nExpected: \"\"\nReceived: \"Permission denied for clerk\"",
        ),
        (
            "REQUIRE_NOTHROW",
            "FAILED:\n  REQUIRE_NOTHROW( cart.total() )\ndue to unexpected exception with message:\n  Permission denied for role clerk",
        ),
        (
            "",
            "AssertionError: order not invoiced within 30 s\nassert False",
        ),
    ] {
        let of = diagnose(type_, text);
        assert!(of.side == Side::Code || of.ambiguous, "{text}: {}", of.rule);
    }
}

#[test]
fn a_budget_of_time_that_was_missed_is_undecided() {
    for text in [
        "AssertionError: flush took 0.060s\nassert 0.060199 < 0.05",
        "AssertionError: solver took 6.82 s, budget is 5.0 s\nassert 6.8174 < 5.0",
    ] {
        let of = diagnose("", text);
        assert!(
            of.ambiguous && of.rule == "report/over-time-budget",
            "{text}: {}",
            of.rule
        );
    }
    for text in [
        "Error: connect ECONNREFUSED 127.0.0.1:5432 (elapsed 30 s, max 3 retries)",
        "ValidationError: video duration 95 s exceeds the limit of 90 s\n    at check (/srv/shop/src/v.js:9:1)\n    at Context.<anonymous> (/srv/shop/test/v.spec.js:3:1)",
        "AssertionError: assert 'took 5 s' in 'limit'",
    ] {
        assert_ne!(diagnose("", text).rule, "report/over-time-budget", "{text}");
    }
}
