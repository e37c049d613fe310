//! Maven and Gradle, and the modules that their reports' paths tell.

use super::pattern::loosened;
use super::recipe::{Join, Recipe};
use super::target::Target;
use jelly_base::model::FailureView;

/// Class and method, as far as they are names of Java: parameters and display
/// names are not.
struct Method<'a> {
    class: &'a str,
    /// Without its parameters; `None` where a case has a name for people, or
    /// stands for what happens around the methods of the class.
    name: Option<&'a str>,
    /// What stands behind the name: `[1]`, `(int)[2]`, `{String}[1]`.
    row: &'a str,
}

/// Cases that stand for a whole class: how runners call its set-up, and how
/// people call their own.
const AROUND: [&str; 24] = [
    "after",
    "afterall",
    "afterclass",
    "aftereach",
    "aftermethod",
    "aftersuite",
    "aftertest",
    "before",
    "beforeall",
    "beforeclass",
    "beforeeach",
    "beforemethod",
    "beforesuite",
    "beforetest",
    "classmethod",
    "cleanup",
    "cleanupspec",
    "executionerror",
    "initializationerror",
    "setup",
    "setupclass",
    "setupspec",
    "teardown",
    "teardownclass",
];

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
    let name = test.name.trim();
    let end = name.find(['[', '(', '{', '<']).unwrap_or(name.len());
    let (bare, row) = name.split_at(end);
    let bare = bare.trim();
    let simple = class.rsplit(['.', '$']).next().unwrap_or(class);
    let around =
        bare == class || bare == simple || AROUND.contains(&bare.to_ascii_lowercase().as_str());
    Some(Method {
        class,
        name: Some(bare).filter(|bare| !around && is_part(bare)),
        // JUnit 5 writes the empty brackets of every method.
        row: if row == "()" { "" } else { row },
    })
}

impl Method<'_> {
    /// How the filters of both tools may know the method: JUnit 5 and TestNG
    /// by its bare name, JUnit 4 with the index of the row, and runners of its
    /// kind with all parameters. Characters of `syntax` become a `?`.
    fn names(&self, name: &str, syntax: &str) -> Vec<String> {
        let mut names = vec![name.to_owned()];
        if self.row.starts_with('[') && !self.row.contains(['/', '\\']) {
            names.push(format!("{name}{}", loosened(self.row, syntax, '?')));
        } else if let Some(bracket) = self.row.chars().next() {
            names.push(format!("{name}{bracket}*"));
        }
        names
    }

    fn id(&self, test: &FailureView<'_>, separator: char) -> String {
        match test.name.trim() {
            "" => self.class.to_owned(),
            name if name == self.class => name.to_owned(),
            name => format!("{}{separator}{name}", self.class),
        }
    }

    /// What a filter by class and method takes besides the test.
    fn also(&self, separator: char) -> Option<String> {
        match self.name {
            None => Some(format!("all of {}", self.class)),
            Some(name) if !self.row.is_empty() => {
                Some(format!("other rows of {}{separator}{name}", self.class))
            }
            Some(_) => None,
        }
    }
}

/// `mvn test -Dtest='shop.CartTest#total+sum'`, in the module of the report.
pub(super) fn maven(test: &FailureView<'_>) -> Option<Target> {
    let method = method(test)?;
    let class = method.class;
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
    let selector = match method.name {
        Some(name) => format!("{class}#{}", method.names(name, "#+,!%*").join("+")),
        None => class.to_owned(),
    };
    let join = Join::OneWord(test_flag.into(), ",".into(), String::new());
    let mut recipe = Recipe::new(&["mvn", goal], join);
    if let Some(module) = module(test.report, "/target/") {
        // The modules that it needs, which may have no such test.
        recipe = recipe.word("-pl").word(module).word("-am");
    }
    let id = method.id(test, '#');
    let mut target = Target::new(id, recipe.after(lenient), selector);
    target.also = method.also('#');
    Some(target)
}

/// `./gradlew test --tests=shop.CartTest.total`, by the task of the report.
pub(super) fn gradle(test: &FailureView<'_>) -> Option<Target> {
    let method = method(test)?;
    let class = method.class;
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
    let mut target = Target::new(method.id(test, '.'), recipe, class);
    if let Some(name) = method.name {
        // Its only wildcard is the star, which stands for any text.
        let names = method.names(name, "");
        target.names = names.iter().map(|name| format!("{class}.{name}")).collect();
    }
    target.also = method.also('.');
    Some(target)
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
