//! Where an exception was raised: in the test, or in what it tests.

use super::frames::{before_colon, place};
use crate::frameworks::spec::Oddity;
use crate::frameworks::{LIBRARIES, LIBRARY_PLACES, is_odd};
use jelly_base::model::Failure;
use jelly_base::text::LazyBytePattern;
use jelly_base::text::lines as lines_of;
use memchr::memmem::Finder;
use std::sync::LazyLock;

#[derive(
    Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize, serde::Serialize, schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub(in crate::engine) enum Origin {
    /// A file of tests.
    Test,
    /// The product's own code.
    Product,
    /// A library that the product's code called.
    Library,
    /// Surefire cuts stacks down to the lines of the test class.
    Trimmed,
    /// No stack tells.
    Unknown,
}

/// Lines of a stack that are looked at.
const LINES: usize = 400;
/// A stack of the JVM with fewer lines was cut.
const WHOLE: usize = 3;

/// Where the innermost line of the stack stands that belongs to no library, and
/// whether a library stands within it.
pub(in crate::engine) fn origin(f: &Failure) -> Origin {
    let told = |text: &Option<String>| text.as_deref().is_some_and(|text| !text.trim().is_empty());
    // Where all that is told is that the program ended, it told the place before.
    let died = f.message.as_deref().unwrap_or_default();
    let died = died.starts_with("Dubious, test returned ") && !told(&f.text);
    let texts = match died {
        true => [&f.system_out, &f.system_err],
        false => [&f.text, &f.message],
    };
    let Some(text) = texts.into_iter().find(|text| told(text)) else {
        return Origin::Unknown;
    };
    let text = text.as_deref().unwrap_or_default();
    let text = super::slice::readable(text);
    let is_of = |oddity| {
        f.dialect
            .as_deref()
            .is_some_and(|writer| is_odd(writer, oddity))
    };
    let is_cut = || places(&text).take(WHOLE).count() < WHOLE;
    // What was cut begins with the class of the test.
    let class = f.classname.as_deref().unwrap_or_default();
    let class = class.rsplit('.').next().unwrap_or_default();
    // Some writers call a class by other words than the stack does.
    let of_class =
        |place: &str| is_own(place, f) && (place.contains(class) || !text.contains(class));
    let starts_own = || innermost(&text, |place| !place.is_empty()).is_some_and(of_class);
    match innermost(&text, |place| is_own(place, f)).or_else(|| said_at(&text, f)) {
        None if is_of(Oddity::TrimmedStacks) => Origin::Trimmed,
        None if is_of(Oddity::TestScripts) => Origin::Test,
        None => Origin::Unknown,
        Some(place)
            if !is_test(place)
                && !is_called_by_runner(&text, place)
                && !is_case(&text, place, f) =>
        {
            match innermost(&text, |place| !place.is_empty()) {
                Some(raised) if !is_own(raised, f) => Origin::Library,
                Some(_) | None => Origin::Product,
            }
        }
        Some(place) if place.contains(".java:") && is_cut() && starts_own() => Origin::Trimmed,
        Some(_) => Origin::Test,
    }
}

/// Whether the innermost line of the stack belongs to a library, whoever called it.
pub(in crate::engine) fn raised_by_library(f: &Failure) -> bool {
    let text = super::slice::readable(f.text.as_deref().unwrap_or_default());
    innermost(&text, |place| !place.is_empty()).is_some_and(|place| !is_own(place, f))
}

/// The innermost place of the stack that `is_wanted`.
fn innermost(text: &str, is_wanted: impl Fn(&str) -> bool) -> Option<&str> {
    // ExUnit names the test above what it says, where a stack looks the same.
    let text = below_heading(text).unwrap_or(text);
    // Mostly a few lines decide, and no other one is looked at.
    // The JVM tells the innermost exception last.
    if let Some(at) = text.rfind("\nCaused by: ") {
        let cause = places(&text[at + 1..]).find(|place| is_wanted(place));
        if cause.is_some() {
            return cause;
        }
    }
    if is_outermost_first(text) {
        let lines: Vec<&str> = lines_of(text).take(LINES).collect();
        let mut places = lines.into_iter().rev().filter_map(place);
        return places.find(|place| is_wanted(place));
    }
    places(text).find(|place| is_wanted(place))
}

