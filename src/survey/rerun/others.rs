//! PHP, Ruby, .NET, Robot Framework, Bats.

use super::framework::Target;
use super::pattern::{escaped, regex, regex_bare};
use super::recipe::{Join, Recipe};
use crate::model::FailureView;

/// `vendor/bin/phpunit --filter '/^(ShopTest::testTotal)$/'`: matched against
/// the class, the method and its data set.
pub(super) fn phpunit(test: &FailureView<'_>) -> Option<Target> {
    let class = if test.classname.is_empty() {
        test.suite.rsplit(" > ").next().unwrap_or_default()
    } else {
        test.classname
    };
    if class.is_empty() || test.name.is_empty() {
        return None;
    }
    // `classname` has dots for the backslashes of a namespace.
    let class = class.replace('.', "\\");
    let id = format!("{class}::{}", test.name);
    let join = Join::OneWord("/^(".into(), "|".into(), ")$/".into());
    let recipe = Recipe::new(&["vendor/bin/phpunit", "--filter"], join);
    // PHP's delimiter is among what `regex` escapes.
    let name = regex(&id);
    Some(Target::new(id, recipe, name))
}

/// `bundle exec rspec FILE --example='Cart total'`.
pub(super) fn rspec(test: &FailureView<'_>) -> Option<Target> {
    if test.name.is_empty() {
        return None;
    }
    let by_class = || {
        let path = test.classname.replace('.', "/");
        path.ends_with("_spec").then(|| format!("./{path}.rb"))
    };
    let file = test.file.map(str::to_owned).or_else(by_class)?;
    let recipe = Recipe::new(
        &["bundle", "exec", "rspec"],
        Join::Prefixed("--example=".into()),
    )
    .word(safe_path(&file));
    Some(Target::new(
        format!("{file} > {}", test.name),
        recipe,
        test.name,
    ))
}

/// `ruby -Itest FILE -n '/^(test_a|test_b)$/'`, where the report tells a file.
pub(super) fn minitest(test: &FailureView<'_>) -> Option<Target> {
    let file = test.file.filter(|_| !test.name.is_empty())?;
    let join = Join::OneWord("/^(".into(), "|".into(), ")$/".into());
    let recipe = Recipe::new(&["ruby", "-Itest"], join)
        .word(safe_path(file))
        .word("-n");
    Some(Target::new(
        format!("{file} > {}", test.name),
        recipe,
        regex(test.name),
    ))
}

fn safe_path(path: &str) -> String {
    if path.starts_with('-') {
        format!("./{path}")
    } else {
        path.to_owned()
    }
}

/// `dotnet test --filter 'FullyQualifiedName~Shop.CartTest.Total'`. The rows of
/// a theory share one name.
pub(super) fn dotnet(test: &FailureView<'_>) -> Option<Target> {
    let method = test.name.split('(').next().unwrap_or_default().trim();
    if method.is_empty() {
        return None;
    }
    let class = test.classname;
    let id = if class.is_empty() || method.starts_with(&format!("{class}.")) {
        method.to_owned()
    } else {
        format!("{class}.{method}")
    };
    // Values escape what the language of filters means something by.
    let value = escaped(&id, r"\()&|=!~").replace(',', "%2C");
    let join = Join::OneWord(String::new(), "|".into(), String::new());
    let recipe = Recipe::new(&["dotnet", "test", "--filter"], join);
    Some(Target::new(
        id,
        recipe,
        format!("FullyQualifiedName~{value}"),
    ))
}

/// `robot --test='*Shop.Total Is Right' .`: long names begin with the folder
/// that is run, which the report need not share.
pub(super) fn robot(test: &FailureView<'_>) -> Option<Target> {
    if test.name.is_empty() {
        return None;
    }
    let suite = test.classname.rsplit('.').next().unwrap_or_default();
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
        suite => format!("*{}.{}", literal(suite), literal(test.name)),
    };
    let recipe = Recipe::new(&["robot"], Join::Prefixed("--test=".into())).after(".");
    Some(Target::new(id, recipe, pattern))
}

/// `bats -f '^(status)$' FILE`.
pub(super) fn bats(test: &FailureView<'_>) -> Option<Target> {
    let file = test.classname;
    if !file.ends_with(".bats") || test.name.is_empty() {
        return None;
    }
    let join = Join::OneWord("^(".into(), "|".into(), ")$".into());
    let recipe = Recipe::new(&["bats", "-f"], join).after(safe_path(file));
    Some(Target::new(
        format!("{file} > {}", test.name),
        recipe,
        regex_bare(test.name),
    ))
}
