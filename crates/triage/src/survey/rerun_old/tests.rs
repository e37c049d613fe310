use super::framework::target;
use super::target::Target;
use jelly_base::model::{FailureStatus, Failures, TriagedFailure};
use jelly_base::text::is_sayable;
use proptest::prelude::*;
use std::process::Command;

/// The command that runs one test again.
fn command(dialect: &str, [report, suite, class, name, file]: [&str; 5]) -> String {
    match target_of(dialect, [report, suite, class, name, file]) {
        Some(target) => target.recipe.lines(&target.names).join("\n"),
        None => String::new(),
    }
}

fn target_of(dialect: &str, [report, suite, class, name, file]: [&str; 5]) -> Option<Target> {
    let mut failures = Failures::default();
    failures.push(TriagedFailure {
        report: report.into(),
        suite: suite.into(),
        classname: class.into(),
        name: name.into(),
        file: (!file.is_empty()).then(|| file.into()),
        line: None,
        status: FailureStatus::Failure,
        message: None,
        pre_existing: None,
        diagnosis: serde_json::from_value(serde_json::json!({
            "side": "test", "ambiguous": false, "root_cause": "x", "rule": "x/y",
            "fingerprint": "", "test_fingerprint": "",
            "advice": {"what": "", "why": "", "fix": []}
        }))
        .unwrap(),
        history: None,
    });
    target(dialect, &failures.get(0).unwrap(), false)
}

