//! Definitions as they are in the wild.

use super::{argv, env, given, of, said, words};
use crate::{Level, Source, Values, package, resolve};
use serde_json::json;

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
        // Nothing is left of a flag that is its own value, or its default.
        (
            json!({"type": "named", "name": "--x y", "value": "--x"}),
            json!({}),
            &["--x", "y"],
            "in its own value",
        ),
        (
            json!({"type": "named", "name": "--x", "default": "--x=", "description": "d"}),
            json!({}),
            &[],
            "in its own value",
        ),
        (
            json!({"type": "named", "name": "port", "default": "--port 80"}),
            json!({}),
            &["--port", "80"],
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
fn words_and_maps_where_lists_of_objects_belong_are_read() {
    let (package, problems) = package(
        &json!({
            "registryType": "npm", "identifier": "s", "version": "1",
            "runtimeArguments": ["--loglevel", "silent"],
            "packageArguments": ["serve", "--preset", "a b,c", "", "<dir>"],
            "environmentVariables": {
                "KEY": {"description": "d", "secret": true, "required": "true"},
                "MODE": "fast", "DEBUG": {"default": "false"}, "OTHER": null,
            },
        }),
        "",
        Source::ServerJson,
    );
    let errors = problems.iter().filter(|p| p.level == Level::Error);
    assert_eq!(errors.count(), 0, "{problems:?}");
    let said = |text: &str| problems.iter().any(|p| p.message.contains(text));
    assert!(said("should be a list") && said("`secret` should be `isSecret`"));
    let package = package.unwrap();
    let key = &package.environment_variables[0];
    assert!(key.input.is_secret && key.input.is_required);
    let troubles: Vec<String> = resolve(&package, &Values::default())
        .unwrap_err()
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(troubles.len(), 1, "{troubles:?}");
    assert!(troubles[0].contains("KEY is required"), "{troubles:?}");
    let values = Values {
        environment: env(&[("KEY", "k")]),
        ..given(&json!({"argument_5": "/d"}))
    };
    let resolved = resolve(&package, &values).unwrap();
    let expected = [
        "npx",
        "-y",
        "--loglevel",
        "silent",
        "s@1",
        "serve",
        "--preset",
        "a b,c",
        "/d",
    ];
    assert_eq!(argv(&resolved), expected);
    let env: Vec<(&str, &str)> = resolved
        .launch
        .env
        .iter()
        .map(|(name, piece)| (name.as_str(), piece.text.as_str()))
        .collect();
    assert_eq!(env, [("KEY", "k"), ("MODE", "fast"), ("DEBUG", "false")]);
}

#[test]
fn words_that_somebody_was_to_replace_are_no_values_of_variables_either() {
    let definition = json!({
        "registryType": "npm", "identifier": "s", "version": "1",
        "environmentVariables": [
            "PLAIN",
            {"name": "TOKEN", "value": "<your token>", "isRequired": true},
            {"name": "KEY", "default": "your-api-key"},
            {"name": "HOME_OF_IT", "default": "${workspaceFolder}/x"},
        ],
    });
    let troubles = resolve(&of(&definition), &Values::default()).unwrap_err();
    assert_eq!(troubles.len(), 1, "{troubles:?}");
    assert!(troubles[0].to_string().contains("TOKEN"), "{troubles:?}");
    let values = Values {
        environment: env(&[("TOKEN", "t")]),
        ..Values::default()
    };
    let env = resolve(&of(&definition), &values).unwrap().launch.env;
    assert_eq!(env.len(), 1, "{env:?}");
}

#[test]
fn an_identifier_that_nobody_filled_in_is_refused() {
    let definition = json!({"registryType": "npm", "identifier": "s", "version": "${VERSION}"});
    let (_, problems) = package(&definition, "", Source::ServerJson);
    assert!(
        problems[0].message.contains("nobody filled in"),
        "{problems:?}"
    );
}
