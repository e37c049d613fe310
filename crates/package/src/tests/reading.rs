//! A text, of any date and from anybody, to a package and back.

use super::{argv, env, given, of, words};
use crate::{
    ArgumentKind, InputKind, JsonProblem, Launch, Level, Package, Source, Values, package, read,
    resolve,
};
use proptest::prelude::*;
use serde_json::{Value, json};

/// One server, in the words of each date.
const DATES: [(&str, &str); 5] = [
    (
        "2025-07-09",
        r#"{"$schema": "https://static.modelcontextprotocol.io/schemas/2025-07-09/server.schema.json",
            "name": "a/s", "description": "d", "status": "active", "version_detail": {"version": "1.0.0"},
            "packages": [{"registry_type": "npm", "registry_base_url": "https://registry.npmjs.org", "identifier": "s", "version": "1.0.0",
              "file_sha256": "ab", "runtime_hint": "npx",
              "runtime_arguments": [{"type": "positional", "value": "--quiet", "value_hint": "q"}],
              "package_arguments": [{"type": "positional", "value_hint": "dir", "is_required": true, "is_repeated": true}],
              "environment_variables": [{"name": "KEY", "is_required": true, "is_secret": true}]}]}"#,
    ),
    ("2025-09-16", ""),
    ("2025-09-29", ""),
    ("2025-10-17", ""),
    ("2025-12-11", ""),
];

/// As since 2025-09-16.
const CAMEL: &str = r#"{"server": {"$schema": "DATE",
    "name": "a/s", "description": "d", "version": "1.0.0",
    "packages": [{"registryType": "npm", "registryBaseUrl": "https://registry.npmjs.org", "identifier": "s", "version": "1.0.0",
      "fileSha256": "ab", "runtimeHint": "npx", "transport": {"type": "stdio"},
      "runtimeArguments": [{"type": "positional", "value": "--quiet", "valueHint": "q"}],
      "packageArguments": [{"type": "positional", "valueHint": "dir", "isRequired": true, "isRepeated": true}],
      "environmentVariables": [{"name": "KEY", "isRequired": true, "isSecret": true}]}]},
    "_meta": {"io.modelcontextprotocol.registry/official": {"status": "active"}}}"#;

#[test]
fn every_date_of_the_schema_reads_the_same() {
    let mut all = Vec::new();
    for (date, text) in DATES {
        let text = if text.is_empty() {
            CAMEL.replace("DATE", date)
        } else {
            text.to_owned()
        };
        let server = read(&text).unwrap_or_else(|e| panic!("{date}: {e}"));
        assert!(server.schema.unwrap().contains(date));
        assert_eq!(
            (server.name.as_str(), server.version.as_deref()),
            ("a/s", Some("1.0.0"))
        );
        assert_eq!(server.warnings, []);
        all.push(server.packages);
    }
    let first = &all[0][0];
    assert_eq!(first.file_sha256.as_deref(), Some("ab"));
    let asked: Vec<(InputKind, String, bool)> = first
        .inputs()
        .into_iter()
        .map(|asked| {
            let must_be_given = asked.input.is_required && asked.input.default.is_none();
            (asked.kind, asked.key, must_be_given)
        })
        .collect();
    assert_eq!(
        asked,
        [
            (InputKind::Argument, "dir".to_owned(), true),
            (InputKind::Environment, "KEY".to_owned(), true),
        ]
    );
    let values = Values {
        environment: env(&[("KEY", "k")]),
        ..given(&json!({"dir": "/d"}))
    };
    for packages in &all {
        assert_eq!(packages, &all[0]);
        let resolved = resolve(&packages[0], &values).unwrap();
        assert_eq!(argv(&resolved), ["npx", "-y", "--quiet", "s@1.0.0", "/d"]);
    }
}