/// What follows the line that heads a stack, if that holds any place.
fn below_heading(text: &str) -> Option<&str> {
    static HEADING: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new(" stacktrace:\n"));
    let at = HEADING.find(text.as_bytes())?;
    let stack = &text[at + HEADING.needle().len()..];
    places(stack)
        .any(|place| !place.is_empty())
        .then_some(stack)
}

/// What `make` says of the innermost line of the stack, and of its place, that
/// belongs to no library.
pub(super) fn own_place<T>(
    f: &Failure,
    text: &str,
    make: impl Fn(&str, &str) -> Option<T>,
) -> Option<T> {
    let found = innermost(text, |place| is_own(place, f)).or_else(|| said_at(text, f))?;
    let at = found.as_ptr().addr() - text.as_ptr().addr();
    let begins = text[..at].rfind('\n').map_or(0, |at| at + 1);
    make(text[begins..].lines().next()?, found)
}

/// The place that a message begins with, as Lua and shells write it:
/// `src/cart.lua:33: attempt to …`; or that it ends in, as Perl does:
/// `closed at lib/Cart.pm line 4.`
fn said_at<'t>(text: &'t str, f: &Failure) -> Option<&'t str> {
    let begins = |line: &'t str| place(line.trim_start().split_once(": ")?.0);
    lines_of(text)
        .take(LINES)
        .filter_map(|line| begins(line).or_else(|| ends_at(line)))
        .find(|place| is_own(place, f))
}

fn ends_at(line: &str) -> Option<&str> {
    let (before, number) = line.trim_end_matches(['.', ' ']).rsplit_once(" line ")?;
    let (_, path) = before.rsplit_once("at ")?;
    let of_perl = [".pm", ".pl", ".t"]
        .iter()
        .any(|ending| path.ends_with(ending));
    let lined = number.bytes().all(|b| b.is_ascii_digit());
    (of_perl && lined && !path.contains(' ')).then_some(path)
}

fn places(text: &str) -> impl Iterator<Item = &str> {
    lines_of(text).take(LINES).filter_map(place)
}

/// Whether a place belongs to no library.
pub(super) fn is_own(place: &str, f: &Failure) -> bool {
    !place.is_empty() && !is_library(place) && !is_foreign(place, f.classname.as_deref())
}

