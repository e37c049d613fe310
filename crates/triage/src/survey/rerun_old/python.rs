//! pytest and unittest.

use super::recipe::{Join, Recipe};
use super::target::Target;
use jelly_base::model::FailureView;

/// `pytest tests/test_cart.py::TestCart::test_total[eur]`: node ids are words
/// that mean nothing but themselves.
pub(super) fn pytest(test: &FailureView<'_>) -> Option<Target> {
    let id = node_id(test)?;
    let recipe = Recipe::new(&["pytest"], Join::Words);
    Some(Target::new(id.clone(), recipe, id))
}

/// The report has the module as a dotted name before the class; some families
/// of it have the file besides.
fn node_id(test: &FailureView<'_>) -> Option<String> {
    let dotted: Vec<&str> = test
        .classname
        .split('.')
        .filter(|p| !p.is_empty())
        .collect();
    if dotted.is_empty() {
        // A file that could not be collected is a case named after its module.
        let file = test.file.map(str::to_owned).or_else(|| {
            let module = test.name;
            let plain = |c: char| c.is_alphanumeric() || "._-/".contains(c);
            (!module.is_empty() && module.chars().all(plain))
                .then(|| format!("{}.py", module.trim_end_matches(".py").replace('.', "/")))
        })?;
        return Some(relative(&file));
    }
    let (file, classes) = match test.file {
        Some(file) => {
            let module = file.trim_end_matches(".py").replace(['/', '\\'], ".");
            let module = module.trim_matches('.');
            let parts = module.split('.').count();
            let own = dotted.len() >= parts && dotted[..parts].join(".") == module;
            (
                file.to_owned(),
                if own {
                    &dotted[parts..]
                } else {
                    classes(&dotted).1
                },
            )
        }
        None => {
            let (module, classes) = classes(&dotted);
            (format!("{}.py", module.join("/")), classes)
        }
    };
    let mut id = relative(&file);
    for part in classes.iter().copied().chain([test.name]) {
        id.push_str("::");
        id.push_str(part);
    }
    Some(id)
}

/// Modules are written in lower case, classes begin with a capital: PEP 8, and
/// pytest's own `python_classes = Test`.
fn classes<'a, 'b>(dotted: &'b [&'a str]) -> (&'b [&'a str], &'b [&'a str]) {
    let is_class = |part: &&str| part.chars().next().is_some_and(char::is_uppercase);
    let from = dotted
        .iter()
        .rposition(|part| !is_class(part))
        .map_or(1, |at| at + 1);
    dotted.split_at(from.min(dotted.len()))
}

/// A path that no option begins with.
fn relative(path: &str) -> String {
    if path.starts_with('-') {
        format!("./{path}")
    } else {
        path.to_owned()
    }
}

/// `python -m unittest tests.test_cart.CartTest.test_total`.
pub(super) fn unittest(test: &FailureView<'_>) -> Option<Target> {
    let recipe = Recipe::new(&["python", "-m", "unittest"], Join::Words);
    // `setUpClass (tests.test_cart.CartTest)`: what surrounds a class or module.
    if let Some((_, place)) = test.name.split_once(" (")
        && AROUND.iter().any(|word| test.name.starts_with(word))
    {
        let place = place.trim_end_matches(')');
        let also = format!("all of {place}");
        return Some(Target::new(test.name, recipe, place).also(also));
    }
    // nose2 writes parameters behind the name.
    let name = test.name.split([':', ' ', '\n']).next().unwrap_or_default();
    if test.classname.is_empty() || name.is_empty() {
        return None;
    }
    // A module that could not be loaded is a case of the loader.
    if test.classname.ends_with("_FailedTest") {
        return Some(Target::new(name, recipe, name));
    }
    let selector = format!("{}.{name}", test.classname);
    let target = Target::new(
        format!("{}.{}", test.classname, test.name),
        recipe,
        &selector,
    );
    Some(if name == test.name {
        target
    } else {
        target.also(format!("other rows of {selector}"))
    })
}

/// How unittest calls what surrounds the tests of a class or a module.
const AROUND: [&str; 4] = [
    "setUpClass",
    "tearDownClass",
    "setUpModule",
    "tearDownModule",
];
