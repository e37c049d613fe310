//! What `jelly doctor` says of servers whose command can't start them as it
//! stands.

use crate::support::Project;
use serde_json::{Value, json};

/// The first server of a report on `conf/servers.json`, and its fixes.
#[track_caller]
fn examined(project: &Project, server: &Value) -> (Value, Vec<String>) {
    let servers = json!({ "mcpServers": { "s": server } });
    project.write("conf/servers.json", servers.to_string());
    let ended = project
        .jelly(&["doctor", "--format", "json", "conf/servers.json"])
        .output();
    let report: Value = serde_json::from_str(&ended.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}\n{}", ended.stdout, ended.stderr));
    let server = report["servers"][0].clone();
    let fixes = server["diagnosis"]["advice"]["fix"].as_array().cloned();
    let fixes = fixes.unwrap_or_default().into_iter();
    let texts = fixes.filter_map(|fix| fix.as_str().map(str::to_owned));
    (server, texts.collect())
}

#[test]
fn a_script_without_its_permission_is_started_by_its_own_interpreter() {
    for (script, text, wanted, is_enough) in [
        (
            "run.sh",
            "exec server\n",
            "\"command\": \"sh\", \"args\": [\"./run.sh\"]",
            true,
        ),
        (
            "run.py",
            "#!/usr/bin/env python3\n",
            "\"command\": \"python3\", \"args\": [\"./run.py\"]",
            true,
        ),
        (
            "run",
            "#!/opt/venv/bin/python -u\n",
            "\"command\": \"/opt/venv/bin/python\", \"args\": [\"-u\", \"./run\"]",
            true,
        ),
        // A shell would take it for its own.
        (
            "bare.py",
            "print(1)\n",
            "\"command\": \"python3\", \"args\": [\"./bare.py\"]",
            false,
        ),
        (
            "run.js",
            "1;\n",
            "\"command\": \"node\", \"args\": [\"./run.js\"]",
            false,
        ),
    ] {
        let project = Project::empty();
        project.write(&format!("conf/{script}"), text);
        let (server, fixes) = examined(&project, &json!({ "command": format!("./{script}") }));
        assert_eq!(fixes.last().map(String::as_str), Some(wanted), "{server:#}");
        let chmod = fixes.iter().find(|fix| fix.contains("chmod"));
        assert_eq!(chmod.is_some(), is_enough, "{server:#}");
        // Whoever is in another folder pastes it as well.
        if let Some(chmod) = chmod {
            assert!(
                chmod.starts_with("$ cd ") && chmod.contains("/conf"),
                "{chmod}"
            );
            assert!(
                chmod.ends_with(&format!(" && chmod +x ./{script}")),
                "{chmod}"
            );
        }
    }
}

#[test]
fn a_variable_in_place_of_the_program_goes_where_variables_are() {
    let project = Project::empty();
    for (server, wanted) in [
        (
            json!({ "command": "FOO=bar", "args": ["BAZ=", "python3", "x.py"], "env": { "A": "b" } }),
            "\"command\": \"python3\", \"args\": [\"x.py\"], \"env\": { \"A\": \"b\", \"FOO\": \
             \"bar\", \"BAZ\": \"\" }",
        ),
        (
            json!({ "command": "FOO=bar" }),
            "\"command\": \"<program>\", \"args\": [], \"env\": { \"FOO\": \"bar\" }",
        ),
    ] {
        let (server, fixes) = examined(&project, &server);
        assert_eq!(fixes.last().map(String::as_str), Some(wanted), "{server:#}");
        let rule = &server["diagnosis"]["rule"];
        assert_eq!(rule, "doctor/assignment", "{server:#}");
    }
}

#[test]
fn a_path_with_a_space_in_several_words_becomes_one() {
    let project = Project::empty();
    project.write("conf/My Big Proj/x.py", "");
    let folder = project.path("conf");
    let folder = folder.display();
    for (server, wanted) in [
        (
            json!({ "command": "python3", "args": ["-u", format!("{folder}/My"), "Big", "Proj/x.py", "--all"] }),
            format!("\"args\": [\"-u\", \"{folder}/My Big Proj/x.py\", \"--all\"]"),
        ),
        (
            json!({ "command": format!("{folder}/My"), "args": ["Big", "Proj/x.py", "a"] }),
            format!("\"command\": \"{folder}/My Big Proj/x.py\", \"args\": [\"a\"]"),
        ),
    ] {
        let (server, fixes) = examined(&project, &server);
        assert_eq!(fixes.last(), Some(&wanted), "{server:#}");
    }
}
