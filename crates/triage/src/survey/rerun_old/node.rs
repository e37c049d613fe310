//! The frameworks of JavaScript: patterns over full titles, beside a file
//! where the report tells it.

use super::pattern::{escaped, loosened, regex};
use super::recipe::{Join, Recipe};
use super::target::Target;
use jelly_base::model::FailureView;

fn one_of(before: &str, after: &str) -> Join {
    Join::OneWord(format!("{before}("), "|".into(), format!("){after}"))
}

fn is_script(text: &str) -> bool {
    const ENDINGS: [&str; 12] = [
        ".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx", ".vue", ".svelte", ".coffee",
        ".feature",
    ];
    ENDINGS.iter().any(|ending| text.ends_with(ending))
}

/// The file of a test: told as such, or where reporters put it instead.
fn file<'a>(test: &FailureView<'a>) -> Option<&'a str> {
    let innermost = |suites: &'a str| suites.rsplit(" > ").find(|suite| is_script(suite));
    test.file
        .filter(|file| is_script(file))
        .or_else(|| Some(test.classname).filter(|name| is_script(name)))
        .or_else(|| innermost(test.suite))
        .map(|file| file.trim_start_matches("file://"))
        .filter(|file| !file.starts_with('-'))
}

/// Titles from the outermost in, joined by spaces: what these frameworks match
/// their patterns against. Reporters put all of it into the name, or split it
/// between class and name.
fn full_title(test: &FailureView<'_>) -> String {
    let class = if is_script(test.classname) {
        ""
    } else {
        test.classname.trim()
    };
    let name = test.name.trim();
    if class.is_empty() || name == class || name.starts_with(&format!("{class} ")) {
        return name.to_owned();
    }
    // mocha-junit-reporter: the full title is the name, and its end the class.
    if name.ends_with(&format!(" {class}")) {
        return name.to_owned();
    }
    format!("{class} {name}")
}

/// Where a case stands for the hook of a suite, as mocha calls it, the titles of
/// that suite; empty for the hooks around all suites.
fn hooked(title: &str) -> Option<&str> {
    const HOOKS: [&str; 4] = [
        "\"before all\" hook",
        "\"before each\" hook",
        "\"after all\" hook",
        "\"after each\" hook",
    ];
    let at = HOOKS.iter().filter_map(|hook| title.find(hook)).min()?;
    let suite = title.get(..at)?;
    (suite.is_empty() || suite.ends_with(' ')).then(|| suite.trim())
}

/// Everything below a suite, by the titles of its tests.
fn below(suite: &str) -> String {
    format!("{} .*", regex(suite))
}

/// The file that a case stands for as a whole, since it could not be loaded or
/// what surrounds its tests failed.
fn whole_file<'a>(test: &FailureView<'a>) -> Option<&'a str> {
    let name = test.name.trim();
    let of_file = match test.classname.trim() {
        "" => is_path(name),
        class => class == name || class == "Test suite failed to run",
    };
    (of_file && is_script(name) && !name.starts_with('-')).then_some(name)
}

/// Whether a name can be a path alone: titles may end in one.
fn is_path(name: &str) -> bool {
    is_script(name) && !name.starts_with('-') && !name.contains(char::is_whitespace)
}

/// The same where a reporter joins titles by ` > ` or ` › `.
fn unjoined(title: &str) -> String {
    title.replace(" › ", " ").replace(" > ", " ")
}

fn by_file(recipe: Recipe, file: Option<&str>) -> Recipe {
    match file {
        Some(file) => recipe.word(file),
        None => recipe,
    }
}

fn id(file: Option<&str>, title: &str) -> String {
    match file {
        Some(file) => format!("{file} > {title}"),
        None => title.to_owned(),
    }
}

/// `npx jest FILE -t '^(cart total|cart sum)$'`. Jest takes its arguments for
/// regular expressions of paths, so that one is given by `--runTestsByPath`.
pub(super) fn jest(test: &FailureView<'_>) -> Option<Target> {
    if let Some(file) = whole_file(test) {
        let recipe = Recipe::new(&["npx", "jest", "--runTestsByPath"], Join::Words);
        return Some(Target::new(file, recipe, file));
    }
    let title = full_title(test);
    let file = file(test);
    let recipe = match file {
        Some(file) => Recipe::new(&["npx", "jest", "--runTestsByPath"], one_of("^", "$"))
            .word(file)
            .word("-t"),
        None => Recipe::new(&["npx", "jest", "-t"], one_of("^", "$")),
    };
    (!title.is_empty()).then(|| Target::new(id(file, &title), recipe, regex(&title)))
}

/// `npx vitest run FILE -t '^ ?(cart total)$'`. A suite whose hook failed is a
/// case beside its tests, and a pattern of its own title selects nothing.
pub(super) fn vitest(test: &FailureView<'_>, is_group: bool) -> Option<Target> {
    if let Some(file) = whole_file(test) {
        let recipe = Recipe::new(&["npx", "vitest", "run"], Join::Words);
        return Some(Target::new(file, recipe, file));
    }
    let title = unjoined(&full_title(test));
    let file = file(test);
    let recipe = by_file(
        Recipe::new(&["npx", "vitest", "run"], one_of("^ ?", "$")),
        file,
    )
    .word("-t");
    let id = id(file, &title);
    match (title.is_empty(), is_group) {
        (true, _) => None,
        (false, true) => Some(Target::new(&id, recipe, below(&title)).also(format!("all of {id}"))),
        (false, false) => Some(Target::new(id, recipe, regex(&title))),
    }
}