#[test]
fn every_framework_selects_a_test_in_its_own_way() {
    for (dialect, told, wanted) in [
        (
            "pytest",
            ["", "pytest", "tests.test_a.TestB", "test_c[x y]", ""],
            "pytest 'tests/test_a.py::TestB::test_c[x y]'",
        ),
        (
            "pytest",
            ["", "pytest", "test_a.TestB", "test_c", "test_a.py"],
            "pytest test_a.py::TestB::test_c",
        ),
        (
            "pytest",
            ["", "pytest", "", "tests.test_broken", ""],
            "pytest tests/test_broken.py",
        ),
        (
            "nose2",
            ["", "", "t_unit.ShopTests", "test_eq:1", ""],
            "python -m unittest t_unit.ShopTests.test_eq",
        ),
        (
            "jest-junit",
            ["", "cart", "cart total (x)", "cart total (x)", ""],
            r"npx jest -t '^(cart total \(x\))$'",
        ),
        (
            "jest-junit",
            ["", "", "cart", "total", "a/b.test.ts"],
            "npx jest --runTestsByPath a/b.test.ts -t '^(cart total)$'",
        ),
        (
            "vitest",
            ["", "a.test.ts", "a.test.ts", "cart > total", ""],
            "npx vitest run a.test.ts -t '^ ?(cart total)$'",
        ),
        (
            "mocha-xunit",
            ["", "Mocha Tests", "Cart", "total", "t/shop.test.js"],
            "npx mocha t/shop.test.js -g '^(Cart total)$'",
        ),
        (
            "mocha-junit-reporter",
            [
                "",
                "Root",
                "login works",
                "login works",
                "cypress/e2e/login.cy.ts",
            ],
            "npx cypress run --spec cypress/e2e/login.cy.ts",
        ),
        (
            "playwright",
            ["", "cart.spec.ts", "cart.spec.ts", "cart › total", ""],
            r"npx playwright test 'cart\.spec\.ts' -g ' (cart total)( @|$)'",
        ),
        (
            "jasmine",
            ["", "cart", "cart", "total", ""],
            "npx jasmine '--filter=^(cart total)$'",
        ),
        (
            "node-test",
            ["", "cart", "test", "total", ""],
            "node --test '--test-name-pattern=^total$'",
        ),
        (
            "bun",
            ["", "cart", "cart", "eq", "a.test.ts"],
            "bun test a.test.ts -t '^ ?(cart eq)$'",
        ),
        (
            "go-junit-report",
            ["", "example.com/shop", "shop", "TestA/b_c", ""],
            "go test -count=1 example.com/shop -run '^TestA$/^b_c$'",
        ),
        (
            "gotestsum",
            ["", "example.com/shop", "example.com/shop", "TestMain", ""],
            "go test -count=1 example.com/shop",
        ),
        (
            "ginkgo",
            ["", "suite", "suite", "[It] a (b)", ""],
            r"ginkgo -r '--focus= a \(b\)$'",
        ),
        (
            "libtest",
            ["", "shop", "cart::tests", "total", ""],
            "cargo test --no-fail-fast -- --exact cart::tests::total",
        ),
        (
            "nextest",
            ["", "shop::it", "shop::it", "cart::total", ""],
            "cargo nextest run --no-fail-fast -E '(binary_id(=shop::it) & test(=cart::total))'",
        ),
        (
            "surefire",
            [
                "target/surefire-reports/a.xml",
                "",
                "shop.CartTest",
                "total",
                "",
            ],
            "mvn test '-Dtest=shop.CartTest#total' -Dsurefire.failIfNoSpecifiedTests=false",
        ),
        (
            "surefire",
            [
                "api/target/surefire-reports/a.xml",
                "",
                "shop.CartTest$Inner",
                "total(int)[2]",
                "",
            ],
            "mvn test -pl api -am '-Dtest=shop.CartTest$Inner#total+total(*' -Dsurefire.failIfNoSpecifiedTests=false",
        ),
        // As Surefire 2.22 writes rows and nested classes of JUnit 5; it runs
        // these and no others when asked so.
        (
            "surefire",
            ["a.xml", "", "shop.CartTest", "rows{String}[2]", ""],
            "mvn test '-Dtest=shop.CartTest#rows+rows{*' -Dsurefire.failIfNoSpecifiedTests=false",
        ),
        (
            "surefire",
            ["a.xml", "", "shop.CartTest$Inner$Deeper", "deep", ""],
            "mvn test '-Dtest=shop.CartTest$Inner$Deeper#deep' -Dsurefire.failIfNoSpecifiedTests=false",
        ),
        (
            "surefire",
            ["a.xml", "", "shop.CartIT", "", ""],
            "mvn verify -Dit.test=shop.CartIT -Dfailsafe.failIfNoSpecifiedTests=false",
        ),
        (
            "surefire",
            ["a.xml", "", "shop.CartTest", "a name for people", ""],
            "mvn test -Dtest=shop.CartTest -Dsurefire.failIfNoSpecifiedTests=false",
        ),
        (
            "gradle",
            [
                "app/core/build/test-results/integrationTest/TEST-a.xml",
                "",
                "shop.CartTest",
                "total()",
                "",
            ],
            "./gradlew :app:core:integrationTest --tests=shop.CartTest.total",
        ),
        (
            "phpunit",
            [
                "",
                "",
                "App.Tests.ShopTest",
                "testTotal with data set \"a\"",
                "",
            ],
            r#"vendor/bin/phpunit --filter '/^(App\\Tests\\ShopTest::testTotal with data set "a")$/'"#,
        ),
        (
            "rspec",
            [
                "",
                "rspec",
                "spec.models.cart_spec",
                "Cart it's",
                "./spec/models/cart_spec.rb",
            ],
            r"bundle exec rspec ./spec/models/cart_spec.rb '--example-matches=\ACart it'\''s\z'",
        ),
        (
            "minitest",
            ["", "", "CartTest", "test_total", "test/cart_test.rb"],
            "ruby -Itest test/cart_test.rb -n '/^(CartTest#test_total)$/'",
        ),
        (
            "robot",
            ["", "Suites", "Suites.B", "Total Is [Right]", ""],
            "robot '--test=*.B.Total Is [[]Right]' .",
        ),
        (
            "ctest",
            ["", "", "", "unit.a+b", ""],
            r"ctest --output-on-failure -R '^(unit\.a\+b)$'",
        ),
        (
            "gtest",
            ["", "Cart", "Cart", "Total", ""],
            "\"${TEST_BINARY:?set it to the path of the test program}\" --gtest_filter=Cart.Total",
        ),
        (
            "catch2",
            ["", "", "t.global", "a, b", ""],
            "\"${TEST_BINARY:?set it to the path of the test program}\" 'a\\, b'",
        ),
        (
            "dotnet-junitlogger",
            ["", "", "Shop.CartTest", "Total(1,2)", ""],
            r"dotnet test --filter 'FullyQualifiedName=Shop.CartTest.Total|FullyQualifiedName~Shop.CartTest.Total\('",
        ),
        (
            "bazel",
            [
                "bazel-testlogs/pkg/sub/cart_test/test.xml",
                "pkg/sub/cart_test",
                "",
                "x",
                "",
            ],
            "bazel test //pkg/sub:cart_test",
        ),
        (
            "bats",
            ["", "a.bats", "a.bats", "status (1)", ""],
            r"bats -f '^(status \(1\))$' a.bats",
        ),
        ("newman", ["", "", "", "status 200", ""], ""),
    ] {
        assert_eq!(command(dialect, told), wanted, "{dialect} {told:?}");
    }
}

