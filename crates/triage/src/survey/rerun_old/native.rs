//! Go, Rust, the frameworks of C++, Bazel.

use super::pattern::{escaped, loosened, regex_bare};
use super::recipe::{Join, Recipe};
use super::target::Target;
use jelly_base::model::FailureView;

/// Fails with a clear word where the variable is not set.
const TEST_BINARY: &str = "\"${TEST_BINARY:?set it to the path of the test program}\"";
const BINARY_NOTE: &str =
    "The report does not tell which program holds the tests: set TEST_BINARY to its path.";

/// `go test -count=1 PACKAGE -run '^TestCart$/^total$|^TestUser$'`: patterns
/// are split at slashes, one for each level of subtests.
pub(super) fn go(test: &FailureView<'_>) -> Option<Target> {
    // Some writers put only the end of the package's path into the class.
    let suite = innermost(test.suite);
    let told = if test.classname.is_empty() || suite.ends_with(&format!("/{}", test.classname)) {
        suite
    } else {
        test.classname
    };
    let is_path = !told.is_empty()
        && !told.starts_with('-')
        && !told.contains(char::is_whitespace)
        && told != "command-line-arguments";
    let package = if is_path { told } else { "./..." };
    let go_test = |join| Recipe::new(&["go", "test", "-count=1"], join).word(package);
    let kinds = ["Test", "Example", "Fuzz", "Benchmark"];
    let is_test = kinds.iter().any(|kind| test.name.starts_with(kind)) && test.name != "TestMain";
    if !is_test {
        // A package that did not compile, or died outside of its tests.
        return is_path.then(|| Target::new(package, go_test(Join::Nothing), ""));
    }
    let pattern: Vec<String> = test
        .name
        .split('/')
        .map(|level| format!("^{}$", regex_bare(level)))
        .collect();
    let join = Join::OneWord(String::new(), "|".into(), String::new());
    let id = if is_path {
        format!("{package}.{}", test.name)
    } else {
        test.name.to_owned()
    };
    Some(Target::new(
        id,
        go_test(join).word("-run"),
        pattern.join("/"),
    ))
}

fn innermost(suites: &str) -> &str {
    suites.rsplit(" > ").next().unwrap_or(suites)
}

/// `ginkgo -r --focus=' …$'`: the focus is matched against the description of
/// the suite and all texts of a spec, joined by spaces.
pub(super) fn ginkgo(test: &FailureView<'_>) -> Option<Target> {
    let told = test.name.trim();
    // Its own reporter puts the kind of node before, and labels behind.
    if let Some((kind, _)) = told.strip_prefix('[').and_then(|told| told.split_once(']'))
        && kind.contains("Suite")
    {
        let recipe = Recipe::new(&["ginkgo", "-r"], Join::Nothing);
        return Some(Target::new(test.title(), recipe, "").also("all specs"));
    }
    let name = told.strip_prefix("[It] ").unwrap_or(told);
    if name.is_empty() {
        return None;
    }
    let pattern = match name.rsplit_once(" [").filter(|_| name.ends_with(']')) {
        Some((text, labels)) => {
            format!(
                "{}( {})?",
                regex_bare(text),
                regex_bare(&format!("[{labels}"))
            )
        }
        None => regex_bare(name),
    };
    let recipe = Recipe::new(&["ginkgo", "-r"], Join::Prefixed("--focus=".into()));
    Some(Target::new(name, recipe, format!(" {pattern}$")))
}

/// `cargo test -- --exact module::test`.
pub(super) fn cargo_test(test: &FailureView<'_>) -> Option<Target> {
    // libtest's words for tests that stand in no module of a crate.
    let module = match test.classname {
        "crate" | "integration" | "unknown" | "" => "",
        module => module,
    };
    let name = if module.is_empty() || test.name.starts_with(&format!("{module}::")) {
        test.name.to_owned()
    } else {
        format!("{module}::{}", test.name)
    };
    if name.is_empty() || name.starts_with('-') || name.contains(" - ") {
        // `src/lib.rs - item (line 3)` is a test of the documentation.
        return None;
    }
    let recipe = Recipe::new(
        &["cargo", "test", "--no-fail-fast", "--", "--exact"],
        Join::Words,
    );
    Some(Target::new(name.clone(), recipe, name))
}

