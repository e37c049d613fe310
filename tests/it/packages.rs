//! Servers that are packages: what is started, what is said before, and what
//! is mended.

use crate::support::{Call, Ended, Project, Run, fixtures, real};
use std::fs;
use std::path::Path;

const JELLY: &str = env!("CARGO_BIN_EXE_jelly");

/// A launcher that notes its words and its `KEY`, and is the mock.
fn launcher(project: &Project, name: &str, before: &str) {
    let log = project.at(&format!("{name}.argv"));
    project.script(
        &format!("bin/{name}"),
        &format!(
            "#!/bin/sh\nprintf '%s\\n' \"$@\" > '{log}'\nprintf 'KEY=%s\\n' \"$KEY\" >> '{log}'\n{before}\nexec '{JELLY}' mock\n"
        ),
    );
}

fn with_launchers(project: &Project, args: &[&str]) -> Call {
    let path = std::env::var("PATH").unwrap();
    let path = format!("{}:{path}", project.at("bin"));
    project.call(args).env("PATH", path)
}

fn run(project: &Project, args: &[&str]) -> Run {
    Run::of(project, with_launchers(project, args).output())
}

/// What the launcher was given, a word each.
fn argv(project: &Project, name: &str) -> Vec<String> {
    let noted = project.read(&format!("{name}.argv"));
    noted.lines().map(str::to_owned).collect()
}

/// Whatever jelly printed or wrote holds none of these.
#[track_caller]
fn is_nowhere(project: &Project, ended: &Ended, secrets: &[&str]) {
    let mut texts = vec![
        ("stdout".to_owned(), ended.stdout.clone()),
        ("stderr".to_owned(), ended.stderr.clone()),
    ];
    let mut folders = vec![project.path("reports")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_symlink() {
                continue;
            }
            if path.is_dir() {
                folders.push(path);
            } else {
                let text = String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned();
                texts.push((path.display().to_string(), text));
            }
        }
    }
    assert!(texts.len() > 5, "there are reports");
    for (name, text) in texts {
        for secret in secrets {
            assert!(!text.contains(secret), "{secret} stands in {name}");
        }
    }
}

#[test]
fn the_plan_of_a_package_is_green_against_the_real_server() {
    real("npm/node_modules/@modelcontextprotocol/server-filesystem/dist/index.js");
    let project = Project::empty();
    let plan = fixtures().with_file_name("plans").join("package.yaml");
    let ended = project
        .jelly(&["run", &plan.display().to_string()])
        .output();
    let run = Run::of(&project, ended);
    run.ends(0, "passed");
    let last = run.last();
    assert_eq!((last.total("passed"), last.total("total")), (5, 5));
    let checked = project.jelly(&["check", &plan.display().to_string()]);
    assert_eq!(checked.output().code, Some(0));
}

const DATABASE: &str = r#"version: 1
servers:
  db:
    package:
      registry: oci
      identifier: ghcr.io/acme/db-mcp
      version: "3.1.0"
      runtime_arguments:
        - type: named
          name: --mount
          value: "type=bind,src={src},dst={dst}"
          is_repeated: true
          variables: { src: { is_required: true, format: filepath }, dst: { default: /project } }
      package_arguments:
        - { type: named, name: --token, is_required: true, is_secret: true }
        - { type: named, name: tables, is_repeated: true }
        - { type: positional, value_hint: database, is_required: true }
      environment_variables: [{ name: KEY, is_required: true, is_secret: true }, { name: LOG_LEVEL, default: info }]
    package_args:
      --token: literal-secret-1
      tables: { value: "${env:TABLES}", split: "," }
      database: "my db; rm -rf $HOME"
      --mount: [{ src: "${workspace}/a b" }, { src: /c, dst: /d }]
    env: { EXTRA: e }
steps: [{ id: t, list: tools }, { id: leak, tool: echo, args: { message: literal-secret-1 }, expect: { text: { equals: other } } }]
"#;

