use super::framework::target;
use super::origins::IsFile;
use super::plan::{Hint, Hints, plan};
use super::target::Target;
use crate::frameworks::example::RerunExample;
use crate::frameworks::spec::Framework;
use crate::frameworks::{EXAMPLES, FRAMEWORKS, called, told_by};
use jelly_base::model::{FailureStatus, Failures, ReportSummary, RetryPlan, TriagedFailure};
use jelly_base::text::is_sayable;
use proptest::prelude::*;
use std::path::Path;
use std::process::Command;

fn target_of(
    dialect: &str,
    [report, suite, class, name, file, place]: [&str; 6],
    failure: &str,
) -> Option<Target> {
    let mut failures = Failures::default();
    failures.push(failed([report, suite, class, name, file]));
    let hint = Hint {
        file: (!place.is_empty()).then(|| place.into()),
        told: told_by(dialect, failure),
        ..Hint::default()
    };
    target(dialect, &failures.get(0).unwrap(), &hint)
}

/// A failure that may pass by itself.
fn failed([report, suite, class, name, file]: [&str; 5]) -> TriagedFailure {
    TriagedFailure {
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
            "retryable": true, "fingerprint": "", "test_fingerprint": "",
            "advice": {"what": "", "why": "", "fix": []}
        }))
        .unwrap(),
        history: None,
    }
}

/// The plan for tests of several reports, as `[report, suite, class, name, file]`.
fn planned(dialect: &str, tests: &[[&str; 5]], is_file: Option<IsFile>) -> RetryPlan {
    let mut failures = Failures::default();
    let mut reports = Vec::new();
    for test in tests {
        failures.push(failed(*test));
        let report = ReportSummary {
            path: test[0].into(),
            dialect: dialect.into(),
            ..ReportSummary::default()
        };
        if !reports.contains(&report) {
            reports.push(report);
        }
    }
    plan(&failures, &reports, &Hints::new(), is_file)
}

#[test]
fn each_project_has_commands_of_its_own() {
    let tests = [
        [
            "packages/a/junit.xml",
            "pytest",
            "tests.test_app",
            "test_only_a",
            "",
        ],
        [
            "packages/a/junit.xml",
            "pytest",
            "tests.test_app",
            "test_y",
            "",
        ],
        [
            "packages/b/junit.xml",
            "pytest",
            "tests.test_app",
            "test_only_b",
            "",
        ],
        [
            "packages/b/junit.xml",
            "pytest",
            "tests.test_app",
            "test_y",
            "",
        ],
    ];
    let of_packages: IsFile = |path| {
        ["packages/a/tests", "packages/b/tests"]
            .iter()
            .any(|tests| path.starts_with(tests))
    };
    let in_packages = planned("pytest", &tests, Some(of_packages));
    assert_eq!(
        in_packages.commands,
        [
            "(cd packages/a && pytest tests/test_app.py::test_only_a tests/test_app.py::test_y)",
            "(cd packages/b && pytest tests/test_app.py::test_only_b tests/test_app.py::test_y)",
        ]
    );
    assert_eq!(
        in_packages.tests,
        [
            "tests/test_app.py::test_only_a [a]",
            "tests/test_app.py::test_only_b [b]",
            "tests/test_app.py::test_y [a]",
            "tests/test_app.py::test_y [b]",
        ]
    );
    // Legs of one project, and folders of which nothing is known.
    let here: IsFile = |path| path.starts_with("tests");
    for is_file in [Some(here), None] {
        assert_eq!(
            planned("pytest", &tests, is_file).commands,
            [
                ": a; pytest tests/test_app.py::test_only_a tests/test_app.py::test_y",
                ": b; pytest tests/test_app.py::test_only_b tests/test_app.py::test_y",
            ]
        );
    }
    // A project of which no other reports
    let alone = planned("pytest", &tests[..2], Some(of_packages));
    assert_eq!(
        alone.commands,
        ["(cd packages/a && pytest tests/test_app.py::test_only_a tests/test_app.py::test_y)"]
    );
    assert_eq!(alone.tests.len(), 2);
    assert!(alone.tests.iter().all(|test| !test.contains(" [")));
    let here: IsFile = |path| path.starts_with("tests") || path.starts_with("/srv/tests");
    for report in ["/srv/junit.xml", "junit.xml"] {
        let alone = [report, "pytest", "tests.test_app", "test_y", ""];
        assert_eq!(
            planned("pytest", &[alone], Some(here)).commands,
            ["pytest tests/test_app.py::test_y"]
        );
    }
    // Two legs in one package.
    let of_package: IsFile = |path| path == Path::new("p/test_app.py");
    let legs = planned(
        "pytest",
        &[
            ["p/one/junit.xml", "pytest", "test_app", "test_y", ""],
            ["p/two/junit.xml", "pytest", "test_app", "test_y", ""],
        ],
        Some(of_package),
    );
    assert_eq!(
        legs.commands,
        [
            ": one; (cd p && pytest test_app.py::test_y)",
            ": two; (cd p && pytest test_app.py::test_y)",
        ]
    );
    // Two kinds of tests of one project
    let of_project: IsFile = |path| path.starts_with("unit") || path.starts_with("e2e");
    let kinds = planned(
        "pytest",
        &[
            [
                "reports/unit/junit.xml",
                "pytest",
                "unit.test_app",
                "test_y",
                "",
            ],
            [
                "reports/e2e/junit.xml",
                "pytest",
                "e2e.test_app",
                "test_z",
                "",
            ],
        ],
        Some(of_project),
    );
    assert_eq!(
        kinds.commands,
        ["pytest e2e/test_app.py::test_z unit/test_app.py::test_y"]
    );
}