/// `cargo nextest run -E 'binary_id(=shop) & test(=cart::total)'`.
pub(super) fn nextest(test: &FailureView<'_>) -> Option<Target> {
    let binary = [test.classname, innermost(test.suite)]
        .into_iter()
        .find(|name| !name.is_empty())?;
    if test.name.is_empty() {
        return None;
    }
    // Its own escapes; `#` and `(` mean something only unescaped.
    let literal = |text: &str| escaped(text, r"\/)(,");
    let expression = format!(
        "(binary_id(={}) & test(={}))",
        literal(binary),
        literal(test.name)
    );
    let join = Join::OneWord(String::new(), " | ".into(), String::new());
    let recipe = Recipe::new(&["cargo", "nextest", "run", "--no-fail-fast", "-E"], join);
    Some(Target::new(
        format!("{binary} {}", test.name),
        recipe,
        expression,
    ))
}

/// `ctest --output-on-failure -R '^(a|b)$'`.
pub(super) fn ctest(test: &FailureView<'_>) -> Option<Target> {
    let join = Join::OneWord("^(".into(), "|".into(), ")$".into());
    let recipe = Recipe::new(&["ctest", "--output-on-failure", "-R"], join);
    // CMake's expressions know no braces, and refuse to escape them.
    let pattern = escaped(test.name, r"\^$.|?*+()[]");
    (!test.name.is_empty()).then(|| {
        Target::new(test.name, recipe, pattern)
            .note("Run ctest in the build folder, or add --test-dir.")
    })
}

/// How GoogleTest and its users name what surrounds the tests of a suite.
const AROUND_GTEST: [&str; 5] = [
    "",
    "SetUpTestSuite",
    "TearDownTestSuite",
    "SetUpTestCase",
    "TearDownTestCase",
];

/// `"$TEST_BINARY" --gtest_filter=Cart.Total:Cart.Sum`.
pub(super) fn gtest(test: &FailureView<'_>) -> Option<Target> {
    let suite = if test.classname.is_empty() {
        innermost(test.suite)
    } else {
        test.classname
    };
    // Parameters stand behind a comma in some reports.
    let name = test.name.split(',').next().unwrap_or_default().trim();
    if suite.is_empty() {
        return None;
    }
    let id = format!("{suite}.{name}");
    // A filter knows no escapes, and ends at colons and minus signs.
    let filter = loosened(&id, ":-*", '?');
    let join = Join::OneWord("--gtest_filter=".into(), ":".into(), String::new());
    let recipe = Recipe::new(&[], join).raw(TEST_BINARY);
    if AROUND_GTEST.contains(&name) {
        // What surrounds the tests of a suite is a case without a name.
        let all = format!("{}.*", loosened(suite, ":-*", '?'));
        let target = Target::new(suite, recipe, all).note(BINARY_NOTE);
        return Some(target.also(format!("all of {suite}")));
    }
    Some(Target::new(id, recipe, filter).note(BINARY_NOTE))
}

/// `"$TEST_BINARY" 'total of a cart'`: names of Catch2, commas and brackets
/// escaped.
pub(super) fn catch2(test: &FailureView<'_>) -> Option<Target> {
    // A section stands behind its test case, and a slash may be in a name.
    let whole = test.name.trim();
    let name = whole.split('/').next().unwrap_or_default().trim();
    if name.is_empty() || name.starts_with('-') {
        return None;
    }
    let join = Join::OneWord(String::new(), ",".into(), String::new());
    let recipe = Recipe::new(&[], join).raw(TEST_BINARY);
    let literal = |name: &str| escaped(name, r"\,[]*~");
    let target = Target::new(whole, recipe, literal(name)).note(BINARY_NOTE);
    Some(if name == whole {
        target
    } else {
        target
            .or(literal(whole))
            .also(format!("all sections of {name}"))
    })
}

/// `bazel test //pkg:target`: named by the place of the report below
/// `bazel-testlogs`, else by the suite.
pub(super) fn bazel(test: &FailureView<'_>) -> Option<Target> {
    let below = test
        .report
        .rsplit_once("testlogs/")
        .and_then(|(_, rest)| rest.strip_suffix("/test.xml"));
    let path = below.unwrap_or(innermost(test.suite));
    // A sharded or repeated test has a folder for each part.
    let mut parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    if parts.len() > 1
        && parts
            .last()
            .is_some_and(|last| last.starts_with("shard_") || last.starts_with("run_"))
    {
        parts.pop();
    }
    let target = parts.pop()?;
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-.+=@~".contains(c);
    if !target.chars().all(plain) || parts.iter().any(|part| !part.chars().all(plain)) {
        return None;
    }
    let label = format!("//{}:{target}", parts.join("/"));
    let recipe = Recipe::new(&["bazel", "test"], Join::Words);
    // Where Bazel wrote the report itself, the target is its one case.
    if test.name.is_empty() || test.name.rsplit(['/', ':']).next() == Some(target) {
        return Some(Target::new(label.clone(), recipe, label));
    }
    let id = format!("{label} > {}", test.title());
    Some(Target::new(id, recipe, &label).also(format!("all of {label}")))
}
