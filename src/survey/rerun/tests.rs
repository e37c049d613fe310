use super::framework::target;
use crate::model::{FailureStatus, Failures, TriagedFailure};

/// The command that runs one test again.
fn command(
    dialect: &str,
    report: &str,
    suite: &str,
    class: &str,
    name: &str,
    file: &str,
) -> String {
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
    let view = failures.get(0).unwrap();
    match target(dialect, &view) {
        Some(target) => target.recipe.lines(&[target.name]).join("\n"),
        None => String::new(),
    }
}

#[test]
fn every_framework_selects_a_test_in_its_own_way() {
    for (dialect, [report, suite, class, name, file], wanted) in [
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
            r"ginkgo -r '--focus=a \(b\)'",
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
            "mvn test -pl api -am '-Dtest=shop.CartTest$Inner#total*' -Dsurefire.failIfNoSpecifiedTests=false",
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
            "./gradlew :app:core:integrationTest '--tests=shop.CartTest.total*'",
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
            r"bundle exec rspec ./spec/models/cart_spec.rb '--example=Cart it'\''s'",
        ),
        (
            "minitest",
            ["", "", "CartTest", "test_total", "test/cart_test.rb"],
            "ruby -Itest test/cart_test.rb -n '/^(test_total)$/'",
        ),
        (
            "robot",
            ["", "Suites", "Suites.B", "Total Is [Right]", ""],
            "robot '--test=*B.Total Is [[]Right]' .",
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
            "dotnet test --filter 'FullyQualifiedName~Shop.CartTest.Total'",
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
        assert_eq!(
            command(dialect, report, suite, class, name, file),
            wanted,
            "{dialect} {name}"
        );
    }
}
