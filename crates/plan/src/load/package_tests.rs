//! `package` and `package_args`: what is wrong with them has its line.

use crate::{Plan, PlanError, PlanSource, check, load};

fn source(text: &str) -> PlanSource {
    PlanSource {
        path: "plan.yaml".into(),
        text: text.into(),
        variant: None,
    }
}

fn with(server: &str) -> String {
    format!("version: 1\nservers:\n  s:\n{server}\nsteps: [{{ list: tools }}]\n")
}

fn titles(result: Result<Plan, PlanError>) -> Vec<String> {
    let problems = result.map_or_else(|error| error.problems().to_vec(), |_| Vec::new());
    problems
        .iter()
        .map(|p| format!("{}:{} {}", p.location.line, p.location.column, p.title()))
        .collect()
}

#[test]
fn a_package_is_read_with_its_values() {
    let text = with(
        r#"    package: { registry: npm, identifier: s, version: 1.10, packageArguments: [{ type: named, name: --port, format: number }] }
    package_args: { port: "${env:PORT}" }
    args: [more]"#,
    );
    let plan = check(source(&text)).unwrap();
    let command = plan.servers["s"].command().unwrap();
    let used = command.launched().unwrap();
    // Not 1.1.
    assert_eq!(used.package.version.as_deref(), Some("1.10"));
    assert_eq!(plan.env_names(), ["PORT"]);
    assert_eq!(command.args.len(), 1);
}

#[test]
fn a_variable_that_is_declared_secret_is_one_of_the_plan() {
    let text = with(
        "    package: { registry: oci, identifier: a/b, version: \"1\", environment_variables: [{ name: PIN, is_secret: true }, { name: X }] }",
    );
    assert_eq!(load(source(&text)).unwrap().secret_names(), ["PIN"]);
}

#[test]
fn what_is_wrong_with_a_definition_is_said_by_every_reader() {
    for (server, expected) in [
        (
            "    package: npm",
            "4:14 servers.s.package: expected a map (a package's fields), found a string",
        ),
        (
            "    package: { registry: npm }",
            "4:14 servers.s.package: a package needs its `identifier`",
        ),
        (
            "    package: { registry: npn, identifier: x }",
            "4:26 servers.s.package.registry: jelly can't start packages of the registry `npn`",
        ),
        (
            "    package: { registry: mcpb, identifier: x }",
            "4:26 servers.s.package.registry: jelly can't start packages of the registry `mcpb`",
        ),
        (
            "    package: { registry: npm, identifer: x }",
            "4:31 servers.s.package: unknown key `identifer`",
        ),
        (
            "    package: { registry: npm, identifier: --x }",
            "4:43 servers.s.package.identifier: `--x` begins with a dash, so its launcher would take it for a flag",
        ),
        (
            "    package: { registry: npm, identifier: \"${x}\" }",
            "4:43 servers.s.package.identifier: a definition holds no variables of the plan",
        ),
        (
            "    package:\n      registry: npm\n      identifier: x\n      package_arguments:\n        - { type: named, name: a b }",
            "8:11 servers.s.package.package_arguments[0]: `a b` can't be the name of a flag: it contains a space",
        ),
        (
            "    command: x\n    package_args: {}",
            "5:5 servers.s: `package_args` are of a server with a `package`",
        ),
        (
            "    url: http://h\n    package_args: {}",
            "5:5 servers.s: a server without a `command` has no `package_args`",
        ),
        (
            "    command: x\n    package: { registry: npm, identifier: x }\n    package_args: { a: b }",
            "6:5 servers.s.package_args: a server with a `command` has its arguments in `args`",
        ),
        (
            "    package: { registry: npm, identifier: x }\n    package_args: { a: \"${nope}\" }",
            "5:25 servers.s.package_args.a: nothing is called `nope`",
        ),
        (
            "    args: []",
            "3:3 servers.s: a server needs a `command`, a `package` or a `url`",
        ),
    ] {
        let all = titles(load(source(&with(server))));
        assert!(all.contains(&expected.to_owned()), "{server}: {all:#?}");
    }
}

#[test]
fn a_check_says_what_no_run_could_start() {
    let server = r#"    package:
      registry: npm
      identifier: x
      version: "1"
      package_arguments:
        - { type: named, name: --port, format: number, is_required: true }
        - { type: named, name: --mode, choices: [a, b] }
        - { type: named, name: --pin, is_secret: true, format: number }
        - { type: named, name: --dir, is_repeated: true, choices: [x] }
        - { type: named, name: --later, is_required: true, format: number }
      environment_variables: [{ name: KEY, is_required: true }, { name: LOG, choices: [on] }]
    package_args:
      --mode: c
      --pin: hunter2
      --dir: [x, y]
      --prot: 1
      --later: "${env:LATER}"
    env: { LOG: "up" }"#;
    // A run goes on with the other servers.
    assert!(load(source(&with(server))).is_ok());
    let error = check(source(&with(server))).unwrap_err();
    assert_eq!(
        titles(Err(error.clone())),
        [
            "4:5 servers.s: the package's argument `--port` is required and has no value",
            "16:15 servers.s: `--mode`: `c` is not one of its choices",
            "17:14 servers.s: `--pin`: its value (secret) is no number",
            "18:18 servers.s: `--dir` (value 2): `y` is not one of its choices",
            "19:7 servers.s: the package has no argument `--prot`",
            "21:17 servers.s: `LOG`: `up` is not one of its choices",
        ]
    );
    let shown = error.render(false);
    assert!(!shown.contains("hunter2"), "{shown}");
    assert!(shown.contains("did you mean `--port`?"), "{shown}");
    assert!(
        shown.contains(r#"write `package_args: { "--port": "…" }`"#),
        "{shown}"
    );
}