/// `npx mocha FILE -g '^(cart total)$'`.
pub(super) fn mocha(test: &FailureView<'_>) -> Option<Target> {
    let file = file(test);
    // The same reporter writes for Cypress, whose specs have names of their own.
    if file.is_some_and(|file| file.contains(".cy.") || file.starts_with("cypress/")) {
        return cypress(test);
    }
    let title = full_title(test);
    let recipe = by_file(Recipe::new(&["npx", "mocha"], one_of("^", "$")), file).word("-g");
    match hooked(&title) {
        // What surrounds all suites surrounds all of the file.
        Some("") => {
            let recipe = by_file(Recipe::new(&["npx", "mocha"], Join::Nothing), file);
            let also = file.map_or_else(|| "all tests".to_owned(), |file| format!("all of {file}"));
            return Some(Target::new(id(file, &title), recipe, "").also(also));
        }
        Some(suite) => {
            let also = format!("all of {}", id(file, suite));
            return Some(Target::new(id(file, &title), recipe, below(suite)).also(also));
        }
        None => {}
    }
    (!title.is_empty()).then(|| Target::new(id(file, &title), recipe, regex(&title)))
}

/// `npx playwright test FILE -g 'cart total( @|$)'`: the pattern is matched
/// against project, file and titles, with tags behind them.
pub(super) fn playwright(test: &FailureView<'_>) -> Option<Target> {
    let title = unjoined(test.name.trim());
    let file = file(test);
    let recipe = Recipe::new(&["npx", "playwright", "test"], one_of(" ", "( @|$)"));
    // Its file arguments are regular expressions.
    let recipe = by_file(recipe, file.map(regex).as_deref()).word("-g");
    (!title.is_empty()).then(|| Target::new(id(file, &title), recipe, regex(&title)))
}

/// `npx cypress run --spec FILE,FILE`: without a plug-in, Cypress selects
/// nothing smaller than a file.
pub(super) fn cypress(test: &FailureView<'_>) -> Option<Target> {
    let file = file(test)?;
    // It reads globs, and takes commas for the end of one.
    if file.contains(',') {
        return None;
    }
    let spec = loosened(file, "[]{}()!*", '?');
    let join = Join::OneWord(String::new(), ",".into(), String::new());
    let recipe = Recipe::new(&["npx", "cypress", "run", "--spec"], join);
    Some(
        Target::new(id(Some(file), test.name.trim()), recipe, spec)
            .note("Cypress runs whole spec files again: it selects nothing smaller by itself."),
    )
}

/// `npx jasmine --filter='^(cart total)$'`.
pub(super) fn jasmine(test: &FailureView<'_>) -> Option<Target> {
    let title = full_title(test);
    let recipe = Recipe::new(&["npx", "jasmine"], one_of("--filter=^", "$"));
    (!title.is_empty()).then(|| Target::new(title.clone(), recipe, regex(&title)))
}

/// `node --test --test-name-pattern='^total$' FILE`.
pub(super) fn node_test(test: &FailureView<'_>) -> Option<Target> {
    let title = test.name.trim();
    if is_path(title) {
        // A file that failed outside of its tests is a test of its name.
        return Some(Target::new(
            title,
            Recipe::new(&["node", "--test"], Join::Words),
            title,
        ));
    }
    let file = file(test);
    let join = Join::Prefixed("--test-name-pattern=".into());
    let mut recipe = Recipe::new(&["node", "--test"], join);
    if let Some(file) = file {
        recipe = recipe.after(file);
    }
    // A pattern between slashes would be read with flags.
    let pattern = format!("^{}$", escaped(title, r"\^$.|?*+()[]{}"));
    if title.is_empty() {
        return None;
    }
    let mut target = Target::new(id(file, title), recipe, pattern);
    if !test.suite.is_empty() {
        // Up to Node 20, patterns know nothing of the suites around a test.
        target = target.also(format!("tests called {title} of other suites"));
    }
    Some(target)
}

/// `bun test FILE -t '^(cart total)$'`.
pub(super) fn bun(test: &FailureView<'_>) -> Option<Target> {
    let title = full_title(test);
    let file = file(test);
    // What Bun calls a hook that failed.
    if let Some(file) = file.filter(|_| test.name == "(unnamed)") {
        let recipe = Recipe::new(&["bun", "test"], Join::Words);
        return Some(
            Target::new(id(Some(file), &title), recipe, file).also(format!("all of {file}")),
        );
    }
    let recipe = by_file(Recipe::new(&["bun", "test"], one_of("^ ?", "$")), file).word("-t");
    (!title.is_empty()).then(|| Target::new(id(file, &title), recipe, regex(&title)))
}