#[test]
fn the_only_report_of_a_writer_is_told_apart_from_no_other() {
    let mut failures = Failures::default();
    let mut reports = Vec::new();
    for (path, dialect, test) in [
        ("a.xml", "libtest", ["test", "tests", "pays"]),
        ("b.xml", "libtest", ["test", "tests", "pays"]),
        ("out/junit.xml", "nextest", ["shop", "shop", "tests::pays"]),
    ] {
        let [suite, class, name] = test;
        failures.push(failed([path, suite, class, name, ""]));
        reports.push(ReportSummary {
            path: path.into(),
            dialect: dialect.into(),
            ..ReportSummary::default()
        });
    }
    let is_project: IsFile = |path| path == Path::new("Cargo.toml");
    let told = plan(&failures, &reports, &Hints::new(), Some(is_project));
    let begins: Vec<&str> = (told.commands.iter())
        .map(|line| line.split("--").next().unwrap_or_default())
        .collect();
    assert_eq!(
        begins,
        [
            ": a.xml; cargo test ",
            ": b.xml; cargo test ",
            "cargo nextest run "
        ]
    );
}

#[test]
fn a_command_names_its_file_where_no_configuration_tells_of_it() {
    let of = |is_file: Option<IsFile>| {
        let test = [
            "r.xml",
            "ATest",
            "ATest",
            "testAdds",
            "/srv/shop/tests/ATest.php",
        ];
        planned("phpunit", &[test], is_file).commands.concat()
    };
    let plain = "vendor/bin/phpunit --filter '/^(ATest::testAdds)$/'";
    let with_file = format!("{plain} /srv/shop/tests/ATest.php");
    assert_eq!(of(Some(|path| path.ends_with("ATest.php"))), with_file);
    let configured: IsFile =
        |path| path.ends_with("ATest.php") || path == Path::new("/srv/shop/phpunit.xml");
    assert_eq!(of(Some(configured)), plain);
    // The file is one of another machine.
    assert_eq!(of(Some(|_| false)), plain);
    assert_eq!(of(None), plain);
}

#[test]
fn a_command_begins_as_its_project_has_it() {
    let of = |dialect, test: [&str; 5], is_file: IsFile| {
        planned(dialect, &[test], Some(is_file)).commands.concat()
    };
    let gradle = [
        "build/test-results/test/TEST-a.A.xml",
        "a.A",
        "a.A",
        "pays()",
        "",
    ];
    let has_wrapper: IsFile = |path| path.ends_with("gradlew") || path.ends_with("build.gradle");
    assert!(of("gradle", gradle, has_wrapper).starts_with("./gradlew test "));
    let is_plain: IsFile = |path| path.ends_with("build.gradle");
    assert!(of("gradle", gradle, is_plain).starts_with("gradle test "));
    // A report that was brought here alone.
    assert!(of("gradle", gradle, |_| false).starts_with("./gradlew test "));
    let rspec = ["r.xml", "rspec", "spec.a_spec", "pays", "./spec/a_spec.rb"];
    let has_spec: IsFile = |path| path == Path::new("./spec/a_spec.rb");
    assert!(of("rspec", rspec, has_spec).starts_with("rspec ./spec"));
    let has_gemfile: IsFile =
        |path| path == Path::new("./spec/a_spec.rb") || path == Path::new("../Gemfile");
    assert!(of("rspec", rspec, has_gemfile).starts_with("bundle exec rspec ./spec"));
    let django = ["out/TEST-a.xml", "a.tests.A-1", "a.tests.A", "test_pay", ""];
    assert_eq!(
        of("unittest", django, |path| path
            == Path::new("web/manage.py")),
        "python -m unittest a.tests.A.test_pay"
    );
    assert_eq!(
        of("unittest", django, |path| path == Path::new("manage.py")),
        "python manage.py test a.tests.A.test_pay"
    );
}

