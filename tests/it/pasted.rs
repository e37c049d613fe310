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

/// What a command that is printed for another URL keeps, and what it shows to nobody.
#[test]
fn a_command_for_another_url_keeps_what_was_typed_and_shows_no_header() {
    let project = Project::empty();
    let url = "http://127.0.0.1:9/mcp?api_key=hush-1234567890";
    let header = "X-Api: hush-0987654321";
    for (words, wanted) in [
        (
            &["list", "--format", "json"][..],
            "jelly list --format json ",
        ),
        (
            &["call", "t", "a=1", "password=hush-pw-123456", "--as-step"],
            "jelly call t a=1 'password=<value of password>' --as-step ",
        ),
        (
            &["tools", "lock", "-o", "my.lock"],
            "jelly tools lock --output my.lock ",
        ),
        (
            &["tools", "lint", "--max-tokens", "9"],
            "jelly tools lint --max-tokens 9 ",
        ),
        (
            &[
                "fuzz",
                "--call-all",
                "--seed",
                "7",
                "--max-calls",
                "5",
                "--output",
                "f.yaml",
            ],
            "jelly fuzz --call-all --seed 7 --max-calls 5 --output f.yaml ",
        ),
        (&["init", "--call-all"], "jelly init --call-all "),
    ] {
        let all = [words, &["--header", header, "--url", url]].concat();
        let ended = project.jelly(&all).output();
        assert_eq!(ended.code, Some(3), "{words:?}: {}", ended.stderr);
        let printed = format!("{}{}", ended.stdout, ended.stderr);
        assert!(!printed.contains("hush"), "{words:?}: {printed}");
        // A plan has its secrets in variables.
        let key = if words == ["init", "--call-all"] {
            "API_KEY"
        } else {
            "api_key"
        };
        let line = format!(
            "$ {wanted}--header 'X-Api: <value of X-Api>' --url \
             'http://127.0.0.1:<port>/mcp?api_key=<value of {key}>'"
        );
        assert!(printed.contains(&line), "{line}: {printed}");
        let commands = printed.lines().map(str::trim);
        for command in commands.filter(|line| line.starts_with("$ ")) {
            assert!(!command.contains("[secret"), "{command}");
        }
    }
    // A blank that nobody filled in is sent to no server.
    let pasted = ["list", "--header", "X-Api: <value of X-Api>", "--url", url];
    let ended = project.jelly(&pasted).output();
    assert_eq!(ended.code, Some(2), "{}", ended.stderr);
    let said = "`<value of X-Api>` stands for a value";
    assert!(ended.stderr.contains(said), "{}", ended.stderr);
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