#[test]
fn a_container_gets_its_words_and_secrets_are_nowhere() {
    let project = Project::with(DATABASE);
    launcher(&project, "docker", "echo my key is $KEY >&2");
    let ended = with_launchers(&project, &["--no-confirm"])
        .env("TABLES", "users, ,orders items,")
        .env("KEY", "inherited-secret-2")
        .output();
    let mount = format!("type=bind,src={}/a b,dst=/project", project.dir().display());
    assert_eq!(
        argv(&project, "docker"),
        [
            "run",
            "-i",
            "--rm",
            "-e",
            "KEY",
            "-e",
            "LOG_LEVEL",
            "-e",
            "EXTRA",
            "--mount",
            &mount,
            "--mount",
            "type=bind,src=/c,dst=/d",
            "ghcr.io/acme/db-mcp:3.1.0",
            "--token",
            "literal-secret-1",
            "--tables",
            "users",
            "--tables",
            "orders items",
            "my db; rm -rf $HOME",
            "KEY=inherited-secret-2",
        ]
    );
    is_nowhere(
        &project,
        &ended,
        &["literal-secret-1", "inherited-secret-2"],
    );
    let run = Run::of(&project, ended);
    let last = run.last();
    assert_eq!(last.state("t"), "passed");
    // What is mended or left out is said.
    let notes = last.server("db")["notes"].to_string();
    let left_out = "2 empty values of `--tables` left out";
    assert!(notes.contains(left_out), "{notes}");
}

