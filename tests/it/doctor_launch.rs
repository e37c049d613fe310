//! What `jelly doctor` says of servers whose command can't start them as it
//! stands.

use crate::support::Project;
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;

/// The first server of a report on `conf/servers.json`, and its fixes.
#[track_caller]
pub fn examined(project: &Project, server: &Value) -> (Value, Vec<String>) {
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

#[cfg(unix)]
#[test]
fn the_shell_of_windows_is_left_out_where_there_is_none() {
    let project = Project::empty();
    let windows = json!({ "command": "cmd", "args": ["/c", "npx", "-y", "mcp-none-such"] });
    let (server, fixes) = examined(&project, &windows);
    let wanted = "\"command\": \"npx\", \"args\": [\"-y\", \"mcp-none-such\"]";
    assert_eq!(fixes.last().map(String::as_str), Some(wanted), "{server:#}");
    let rule = &server["diagnosis"]["rule"];
    assert_eq!(rule, "doctor/shell-of-windows", "{server:#}");
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

#[test]
fn a_version_that_neighbours_need_is_not_changed_under_them() {
    let project = Project::empty();
    let folder = project.dir().display().to_string();
    let site = "env/lib/python3.11/site-packages";
    let dist = |name: &str, version: &str, more: &str| {
        let metadata = format!("Name: {name}\nVersion: {version}\n{more}\n");
        let file = format!("{site}/{name}-{version}.dist-info/METADATA");
        project.write(&file, metadata);
    };
    dist("mcp", "2.3.0", "");
    project.write("env/pyvenv.cfg", "");
    project.write(&format!("{site}/pip/__init__.py"), "");
    let python = format!(
        "#!/bin/sh\ncat >&2 <<'END'\nTraceback (most recent call last):\n  File \
         \"{folder}/old.py\", line 1, in <module>\n    from mcp.server.fastmcp import \
         FastMCP\nModuleNotFoundError: No module named 'mcp.server.fastmcp'\nEND\nexit 1\n"
    );
    let python = project.write("env/bin/python", python);
    fs::set_permissions(&python, fs::Permissions::from_mode(0o755)).unwrap();
    project.write("old.py", "from mcp.server.fastmcp import FastMCP\n");
    let server = json!({ "command": python, "args": [format!("{folder}/old.py")] });
    let advice = |servers: Value| -> String {
        let servers = json!({ "mcpServers": servers });
        project.write("servers.json", servers.to_string());
        let ended = project
            .jelly(&["doctor", "--format", "json", "servers.json"])
            .output();
        let report: Value = serde_json::from_str(&ended.stdout).unwrap();
        report["servers"][0]["diagnosis"]["advice"].to_string()
    };
    let in_place = format!("{folder}/env/bin/python -m pip install 'mcp<2'");
    let own = format!("{folder}/env/bin/python -m venv {folder}/env-s");
    let alone = advice(json!({ "s": server }));
    assert!(
        alone.contains(&in_place) && !alone.contains("-m venv"),
        "{alone}"
    );

    let shared = advice(json!({ "s": server, "t": { "command": python, "args": ["t.py"] } }));
    assert!(
        shared.contains(&own) && !shared.contains(&in_place),
        "{shared}"
    );
    assert!(
        shared.contains("The server `t` runs on the same Python"),
        "{shared}"
    );
    assert!(shared.contains(&format!("{folder}/env-s/bin/python -m pip install 'mcp<2'")));

    // A later version, which the script asks for.
    project.write("requirements.txt", "mcp>=2.4\n");
    let later = advice(json!({ "s": server, "t": { "command": python, "args": ["t.py"] } }));
    assert!(
        !later.contains("-m venv") && later.contains("mcp>=2.4"),
        "{later}"
    );
    project.write("requirements.txt", "");

    // What only an extra needs, and another package has that extra.
    dist(
        "slim",
        "4.0",
        "Requires-Dist: mcp<3,>=2.3; extra == 'server'\n",
    );
    let unasked = advice(json!({ "s": server }));
    assert!(unasked.contains(&in_place), "{unasked}");
    dist("whole", "4.0", "Requires-Dist: slim[client,server]==4.0\n");
    let asked = advice(json!({ "s": server }));
    assert!(
        asked.contains(&own) && !asked.contains(&in_place),
        "{asked}"
    );
    assert!(
        asked.contains("`whole`, which is installed there too"),
        "{asked}"
    );

    // What is there is somebody's.
    project.write("env-s/mine.txt", "");
    let beside = advice(json!({ "s": server }));
    assert!(beside.contains(&format!("{own}-2\"")), "{beside}");
}

/// A server of Node or Python that says this on stderr and ends.
fn says(project: &Project, runtime: &str, text: &str) -> Value {
    let (script, code) = match runtime {
        "node" => (
            format!("say{}.js", text.len()),
            format!("console.error({text:?}); process.exit(1)"),
        ),
        _ => (
            format!("say{}.py", text.len()),
            format!("import sys; sys.stderr.write({text:?}); sys.exit(1)"),
        ),
    };
    project.write(&format!("conf/{script}"), code);
    json!({ "command": runtime, "args": [script] })
}

#[test]
fn small_slips_are_told_with_what_to_write() {
    let project = Project::empty();
    project.write("conf/app/package.json", r#"{ "bin": "./cli.js" }"#);
    project.write("conf/app/cli.js", "");
    let folder = project.path("conf/app").display().to_string();
    let program = format!("\"args\": [\"{folder}/cli.js\"]");
    for (server, rule, wanted) in [
        (
            json!({ "command": "python3", "args": ["–u", "—version", "x.py"] }),
            "doctor/typeset-dash",
            "\"args\": [\"-u\", \"--version\", \"x.py\"]",
        ),
        (
            json!({ "command": "node", "args": [&folder] }),
            "doctor/folder-started",
            &program,
        ),
        (
            says(
                &project,
                "python3",
                "npm error npx canceled due to missing packages and no YES option",
            ),
            "node/install-not-allowed",
            "\"args\": [\"-y\", ",
        ),
        (
            says(
                &project,
                "python3",
                "Error: Invalid configuration: [\n  {\n    \"code\": \"invalid_type\",\n    \
                 \"received\": \"undefined\",\n    \"path\": [ \"API_KEY\" ],\n    \"message\": \
                 \"Required\"\n  }\n]",
            ),
            "config/missing-variable",
            "\"env\": { \"API_KEY\": \"<value of API_KEY>\" }",
        ),
        // Neither Node nor Python is what is too old.
        (
            says(
                &project,
                "node",
                "java.lang.UnsupportedClassVersionError: Main",
            ),
            "runtimes/java-version",
            "Install the version that the server was built for",
        ),
        (
            says(
                &project,
                "python3",
                "You must install or update .NET to run this application.",
            ),
            "runtimes/java-version",
            "Install the version that the server was built for",
        ),
        (
            says(
                &project,
                "python3",
                "Error: config file not found: ./config.json",
            ),
            "files/missing-file",
            "$ cd ",
        ),
        (
            says(
                &project,
                "python3",
                "Error: config file not found: ~/.depot/config.json",
            ),
            "files/missing-file",
            "$ ls -l ~/.depot/config.json",
        ),
        (
            says(
                &project,
                "python3",
                "TypeError [ERR_UNKNOWN_FILE_EXTENSION]: Unknown file extension \".ts\" for /x.ts",
            ),
            "node/unknown-ending",
            "Build the server and start what that makes",
        ),
        (
            says(
                &project,
                "python3",
                "Error [ERR_REQUIRE_ESM]: require() of ES Module /x/node_modules/chalk/source/index.js from \
                 /x/index.js not supported.\n    at Object.<anonymous> (/x/index.js:2:15)",
            ),
            "node/requires-es-package",
            "If the server is yours, load it as Node itself says, by `import()`: `await \
             import('chalk')`",
        ),
        (
            json!({ "command": "node", "args": ["--max-old-space=1", "x.js"] }),
            "config/launcher-refused",
            "$ node --help",
        ),
    ] {
        let (told, fixes) = examined(&project, &server);
        assert_eq!(told["diagnosis"]["rule"], rule, "{told:#}");
        let is_told = fixes.iter().any(|fix| fix.starts_with(wanted));
        assert!(is_told, "{wanted}: {told:#}");
        let others = ["node@", "newer python"];
        assert!(
            !fixes
                .iter()
                .any(|fix| others.iter().any(|other| fix.contains(other)))
        );
    }
}

#[test]
fn a_library_of_the_system_is_no_package_of_npm() {
    let project = Project::empty();
    for text in [
        "ImportError: libGL.so.1: cannot open shared object file: No such file or directory",
        "Error loading shared library libssl.so.1.1: No such file or directory (needed by /x.so)",
        "dyld[7]: Library not loaded: /opt/homebrew/lib/libssl.1.1.dylib",
    ] {
        let (told, fixes) = examined(&project, &says(&project, "python3", text));
        let rule = &told["diagnosis"]["rule"];
        assert_eq!(rule, "node/shared-library", "{told:#}");
        assert!(!fixes.iter().any(|fix| fix.contains("npm")), "{fixes:?}");
        let first = fixes.first().map(String::as_str).unwrap_or_default();
        assert!(
            first.starts_with("Install the package of the system"),
            "{fixes:?}"
        );
    }
}

#[test]
fn a_tool_that_clients_refuse_is_not_healthy_and_a_message_in_pieces_is_no_noise() {
    let project = Project::empty();
    let answers = r#"
import json, sys, time
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message: continue
    reply = {"jsonrpc": "2.0", "id": message["id"]}
    if message["method"] == "initialize":
        reply["result"] = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
                           "serverInfo": {"name": "s", "version": "1"}}
    elif message["method"] == "tools/list":
        if sys.argv[1] == "mute": continue
        reply["result"] = {"tools": [{"name": "bare"}]}
    else:
        reply["error"] = {"code": -32601, "message": "no"}
    text = json.dumps(reply)
    # In two pieces, each of which is read alone.
    for piece in (text[:20], text[20:] + "\n"):
        sys.stdout.write(piece)
        sys.stdout.flush()
        time.sleep(0.02)
"#;
    let server = |mode: &str| json!({ "command": "python3", "args": ["-c", answers, mode] });
    let (told, _) = examined(&project, &server("lists"));
    assert_eq!(told["state"], "unwell", "{told:#}");
    let message = told["message"].as_str().unwrap();
    assert!(message.contains("without an inputSchema"), "{message}");
    let servers = json!({ "mcpServers": { "s": server("mute") } });
    project.write("mute.json", servers.to_string());
    let ended = project
        .jelly(&["doctor", "--format", "json", "--timeout", "2s", "mute.json"])
        .output();
    let report: Value = serde_json::from_str(&ended.stdout).unwrap();
    let cause = &report["servers"][0]["diagnosis"]["root_cause"];
    assert_eq!(cause, "call_timeout", "{report:#}");
}
