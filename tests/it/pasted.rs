//! Commands that are printed to be pasted, pasted as they are.

use crate::support::Project;
use std::process::Command;

/// Says where it runs and with what, and ends.
const SERVER: &str = "
import os, sys
folder = os.path.dirname(sys.argv[1])
print(f'Error: mode {os.environ[\"MODE\"]}, token {os.environ[\"TOKEN\"]}, port {sys.argv[2]}', file=sys.stderr)
print('folder', os.path.isdir(folder) and os.path.samefile(folder, os.getcwd()), file=sys.stderr)
sys.exit(1)
";

/// What only an iteration has is made anew, and the variables come along.
#[test]
fn a_server_that_did_not_start_is_started_by_hand_as_the_plan_says() {
    let project = Project::empty();
    let server = project.write("server.py", SERVER).display().to_string();
    project.write(
        "plan.yaml",
        format!(
            "version: 1\nservers:\n  s:\n    command: python3\n    args: [{server}, \"${{tmp}}/x y.db\", \"${{port}}\"]\n    \
             env: {{ MODE: a b, TOKEN: \"${{secret:OWN_TOKEN}}\" }}\n    cwd: \"${{tmp}}\"\nsteps: [{{ list: tools }}]\n"
        ),
    );
    for args in [
        &["run", "plan.yaml", "--no-repair"][..],
        &["check", "--live", "plan.yaml"],
        &["list", "--plan", "plan.yaml"],
    ] {
        let ended = project.jelly(args).env("OWN_TOKEN", "t0ps3cret").output();
        assert_eq!(
            ended.code,
            Some(3),
            "{args:?}: {}{}",
            ended.stdout,
            ended.stderr
        );
        let printed = format!("{}{}", ended.stdout, ended.stderr);
        let lines = printed.lines().map(str::trim);
        let line = lines
            .filter_map(|line| line.split_once("$ "))
            .find(|(before, line)| {
                !before.contains(char::is_alphanumeric) && line.contains("server.py")
            });
        let (_, line) = line.unwrap_or_else(|| panic!("{args:?}: {printed}"));
        let mut shell = Command::new("sh");
        shell.args(["-c", line]).env("OWN_TOKEN", "t0ps3cret");
        let said = shell.output().unwrap().stderr;
        let said = String::from_utf8(said).unwrap();
        assert!(
            said.starts_with("Error: mode a b, token t0ps3cret, port ")
                && said.contains("folder True"),
            "{args:?}: {line}\n{said}"
        );
    }
}

/// A plan in JSON takes members in JSON.
#[test]
fn what_a_run_says_to_write_into_a_plan_fits_its_format() {
    let project = Project::empty();
    let servers = r#""servers": { "s": { "command": "python3 -u srv.py" } }"#;
    for (name, member) in [
        (
            "plan.json",
            r#""command": "python3", "args": ["-u", "srv.py"]"#,
        ),
        ("plan.yaml", r#"command: "python3", args: ["-u", "srv.py"]"#),
    ] {
        let plan =
            format!("{{ \"version\": 1, {servers}, \"steps\": [{{ \"list\": \"tools\" }}] }}");
        project.write(name, plan);
        let ended = project.jelly(&["run", name, "--no-repair"]).output();
        let lines = ended.stdout.lines().chain(ended.stderr.lines());
        let mut lines = lines.map(str::trim);
        assert!(
            lines.any(|line| line == member),
            "{name}: {}{}",
            ended.stdout,
            ended.stderr
        );
    }
}

/// The quick example of the page about it.
#[test]
fn a_tool_of_the_mock_that_uses_an_argument_has_it() {
    let project = Project::empty();
    let mock = ["--", "jelly", "mock", "--tool", "greet=Hello ${args.name}"];
    let call = ["call", "greet", "name=you"];
    let ended = project.jelly(&[&call[..], &mock].concat()).output();
    assert_eq!(ended.stdout.trim(), "Hello you", "{}", ended.stderr);
}