/// Whether the stack ends with its innermost line, as Python and R write it.
fn is_outermost_first(text: &str) -> bool {
    // Mamba turns it round.
    if text.trim_start().starts_with("Failure/Error: ") {
        return false;
    }
    static MARKS: LazyLock<[Finder<'_>; 3]> =
        LazyLock::new(|| ["File \"", ".py:", ".R:"].map(Finder::new));
    let may_be = |mark: &Finder<'_>| mark.find(text.as_bytes()).is_some();
    MARKS.iter().any(may_be)
        && lines_of(text).take(LINES).any(|line| {
            line.trim_start_matches([' ', '\t', '|'])
                .starts_with("File \"")
                || before_colon(line, ".py").is_some() && place(line).is_some()
                || line.contains('─') && place(line).is_some()
        })
}

/// The innermost line of the stack in the product's own code, without line
/// numbers: `shop.Cart.add`, `app/shop.py`. Lines in the test's own class or
/// file are none.
#[must_use]
pub fn product_frame(f: &Failure) -> Option<String> {
    let text = super::slice::readable(f.text.as_deref()?);
    let frame = product_place(f, &text)?;
    let called = match frame.split_once('(') {
        Some((called, _)) if !called.is_empty() => called,
        Some(_) | None => frame,
    };
    Some(
        called
            .trim_end_matches(|c: char| c.is_ascii_digit() || c == ':')
            .to_owned(),
    )
}

/// The same with the name of the function, where the stack tells it.
pub(crate) fn product_function(f: &Failure) -> Option<String> {
    let text = super::slice::readable(f.text.as_deref()?);
    let place = product_place(f, &text)?;
    let frame = product_frame(f)?;
    let at = place.as_ptr().addr() - text.as_ptr().addr();
    let begins = text[..at].rfind('\n').map_or(0, |at| at + 1);
    let line = text[begins..].lines().next().unwrap_or_default();
    let above = text[..begins].lines().rev().take(LINES);
    let Some(function) = called_in(line, place, above) else {
        return Some(frame);
    };
    // Rust keeps tests in the files that they test.
    let test = f.name.as_deref().unwrap_or_default();
    let of_test = function.contains("::tests::") || !test.is_empty() && function.ends_with(test);
    (!of_test).then(|| format!("{frame} {function}"))
}

/// The function that a line of a stack is about: it stands in the line, in the
/// one above, or at the head of the code that is quoted above.
fn called_in<'t>(
    line: &'t str,
    place: &str,
    mut above: impl Iterator<Item = &'t str>,
) -> Option<&'t str> {
    let line = line.trim();
    let (before, after) = line.split_once(place)?;
    // `at Cart.total (cart.js:1:2)`, `at Shop.Cart.Total() in cart.cs:line 1`
    let name = before
        .trim_start_matches("at ")
        .trim_start_matches("async ");
    let drawn = name.strip_prefix("❯ ");
    let name = drawn.unwrap_or(name);
    // V8 tells by which name a method was called, where that is not its own.
    let called_as = name.split_once("[as ").map(|(_, name)| name);
    let name = called_as.unwrap_or(name);
    let name = name.split(['(', '[', ']', ' ']).next().unwrap_or_default();
    if !name.is_empty() && (before.starts_with("at ") || drawn.is_some()) {
        return Some(name);
    }
    // `File "cart.py", line 1, in total`, `cart.rb:1:in 'total'`
    if let Some((_, name)) = after.rsplit_once("in ") {
        return Some(name.trim_matches(['`', '\'', '"', ' ']));
    }
    // `#0 Cart.php(12): Cart->total()`
    if let Some((_, called)) = after.split_once("): ") {
        return called.split('(').next();
    }
    if place.ends_with(".go") {
        let called = above.next()?.trim();
        let called = called.trim_start_matches(|c: char| c.is_ascii_digit());
        let called = called.trim_start_matches([':', ' ']);
        return Some(called.rsplit_once('(').map_or(called, |(name, _)| name));
    }
    // pytest ends with the place alone; the function stands where the place was
    // told before, or at the head of the code.
    above.find_map(|line| {
        let line = line.trim_start_matches(['>', ' ']);
        let told = line
            .strip_prefix(place)
            .and_then(|at| at.split_once(": in "));
        let quoted = || line.strip_prefix("def ")?.split('(').next();
        told.map(|(_, name)| name.trim()).or_else(quoted)
    })
}

fn product_place<'t>(f: &Failure, text: &'t str) -> Option<&'t str> {
    let class = f.classname.as_deref().unwrap_or_default();
    let module = class.replace('.', "/");
    let of_test = |place: &str| {
        let called = place.split('(').next().unwrap_or(place);
        let in_class = called
            .strip_prefix(class)
            .is_some_and(|rest| rest.starts_with(['.', '$']));
        // A block of tests is called like the file that it is for.
        let in_module = || is_test(&module) && place.contains(&module);
        !class.is_empty() && (in_class || in_module())
            || f.file.as_deref().is_some_and(|file| place.contains(file))
    };
    let of_product = |place: &str| is_own(place, f) && !is_test(place) && !of_test(place);
    // Whether a backtrace follows depends on how the tests are run.
    match panicked_at(text) {
        Some(place) => Some(place).filter(|place| of_product(place)),
        None => innermost(text, of_product)
            .or_else(|| said_at(text, f).filter(|place| of_product(place))),
    }
}

/// The file that Rust names where it tells of a panic.
fn panicked_at(text: &str) -> Option<&str> {
    static MARK: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new(" panicked at "));
    let at = MARK.find(text.as_bytes())? + MARK.needle().len();
    let line = text[at..].lines().next()?;
    let path = &line[..line.find(".rs:")? + ".rs".len()];
    let begins = path.rfind([' ', '\'']).map_or(0, |at| at + 1);
    Some(&path[begins..])
}