#[test]
fn remotes_and_transports_are_kept() {
    let server = read(
        r#"{"name": "a/s", "description": "",
            "packages": [{"registryType": "pypi", "identifier": "s", "version": "1",
              "transport": {"type": "streamable-http", "url": "http://127.0.0.1:{port}/{HOST_PATH}/{x}"},
              "packageArguments": [{"type": "named", "name": "--port", "default": "8080"}],
              "environmentVariables": [{"name": "HOST_PATH", "value": "mcp"}]}],
            "remotes": [{"transport_type": "sse", "url": "https://{tenant}.example/sse",
              "headers": [{"name": "X-Key", "is_required": true, "is_secret": true}], "variables": {"tenant": {"isRequired": true}}}]}"#,
    )
    .unwrap();
    let resolved = resolve(&server.packages[0], &Values::default()).unwrap();
    assert_eq!(
        resolved.launch.url.as_deref(),
        Some("http://127.0.0.1:8080/mcp/{x}")
    );
    let remote = &server.remotes[0];
    assert_eq!(
        (remote.kind.as_str(), remote.headers[0].input.is_secret),
        ("sse", true)
    );
    assert!(remote.variables["tenant"].is_required);
}

#[test]
fn what_can_not_be_read_is_said_with_its_place() {
    for (text, expected) in [
        ("{\n  \"name\": ", "2:"),
        ("[]", "1:1: a server.json is an object"),
        ("", "1:1: it is empty"),
        (
            "{\"packages\": [\n  {\"registryType\": \"npm\"}]}",
            "2:3: packages[0]: a package needs its `identifier`",
        ),
        (
            "{\"packages\": [{\"registryType\": \"npm\", \"identifier\": \"x\",\n \"packageArguments\": [{\"type\": \"nmaed\"}]}]}",
            "2:32: packages[0].packageArguments[0].type: `nmaed` is not a type of argument (it is `named` or `positional`)",
        ),
        (
            "{\"packages\": [{\"registryType\": \"npm\", \"identifier\": \"x\",\n \"packageArguments\": {}}]}",
            "2:22: packages[0].packageArguments: expected a list, found object",
        ),
        (
            "{\"packages\": [{\"registryType\": \"npm\", \"identifier\": \"x\",\n \"packageArguments\": [{\"type\": \"named\", \"name\": \"a b\"}]}]}",
            "2:23: packages[0].packageArguments[0]: `a b` can't be the name of a flag: it contains a space",
        ),
    ] {
        let error = read(text).unwrap_err().to_string();
        assert!(error.starts_with(expected), "{text}: {error}");
    }
}

#[test]
fn a_plan_is_held_to_the_letter() {
    let definition = json!({
        "registry": "npm", "identifer": "x", "version": "${v}",
        "package_arguments": [{"type": "named", "name": "--a", "is_requierd": true}],
    });
    let (found, problems) = package(&definition, "/package", Source::Plan);
    assert_eq!(found, None);
    let said: Vec<String> = problems
        .iter()
        .map(|p| format!("{} {} {:?}", p.pointer, p.message, p.hint))
        .collect();
    assert!(
        said[0].starts_with("/package/identifer unknown key `identifer`"),
        "{said:?}"
    );
    assert!(said[0].contains("did you mean `identifier`?"));
    assert!(said[1].contains("a package needs its `identifier`"));
}

#[test]
fn what_is_written_for_a_plan_reads_as_the_same_package() {
    let definition = json!({
        "registryType": "oci", "identifier": "ghcr.io/a/b:1", "runtimeHint": "podman",
        "runtimeArguments": [{"type": "named", "name": "-v", "value": "{s}:{d}", "isRepeated": true,
            "variables": {"s": {"isRequired": true, "format": "filepath"}, "d": {"default": "/p"}}}],
        "packageArguments": [
            {"type": "named", "name": "mode", "default": "a", "choices": ["a", "b"], "description": "m"},
            {"type": "named", "name": "-i", "value": "-i", "isRequired": true},
            {"type": "named", "name": "--k=v"},
            {"type": "positional", "valueHint": "dir", "isRequired": true},
        ],
        "environmentVariables": [{"name": "K", "isSecret": true, "placeholder": "sk-"}],
    });
    let mut once = of(&definition);
    let (again, problems) = package(&once.to_plan(), "", Source::Plan);
    assert_eq!(problems, []);
    // How a flag was written elsewhere is no matter of the plan.
    for argument in &mut once.package_arguments {
        if let ArgumentKind::Named { written, bare, .. } = &mut argument.kind {
            *written = None;
            if *bare {
                argument.input = super::super::Input::default();
            }
        }
    }
    assert_eq!(again.unwrap(), once);
}