#[test]
fn a_file_that_is_named_from_above_is_found_there() {
    let above: IsFile = |path| path == Path::new("../tests/test_a.py");
    let test = ["junit.xml", "pytest", "tests.test_a", "test_x", ""];
    assert_eq!(
        planned("pytest", &[test], Some(above)).commands,
        ["(cd .. && pytest tests/test_a.py::test_x)"]
    );
}

#[test]
fn no_project_s_tests_are_selected_among_those_of_another() {
    for (dialect, suite, class, name) in [
        ("ctest", "Linux-c++", "", "only"),
        ("rspec", "rspec", "spec.x_spec", "only"),
        ("vitest", "src/x.test.ts", "src/x.test.ts", "only"),
        ("robot", "Suites", "Suites.B", "Only"),
    ] {
        let (a, b) = (format!("{name} a"), format!("{name} b"));
        let told = planned(
            dialect,
            &[
                ["a/report.xml", suite, class, a.as_str(), ""],
                ["b/report.xml", suite, class, b.as_str(), ""],
            ],
            None,
        );
        let [first, second] = told.commands.as_slice() else {
            panic!("{dialect} {:?}", told.commands)
        };
        assert!(
            first.starts_with(": a; ") && second.starts_with(": b; "),
            "{dialect}"
        );
        let words = |name: &str| name.rsplit(' ').next().unwrap_or_default().to_owned();
        for (line, own, other) in [(first, &a, &b), (second, &b, &a)] {
            let line = line.split_once("; ").map_or("", |(_, line)| line);
            assert!(line.contains(&words(own)), "{dialect}: {line}");
            let other = format!("only {}", words(other));
            assert!(!line.to_lowercase().contains(&other), "{dialect}: {line}");
        }
    }
}

#[test]
fn a_test_of_two_reports_in_one_folder_is_two_tests() {
    let told = planned(
        "vitest",
        &[
            ["r/chromium.xml", "x.test.ts", "x.test.ts", "pays", ""],
            ["r/firefox.xml", "x.test.ts", "x.test.ts", "pays", ""],
        ],
        None,
    );
    assert_eq!(
        told.tests,
        [
            "x.test.ts > pays [chromium.xml]",
            "x.test.ts > pays [firefox.xml]"
        ]
    );
    assert_eq!(told.commands.len(), 2);
}

#[test]
fn programs_that_wrote_a_report_each_are_told_apart() {
    let tests = [
        ["r/cart.xml", "Cart", "Cart", "Total", ""],
        ["r/pay.xml", "Pay", "Pay", "Card", ""],
    ];
    let told = planned("gtest", &tests, None);
    let program = |n| format!("\"${{TEST_BINARY_{n}:?set it to the path of the test program}}\"");
    assert_eq!(
        told.commands,
        [
            format!(": cart.xml; {} --gtest_filter=Cart.Total", program(1)),
            format!(": pay.xml; {} --gtest_filter=Pay.Card", program(2)),
        ]
    );
}

#[test]
fn reports_of_one_project_share_a_command() {
    for folder in ["target/surefire-reports", "out"] {
        let [a, b] = ["A", "B"].map(|class| format!("{folder}/TEST-shop.{class}.xml"));
        let told = planned(
            "surefire",
            &[
                [a.as_str(), "shop.A", "shop.A", "adds", ""],
                [b.as_str(), "shop.B", "shop.B", "adds", ""],
            ],
            None,
        );
        assert_eq!(
            told.commands,
            ["mvn test '-Dtest=shop.A#adds,shop.B#adds' -Dsurefire.failIfNoSpecifiedTests=false"],
            "{folder}"
        );
        assert_eq!(told.tests, ["shop.A#adds", "shop.B#adds"]);
    }
    // A command that names its module needs no other name.
    let told = planned(
        "surefire",
        &[
            [
                "core/target/surefire-reports/TEST-shop.A.xml",
                "shop.A",
                "shop.A",
                "adds",
                "",
            ],
            [
                "web/target/surefire-reports/TEST-shop.A.xml",
                "shop.A",
                "shop.A",
                "adds",
                "",
            ],
        ],
        None,
    );
    assert_eq!(told.tests, ["shop.A#adds [core]", "shop.A#adds [web]"]);
    assert_eq!(
        told.commands,
        ["core", "web"].map(|module| format!(
            "mvn test -pl {module} -am '-Dtest=shop.A#adds' -Dsurefire.failIfNoSpecifiedTests=false"
        ))
    );
}