/// Whether a line of a stack of the JVM or of .NET belongs to other people than the
/// test: the packages of a product and of its tests share their beginning.
fn is_foreign(place: &str, test: Option<&str>) -> bool {
    /// As many parts of a package name its owner, as in `com.acme`.
    const OWNER: usize = 2;
    if let Some(path) = place.strip_prefix("lib/")
        && path.ends_with(".ex")
    {
        return test.is_some_and(|test| is_of_other_application(path, test));
    }
    let Some((called, file)) = place.rsplit_once('(') else {
        return false;
    };
    let of_jvm = [".java:", ".kt:", ".scala:", ".groovy:"]
        .iter()
        .any(|ending| file.contains(ending));
    let called = called.rsplit('/').next().unwrap_or(called);
    fn owner(name: &str) -> impl Iterator<Item = &str> {
        name.split('.').take(OWNER)
    }
    let packaged =
        |name: &str| name.split('.').count() > OWNER && !name.contains([' ', '/', ':', '\\']);
    if of_jvm {
        return packaged(called)
            && test.is_some_and(|test| packaged(test) && !owner(test).eq(owner(called)));
    }
    // .NET names the file of what was built here, and no file of a package.
    let namespaced = |name: &str| {
        packaged(name)
            && name
                .split('.')
                .all(|part| part.starts_with(char::is_uppercase))
    };
    namespaced(called) && test.is_some_and(|test| namespaced(test) && !shares_root(called, test))
}

/// Whether two names of .NET are of one house: `Shop.Cart`, `ShopTests.CartTests`
/// and `Tests.Shop.CartTests` are.
fn shares_root(called: &str, test: &str) -> bool {
    let called = called.split('.').next().unwrap_or_default();
    let tested = test.split('.').next().unwrap_or_default();
    called.starts_with(tested)
        || tested.starts_with(called)
        || test.split('.').any(|part| part == called)
}

/// Whether a file below Elixir's `lib/` belongs to another application than the
/// test: `req/request.ex`, tested by `Elixir.Shop.CartTest`.
fn is_of_other_application(path: &str, test: &str) -> bool {
    let Some((folder, _)) = path.split_once('/') else {
        return false;
    };
    let module = test.strip_prefix("Elixir.").unwrap_or_default();
    let root = module.split('.').next().unwrap_or_default();
    let (root, folder) = (root.to_ascii_lowercase(), folder.replace('_', ""));
    // `Shop` and `shop_web` are of one house.
    !root.is_empty() && !root.starts_with(&folder) && !folder.starts_with(&root)
}

/// Whether a place, or a class by its package, belongs to other people.
pub(crate) fn is_library(place: &str) -> bool {
    static ANY_PART: LazyBytePattern = LazyBytePattern::made(|| LIBRARY_PLACES.join("|"));
    let first = place.as_bytes().first();
    let begins = |package: &&str| first == package.as_bytes().first() && place.starts_with(package);
    LIBRARIES.iter().any(begins) || ANY_PART.is_match(place)
}

/// Whether the line of a place tells of a function that a runner of JavaScript called with
/// a context of its own, as only tests and hooks are, wherever their file lies:
/// `at Context.<anonymous> (qa/cart.js:6:44)`.
fn is_called_by_runner(text: &str, place: &str) -> bool {
    // A place may be told elsewhere than in the text.
    let at = place.as_ptr().addr().checked_sub(text.as_ptr().addr());
    if at.is_none_or(|at| at >= text.len()) {
        return false;
    }
    let file = file_of(place);
    let mut lines = lines_of(text).take(LINES).peekable();
    while let Some(line) = lines.next() {
        let is_of_file = super::frames::place(line).is_some_and(|other| file_of(other) == file);
        if is_of_file && (is_of_context(line) || lines.peek().is_some_and(|next| is_runner(next))) {
            return true;
        }
    }
    false
}