fn any_json() -> impl Strategy<Value = Value> {
    let keys = prop_oneof![
        Just("type"),
        Just("name"),
        Just("value"),
        Just("default"),
        Just("valueHint"),
        Just("packageArguments"),
        Just("runtime_arguments"),
        Just("environmentVariables"),
        Just("variables"),
        Just("isRequired"),
        Just("registryType"),
        Just("identifier"),
        Just("packages"),
        Just("choices"),
        Just("version"),
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        "[-{}=<$ a-c,]{0,8}".prop_map(Value::from),
        prop_oneof![
            Just("npm"),
            Just("oci"),
            Just("pypi"),
            Just("named"),
            Just("positional")
        ]
        .prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 64, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((keys.clone(), inner), 0..6).prop_map(|pairs| {
                Value::Object(pairs.into_iter().map(|(k, v)| (k.to_owned(), v)).collect())
            }),
        ]
    })
}

/// Texts as they stand in definitions, at any place.
fn any_word() -> impl Strategy<Value = Value> {
    const WORDS: [&str; 24] = [
        "",
        " ",
        "--x",
        "-x",
        "x",
        "x y",
        "--x y",
        "--x=",
        "--x=y",
        "--x <path>",
        "--x=<path>",
        "<dir>",
        "$DIR",
        "${DIR}",
        "${workspaceFolder}/x",
        "{a}",
        "{a}:{b}",
        "{a}/${b}",
        "-",
        "--",
        "=",
        "1440",
        "YOUR_API_KEY",
        "${input:key} of it",
    ];
    proptest::sample::select(&WORDS[..]).prop_map(Value::from)
}

fn any_fields(keys: &'static [&'static str]) -> impl Strategy<Value = Value> {
    let value = |key: &str| match key.starts_with("is") {
        true => any::<bool>().prop_map(Value::from).boxed(),
        false if key == "choices" => prop::collection::vec(any_word(), 0..3)
            .prop_map(Value::from)
            .boxed(),
        false if key == "type" => proptest::sample::select(&["named", "positional"][..])
            .prop_map(Value::from)
            .boxed(),
        false if key == "format" => proptest::sample::select(&["string", "number"][..])
            .prop_map(Value::from)
            .boxed(),
        false if key == "variables" => prop::collection::hash_map(
            "[ab]",
            any_fields(&["value", "default", "isRequired", "isSecret", "description"]),
            0..3,
        )
        .prop_map(|map| Value::Object(map.into_iter().collect()))
        .boxed(),
        false => any_word().boxed(),
    };
    let fields: Vec<_> = keys
        .iter()
        .map(|key| prop::option::weighted(0.4, value(key)))
        .collect();
    fields.prop_map(|values| {
        let pairs = keys.iter().zip(values);
        let there = pairs.filter_map(|(key, value)| Some(((*key).to_owned(), value?)));
        Value::Object(there.collect())
    })
}

/// A definition as publishers write them, dirt included.
fn any_definition() -> impl Strategy<Value = Value> {
    let argument = any_fields(&[
        "type",
        "name",
        "value",
        "default",
        "valueHint",
        "description",
        "placeholder",
        "isRequired",
        "isSecret",
        "isRepeated",
        "choices",
        "format",
        "variables",
    ]);
    let argument = prop_oneof![4 => argument, 1 => any_word()].boxed();
    let variable = any_fields(&[
        "name",
        "value",
        "default",
        "description",
        "isRequired",
        "isSecret",
        "choices",
    ]);
    let registry = proptest::sample::select(&["npm", "pypi", "oci", "nuget"][..]);
    let arguments = || prop::collection::vec(argument.clone(), 0..4);
    (
        registry,
        arguments(),
        arguments(),
        prop::collection::vec(variable, 0..3),
    )
        .prop_map(|(registry, own, runtime, variables)| {
            json!({
                "registryType": registry, "identifier": "s", "version": "1",
                "packageArguments": own, "runtimeArguments": runtime,
                "environmentVariables": variables,
            })
        })
}