#[test]
fn a_project_without_one_around_it_is_run_in_its_folder() {
    let here: IsFile = |file| {
        ["svc/pom.xml", "backend/build.gradle"]
            .iter()
            .any(|known| file == Path::new(known))
    };
    let of = |dialect: &str, report: &str| {
        planned(
            dialect,
            &[[report, "shop.A", "shop.A", "adds", ""]],
            Some(here),
        )
        .commands
    };
    assert_eq!(
        of("surefire", "svc/target/surefire-reports/TEST-shop.A.xml"),
        ["(cd svc && mvn test '-Dtest=shop.A#adds' -Dsurefire.failIfNoSpecifiedTests=false)"]
    );
    assert_eq!(
        of("gradle", "backend/build/test-results/test/TEST-shop.A.xml"),
        ["(cd backend && gradle test --tests=shop.A.adds)"]
    );
}

#[test]
fn every_framework_selects_a_test_as_its_file_shows() {
    for (framework, examples) in EXAMPLES.0 {
        let writer = called(framework).and_then(writer_of);
        for RerunExample {
            test: case,
            run,
            also,
        } in *examples
        {
            let failure = case.failure;
            let case = [
                case.report,
                case.suite,
                case.class,
                case.name,
                case.file,
                case.place,
            ];
            let target = target_of(writer.unwrap(), case, failure);
            let line = target
                .as_ref()
                .map(|target| target.recipe.lines(&target.names, 0).join("\n"));
            assert_eq!(line.unwrap_or_default(), *run, "{framework} {case:?}");
            let more = target.and_then(|target| target.also);
            assert_eq!(more.unwrap_or_default(), *also, "{framework} {case:?}");
        }
    }
}

#[test]
fn a_name_that_a_secret_is_masked_in_is_in_no_command() {
    let masked = "test_pay[[secret DB_PASSWORD]]";
    for (class, name) in [("tests.test_a", masked), (masked, "test_pay")] {
        let plan = planned(
            "pytest",
            &[
                ["junit.xml", "pytest", class, name, ""],
                ["junit.xml", "pytest", "tests.test_a", "test_b", ""],
            ],
            None,
        );
        assert_eq!(plan.commands, ["pytest tests/test_a.py::test_b"]);
        assert_eq!(plan.without_command, [format!("{class} > {name}")]);
    }
}

#[test]
fn a_framework_without_a_way_to_select_has_no_command() {
    assert_eq!(
        target_of("newman", ["", "", "", "status 200", "", ""], ""),
        None
    );
}

/// One that every framework has, but what several share.
fn writer_of(framework: &Framework) -> Option<&'static str> {
    framework
        .writers
        .iter()
        .chain(framework.exactly)
        .copied()
        .next()
}

/// The words that a real shell hands to the program.
fn read_back(line: &str) -> Vec<String> {
    let script = format!("TEST_BINARY=program; printf '%s\\0' {line}");
    let output = Command::new("sh").args(["-c", &script]).output().unwrap();
    assert!(output.status.success(), "{script}");
    let text = String::from_utf8(output.stdout).unwrap();
    text.split_terminator('\0').map(str::to_owned).collect()
}

#[track_caller]
fn comes_back(dialect: &str, told: [&str; 6]) {
    let Some(target) = target_of(dialect, told, "")
        .filter(|target| target.names.iter().all(|name| is_sayable(name)))
    else {
        return;
    };
    let names = target.names.clone();
    let mut meant = target.recipe.words(&names);
    if target.recipe.raw.is_some() {
        meant.insert(0, "program".to_owned());
    }
    let [line] = target.recipe.lines(&names, 0).try_into().unwrap();
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
        for dialect in FRAMEWORKS.iter().filter_map(writer_of) {
            let report = format!("a/target/surefire-reports/{hostile}.xml");
            for class in [hostile, "shop.CartTest", "a.bats", "spec.cart_spec"] {
                comes_back(dialect, [&report, hostile, class, hostile, hostile, ""]);
                comes_back(
                    dialect,
                    [
                        &report,
                        hostile,
                        class,
                        &format!("Test{hostile}"),
                        "",
                        "a.bats",
                    ],
                );
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn every_framework_s_command_says_what_is_meant(
        dialect in prop::sample::select(FRAMEWORKS.iter().filter_map(writer_of).collect::<Vec<_>>()),
        told in [r"[^\x00]{0,12}", r"[^\x00]{0,24}", r"[$.A-Za-z]{1,12}", r"[^\x00\n]{1,24}", "[^\x00]{0,12}", "[^\x00]{0,12}"],
    ) {
        let [report, suite, class, name, file, place] = &told;
        comes_back(dialect, [report, suite, class, name, file, place]);
    }
}