/// Whether a place is of the test itself, which its report names: its method in its class, or
/// the module that it stands in, whatever they are called.
fn is_case(text: &str, place: &str, f: &Failure) -> bool {
    let (Some(class), Some(name)) = (f.classname.as_deref(), f.name.as_deref()) else {
        return false;
    };
    if let Some(module) = file_of(place).strip_suffix(".py") {
        let module = module.replace('/', ".");
        let is_in = class
            .strip_prefix(&*module)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
        // A doctest stands in the module that it tests.
        return is_in && !text.contains(">>> ");
    }
    let word = |c: char| c.is_alphanumeric() || c == '_';
    let method = &name[..name.find(|c| !word(c)).unwrap_or(name.len())];
    let called = format!("{class}.{method}(");
    let at = place.as_ptr().addr().checked_sub(text.as_ptr().addr());
    let Some(at) = at.filter(|at| *at < text.len() && !method.is_empty()) else {
        return false;
    };
    let begins = text[..at].rfind('\n').map_or(0, |at| at + 1);
    let line = text[begins..].lines().next().unwrap_or_default();
    line.contains(&called)
}

/// The file of a place, without line and column.
fn file_of(place: &str) -> &str {
    place.trim_end_matches(|c: char| c.is_ascii_digit() || c == ':')
}

/// Whether a frame is a function that a runner called on what it makes for each test.
fn is_of_context(line: &str) -> bool {
    // Mocha, Jasmine, `node:test`, Cucumber, tape
    const CONTEXTS: [&str; 6] = [
        "Context",
        "UserContext",
        "TestContext",
        "SuiteContext",
        "World",
        "Test",
    ];
    let called = line.trim_start().trim_start_matches("at ");
    let called = called.trim_start_matches("async ");
    let context = called.split_once(".<anonymous> (");
    context.is_some_and(|(context, _)| CONTEXTS.contains(&context))
}

/// Whether a frame is one of a runner of JavaScript, which calls nothing but tests.
fn is_runner(line: &str) -> bool {
    const RUNNERS: [&str; 14] = [
        "@cucumber/cucumber",
        "@hapi/lab",
        "@japa/runner",
        "@vitest/runner",
        "ava",
        "jasmine-core",
        "jest-circus",
        "jest-jasmine2",
        "lab",
        "mocha",
        "playwright",
        "qunit",
        "tape",
        "uvu",
    ];
    let package = line
        .rsplit_once("node_modules/")
        .map(|(_, package)| package);
    package.is_some_and(|package| {
        RUNNERS.iter().any(|name| {
            package
                .strip_prefix(name)
                .is_some_and(|rest| rest.starts_with('/'))
        })
    })
}

/// Whether a place, a file or a line of one, belongs to tests.
pub(in crate::engine) fn is_test(place: &str) -> bool {
    const FOLDERS: [&str; 21] = [
        "test",
        "tests",
        "__tests__",
        "spec",
        "specs",
        "e2e",
        "testing",
        "t",
        "features",
        "step_definitions",
        "stepdefs",
        "steps",
        "cypress",
        "androidtest",
        "uitests",
        "acceptance",
        "testsupport",
        "testutil",
        "testutils",
        "test-utils",
        "test_helpers",
    ];
    const PACKAGES: [&str; 12] = [
        "test",
        "tests",
        "testing",
        "e2e",
        "spec",
        "steps",
        "stepdefs",
        "step_definitions",
        "testsupport",
        "testutil",
        "testutils",
        "testfixtures",
    ];
    let (called, file) = match place.rsplit_once('(') {
        Some((called, file)) => (called, file),
        None => ("", place),
    };
    let mut parts = file.rsplit(['/', '\\']);
    let name = parts.next().unwrap_or_default();
    let stem = name.split('.').next().unwrap_or_default();
    let lower = name.to_ascii_lowercase();
    // Perl's folder of tests, and that of some in JavaScript.
    let may_be_in_t = || {
        let ends = [".t", ".pm", ".pl", ".js", ".mjs", ".cjs", ".ts"];
        let file = lower.split(':').next().unwrap_or_default();
        ends.iter().any(|end| file.ends_with(end))
    };
    let folder = parts.any(|part| {
        FOLDERS.iter().any(|name| part.eq_ignore_ascii_case(name))
            && (part.len() > 1 || may_be_in_t())
            || part.ends_with(".Tests")
            || part.ends_with(".Test")
    });
    // What helps the tests stands in a package of theirs.
    let package = || {
        let of_jvm = [".java:", ".kt:", ".scala:", ".groovy:"];
        of_jvm.iter().any(|ending| file.contains(ending))
            && called.split('.').any(|part| PACKAGES.contains(&part))
    };
    folder
        || package()
        // Django's applications
        || lower == "tests.py"
        || lower.starts_with("test.")
        // Newman
        || lower.contains("sandbox-script.js:")
        || stem.ends_with("Test")
        || stem.ends_with("Tests")
        || stem.ends_with("TestCase")
        || stem.ends_with("Spec")
        || stem.ends_with("Specs")
        || stem.ends_with("IT")
        || stem.ends_with("Steps")
        || stem.ends_with("StepDefs")
        || stem.ends_with("StepDefinitions")
        || stem.starts_with("Test")
        || lower.starts_with("test_")
        || lower.starts_with("t_")
        || lower.starts_with("test-")
        || lower.starts_with("conftest")
        || lower.contains("_test.")
        || lower.contains("_tests.")
        || lower.contains("_spec.")
        || lower.contains(".test.")
        || lower.contains(".spec.")
        || lower.contains(".tests.")
        || lower.contains(".cy.")
}