/// A hook is no test: its command runs what it stands around, and says so.
#[test]
fn a_failed_hook_runs_what_it_stands_around() {
    for (dialect, told, wanted, also) in [
        (
            "mocha-junit-reporter",
            [
                "",
                "Cart",
                r#""before all" hook for "adds""#,
                r#"Cart "before all" hook for "adds""#,
                "/srv/cart.js",
            ],
            "npx mocha /srv/cart.js -g '^(Cart .*)$'",
            "all of /srv/cart.js > Cart",
        ),
        (
            "mocha-xunit",
            [
                "",
                "Mocha Tests",
                "Cart (x)",
                r#""after each" hook: close"#,
                "",
            ],
            r"npx mocha -g '^(Cart \(x\) .*)$'",
            "all of Cart (x)",
        ),
        (
            "mocha-junit-reporter",
            [
                "",
                "Root Suite",
                r#""before all" hook in "{root}""#,
                r#""before all" hook in "{root}""#,
                "cart.js",
            ],
            "npx mocha cart.js",
            "all of cart.js",
        ),
        (
            "jest-junit",
            ["", "", "Test suite failed to run", "a/b.test.js", ""],
            "npx jest --runTestsByPath a/b.test.js",
            "",
        ),
        (
            "vitest",
            ["", "a.test.ts", "a.test.ts", "a.test.ts", ""],
            "npx vitest run a.test.ts",
            "",
        ),
        (
            "node-test",
            ["", "", "test", "test/a.test.mjs", ""],
            "node --test test/a.test.mjs",
            "",
        ),
        (
            "bun",
            ["", "a.test.ts", "", "(unnamed)", "a.test.ts"],
            "bun test a.test.ts",
            "all of a.test.ts",
        ),
        (
            "rspec",
            [
                "",
                "rspec",
                "spec.cart_spec",
                "An error occurred in a before(:context) hook",
                "./spec/cart_spec.rb",
            ],
            "bundle exec rspec ./spec/cart_spec.rb",
            "all of ./spec/cart_spec.rb",
        ),
        (
            "gradle",
            ["", "", "shop.CartTest", "classMethod", ""],
            "./gradlew test --tests=shop.CartTest",
            "all of shop.CartTest",
        ),
        (
            "surefire",
            ["a.xml", "", "shop.CartTest", "setUp", ""],
            "mvn test -Dtest=shop.CartTest -Dsurefire.failIfNoSpecifiedTests=false",
            "all of shop.CartTest",
        ),
        (
            "unittest",
            [
                "",
                "",
                "unittest.suite._ErrorHolder",
                "setUpClass (shop.tests.Cart)",
                "",
            ],
            "python -m unittest shop.tests.Cart",
            "all of shop.tests.Cart",
        ),
        (
            "gtest",
            ["", "Cart", "", "", ""],
            "\"${TEST_BINARY:?set it to the path of the test program}\" '--gtest_filter=Cart.*'",
            "all of Cart",
        ),
        (
            "ginkgo",
            ["", "Shop", "Shop", "[SynchronizedBeforeSuite]", ""],
            "ginkgo -r",
            "all specs",
        ),
        (
            "bats",
            ["", "a.bats", "a.bats", "", ""],
            "bats a.bats",
            "all of a.bats",
        ),
    ] {
        assert_eq!(command(dialect, told), wanted, "{dialect} {told:?}");
        let target = target_of(dialect, told).unwrap();
        assert_eq!(target.also.unwrap_or_default(), also, "{dialect} {told:?}");
    }
}