/// What a package comes to, whoever wrote it.
fn comes_to(package: &Package, values: &Values) -> Result<Launch, Vec<String>> {
    resolve(package, values)
        .map(|resolved| resolved.launch)
        .map_err(|troubles| troubles.iter().map(ToString::to_string).collect())
}

/// What a plan changes of a definition that can be read.
fn differs_in_a_plan(definition: &Value) -> Option<String> {
    let (once, problems) = package(definition, "", Source::ServerJson);
    if problems.iter().any(|p| p.level == Level::Error) {
        return None;
    }
    let once = once?;
    let plan = once.to_plan();
    let (again, problems) = package(&plan, "", Source::Plan);
    if let Some(error) = problems.iter().find(|p| p.level == Level::Error) {
        return Some(format!("{plan}: {error:?}"));
    }
    let again = again?;
    let keys = |package: &Package| -> Vec<String> {
        package
            .inputs()
            .into_iter()
            .map(|input| input.key)
            .collect()
    };
    if keys(&once) != keys(&again) {
        return Some(format!("{plan}: {:?}, {:?}", keys(&once), keys(&again)));
    }
    let asked = once.inputs().into_iter();
    let asked = asked.filter(|input| input.kind != InputKind::Environment);
    let all = asked.map(|input| (input.key, Value::from("7")));
    let all = given(&Value::Object(all.collect()));
    [Values::default(), all].iter().find_map(|values| {
        let (before, after) = (comes_to(&once, values), comes_to(&again, values));
        (before != after).then(|| format!("{plan}: {before:?}, {after:?}"))
    })
}

proptest! {
    #[test]
    fn what_is_read_and_written_for_a_plan_starts_the_same(definition in any_definition()) {
        let differs = differs_in_a_plan(&definition);
        prop_assert!(differs.is_none(), "{differs:?}");
    }

    #[test]
    fn no_definition_whatever_makes_it_panic(value in any_json(), values in any_json()) {
        for server in read(&value.to_string()).into_iter().chain(read(&json!({"packages": [value]}).to_string())) {
            for package in server.packages {
                let _ = package.inputs();
                let _ = package.to_plan();
                let _ = resolve(&package, &given(&values));
            }
        }
    }

    #[test]
    fn a_value_that_is_given_is_one_word_and_unchanged(value in "\\PC{1,40}") {
        prop_assume!(!value.trim().is_empty());
        let arguments = json!([{"type": "named", "name": "--x", "description": "d"}, {"type": "positional", "valueHint": "p"}]);
        let words = words(arguments, json!({"--x": value, "p": value})).unwrap();
        prop_assert_eq!(words, ["--x", value.as_str(), value.as_str()]);
    }
}

#[test]
fn a_name_that_one_argument_has_is_no_other_name_of_another() {
    let definition = json!({
        "registryType": "npm", "identifier": "s", "version": "1",
        "packageArguments": [{"name": "--x y", "value": "-x"}, {"name": "--k="}, {"name": "--k=<path>"}],
        "runtimeArguments": [{"type": "positional", "valueHint": "--x y"}],
    });
    assert_eq!(differs_in_a_plan(&definition), None);
    let (package, _) = package(&definition, "", Source::ServerJson);
    let package = package.unwrap();
    let values = given(&json!({"--x y": "7", "--k#2": "/p"}));
    let args = comes_to(&package, &values).unwrap().args;
    let args: Vec<&str> = args.iter().map(|piece| piece.text.as_str()).collect();
    assert_eq!(args, ["-y", "7", "s@1", "--x", "-x", "--k=", "--k=/p"]);
}

#[test]
fn a_problem_shows_its_place_and_its_help() {
    let error = read("{\"packages\": [{\"identifier\": \"x\"}]}").unwrap_err();
    let problem: &JsonProblem = &error.problems[0];
    assert_eq!((problem.place.line, problem.place.column), (1, 15));
    assert_eq!(
        problem.to_string(),
        "1:15: packages[0]: a package needs its `registryType` (one of `npm`, `pypi`, `oci`, `nuget`)"
    );
}
