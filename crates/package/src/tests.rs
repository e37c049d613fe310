//! The registry's documented cases and its known dirty data, as tables.

mod arguments;
mod dirty;
mod launch;
mod reading;

use super::{Given, Level, Package, Resolved, Source, Trouble, Values, package, resolve};
use indexmap::IndexMap;
use serde_json::{Value, json};

/// A package of a `server.json`, which must be readable.
fn of(value: &Value) -> Package {
    let (package, problems) = package(value, "", Source::ServerJson);
    let errors: Vec<_> = problems
        .iter()
        .filter(|p| p.level == Level::Error)
        .collect();
    assert!(errors.is_empty(), "{errors:?}");
    package.unwrap()
}

/// What was said while an argument of this shape was read.
fn said(argument: &Value) -> Vec<String> {
    let (_, problems) = package(&server(json!([argument])), "", Source::ServerJson);
    problems.into_iter().map(|p| p.message).collect()
}

fn server(arguments: Value) -> Value {
    json!({
        "registryType": "npm", "identifier": "s", "version": "1.0.0",
        "packageArguments": arguments,
    })
}

fn given(arguments: &Value) -> Values {
    let arguments = arguments.as_object().cloned().unwrap_or_default();
    Values {
        arguments: arguments
            .iter()
            .map(|(name, value)| (name.clone(), Given::from(value)))
            .collect(),
        ..Values::default()
    }
}

fn env(pairs: &[(&str, &str)]) -> IndexMap<String, Given> {
    pairs
        .iter()
        .map(|(name, value)| ((*name).to_owned(), Given::Text((*value).to_owned())))
        .collect()
}

fn argv(resolved: &Resolved) -> Vec<&str> {
    let mut argv = vec![resolved.launch.command.as_str()];
    argv.extend(resolved.launch.args.iter().map(|piece| piece.text.as_str()));
    argv
}

/// The words behind the package of a server with these arguments.
fn words(arguments: Value, values: Value) -> Result<Vec<String>, Vec<Trouble>> {
    let resolved = resolve(&of(&server(arguments)), &given(&values))?;
    let argv = argv(&resolved);
    assert_eq!(argv[..3], ["npx", "-y", "s@1.0.0"]);
    Ok(argv[3..].iter().map(|word| (*word).to_owned()).collect())
}

fn troubles(arguments: Value, values: Value) -> Vec<String> {
    match words(arguments, values) {
        Ok(words) => panic!("it came to {words:?}"),
        Err(troubles) => troubles.iter().map(ToString::to_string).collect(),
    }
}
