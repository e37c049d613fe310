//! The registry's documented cases and its known dirty data, as tables.

use super::{
    ArgumentKind, Given, InputKind, JsonProblem, Package, Resolved, Source, Trouble, Values,
    package, read, resolve,
};
use indexmap::IndexMap;
use proptest::prelude::*;
use serde_json::{Value, json};

/// A package of a `server.json`, which must be readable.
fn of(value: &Value) -> Package {
    let (package, problems) = package(value, "", Source::ServerJson);
    let errors: Vec<_> = problems
        .iter()
        .filter(|p| p.level == super::Level::Error)
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

#[test]
fn each_registry_is_launched_as_its_documentation_says() {
    for (definition, expected) in [
        (
            json!({"registryType": "npm", "identifier": "@a/b", "version": "1.2.3"}),
            "npx -y @a/b@1.2.3",
        ),
        // The launcher's arguments before the package, and `-y` once.
        (
            json!({"registryType": "npm", "identifier": "b", "version": "1.0.0", "runtimeHint": "npx",
                   "runtimeArguments": [{"type": "positional", "value": "-y"}, {"type": "named", "name": "--loglevel", "value": "silent"}],
                   "packageArguments": [{"type": "positional", "value": "start"}]}),
            "npx -y --loglevel silent b@1.0.0 start",
        ),
        (
            json!({"registryType": "npm", "identifier": "b", "version": "1", "runtimeHint": "bunx"}),
            "bunx b@1",
        ),
        (
            json!({"registryType": "npm", "identifier": "b", "version": "1", "runtimeHint": "npm"}),
            "npm exec --yes -- b@1",
        ),
        (
            json!({"registryType": "npm", "registryBaseUrl": "https://registry.npmjs.org", "identifier": "b", "version": "1"}),
            "npx -y b@1",
        ),
        (
            json!({"registryType": "npm", "registryBaseUrl": "https://npm.example", "identifier": "b", "version": "1"}),
            "npx -y --registry https://npm.example b@1",
        ),
        (
            json!({"registryType": "pypi", "registryBaseUrl": "https://pypi.org", "identifier": "weather", "version": "0.5.0", "runtimeHint": "uvx"}),
            "uvx weather@0.5.0",
        ),
        // A requirement with extras is no name.
        (
            json!({"registryType": "pypi", "identifier": "weather[cli]", "version": "0.5.0"}),
            "uvx --from weather[cli]==0.5.0 weather",
        ),
        // `--from` in the launcher's arguments says what is fetched.
        (
            json!({"registryType": "pypi", "identifier": "kit", "version": "2",
                   "runtimeArguments": [{"type": "named", "name": "--from", "value": "kit[mcp]==2"}],
                   "packageArguments": [{"type": "positional", "value": "kit-mcp"}]}),
            "uvx --from kit[mcp]==2 kit-mcp",
        ),
        // At its end, it wants the package behind it.
        (
            json!({"registryType": "pypi", "identifier": "kit", "version": "2",
                   "runtimeArguments": [{"type": "positional", "value": "--from"}],
                   "packageArguments": [{"type": "positional", "value": "kit-mcp"}]}),
            "uvx --from kit==2 kit-mcp",
        ),
        (
            json!({"registryType": "pypi", "identifier": "kit", "version": "2", "runtimeHint": "uv"}),
            "uv tool run kit@2",
        ),
        (
            json!({"registryType": "pypi", "identifier": "kit", "version": "2", "runtimeHint": "pipx"}),
            "pipx run --spec kit==2 kit",
        ),
        (
            json!({"registryType": "nuget", "identifier": "Acme.Mcp", "version": "0.4.0-beta"}),
            "dnx Acme.Mcp@0.4.0-beta --yes",
        ),
        (
            json!({"registryType": "nuget", "identifier": "Acme.Mcp", "version": "0.4.0-beta",
                   "packageArguments": [{"type": "positional", "value": "mcp"}, {"type": "positional", "value": "start"}]}),
            "dnx Acme.Mcp@0.4.0-beta --yes -- mcp start",
        ),
        (
            json!({"registryType": "nuget", "identifier": "Acme.Mcp", "version": "1", "runtimeHint": "dotnet"}),
            "dotnet tool exec Acme.Mcp@1 --yes",
        ),
        (
            json!({"registryType": "oci", "registryBaseUrl": "https://docker.io", "identifier": "mcp/files", "version": "1.0.2"}),
            "docker run -i --rm mcp/files:1.0.2",
        ),
        (
            json!({"registryType": "oci", "registryBaseUrl": "https://ghcr.io", "identifier": "mcp/files", "version": "1.0.2"}),
            "docker run -i --rm ghcr.io/mcp/files:1.0.2",
        ),
        // Since 2025-10-11 the identifier is the whole reference.
        (
            json!({"registryType": "oci", "identifier": "localhost:5000/mcp/files:1.0.2"}),
            "docker run -i --rm localhost:5000/mcp/files:1.0.2",
        ),
        (
            json!({"registryType": "oci", "identifier": "mcp/files@sha256:abc", "version": "1.0.2"}),
            "docker run -i --rm mcp/files@sha256:abc",
        ),
        (
            json!({"registryType": "oci", "identifier": "mcp/files", "version": "sha256:abc", "runtimeHint": "podman"}),
            "podman run -i --rm mcp/files@sha256:abc",
        ),
        // The names of May 2025.
        (
            json!({"registry_name": "docker", "name": "mcp/files", "version": "1"}),
            "docker run -i --rm mcp/files:1",
        ),
        // Some write the whole command into the launcher's arguments.
        (
            json!({"registryType": "oci", "identifier": "mcp/files", "version": "1",
                   "runtimeArguments": [
                       {"type": "positional", "value": "run"}, {"type": "positional", "value": "--rm"},
                       {"type": "named", "name": "-i"}, {"type": "named", "name": "--network", "value": "host"}]}),
            "docker run -i --rm --network host mcp/files:1",
        ),
        (
            json!({"registryType": "npm", "identifier": "@a/b", "version": "1",
                   "runtimeArguments": [{"type": "positional", "value": "-y"}, {"type": "positional", "value": "@a/b@1"}],
                   "packageArguments": [{"type": "positional", "value": "server"}]}),
            "npx -y @a/b@1 server",
        ),
        // The version stands in the identifier already.
        (
            json!({"registryType": "npm", "identifier": "@a/b@1.2.3", "version": "1.2.3"}),
            "npx -y @a/b@1.2.3",
        ),
    ] {
        let resolved = resolve(&of(&definition), &Values::default()).unwrap();
        assert_eq!(argv(&resolved).join(" "), expected);
    }
}

#[test]
fn a_hint_never_chooses_a_command_that_is_no_launcher() {
    for hint in ["rm", "/tmp/evil", "node", "sh -c", "docker"] {
        let definition =
            json!({"registryType": "npm", "identifier": "b", "version": "1", "runtimeHint": hint});
        let resolved = resolve(&of(&definition), &Values::default()).unwrap();
        assert_eq!(argv(&resolved), ["npx", "-y", "b@1"]);
        assert!(resolved.warnings[0].0.contains(hint), "{hint}");
    }
}

#[test]
fn arguments_come_to_words_as_the_registry_says() {
    let named = |extra: Value| {
        let mut argument = json!({"type": "named", "name": "--x", "description": "d"});
        let fields = argument.as_object_mut().unwrap();
        fields.extend(extra.as_object().unwrap().clone());
        json!([argument])
    };
    for (arguments, values, expected) in [
        // Fixed, with a default, given, left out.
        (named(json!({"value": "v"})), json!({}), &["--x", "v"][..]),
        (named(json!({"default": "d"})), json!({}), &["--x", "d"]),
        (
            named(json!({"default": "d"})),
            json!({"--x": "g"}),
            &["--x", "g"],
        ),
        (
            named(json!({"default": "d"})),
            json!({"x": "g"}),
            &["--x", "g"],
        ),
        (named(json!({"default": "d"})), json!({"--x": []}), &[]),
        (named(json!({})), json!({}), &[]),
        (named(json!({})), json!({"--x": null}), &["--x"]),
        // A required one with a default is not missing.
        (
            named(json!({"isRequired": true, "default": "d"})),
            json!({}),
            &["--x", "d"],
        ),
        // Booleans and numbers become text.
        (
            named(json!({"format": "boolean"})),
            json!({"--x": true}),
            &["--x", "true"],
        ),
        (
            named(json!({"format": "boolean"})),
            json!({"--x": "false"}),
            &["--x", "false"],
        ),
        (
            named(json!({"format": "number"})),
            json!({"--x": 8080}),
            &["--x", "8080"],
        ),
        (
            named(json!({"format": "number"})),
            json!({"--x": "-1.5e3"}),
            &["--x", "-1.5e3"],
        ),
        (
            named(json!({"format": "filepath"})),
            json!({"--x": "/a b/c"}),
            &["--x", "/a b/c"],
        ),
        (
            named(json!({"choices": ["a", "b"]})),
            json!({"--x": "b"}),
            &["--x", "b"],
        ),
        // Arrays repeat the flag; commas are a part of the value.
        (
            named(json!({"isRepeated": true})),
            json!({"--x": ["a", "b,c"]}),
            &["--x", "a", "--x", "b,c"],
        ),
        (
            named(json!({"isRepeated": true})),
            json!({"--x": "a,b"}),
            &["--x", "a,b"],
        ),
        (named(json!({})), json!({"--x": "a, b"}), &["--x", "a, b"]),
        // But where splitting is asked for; what is empty is nothing.
        (
            named(json!({"isRepeated": true})),
            json!({"--x": {"value": "a,, b ,", "split": ","}}),
            &["--x", "a", "--x", "b"],
        ),
        (
            named(json!({"isRepeated": true})),
            json!({"--x": ["a", "", " ", "b"]}),
            &["--x", "a", "--x", "b"],
        ),
        (
            named(json!({"default": "d"})),
            json!({"--x": ""}),
            &["--x", "d"],
        ),
        (named(json!({})), json!({"--x": " "}), &[]),
        // No shell: nothing is split, quoted or expanded.
        (
            named(json!({})),
            json!({"--x": "a b; rm -rf $HOME `x`"}),
            &["--x", "a b; rm -rf $HOME `x`"],
        ),
        // Positional ones.
        (
            json!([{"type": "positional", "value": "mcp"}, {"type": "positional", "value": "start"}]),
            json!({}),
            &["mcp", "start"],
        ),
        (
            json!([{"type": "positional", "valueHint": "dir", "isRequired": true, "isRepeated": true, "default": "/d"}]),
            json!({"dir": ["/a", "/b c"]}),
            &["/a", "/b c"],
        ),
        (
            json!([{"type": "positional", "valueHint": "dir", "isRequired": true, "default": "/d"}]),
            json!({}),
            &["/d"],
        ),
        // Variables: those that are none stay as they are, and what a value
        // brings is text.
        (
            json!([{"type": "named", "name": "-e", "value": "T={t}&{u}&{t}", "variables": {"t": {"default": "{t}"}}}]),
            json!({}),
            &["-e", "T={t}&{u}&{t}"],
        ),
        (
            json!([{"type": "named", "name": "-e", "value": "T={t}", "variables": {"t": {"isRequired": true, "choices": ["pg", "my"]}}}]),
            json!({"t": "pg"}),
            &["-e", "T=pg"],
        ),
        (
            json!([{"type": "named", "name": "-e", "value": "{a}:{b}", "isRepeated": true, "variables": {"a": {"isRequired": true}, "b": {"default": "/p"}}}]),
            json!({"-e": [{"a": "1"}, {"a": "2", "b": "/q"}]}),
            &["-e", "1:/p", "-e", "2:/q"],
        ),
        // Nothing is given for what needs nothing.
        (
            json!([{"type": "named", "name": "-e", "value": "T={t}", "variables": {"t": {}}}]),
            json!({}),
            &[],
        ),
    ] {
        let words = words(arguments.clone(), values.clone()).unwrap();
        assert_eq!(words, expected, "{arguments} with {values}");
    }
}

#[test]
fn dirty_definitions_come_to_what_they_mean_and_it_is_said() {
    for (argument, values, expected, warning) in [
        // Missing dashes.
        (
            json!({"type": "named", "name": "port", "default": "80"}),
            json!({}),
            &["--port", "80"][..],
            "`--port` is passed",
        ),
        (
            json!({"type": "named", "name": "port", "description": "p"}),
            json!({"port": "1"}),
            &["--port", "1"],
            "has no dashes",
        ),
        (
            json!({"type": "named", "name": "port", "description": "p"}),
            json!({"--port": "1"}),
            &["--port", "1"],
            "has no dashes",
        ),
        // With a dash it is taken as it is, however odd.
        (
            json!({"type": "named", "name": "-Dx.y", "value": "1"}),
            json!({}),
            &["-Dx.y", "1"],
            "",
        ),
        // Positional without a name.
        (
            json!({"type": "positional"}),
            json!({}),
            &[],
            "known by its position only",
        ),
        (
            json!({"type": "positional", "isRequired": true}),
            json!({"argument_1": "v"}),
            &["v"],
            "known by its position only",
        ),
        (
            json!({"type": "positional", "name": "dir"}),
            json!({"dir": "v"}),
            &["v"],
            "taken for its `valueHint`",
        ),
        // The hint is no part of the command line.
        (
            json!({"type": "positional", "valueHint": "--stdio"}),
            json!({}),
            &[],
            "",
        ),
        // Values in names.
        (
            json!({"type": "named", "name": "--directory <path>", "value": "--directory <path>", "default": "--directory <path>"}),
            json!({"--directory": "/d"}),
            &["--directory", "/d"],
            "only stands for a value",
        ),
        (
            json!({"type": "named", "name": "--port 8080"}),
            json!({}),
            &["--port", "8080"],
            "more than the name of a flag",
        ),
        (
            json!({"type": "named", "name": "--port 8080"}),
            json!({"--port": "1"}),
            &["--port", "1"],
            "more than the name of a flag",
        ),
        (
            json!({"type": "named", "name": "--port", "value": "--port 8080"}),
            json!({}),
            &["--port", "8080"],
            "in its own value",
        ),
        (
            json!({"type": "named", "name": "--port", "default": "--port=8080"}),
            json!({}),
            &["--port", "8080"],
            "in its own value",
        ),
        // One word stays one word, commas and blanks in it.
        (
            json!({"type": "named", "name": "--tools=a,b c", "value": "--tools=a,b c"}),
            json!({}),
            &["--tools=a,b c"],
            "",
        ),
        (
            json!({"type": "named", "name": "--mode=fast"}),
            json!({"--mode": "slow"}),
            &["--mode=slow"],
            "more than the name",
        ),
        // Flags alone.
        (
            json!({"type": "named", "name": "-i", "value": "-i", "isRequired": true}),
            json!({}),
            &["-i"],
            "",
        ),
        (
            json!({"type": "named", "name": "--stdio"}),
            json!({}),
            &["--stdio"],
            "",
        ),
        (
            json!({"type": "named", "name": "--stdio"}),
            json!({"stdio": false}),
            &[],
            "",
        ),
        // A value where a flag's name belongs.
        (
            json!({"type": "named", "name": "1440", "value": "1440"}),
            json!({}),
            &["1440"],
            "taken for a positional",
        ),
        (
            json!({"type": "named", "value": "serve"}),
            json!({}),
            &["serve"],
            "taken for a positional",
        ),
        // No type.
        (
            json!({"value": "-y"}),
            json!({}),
            &["-y"],
            "needs its `type`",
        ),
        (
            json!({"name": "--root", "value": "/"}),
            json!({}),
            &["--root", "/"],
            "needs its `type`",
        ),
        // Empty texts are what a registry writes for nothing at all.
        (
            json!({"type": "named", "name": "--x", "description": "d", "value": "", "default": "", "valueHint": ""}),
            json!({}),
            &[],
            "",
        ),
        (
            json!({"type": "named", "name": "--x", "value": "", "choices": null, "variables": null, "description": "d"}),
            json!({}),
            &[],
            "",
        ),
        // Words that somebody was to replace; no shell expands the last.
        (
            json!({"type": "positional", "valueHint": "dir", "value": "<dir>"}),
            json!({"dir": "/d"}),
            &["/d"],
            "only stands for a value",
        ),
        (
            json!({"type": "positional", "valueHint": "dir", "value": "$DIR"}),
            json!({"dir": "/d"}),
            &["/d"],
            "only stands for a value",
        ),
        // Values of other types.
        (
            json!({"type": "named", "name": "--port", "default": 8080, "isRequired": "true"}),
            json!({}),
            &["--port", "8080"],
            "should be",
        ),
        (
            json!({"type": "named", "name": "--f", "format": "path", "default": "x"}),
            json!({}),
            &["--f", "x"],
            "is no format",
        ),
    ] {
        let words = words(json!([argument]), values.clone()).unwrap();
        assert_eq!(words, expected, "{argument} with {values}");
        let said = said(&argument);
        if warning.is_empty() {
            assert!(said.is_empty(), "{argument}: {said:?}");
        } else {
            let found = said.iter().any(|text| text.contains(warning));
            assert!(found, "{argument}: {said:?}");
        }
    }
}

#[test]
fn everything_that_is_in_the_way_is_said_at_once() {
    let arguments = json!([
        {"type": "named", "name": "--a", "isRequired": true, "description": "the A"},
        {"type": "named", "name": "--b", "isRequired": true, "default": "b"},
        {"type": "named", "name": "--n", "format": "number"},
        {"type": "named", "name": "--f", "format": "boolean"},
        {"type": "named", "name": "--c", "choices": ["x", "y"]},
        {"type": "named", "name": "--s", "isSecret": true, "choices": ["x"]},
        {"type": "named", "name": "--one", "description": "d"},
        {"type": "named", "name": "--fixed", "value": "v"},
        {"type": "named", "name": "--bare"},
        {"type": "named", "name": "-v", "value": "{src}:{dst}", "variables": {"src": {"isRequired": true}, "dst": {}}},
        {"type": "positional", "valueHint": "dir", "isRequired": true},
    ]);
    let values = json!({
        "--n": "0x1f", "--f": "yes", "--c": "z", "--s": "hunter2", "--one": ["1", "2"],
        "--fixed": "w", "--bare": "x", "--nmu": 1, "dir": " ",
    });
    assert_eq!(
        troubles(arguments, values),
        [
            "the package's argument `--a` is required and has no value (the A)",
            "`--n`: `0x1f` is no number",
            "`--f`: `yes` is no boolean",
            "`--c`: `z` is none of its choices",
            "`--s`: its value (secret) is none of its choices",
            "`--one` can stand there once, and has 2 values",
            "`--fixed` is fixed by the package, to `v`",
            "`--bare` is a flag that takes no value",
            "the variable `src` of `-v` is required and has no value",
            "the package's argument `dir` is required and its value is empty",
            "the package has no argument `--nmu`",
        ]
    );
}

#[test]
fn an_unknown_name_is_answered_by_a_close_one() {
    let arguments = json!([{"type": "named", "name": "--timeout", "description": "d"}]);
    let troubles = words(arguments.clone(), json!({"--timeuot": "1"})).unwrap_err();
    assert_eq!(troubles[0].hint().unwrap(), "did you mean `--timeout`?");
    let troubles = words(arguments, json!({"--other": "1"})).unwrap_err();
    assert!(
        troubles[0]
            .hint()
            .unwrap()
            .starts_with("it takes `--timeout`")
    );
}

#[test]
fn of_a_package_that_declares_nothing_flags_go_as_they_are() {
    let values = json!({"--root": "/a b", "-v": null, "verbose": true, "--no": false, "--t": ["1", "2"], "--k=": "v"});
    let package = of(&server(json!([])));
    let resolved = resolve(&package, &given(&values)).unwrap();
    assert_eq!(
        argv(&resolved)[3..],
        [
            "--root",
            "/a b",
            "-v",
            "--verbose",
            "--t",
            "1",
            "--t",
            "2",
            "--k=v"
        ]
    );
    assert_eq!(
        resolved.warnings[0].0,
        "the flag `verbose` has no dashes; `--verbose` is passed"
    );
}

#[test]
fn a_container_is_handed_variables_by_name_alone() {
    let definition = json!({
        "registryType": "oci", "identifier": "acme/db:3", "version": "3",
        "runtimeArguments": [
            {"type": "named", "name": "--mount", "value": "type=bind,src={src},dst={dst}", "isRequired": true, "isRepeated": true,
             "variables": {"src": {"format": "filepath", "isRequired": true}, "dst": {"isRequired": true, "default": "/project"}}},
            {"type": "named", "name": "-e", "value": "MODE={mode}", "variables": {"mode": {"isRequired": true}}},
        ],
        "packageArguments": [{"type": "positional", "valueHint": "dir", "value": "/project"}],
        "environmentVariables": [
            {"name": "DB_PASSWORD", "isRequired": true, "isSecret": true},
            {"name": "DB_USER", "isRequired": true},
            {"name": "LOG_LEVEL", "default": "info"},
            {"name": "MODE"},
            {"name": "UNUSED"},
        ],
    });
    let values = Values {
        arguments: IndexMap::from([
            ("src".to_owned(), Given::Text("/home/me/my data".to_owned())),
            ("mode".to_owned(), Given::Text("ro".to_owned())),
        ]),
        environment: env(&[("DB_PASSWORD", "hunter2"), ("EXTRA", "1"), ("MODE", "x")]),
        inherited: [("DB_USER".to_owned(), "me".to_owned())].into(),
        ..Values::default()
    };
    let resolved = resolve(&of(&definition), &values).unwrap();
    assert_eq!(
        argv(&resolved),
        [
            "docker",
            "run",
            "-i",
            "--rm",
            "-e",
            "DB_PASSWORD",
            "-e",
            "DB_USER",
            "-e",
            "LOG_LEVEL",
            "-e",
            "EXTRA",
            "--mount",
            "type=bind,src=/home/me/my data,dst=/project",
            "-e",
            "MODE=ro",
            "acme/db:3",
            "/project",
        ]
    );
    let set: Vec<(&str, &str)> = resolved
        .launch
        .env
        .iter()
        .map(|(name, piece)| (name.as_str(), piece.text.as_str()))
        .collect();
    let expected = [
        ("DB_PASSWORD", "hunter2"),
        ("LOG_LEVEL", "info"),
        ("MODE", "x"),
        ("EXTRA", "1"),
    ];
    assert_eq!(set, expected);
    assert_eq!(
        resolved.launch.secrets,
        [("DB_PASSWORD".to_owned(), "hunter2".to_owned())]
    );
}

#[test]
fn secrets_are_known_wherever_they_stand() {
    let arguments = json!([
        {"type": "named", "name": "--api-key", "isRequired": true, "isSecret": true},
        {"type": "named", "name": "--auth", "value": "Bearer {token}", "variables": {"token": {"isRequired": true, "isSecret": true}}},
        {"type": "positional", "valueHint": "pin", "isSecret": true, "default": "0000"},
    ]);
    let values = given(&json!({"--api-key": "k1", "token": "t1"}));
    let resolved = resolve(&of(&server(arguments)), &values).unwrap();
    let secrets: Vec<(&str, &str)> = resolved
        .launch
        .secrets
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .collect();
    assert_eq!(
        secrets,
        [("API_KEY", "k1"), ("TOKEN", "t1"), ("PIN", "0000")]
    );
}

#[test]
fn what_no_launcher_starts_says_what_to_do_instead() {
    for (registry, advice) in [
        ("mcpb", "unzip"),
        ("cargo", "cargo install"),
        ("go", "go install"),
        ("homebrew", "its `command`"),
    ] {
        let definition = json!({"registryType": registry, "identifier": "x"});
        let troubles = resolve(&of(&definition), &Values::default()).unwrap_err();
        assert!(troubles[0].hint().unwrap().contains(advice), "{registry}");
        assert!(troubles[0].to_string().contains(registry));
    }
}

#[test]
fn an_identifier_that_would_be_a_flag_is_refused() {
    for definition in [
        json!({"registryType": "npm", "identifier": "--call=evil"}),
        json!({"registryType": "npm", "identifier": "a b"}),
        json!({"registryType": "npm", "identifier": "a", "version": "-c"}),
    ] {
        let (_, problems) = package(&definition, "", Source::ServerJson);
        assert_eq!(problems.len(), 1, "{definition}");
        // Also when nobody has read it.
        let package = Package {
            identifier: "--call=evil".into(),
            ..Package::default()
        };
        assert!(resolve(&package, &Values::default()).is_err());
    }
}

#[test]
fn what_may_differ_tomorrow_is_said() {
    for (version, says) in [
        (None, true),
        (Some("latest"), true),
        (Some("^1.2"), true),
        (Some("1.2.3"), false),
    ] {
        let definition = json!({"registryType": "npm", "identifier": "@a/b", "version": version});
        let resolved = resolve(&of(&definition), &Values::default()).unwrap();
        assert_eq!(!resolved.warnings.is_empty(), says, "{version:?}");
    }
}

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
        .map(|asked| (asked.kind.clone(), asked.key.clone(), asked.must_be_given()))
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
            "2:32: packages[0].packageArguments[0].type: `nmaed` is no type of argument (it is `named` or `positional`)",
        ),
        (
            "{\"packages\": [{\"registryType\": \"npm\", \"identifier\": \"x\",\n \"packageArguments\": {}}]}",
            "2:22: packages[0].packageArguments: expected a list, found object",
        ),
        (
            "{\"packages\": [{\"registryType\": \"npm\", \"identifier\": \"x\",\n \"packageArguments\": [{\"type\": \"named\", \"name\": \"a b\"}]}]}",
            "2:23: packages[0].packageArguments[0]: `a b` can't be the name of a flag: it holds a blank",
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
fn two_arguments_with_one_name_have_keys_of_their_own() {
    let package = of(&server(json!([
        {"type": "named", "name": "-e", "description": "one"},
        {"type": "named", "name": "-e", "description": "two"},
    ])));
    let resolved = resolve(&package, &given(&json!({"-e#2": "b", "-e": "a"}))).unwrap();
    assert_eq!(argv(&resolved)[3..], ["-e", "a", "-e", "b"]);
}

#[test]
fn a_word_that_moves_up_is_said() {
    let package = of(&server(json!([
        {"type": "positional", "valueHint": "from"},
        {"type": "positional", "valueHint": "to"},
    ])));
    let resolved = resolve(&package, &given(&json!({"to": "x"}))).unwrap();
    assert_eq!(
        resolved.warnings[0].0,
        "`from` is left out, so `to` stands in its place"
    );
}

#[test]
fn what_is_not_known_yet_is_no_trouble() {
    let arguments = json!([
        {"type": "named", "name": "--n", "format": "number", "isRequired": true},
        {"type": "named", "name": "--m", "isRequired": true, "isRepeated": true},
    ]);
    let values = Values {
        arguments: IndexMap::from([
            ("--n".to_owned(), Given::Open),
            ("--m".to_owned(), Given::List(vec![Given::Open])),
        ]),
        ..Values::default()
    };
    assert!(resolve(&of(&server(arguments)), &values).is_ok());
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
                argument.input = super::Input::default();
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

proptest! {
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
fn a_problem_shows_its_place_and_its_help() {
    let error = read("{\"packages\": [{\"identifier\": \"x\"}]}").unwrap_err();
    let problem: &JsonProblem = &error.problems[0];
    assert_eq!((problem.place.line, problem.place.column), (1, 15));
    assert_eq!(
        problem.to_string(),
        "1:15: packages[0]: a package needs its `registryType` (one of `npm`, `pypi`, `oci`, `nuget`)"
    );
}