#[cfg(test)]
mod tests {
    use super::{Origin, origin};
    use jelly_base::model::Failure;

    fn of(text: &str) -> Origin {
        origin(&Failure {
            text: Some(text.into()),
            ..Failure::default()
        })
    }

    #[test]
    fn the_method_or_module_that_the_report_names_is_the_test() {
        for (class, name, text, origin_of) in [
            (
                "shop.OrderScenarios",
                "paysLate()",
                "java.lang.NullPointerException: x\n\tat shop.OrderScenarios.paysLate(OrderScenarios.java:44)\n\tat java.base/java.lang.reflect.Method.invoke(Method.java:569)\n\tat java.base/java.util.ArrayList.forEach(ArrayList.java:1511)",
                Origin::Test,
            ),
            (
                "Shop.Scenarios.Orders",
                "PaysLate",
                "   at Shop.Scenarios.Orders.PaysLate() in /src/Shop.Scenarios/Orders.cs:line 12",
                Origin::Test,
            ),
            (
                "Shop.Scenarios.Orders",
                "PaysLate",
                "   at Shop.Orders.Pay() in /src/Shop/Orders.cs:line 9\n   at Shop.Scenarios.Orders.PaysLate() in /src/Shop.Scenarios/Orders.cs:line 12",
                Origin::Product,
            ),
            (
                "checks.orders",
                "check_a",
                "def check_a():\n        d = {}\n>       d[\"x\"]\nE       KeyError: 'x'\n\nchecks/orders.py:4: KeyError",
                Origin::Test,
            ),
            (
                "shop.orders",
                "shop.orders.total",
                "002 >>> total()\nUNEXPECTED EXCEPTION: KeyError('x')\n\nshop/orders.py:4: UnexpectedException",
                Origin::Product,
            ),
        ] {
            let failure = Failure {
                classname: Some(class.into()),
                name: Some(name.into()),
                text: Some(text.into()),
                ..Failure::default()
            };
            assert_eq!(origin(&failure), origin_of, "{class} {text}");
        }
    }

    #[test]
    fn what_a_project_builds_or_keeps_to_itself_is_its_own() {
        for path in [
            "/srv/shop/src/internal/cart.js:4:9",
            "/srv/shop/dist/cart.js:4:9",
            "/srv/mono/packages/cart/dist/index.js:4:9",
            "/srv/mono/packages/cart/src/internal/cart.ts:4:9",
            "/srv/shop/build/cart.js:4:9",
            "/srv/shop/lib/cart.js:4:9",
            "/srv/shop/out/cart.js:4:9",
            "/srv/shop/src/deps/cart.js:4:9",
            "/srv/shop/gems/cart/lib/cart.js:4:9",
            "webpack-internal:///./src/cart.js:4:9",
            "/home/ci/go/src/shop.example/internal/cart.js:4:9",
            "/go/src/app/internal/cart.js:4:9",
            "/srv/lib/python/cart.js:4:9",
        ] {
            let text =
                format!("TypeError: x\n    at total ({path})\n    at f (/srv/a.test.js:9:1)");
            assert_eq!(of(&text), Origin::Product, "{path}");
        }
    }