#[test]
fn each_launcher_gets_the_words_of_its_registry() {
    for (registry, identifier, launcher_name, words) in [
        (
            "npm",
            "@acme/mcp",
            "npx",
            &["-y", "@acme/mcp@1.2.3", "--port", "8080", "more"][..],
        ),
        (
            "pypi",
            "acme-mcp",
            "uvx",
            &["acme-mcp@1.2.3", "--port", "8080", "more"],
        ),
        (
            "nuget",
            "Acme.Mcp",
            "dnx",
            &["Acme.Mcp@1.2.3", "--yes", "--", "--port", "8080", "more"],
        ),
    ] {
        let project = Project::with(&format!(
            "version: 1
servers:
  s:
    package: {{ registry: {registry}, identifier: \"{identifier}\", version: 1.2.3 }}
    package_args: {{ --port: 8080 }}
    args: [more]
steps: [{{ id: t, list: tools }}]
"
        ));
        launcher(&project, launcher_name, "");
        run(&project, &[]).ends(0, "passed");
        let noted = argv(&project, launcher_name);
        assert_eq!(noted[..noted.len() - 1], *words, "{registry}");
    }
}

const LACKING: &str = r#"version: 1
servers:
  lacking:
    package:
      registry: npm
      identifier: s
      version: "1"
      package_arguments:
        - { type: named, name: --region, is_required: true, description: where it runs }
        - { type: named, name: --mode, is_required: true, default: fast }
        - { type: named, name: --level, choices: [low, high] }
        - { type: positional, value_hint: dir, is_required: true }
      environment_variables: [{ name: ACME_KEY, is_required: true, is_secret: true }]
    package_args: { --level: "${env:LEVEL}", dir: "${env:NO_SUCH_DIR}" }
  unknown:
    package: { registry: npm, identifier: s, version: "1", package_arguments: [{ type: named, name: --port, description: p }] }
    package_args: { --prot: 1 }
  good: { command: jelly, args: [mock] }
steps:
  - { id: l, server: lacking, list: tools }
  - { id: u, server: unknown, list: tools }
  - { id: g, server: good, tool: echo, args: { message: hi }, expect: { text: { equals: hi } } }
"#;

#[test]
fn all_that_a_server_lacks_is_said_before_anything_starts_and_the_others_go_on() {
    let project = Project::with(LACKING);
    launcher(&project, "npx", "");
    let call = with_launchers(&project, &[]).env("LEVEL", "middling");
    let run = Run::of(&project, call.output());
    run.ends(3, "needs_user_help");
    assert!(!project.exists("npx.argv"), "nothing was spawned");
    let last = run.last();
    assert_eq!(
        (last.state("g"), last.state("l"), last.state("u")),
        ("passed", "blocked", "blocked")
    );
    let said: Vec<(&str, &str)> = last
        .failures()
        .iter()
        .map(|failure| {
            assert_eq!(failure["phase"], "config");
            assert_eq!(failure["diagnosis"]["side"], "test");
            (
                failure["diagnosis"]["root_cause"].as_str().unwrap(),
                failure["message"].as_str().unwrap(),
            )
        })
        .collect();
    for (root_cause, message) in [
        (
            "missing_env_var",
            "the environment variable NO_SUCH_DIR is not set",
        ),
        (
            "missing_argument",
            "the package's argument `--region` is required and has no value (where it runs)",
        ),
        (
            "invalid_argument",
            "`--level`: `middling` is not one of its choices",
        ),
        (
            "missing_env_var",
            "the environment variable ACME_KEY is required and has no value",
        ),
        (
            "invalid_argument",
            "the package has no argument `--prot`; did you mean `--port`?",
        ),
    ] {
        let found = said
            .iter()
            .any(|(cause, text)| *cause == root_cause && text.starts_with(message));
        assert!(found, "{root_cause}: {message} in {said:#?}");
    }
    assert_eq!(said.len(), 5, "{said:#?}");
    let help = run.help();
    assert!(
        help.contains("--region") && help.contains("package_args"),
        "{help}"
    );
}

#[test]
fn a_check_finds_the_same_without_starting_anything() {
    let project = Project::with(LACKING);
    launcher(&project, "npx", "");
    let ended = project.jelly(&["check", "plan.yaml"]).output();
    assert_eq!(ended.code, Some(2));
    for text in [
        "plan.yaml:4:5",
        "`--region` is required",
        "plan.yaml:17:21",
        "did you mean `--port`?",
    ] {
        assert!(ended.stderr.contains(text), "{text} in {}", ended.stderr);
    }
    assert!(!project.exists("npx.argv"));
}

#[test]
fn a_required_argument_comes_from_its_namesake_in_the_environment() {
    let project = Project::with(
        r#"version: 1
servers:
  s:
    package:   # kept
      registry: npm
      identifier: s
      version: "1"
      package_arguments:
        - { type: named, name: --api-key, is_required: true, is_secret: true }
        - { type: named, name: --region, is_required: true }
steps: [{ id: t, list: tools }]
"#,
    );
    launcher(&project, "npx", "");
    let call = |args: &[&str]| {
        with_launchers(&project, args)
            .env("API_KEY", "sekrit-value-3")
            .env("REGION", "eu")
    };
    let ended = call(&["--write-repairs"]).output();
    is_nowhere(&project, &ended, &["sekrit-value-3"]);
    let run = Run::of(&project, ended);
    run.ends(0, "passed_after_repair");
    assert_eq!(run.iterations().len(), 2);
    let noted = argv(&project, "npx");
    assert_eq!(
        noted[..6],
        ["-y", "s@1", "--api-key", "sekrit-value-3", "--region", "eu"]
    );
    let plan = project.read("plan.yaml");
    assert!(
        plan.contains(
            r#"package_args: { "--api-key": "${secret:API_KEY}", "--region": "${env:REGION}" }"#
        ),
        "{plan}"
    );
    assert!(plan.contains("# kept"));
    // Once and for all.
    let run = Run::of(&project, call(&[]).output());
    run.ends(0, "passed");
}

#[test]
fn a_command_beside_its_package_gets_the_default_that_it_lacks() {
    let project = Project::with(
        r#"version: 1
servers:
  s:
    command: npx
    args: [-y, "s@1"]
    package: { registry: npm, identifier: s, version: "1", package_arguments: [{ type: named, name: --mode, is_required: true, default: fast }] }
steps:
  - { id: t, list: tools }
  - { id: e, tool: fail, args: { message: no }, expect: { is_error: true } }
"#,
    );
    launcher(
        &project,
        "npx",
        "case \"$*\" in *--mode*) ;; *) echo 's: error: the following arguments are required: --mode' >&2; exit 2;; esac",
    );
    let run = run(&project, &[]);
    run.ends(0, "passed_after_repair");
    let repair = &run.iteration(1)["action"]["repairs"][0];
    assert_eq!(repair["id"], "required_argument");
    let diff = repair["diff"].as_str().unwrap();
    assert!(
        diff.contains(r#"+    args: [-y, "s@1", "--mode", fast]"#),
        "{diff}"
    );
    assert_eq!(argv(&project, "npx")[..4], ["-y", "s@1", "--mode", "fast"]);
}

#[test]
fn a_launcher_that_is_not_there_is_named() {
    let project = Project::with(
        "version: 1
servers: { s: { package: { registry: nuget, identifier: X, version: \"1\" } } }
steps: [{ id: t, list: tools }]
",
    );
    let empty = project.path("empty");
    fs::create_dir_all(&empty).unwrap();
    let ended = project.call(&[]).env("PATH", Path::new(&empty)).output();
    let run = Run::of(&project, ended);
    run.ends(3, "needs_user_help");
    let failure = run.last().failure("s");
    assert_eq!(failure["diagnosis"]["root_cause"], "command_not_found");
    assert_eq!(failure["argv"][0], "dnx");
}

#[test]
fn a_launcher_that_is_not_there_is_said_with_the_arguments_that_are_missing() {
    let project = Project::with(
        r#"version: 1
servers:
  s: { package: { registry: nuget, identifier: X, version: "1", package_arguments: [{ type: named, name: --dir, is_required: true }] } }
  t: { command: no-such-command, args: ["${env:NO_SUCH_VARIABLE}"] }
steps: [{ id: s, server: s, list: tools }, { id: t, server: t, list: tools }]
"#,
    );
    let empty = project.path("empty");
    fs::create_dir_all(&empty).unwrap();
    let ended = project.call(&[]).env("PATH", Path::new(&empty)).output();
    let run = Run::of(&project, ended);
    run.ends(3, "needs_user_help");
    let causes: Vec<(String, String)> = run
        .last()
        .failures()
        .iter()
        .map(|failure| {
            let server = failure["server"].as_str().unwrap().to_owned();
            let cause = failure["diagnosis"]["root_cause"].as_str().unwrap();
            (server, cause.to_owned())
        })
        .collect();
    let expected = [
        ("s", "missing_argument"),
        ("s", "command_not_found"),
        ("t", "missing_env_var"),
        ("t", "command_not_found"),
    ];
    assert_eq!(causes, expected.map(|(s, c)| (s.to_owned(), c.to_owned())));
}

/// A launcher that does not find the version the first two times.
#[test]
fn a_version_that_is_not_there_yet_is_waited_for() {
    let launcher = |says: &str, times: u32| {
        format!(
            "#!/bin/sh\necho x >> tries\nif [ $(wc -l < tries) -le {times} ]; then\n  \
             printf '{says}' >&2; exit 1\nfi\nexec '{}' mock\n",
            env!("CARGO_BIN_EXE_jelly")
        )
    };
    let no_version =
        "npm error code ETARGET\\nnpm error notarget No matching version found for a@9.9.9.\\n";
    let unknown =
        "npm error code E404\\nnpm error 404  The requested resource a@9.9.9 could not be found\\n";
    let plan = |wait: &str| {
        format!(
            "version: 1\nservers: {{ s: {{ command: ./npx, args: [-y, a@9.9.9], wait_for_package: \
             {wait} }} }}\nsteps: [{{ list: tools }}]\n"
        )
    };
    for (says, times, wait, code, tries) in [
        (no_version, 1, "1m", 0, 2),
        (no_version, 9, "1500ms", 3, 3),
        (unknown, 1, "1m", 3, 1),
    ] {
        let project = Project::with(&plan(wait));
        project.script("npx", &launcher(says, times));
        let run = project.run(&["--no-repair", "--retries", "0"]);
        assert_eq!(run.code, Some(code), "{}", run.stdout);
        assert_eq!(project.read("tries").lines().count(), tries, "{says}");
        let waits = run.stdout.contains("its package is not there yet")
            || run.stderr.contains("its package is not there yet");
        assert_eq!(waits, says == no_version, "{}\n{}", run.stdout, run.stderr);
        if code == 0 {
            let notes = run.last().server("s")["notes"].to_string();
            assert!(notes.contains("for its package"), "{notes}");
        } else if says == no_version {
            let failure = &run.last().0["failures"][0];
            let message = failure["message"].to_string();
            assert!(message.contains("(wait_for_package)"), "{message}");
            assert_eq!(failure["diagnosis"]["root_cause"], "package_not_found");
        }
    }
    let project = Project::with(&plan("1m").replace("./npx", "./server"));
    let err = project.jelly(&["check", "plan.yaml"]).output().stderr;
    assert!(
        err.contains("a launcher fetches") && err.contains("the launchers are"),
        "{err}"
    );
}
