//! One way to name a server, in every command that needs one.

use crate::support::Project;
use serde_json::{Value, json};

/// A plan and a client's configuration that both have the server `small`, and
/// another.
fn project() -> Project {
    let project = Project::empty();
    let jelly = env!("CARGO_BIN_EXE_jelly");
    project.write(
        "mcp.json",
        json!({ "mcpServers": {
            "small": { "command": jelly, "args": ["mock", "--era", "legacy", "--tool", "t=x"] },
            "other": { "command": jelly, "args": ["mock"] },
        } })
        .to_string(),
    );
    project.write(
        "plan.yaml",
        "version: 1\nvars: { era: legacy }\nservers:\n  small: { command: jelly, args: [mock, \
         --era, '${era}', --tool, 't=x'], cwd: . }\n  other: { command: jelly, args: [mock], \
         protocol: '2025-06-18' }\nsteps:\n  - { list: tools, server: small }\n",
    );
    project
}

#[test]
fn a_server_is_listed_however_it_is_named() {
    let project = project();
    let ways: [&[&str]; 3] = [
        &["--config", "mcp.json", "--server", "small"],
        &["--plan", "plan.yaml", "--server", "small"],
        &["--", "jelly", "mock", "--era", "legacy", "--tool", "t=x"],
    ];
    let mut seen = Vec::new();
    for way in ways {
        let mut args = vec!["list", "--format", "json"];
        args.extend(way);
        let ended = project.jelly(&args).output();
        assert_eq!(ended.code, Some(0), "{way:?}: {}", ended.stderr);
        let mut listing: Value = serde_json::from_str(&ended.stdout).unwrap();
        assert_eq!(listing["era"], "legacy", "{listing}");
        listing.as_object_mut().unwrap().shift_remove("server");
        seen.push(listing);
    }
    assert_eq!(seen[0], seen[1]);
    assert_eq!(seen[1], seen[2]);
    let names = seen[0]["tools"].as_array().unwrap();
    assert!(names.iter().any(|tool| tool["name"] == "t"), "{names:?}");
    // A plan's own pin holds.
    let args = ["list", "--plan", "plan.yaml", "--server", "other"];
    let pinned = project.jelly(&args).output();
    assert!(
        pinned.stdout.contains("(2025-06-18, legacy)"),
        "{}",
        pinned.stdout
    );
}

#[test]
fn what_names_no_server_is_refused_with_what_would() {
    let project = project();
    for (args, says) in [
        (&["list"][..], "nothing says which server is meant"),
        (&["list", "--server", "small"], "no file is named"),
        (
            &["list", "--plan", "plan.yaml"],
            "name it by --server: small, other",
        ),
        (
            &["list", "--plan", "plan.yaml", "--server", "smal"],
            "did you mean `small`?",
        ),
        (
            &["list", "--config", "mcp.json", "--server", "smal"],
            "did you mean `small`?",
        ),
        (&["list", "--url", "localhost"], "is not a URL of a server"),
        (
            &["list", "-e", "NO_SUCH_NAME", "--", "jelly", "mock"],
            "the environment has no such variable",
        ),
        (
            &[
                "list",
                "--plan",
                "plan.yaml",
                "--server",
                "small",
                "--",
                "jelly",
            ],
            "cannot be used with",
        ),
        (
            &["list", "--header", "A: b", "--", "jelly", "mock"],
            "named by --url",
        ),
    ] {
        let ended = project.jelly(args).output();
        assert_eq!(ended.code, Some(2), "{args:?}: {}", ended.stderr);
        assert!(ended.stderr.contains(says), "{args:?}: {}", ended.stderr);
    }
}

/// `init` writes the server as the plan has it, with its variables filled in.
#[test]
fn a_plan_is_made_for_a_server_of_another_plan_and_of_a_configuration() {
    let project = project();
    for way in [["--plan", "plan.yaml"], ["--config", "mcp.json"]] {
        let mut args = vec!["init", "--server", "small", "-o", "new.yaml", "--force"];
        args.extend(way);
        let ended = project.jelly(&args).output();
        assert_eq!(
            ended.code,
            Some(0),
            "{way:?}: {}{}",
            ended.stdout,
            ended.stderr
        );
        let plan = project.read("new.yaml");
        assert!(
            plan.contains("legacy") && !plan.contains("${era}"),
            "{plan}"
        );
    }
    for (args, says) in [
        (&["init", "--server", "small"][..], "no file is named"),
        (&["init", "--plan", "plan.yaml"], "name it by --server"),
    ] {
        let ended = project.jelly(args).output();
        assert_eq!(ended.code, Some(2), "{args:?}: {}", ended.stderr);
        assert!(ended.stderr.contains(says), "{args:?}: {}", ended.stderr);
    }
}

/// The same label and fix as `doctor` and `run` have, in the words of who typed.
#[test]
fn a_server_that_does_not_start_is_diagnosed_where_it_is_named() {
    let project = project();
    let gone = ["list", "--", "no-such-command-of-jelly"];
    let ended = project.jelly(&gone).output();
    assert_eq!(ended.code, Some(3), "{}", ended.stderr);
    for said in ["(command_not_found)", "no-such-command-of-jelly"] {
        assert!(ended.stderr.contains(said), "{}", ended.stderr);
    }
    project.write(
        "broken.yaml",
        "version: 1\nservers:\n  dead: { command: jelly, args: [mock, --fault, exit@handshake=3, \
         --stderr, 'Error: API_KEY is not set'] }\nsteps:\n  - { list: tools, server: dead }\n",
    );
    let ended = project.jelly(&["list", "--plan", "broken.yaml"]).output();
    assert_eq!(ended.code, Some(3), "{}", ended.stderr);
    let run = project
        .jelly(&["run", "broken.yaml", "--format", "json"])
        .output();
    let run: Value = serde_json::from_str(&run.stdout).unwrap();
    let cause = run["iterations"][0]["failures"][0]["diagnosis"]["root_cause"]
        .as_str()
        .unwrap();
    assert!(
        ended.stderr.contains(&format!("({cause})")),
        "{cause}: {}",
        ended.stderr
    );
    assert!(ended.stderr.contains("broken.yaml:3:"), "{}", ended.stderr);
}

#[test]
fn what_an_entry_leaves_open_is_named() {
    let project = Project::empty();
    let entry = json!({ "command": "x", "args": ["${NO_SUCH_DIR}", "${env:NO_SUCH_KEY}"] });
    project.write(
        "mcp.json",
        json!({ "mcpServers": { "a": entry } }).to_string(),
    );
    let ended = project.jelly(&["list", "--config", "mcp.json"]).output();
    assert_eq!(ended.code, Some(2), "{}", ended.stderr);
    let told = "needs values for ${NO_SUCH_DIR}, ${env:NO_SUCH_KEY}";
    assert!(ended.stderr.contains(told), "{}", ended.stderr);
}