    #[test]
    fn what_came_with_a_runtime_or_a_package_is_a_library() {
        for path in [
            "/srv/shop/node_modules/ajv/dist/ajv.js:4:9",
            "/srv/shop/node_modules/.pnpm/ajv@8/node_modules/ajv/dist/ajv.js:4:9",
            "C:\\shop\\node_modules\\ajv\\ajv.js:4:9",
            "node:internal/url:775:36",
            "internal/process/task_queues.js:95:5",
            "internal/modules/cjs/loader.js:999:30",
            "ext:deno_fetch/26_fetch.js:2:7",
            "/srv/shop/vendor/acme/x.js:8:1",
            "/srv/venv/lib/python3.11/site-packages/x.js:8:1",
            "/usr/lib/go-1.19/src/testing/x.js:8:1",
            "/opt/hostedtoolcache/go/1.22.1/x64/src/runtime/panic.js:8:1",
            "/home/ci/go/pkg/mod/shop.example/x.js:8:1",
            "/home/ci/.m2/repository/x.js:8:1",
            "/srv/vendor/bundle/ruby/3.2.0/gems/rack-2.2.8/lib/x.js:8:1",
        ] {
            let text =
                format!("TypeError: x\n    at total ({path})\n    at f (/srv/a.test.js:9:1)");
            assert_eq!(of(&text), Origin::Test, "{path}");
        }
    }

    #[test]
    fn a_helper_in_a_package_of_tests_is_a_test() {
        let text = |helper: &str| {
            format!(
                "java.lang.NullPointerException\n\tat {helper}\n\tat com.acme.CartTest.total(CartTest.java:9)\n\tat java.lang.reflect.Method.invoke(Method.java:1)"
            )
        };
        assert_eq!(
            of(&text("com.acme.testing.Carts.full(Carts.java:64)")),
            Origin::Test
        );
        assert_eq!(
            of(&text("com.acme.internal.Carts.full(Carts.java:64)")),
            Origin::Product
        );
    }

