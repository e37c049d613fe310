//! The command line of each registry.

use super::{argv, env, of};
use crate::{Given, Package, Source, Values, package, resolve};
use indexmap::IndexMap;
use serde_json::json;

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

#[test]
fn only_a_word_of_its_own_names_the_package_or_repeats_the_launcher() {
    let named = |name: &str, value: &str| json!({"type": "named", "name": name, "value": value});
    for (registry, identifier, runtime, expected) in [
        (
            "oci",
            "redis",
            json!([
                named("--name", "redis"),
                named("-v", "redis:/data"),
                named("--entrypoint", "run")
            ]),
            "docker run -i --rm --name redis -v redis:/data --entrypoint run redis:1",
        ),
        (
            "oci",
            "redis",
            json!([{"type": "positional", "value": "-v"}, {"type": "positional", "value": "redis:/data"}]),
            "docker run -i --rm -v redis:/data redis:1",
        ),
        (
            "oci",
            "@acme/redis",
            json!([]),
            "docker run -i --rm @acme/redis:1",
        ),
        (
            "pypi",
            "kit",
            json!([named("--with", "kit")]),
            "uvx --with kit kit@1",
        ),
        (
            "npm",
            "kit",
            json!([named("--package", "kit@1")]),
            "npx -y --package kit@1",
        ),
        (
            "npm",
            "kit",
            json!(["--package=kit@1"]),
            "npx -y --package=kit@1",
        ),
    ] {
        let definition = json!({
            "registryType": registry, "identifier": identifier, "version": "1",
            "runtimeArguments": runtime,
        });
        let resolved = resolve(&of(&definition), &Values::default()).unwrap();
        assert_eq!(argv(&resolved).join(" "), expected);
    }
}
