//! PHP, Ruby, .NET, Robot Framework, Bats.

use super::pattern::{escaped, regex, regex_bare};
use super::recipe::{Join, Recipe};
use super::target::Target;
use jelly_base::model::FailureView;

/// `vendor/bin/phpunit --filter '/^(ShopTest::testTotal)$/'`: matched against
/// the class, the method and its data set.
pub(super) fn phpunit(test: &FailureView<'_>) -> Option<Target> {
    let class = if test.classname.is_empty() {
        test.suite.rsplit(" > ").next().unwrap_or_default()
    } else {
        test.classname
    };
    if class.is_empty() {
        return None;
    }
    // `classname` has dots for the backslashes of a namespace.
    let class = class.replace('.', "\\");
    let join = Join::OneWord("/^(".into(), "|".into(), ")$/".into());
    let recipe = Recipe::new(&["vendor/bin/phpunit", "--filter"], join);
    if test.name.is_empty() || test.name == test.classname {
        // What surrounds the methods of a class.
        let name = format!("{}::.*", regex(&class));
        return Some(Target::new(&class, recipe, name).also(format!("all of {class}")));
    }
    let id = format!("{class}::{}", test.name);
    // PHP's delimiter is among what `regex` escapes.
    let name = regex(&id);
    Some(Target::new(id, recipe, name))
}

/// `bundle exec rspec FILE --example-matches='\ACart total\z'`: a plain
/// `--example` would take all names that begin so.
pub(super) fn rspec(test: &FailureView<'_>) -> Option<Target> {
    if test.name.is_empty() {
        return None;
    }
    let by_class = || {
        let path = test.classname.replace('.', "/");
        path.ends_with("_spec").then(|| format!("./{path}.rb"))
    };
    let file = test.file.map(str::to_owned).or_else(by_class)?;
    let id = format!("{file} > {}", test.name);
    let rspec = |join| Recipe::new(&["bundle", "exec", "rspec"], join).word(safe_path(&file));
    // RSpec's own words for what failed around the examples of a file.
    if test.name.starts_with("An error occurred ") {
        let also = format!("all of {file}");
        return Some(Target::new(id, rspec(Join::Nothing), "").also(also));
    }
    let pattern = format!(r"\A{}\z", regex_bare(test.name));
    let join = Join::Prefixed("--example-matches=".into());
    Some(Target::new(id, rspec(join), pattern))
}

/// `ruby -Itest FILE -n '/^(CartTest#test_a|CartTest#test_b)$/'`, where the
/// report tells a file.
pub(super) fn minitest(test: &FailureView<'_>) -> Option<Target> {
    let file = test.file.filter(|_| !test.name.is_empty())?;
    let join = Join::OneWord("/^(".into(), "|".into(), ")$/".into());
    let recipe = Recipe::new(&["ruby", "-Itest"], join)
        .word(safe_path(file))
        .word("-n");
    let name = match test.classname {
        "" => test.name.to_owned(),
        class => format!("{class}#{}", test.name),
    };
    let id = format!("{file} > {name}");
    Some(Target::new(id, recipe, regex(&name)))
}

fn safe_path(path: &str) -> String {
    if path.starts_with('-') {
        format!("./{path}")
    } else {
        path.to_owned()
    }
}

/// `dotnet test --filter FullyQualifiedName=Shop.CartTest.Total`. NUnit's names
/// end in their arguments, those of the others in the method.
pub(super) fn dotnet(test: &FailureView<'_>) -> Option<Target> {
    let name = test.name.trim();
    let end = name.find('(').unwrap_or(name.len());
    let (method, arguments) = name.split_at(end);
    let class = test.classname;
    // Values escape what the language of filters means something by.
    let value = |text: &str| escaped(text, r"\()&|=!~").replace(',', "%2C");
    let join = Join::OneWord(String::new(), "|".into(), String::new());
    let recipe = Recipe::new(&["dotnet", "test", "--filter"], join);
    let qualified = |name: &str| match class {
        "" => name.to_owned(),
        class if name.starts_with(&format!("{class}.")) => name.to_owned(),
        class => format!("{class}.{name}"),
    };
    let (id, full) = (qualified(name), qualified(method));
    let is_code = |name: &str| {
        !name.is_empty()
            && name
                .chars()
                .all(|c| c.is_alphanumeric() || "_.+`".contains(c))
    };
    if !is_code(method) {
        // A name for people.
        let is_code = is_code(class);
        let name = format!("FullyQualifiedName~{}.", value(class));
        return is_code.then(|| Target::new(id, recipe, name).also(format!("all of {class}")));
    }
    if !full.contains('.') {
        let name = format!("FullyQualifiedName~.{}", value(&full));
        let also = format!("all whose full names contain .{full}");
        return Some(Target::new(id, recipe, name).also(also));
    }
    let target = Target::new(id, recipe, format!("FullyQualifiedName={}", value(&full)));
    if arguments.is_empty() {
        return Some(target);
    }
    let rows = format!("FullyQualifiedName~{}", value(&format!("{full}(")));
    Some(target.or(rows).also(format!("other rows of {full}")))
}

/// `robot --test='*.Shop.Total Is Right' .`: long names begin with the folder
/// that is run, which the report need not share.
pub(super) fn robot(test: &FailureView<'_>) -> Option<Target> {
    if test.name.is_empty() {
        return None;
    }
    let suite = match test.classname.split_once('.') {
        Some((_, below)) => below,
        None => test.classname,
    };
    let id = match test.classname {
        "" => test.name.to_owned(),
        class => format!("{class}.{}", test.name),
    };
    // Its globs have no escape but a set of one.
    let literal = |text: &str| -> String {
        text.chars()
            .map(|c| match c {
                '*' | '?' | '[' => format!("[{c}]"),
                c => c.to_string(),
            })
            .collect()
    };
    let pattern = match suite {
        "" => literal(test.name),
        suite => format!("*.{}.{}", literal(suite), literal(test.name)),
    };
    let recipe = Recipe::new(&["robot"], Join::Prefixed("--test=".into())).after(".");
    let also = match suite {
        "" => "tests of the same names in other suites".to_owned(),
        suite => format!("tests of the same names in other suites called {suite}"),
    };
    Some(Target::new(id, recipe, pattern).also(also))
}

/// `bats -f '^(status)$' FILE`.
pub(super) fn bats(test: &FailureView<'_>) -> Option<Target> {
    let file = test.classname;
    if !file.ends_with(".bats") {
        return None;
    }
    // What surrounds the tests of a file is a case without a name.
    if test.name.is_empty() {
        let recipe = Recipe::new(&["bats"], Join::Nothing).after(safe_path(file));
        return Some(Target::new(file, recipe, "").also(format!("all of {file}")));
    }
    let id = format!("{file} > {}", test.name);
    let join = Join::OneWord("^(".into(), "|".into(), ")$".into());
    let recipe = Recipe::new(&["bats", "-f"], join).after(safe_path(file));
    Some(Target::new(id, recipe, regex_bare(test.name)))
}