    #[test]
    fn the_innermost_line_outside_of_libraries_tells() {
        for (text, expected) in [
            (
                "tests/test_a.py:14: \n_ _ _\nE  ZeroDivisionError: x\n\napp/shop.py:26: ZeroDivisionError",
                Origin::Product,
            ),
            (
                "E  ValueError: x\n\ntests/test_a.py:26: ValueError",
                Origin::Test,
            ),
            (
                "TypeError: x\n    at parse (/srv/js/src/shop.js:2:49)\n    at Object.f (/srv/js/shop.test.js:9:1)",
                Origin::Product,
            ),
            (
                "TypeError: x\n    at JSON.parse (<anonymous>)\n    at Object.f (/srv/js/shop.test.js:9:1)",
                Origin::Test,
            ),
            (
                "Traceback (most recent call last):\n  File \"t/test_x.py\", line 1, in a\n  File \"/srv/shop.py\", line 2, in b\n  File \"/usr/lib/python3.11/json/decoder.py\", line 3, in c\nValueError: x",
                Origin::Library,
            ),
            (
                "java.lang.X: y\n\tat shop.CartTest.npe(CartTest.java:9)",
                Origin::Trimmed,
            ),
            (
                "   at System.Linq.ThrowHelper.ThrowNoElements()\n   at Shop.Tests.CartTests.First() in /src/CartTests.cs:line 12",
                Origin::Test,
            ),
            (
                "     (elixir 1.14.0) lib/enum.ex:9: Enum.fetch!/2\n     test/shop/cart_test.exs:8: (test)",
                Origin::Test,
            ),
            (
                "MethodError: x\nStacktrace:\n [1] getindex\n   @ ./essentials.jl:13 [inlined]\n [2] item(c)\n   @ Shop /srv/src/cart.jl:12",
                Origin::Product,
            ),
            (
                "error:badarg\nin function cart:load/1 (src/cart.erl, line 12)\nin call from cart_tests:load_test/0 (test/cart_tests.erl, line 9)",
                Origin::Product,
            ),
            (
                "java.lang.ClassCastException: x\n at clojure.lang.Numbers.multiply (Numbers.java:174)\n    shop.cart$total.invokeStatic (cart.clj:12)",
                Origin::Product,
            ),
            (
                "RuntimeException: x\nat Get-Total, C:\\src\\Cart.psm1:9",
                Origin::Product,
            ),
            (
                "RuntimeException: x\nat <ScriptBlock>, C:\\src\\Cart.Tests.ps1:9",
                Origin::Test,
            ),
            (
                "./src/cart.lua:33: attempt to index field 'item' (a nil value)",
                Origin::Product,
            ),
            (
                "  1) test total (CartTest)\n     test/cart_test.exs:8\n     ** (KeyError) key :price not found\n     stacktrace:\n       (shop 0.1.0) lib/cart.ex:3: Cart.total/1\n       test/cart_test.exs:8: (test)",
                Origin::Product,
            ),
            (
                "uncaught exception: ErrorCall\n  error, called at libraries/base/GHC/List.hs:1646:3 in base:GHC.List\n  head, called at src/Cart.hs:22:11 in shop-0.1:Cart",
                Origin::Library,
            ),
            (
                "uncaught exception: PatternMatchFail\n  src/Cart.hs:(20,1)-(22,14): Non-exhaustive patterns in function price",
                Origin::Product,
            ),
            (
                "the cart is closed at lib/Shop/Cart.pm line 41.",
                Origin::Product,
            ),
            ("the cart is closed at t/cart.t line 41.", Origin::Test),
            (
                "Error in `add(x, 3)`: the cart is closed\nBacktrace:\n    x\n 1. └─shop::total(x) at test-total.R:4:3\n 2.   └─shop:::add(x, 3) at shop/R/total.R:12:3\n 3.     └─base::stop(\"closed\")",
                Origin::Product,
            ),
            (
                "spec/cart_spec.lua:3: attempt to index local 'x' (a nil value)",
                Origin::Test,
            ),
            (
                "TypeError: x\n    at Context.<anonymous> (qa/cart.js:6:44)\n    at process.processImmediate (node:internal/timers:483:21)",
                Origin::Test,
            ),
            (
                "TypeError: x\n    at async TestContext.<anonymous> (file:///srv/qa/cart.mjs:6:44)",
                Origin::Test,
            ),
            (
                "TypeError: x\n    at total (src/cart.js:2:49)\n    at Context.<anonymous> (qa/cart.js:6:44)",
                Origin::Product,
            ),
            (
                "TypeError: x\n    at Object.<anonymous> (src/cart.js:6:44)",
                Origin::Product,
            ),
            ("boom", Origin::Unknown),
        ] {
            assert_eq!(of(text), expected, "{text}");
        }
    }

    #[test]
    fn a_package_of_dotnet_has_another_root_than_the_tests_and_no_file() {
        let of = |first: &str, class: &str| {
            let text =
                format!("   at {first}\n   at {class}.Exports() in /src/ExportTests.cs:line 15");
            origin(&Failure {
                text: Some(text),
                classname: Some(class.to_owned()),
                ..Failure::default()
            })
        };
        let library = "PaperMill.Document.Writer.Save(String path)";
        assert_eq!(of(library, "Depot.Tests.ExportTests"), Origin::Test);
        for own in [
            "Depot.Exports.Writer.Save(String path)",
            "/src/Writer.cs:line 4",
        ] {
            assert_eq!(
                of(own, "DepotTests.Exports.ExportTests"),
                Origin::Product,
                "{own}"
            );
            assert_eq!(of(own, "Tests.Depot.ExportTests"), Origin::Product, "{own}");
        }
    }
}
