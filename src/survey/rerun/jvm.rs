//! Maven and Gradle, and the modules that their reports' paths tell.

use super::framework::Target;
use super::recipe::{Join, Recipe};
use crate::model::FailureView;

/// Class and method, as far as they are names of Java: parameters and display
/// names are not.
struct Method<'a> {
    class: &'a str,
    /// Without its parameters; `None` where a method has a name for people.
    name: Option<&'a str>,
    /// Parameters stood behind it.
    cut: bool,
}

fn method<'a>(test: &FailureView<'a>) -> Option<Method<'a>> {
    let innermost = test.suite.rsplit(" > ").next().unwrap_or_default();
    let class = if test.classname.is_empty() {
        innermost
    } else {
        test.classname
    };
    let is_part = |part: &str| {
        let starts = part
            .chars()
            .next()
            .is_some_and(|c| c.is_alphabetic() || "_$".contains(c));
        starts
            && part
                .chars()
                .all(|c| c.is_alphanumeric() || "_$".contains(c))
    };
    if class.is_empty() || !class.split('.').all(is_part) {
        return None;
    }
    let bare = test
        .name
        .split(['[', '(', '{', '<'])
        .next()
        .unwrap_or_default()
        .trim();
    // A set-up is told by the class alone, as `initializationError` or its name.
    let own = bare != "initializationError" && !class.ends_with(bare);
    Some(Method {
        class,
        name: Some(bare).filter(|bare| own && is_part(bare)),
        cut: bare.len() < test.name.trim().len(),
    })
}

/// `mvn test -Dtest='shop.CartTest#total+sum'`, in the module of the report.
pub(super) fn maven(test: &FailureView<'_>) -> Option<Target> {
    let Method { class, name, cut } = method(test)?;
    let simple = class.rsplit('.').next().unwrap_or(class);
    let integration =
        simple.starts_with("IT") || simple.ends_with("IT") || simple.ends_with("ITCase");
    let (goal, test_flag, lenient) = if integration {
        (
            "verify",
            "-Dit.test=",
            "-Dfailsafe.failIfNoSpecifiedTests=false",
        )
    } else {
        ("test", "-Dtest=", "-Dsurefire.failIfNoSpecifiedTests=false")
    };
    let selector = match name {
        // What stands in brackets differs between the versions of JUnit.
        Some(name) if cut => format!("{class}#{name}*"),
        Some(name) => format!("{class}#{name}"),
        None => class.to_owned(),
    };
    let join = Join::OneWord(test_flag.into(), ",".into(), String::new());
    let mut recipe = Recipe::new(&["mvn", goal], join);
    if let Some(module) = module(test.report, "/target/") {
        // The modules that it needs, which may have no such test.
        recipe = recipe.word("-pl").word(module).word("-am");
    }
    Some(Target::new(
        selector.clone(),
        recipe.after(lenient),
        selector,
    ))
}

/// `./gradlew test --tests=shop.CartTest.total`, by the task of the report.
pub(super) fn gradle(test: &FailureView<'_>) -> Option<Target> {
    let Method { class, name, cut } = method(test)?;
    let selector = match name {
        Some(name) if cut => format!("{class}.{name}*"),
        Some(name) => format!("{class}.{name}"),
        None => class.to_owned(),
    };
    let task = test
        .report
        .split_once("build/test-results/")
        .and_then(|(_, rest)| rest.split('/').next())
        .filter(|task| is_plain(task) && !task.ends_with(".xml"))
        .unwrap_or("test");
    let task = match module(test.report, "/build/test-results/") {
        Some(module) => format!(":{}:{task}", module.replace('/', ":")),
        None => task.to_owned(),
    };
    let recipe = Recipe::new(&["./gradlew"], Join::Prefixed("--tests=".into())).word(task);
    Some(Target::new(selector.clone(), recipe, selector))
}

fn is_plain(text: &str) -> bool {
    !text.is_empty()
        && !text.starts_with('-')
        && text
            .chars()
            .all(|c| c.is_alphanumeric() || "_.-".contains(c))
}

/// The module whose output folder holds the report, below the folder in which
/// jelly runs; `None` for the root and for reports of elsewhere.
fn module<'a>(report: &'a str, output: &str) -> Option<&'a str> {
    let (module, _) = report.split_once(output)?;
    let module = module.trim_start_matches("./");
    module
        .split('/')
        .all(is_plain)
        .then_some(module)
        .filter(|module| *module != "..")
}