/// Of a name with parameters, frameworks differ in what they can select.
#[test]
fn no_command_takes_a_test_whose_name_only_begins_the_same() {
    for (dialect, told, wanted, also) in [
        (
            "surefire",
            ["a.xml", "", "shop.CartTest", "b[1]", ""],
            "mvn test '-Dtest=shop.CartTest#b+b[1]' -Dsurefire.failIfNoSpecifiedTests=false",
            "other rows of shop.CartTest#b",
        ),
        (
            "surefire",
            ["a.xml", "", "shop.CartTest", "b[1: a,b#c]", ""],
            "mvn test '-Dtest=shop.CartTest#b+b[1: a?b?c]' -Dsurefire.failIfNoSpecifiedTests=false",
            "other rows of shop.CartTest#b",
        ),
        (
            "surefire",
            ["a.xml", "", "shop.CartTest", "[3] it's", ""],
            "mvn test -Dtest=shop.CartTest -Dsurefire.failIfNoSpecifiedTests=false",
            "all of shop.CartTest",
        ),
        (
            "gradle",
            ["", "", "shop.CartTest", "add()", ""],
            "./gradlew test --tests=shop.CartTest.add",
            "",
        ),
        (
            "gradle",
            ["", "", "shop.CartTest", "add(int)[2]", ""],
            "./gradlew test --tests=shop.CartTest.add '--tests=shop.CartTest.add(*'",
            "other rows of shop.CartTest.add",
        ),
        (
            "trx",
            ["", "", "Shop.CartTests", "Adds", ""],
            "dotnet test --filter FullyQualifiedName=Shop.CartTests.Adds",
            "",
        ),
        (
            "trx",
            ["", "", "Shop.CartTests", "adds two", ""],
            "dotnet test --filter 'FullyQualifiedName~Shop.CartTests.'",
            "all of Shop.CartTests",
        ),
        (
            "robot",
            ["", "", "Shop.Cart", "X", ""],
            "robot '--test=*.Cart.X' .",
            "tests of the same names in other suites called Cart",
        ),
        (
            "catch2",
            ["", "", "t.global", "a/b", ""],
            "\"${TEST_BINARY:?set it to the path of the test program}\" a,a/b",
            "all sections of a",
        ),
        (
            "bazel",
            [
                "bazel-testlogs/pkg/cart_test/test.xml",
                "pkg/cart_test",
                "",
                "x",
                "",
            ],
            "bazel test //pkg:cart_test",
            "all of //pkg:cart_test",
        ),
    ] {
        assert_eq!(command(dialect, told), wanted, "{dialect} {told:?}");
        let target = target_of(dialect, told).unwrap();
        assert_eq!(target.also.unwrap_or_default(), also, "{dialect} {told:?}");
    }
}

/// One of each family that has a way of its own to name a test.
const DIALECTS: [&str; 26] = [
    "pytest",
    "nose2",
    "robot",
    "playwright",
    "cypress",
    "vitest",
    "jest-junit",
    "mocha-xunit",
    "jasmine",
    "node-test",
    "bun",
    "ginkgo",
    "gotestsum",
    "nextest",
    "libtest",
    "gradle",
    "surefire",
    "phpunit",
    "rspec",
    "minitest",
    "ctest",
    "gtest",
    "catch2",
    "trx",
    "bazel",
    "bats",
];

/// The words that a real shell hands to the program.
fn read_back(line: &str) -> Vec<String> {
    let script = format!("TEST_BINARY=program; printf '%s\\0' {line}");
    let output = Command::new("sh").args(["-c", &script]).output().unwrap();
    assert!(output.status.success(), "{script}");
    let text = String::from_utf8(output.stdout).unwrap();
    text.split_terminator('\0').map(str::to_owned).collect()
}

#[track_caller]
fn comes_back(dialect: &str, told: [&str; 5]) {
    let Some(target) =
        target_of(dialect, told).filter(|target| target.names.iter().all(|name| is_sayable(name)))
    else {
        return;
    };
    let names = target.names.clone();
    let mut meant = target.recipe.words(&names);
    if target.recipe.raw.is_some() {
        meant.insert(0, "program".to_owned());
    }
    let [line] = target.recipe.lines(&names).try_into().unwrap();
    assert_eq!(read_back(&line), meant, "{dialect} {told:?}");
}

#[test]
fn no_framework_s_command_runs_what_a_name_says() {
    for hostile in [
        "$(touch /nowhere/x)",
        "`id`; echo 'a' \"b\" $HOME",
        "shop.Cart$Inner",
        "it's [1] {a, b} | c & d > e",
        "-rf ~ #x !! *",
    ] {
        for dialect in DIALECTS {
            let report = format!("a/target/surefire-reports/{hostile}.xml");
            for class in [hostile, "shop.CartTest", "a.bats", "spec.cart_spec"] {
                comes_back(dialect, [&report, hostile, class, hostile, hostile]);
                comes_back(
                    dialect,
                    [&report, hostile, class, &format!("Test{hostile}"), "a.py"],
                );
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn every_framework_s_command_says_what_is_meant(
        dialect in prop::sample::select(&DIALECTS[..]),
        told in [r"[^\x00]{0,12}", r"[^\x00]{0,24}", r"[$.A-Za-z]{1,12}", r"[^\x00\n]{1,24}", "[^\x00]{1,12}"],
    ) {
        let [report, suite, class, name, file] = &told;
        comes_back(dialect, [report, suite, class, name, file]);
    }
}
