//! What `jelly doctor` prints for servers that are broken in odd ways, pasted
//! as it is printed: each is mended by it, or told in a way that is true.

use crate::support::doctor::{examined, fixes, of};
use crate::support::{HeldPort, Project, real};
use serde_json::{Map, Value, json};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::process::Command;
use std::thread;

/// A server of Node that needs nothing.
fn memory() -> String {
    real("npm/node_modules/@modelcontextprotocol/server-memory/dist/index.js")
}

/// The first line that begins so.
#[track_caller]
fn fix<'r>(report: &'r Value, name: &str, start: &str) -> &'r str {
    let server = of(report, name);
    let found = fixes(server).into_iter().find(|fix| fix.starts_with(start));
    found.unwrap_or_else(|| panic!("{name}, {start}: {server:#}"))
}

/// Writes the members of the first fix that begins so into the entry.
fn paste(servers: &mut Value, report: &Value, name: &str, start: &str, blanks: &[(&str, &str)]) {
    let mut line = fix(report, name, start).to_owned();
    for (blank, value) in blanks {
        line = line.replace(blank, value);
    }
    assert!(!line.contains('<'), "{name}: a blank is left: {line}");
    let members: Map<String, Value> = serde_json::from_str(&format!("{{{line}}}")).unwrap();
    for (member, value) in members {
        servers[name][member] = value;
    }
}

/// Answers its lists and ends.
const GONE: &str = r#"
import json, sys

for line in sys.stdin:
    message = json.loads(line)
    reply = {"jsonrpc": "2.0", "id": message.get("id")}
    if message["method"] == "initialize":
        reply["result"] = {
            "protocolVersion": "2025-06-18",
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "gone", "version": "1"},
        }
    elif message["method"] == "tools/list":
        reply["result"] = {"tools": []}
    elif "id" not in message:
        continue
    else:
        reply["error"] = {"code": -32601, "message": "unknown"}
    print(json.dumps(reply), flush=True)
    if message["method"] == "tools/list":
        sys.exit(3)
"#;

#[test]
#[ignore = "takes long: `.ci/full` runs it"]
fn paths_projects_and_command_lines_are_mended_by_what_is_printed() {
    let project = Project::empty();
    let memory = memory();
    let at = |path: &str| project.path(path).display().to_string();
    project.write("app/index.js", format!("import({memory:?});\n"));
    let scripts = json!({ "build": "mkdir -p dist && cp src.js dist/index.js" });
    project.write(
        "raw/package.json",
        json!({ "scripts": scripts }).to_string(),
    );
    project.write("raw/src.js", format!("import({memory:?});\n"));
    project.write("home/notes/x", "");
    let files = real("npm/node_modules/@modelcontextprotocol/server-filesystem/dist/index.js");
    let noisy = project.write(
        "noisy.js",
        format!("process.stdout.write('Welcome! '); console.log('{{\"level\":30}}'); process.stdout.write('glued '); import({memory:?});\n"),
    );
    let mut servers = json!({
        "near": { "command": "node", "args": [at("app/indx.js")] },
        "near-folder": { "command": "node", "args": [at("ap/index.js")] },
        "unbuilt": { "command": "node", "args": [at("raw/dist/index.js")] },
        "folder": { "command": "node", "args": [files, at("home/note")] },
        "whole": { "command": format!("node {memory}") },
        "noisy": { "command": "node", "args": [noisy] },
    });
    let report = examined(&project, &servers, "30s");
    for (name, cause, start) in [
        ("near", "missing_file", "\"args\": "),
        ("near-folder", "missing_file", "\"args\": "),
        ("folder", "missing_directory", "\"args\": "),
        ("whole", "command_not_found", "\"command\": "),
        ("noisy", "stdout_pollution", "\"command\": "),
    ] {
        assert_eq!(of(&report, name)["diagnosis"]["root_cause"], cause);
        paste(&mut servers, &report, name, start, &[]);
    }
    // Nobody has to make a folder for what a build makes.
    let printed = fixes(of(&report, "unbuilt")).join("\n");
    assert!(!printed.contains("mkdir"), "{printed}");
    let build = fix(&report, "unbuilt", "$ cd ").trim_start_matches("$ ");
    let built = Command::new("sh").args(["-c", build]).output().unwrap();
    assert!(built.status.success(), "{built:?}");

    let report = examined(&project, &servers, "30s");
    for server in report["servers"].as_array().unwrap() {
        assert_eq!(server["state"], "healthy", "{server:#}");
    }
}

#[test]
fn what_cant_be_mended_here_is_told_as_what_it_is() {
    let project = Project::empty();
    let exec = project.write(
        "exec.py",
        "import os\n\nos.execvp('no-such-upstream', ['no-such-upstream'])\n",
    );
    let sync = project.write(
        "sync.js",
        "require('node:child_process').execFileSync('no-such-upstream')\n",
    );
    let needs = project.write("needs/server.js", "require('left-out')\n");
    let listed = json!({ "dependencies": { "left-out": "1" } });
    project.write("needs/package.json", listed.to_string());
    let plain = project.write("plain/server.js", "");
    project.write("round/one.py", "from two import b\n\ndef a(): pass\n");
    project.write("round/two.py", "from one import a\n\ndef b(): pass\n");
    let round = project.write("round/start.py", "import one\n");
    let gone = project.write("gone.py", GONE);
    let npx = |words: &str| {
        project.script(
            "bin/npx",
            &format!("#!/bin/sh\necho '{words}' >&2\nexit 1\n"),
        )
    };
    let asks = npx("npm error npx canceled due to missing packages and no YES option: [\"a@1\"]");
    let servers = json!({
        "exec": { "command": "python3", "args": [exec] },
        "sync": { "command": "node", "args": [sync] },
        "needs": { "command": "node", "args": [needs] },
        "preload": { "command": "node", "args": ["-r", "left-out/config", plain] },
        "round": { "command": "python3", "args": [round] },
        "asks": { "command": asks, "args": ["some-server", "dir"] },
        "quiet-port": { "command": "sh", "args": ["-c", "echo Server is running on port 40404 >&2"] },
        "path": { "command": "node", "args": ["x.js"], "env": { "PATH": "/nowhere" } },
        "folder": { "command": project.path("needs") },
        "empty": { "command": "" },
        "typo": { "command": "bunxx", "args": ["a"] },
        "language": { "command": "node", "args": [exec] },
        "work": { "command": "node", "args": ["server.js"], "cwd": project.path("need") },
        "elsewhere": { "command": "node", "args": ["x.js"], "cwd": project.path("need") },
        "gone": { "command": "python3", "args": [gone] },
    });
    let report = examined(&project, &servers, "30s");
    for (name, cause, told) in [
        ("exec", "command_not_found", "exec.py:3"),
        ("exec", "command_not_found", "no-such-upstream"),
        ("sync", "command_not_found", "sync.js:1"),
        ("needs", "missing_module", "/needs && npm install"),
        (
            "preload",
            "missing_module",
            "/plain && npm install left-out",
        ),
        (
            "asks",
            "missing_argument",
            "\"args\": [\"-y\", \"some-server\", \"dir\"]",
        ),
        ("quiet-port", "port_in_use", "-iTCP:40404"),
        ("path", "command_not_found", "replaces the whole PATH"),
        ("folder", "not_executable", "It is a folder"),
        ("work", "missing_directory", "/needs\""),
        (
            "elsewhere",
            "missing_directory",
            "Name the folder that `x.js` is in",
        ),
    ] {
        let server = of(&report, name);
        assert_eq!(server["diagnosis"]["root_cause"], cause, "{server:#}");
        let printed = fixes(server).join("\n");
        assert!(printed.contains(told), "{name}: {told}\n{printed}");
    }
    assert_eq!(
        fixes(of(&report, "language"))[1],
        "\"command\": \"python3\""
    );
    // A folder that is made for a script lacks it.
    let elsewhere = fixes(of(&report, "elsewhere")).join("\n");
    assert!(
        !elsewhere.contains("mkdir") && !elsewhere.contains("/needs"),
        "{elsewhere}"
    );
    // Two files that import each other stand before no module.
    let round = of(&report, "round");
    assert_ne!(round["diagnosis"]["rule"], "doctor/shadowed-module");
    // Its lists are good, and nobody can call its tools.
    assert_eq!(of(&report, "gone")["state"], "unwell");
    let typo = fixes(of(&report, "typo")).join("\n");
    assert!(typo.contains("probably `bunx`"), "{typo}");
    let empty = of(&report, "empty");
    assert_eq!(
        empty["findings"][0]["what"], "`command` is empty.",
        "{empty:#}"
    );
}

/// The Node that the entry itself names is the one that is replaced.
#[test]
fn an_old_node_among_the_arguments_of_npx_is_replaced_where_it_stands() {
    let project = Project::empty();
    let npx = project.script(
        "bin/npx",
        "#!/bin/sh\ncase \"$*\" in *node@24*) ;; *)\n\
         echo 'ReferenceError: TransformStream is not defined' >&2; exit 1;; esac\n\
         for last; do :; done; exec node \"$last\"\n",
    );
    let entry = |words: &[&str]| {
        let mut args: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        args.push(memory());
        json!({ "command": npx, "args": args })
    };
    let mut servers = json!({
        "flags": entry(&["-y", "-p", "node@12", "-p", "some-server"]),
        "joined": entry(&["-y", "--package=node@14.1.0", "--package=some-server", "--"]),
        "script": entry(&["-y", "node@16"]),
        "package": entry(&["-y", "some-server"]),
    });
    let report = examined(&project, &servers, "30s");
    for name in ["flags", "joined", "script", "package"] {
        let cause = &of(&report, name)["diagnosis"]["root_cause"];
        assert_eq!(cause, "runtime_version_mismatch", "{name}");
        let blank = [("<version, such as 24>", "24")];
        paste(&mut servers, &report, name, "\"args\": ", &blank);
    }
    let report = examined(&project, &servers, "30s");
    for server in report["servers"].as_array().unwrap() {
        assert_eq!(server["state"], "healthy", "{server:#}");
    }
}

/// Answers every request with this status.
fn web(status: &'static str) -> String {
    saying(status, "")
}

/// The same with a body.
fn saying(status: &'static str, body: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let mut request = [0; 65536];
            let _ = stream.read(&mut request);
            let _ = write!(
                stream,
                "HTTP/1.1 {status}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
                body.len()
            );
        }
    });
    url
}

#[test]
fn servers_behind_a_url_are_told_what_to_write_in_their_entries() {
    let project = Project::empty();
    let (forbidden, gone) = (web("403 Forbidden"), web("404 Not Found"));
    let silent = HeldPort::new();
    let nobody = format!("http://127.0.0.1:{}/mcp", silent.number());
    let servers = json!({
        "forbidden": { "url": forbidden, "headers": { "X-Team": "a" } },
        "gone": { "url": gone },
        "keyed": {
            "url": saying("401 Unauthorized", "missing X-Api-Key header"),
            "headers": { "X-Team": "a" },
        },
        "origin": {
            "url": saying("403 Forbidden", "Invalid Origin header"),
            "headers": { "Origin": "https://x.test", "X-Team": "a" },
        },
        "host": { "url": saying("421 Misdirected Request", "Invalid Host header") },
        "nobody": { "url": nobody },
        "schemeless": { "url": "localhost:1/mcp" },
        "encrypted": { "url": gone.replacen("http:", "https:", 1) },
    });
    let report = examined(&project, &servers, "30s");
    let sse = format!("\"url\": \"{}\"", gone.replace("/mcp", "/sse"));
    let plain = format!("\"url\": \"{gone}\"");
    for (name, told) in [
        (
            "forbidden",
            "\"headers\": { \"X-Team\": \"<as it stands>\", \"Authorization\": \"Bearer <token>\" }",
        ),
        ("gone", &*sse),
        (
            "keyed",
            "\"headers\": { \"X-Team\": \"<as it stands>\", \"X-Api-Key\": \"<key>\" }",
        ),
        ("origin", "\"headers\": { \"X-Team\": \"<as it stands>\" }"),
        ("host", "Use the host that the server expects"),
        ("nobody", "\"url\": \"http://127.0.0.1:<port>/mcp\""),
        ("schemeless", "\"url\": \"http://localhost:1/mcp\""),
        ("encrypted", &*plain),
    ] {
        let printed = fixes(of(&report, name)).join("\n");
        assert!(printed.contains(told), "{name}: {told}\n{printed}");
        assert!(!printed.contains("the plan"), "{name}: {printed}");
        // None of them says that it has a login, and no path serves another host.
        assert!(!printed.contains("jelly login"), "{name}: {printed}");
        assert!(name != "host" || !printed.contains("\"url\""), "{printed}");
    }
    let what = &of(&report, "nobody")["diagnosis"]["advice"]["what"];
    assert_eq!(*what, format!("Nothing answers at {nobody}."));
}

#[test]
fn a_401_that_no_word_of_oauth_goes_with_has_the_label_of_a_run() {
    let project = Project::empty();
    let basic = web("401 Unauthorized\r\nwww-authenticate: Basic realm=\"x\"");
    let servers = json!({ "basic": { "url": &basic }, "bare": { "url": web("401 Unauthorized") } });
    let report = examined(&project, &servers, "30s");
    for name in ["basic", "bare"] {
        let cause = &of(&report, name)["diagnosis"]["root_cause"];
        assert_eq!(cause, "auth_failed", "{name}: {report:#}");
    }
    // A plan that asks for OAuth is told what of it is missing.
    for auth in ["", ", auth: login"] {
        let plan = format!(
            "version: 1\nservers: {{ s: {{ url: \"{basic}\"{auth} }} }}\nsteps: [{{ list: tools }}]\n"
        );
        let run = Project::with(&plan).run(&["--max-iterations", "1"]);
        let failure = &run.last().failures()[0];
        assert_eq!(failure["diagnosis"]["root_cause"], "auth_failed", "{auth}");
    }
    let headers = fix(&report, "basic", "\"headers\"");
    assert_eq!(
        headers,
        "\"headers\": { \"Authorization\": \"Basic <name:password in base 64>\" }"
    );
    assert!(
        !fixes(of(&report, "basic"))
            .join("\n")
            .contains("jelly login")
    );
}

#[cfg(unix)]
#[test]
fn an_environment_is_made_again_only_where_it_is_one_and_the_entrys_own() {
    use std::os::unix::fs::symlink;
    let project = Project::empty();
    let environment = |name: &str, python: &str| {
        project.write(&format!("{name}/pyvenv.cfg"), "home = /gone\n");
        project.write(&format!("{name}/lib/python3.11/site-packages/x.py"), "");
        std::fs::create_dir_all(project.path(&format!("{name}/bin"))).unwrap();
        symlink(python, project.path(&format!("{name}/bin/python"))).unwrap();
    };
    environment("lost/.venv", "/gone/python3.10");
    environment("shared/all", "/gone/python3.10");
    std::fs::create_dir_all(project.path("link")).unwrap();
    symlink(project.path("shared/all"), project.path("link/.venv")).unwrap();
    environment("whole/.venv", "/bin/sh");
    project.write("settings/env/prod.env", "A=1\n");
    let python = |folder: &str| json!({ "command": project.at(folder), "args": ["a.py"] });
    let report = examined(
        &project,
        &json!({
            "lost": python("lost/.venv/bin/python"),
            "link": python("link/.venv/bin/python"),
            "whole": python("whole/.venv/bin/python3.99"),
            "settings": python("settings/env/bin/python"),
            "never": python("never/.venv/bin/python"),
        }),
        "6s",
    );
    let told = |name: &str| fixes(of(&report, name)).join("\n");
    let (old, new) = (project.at("lost/.venv.old"), project.at("lost/.venv"));
    let again = format!("mv {new} {old} && python3 -m venv {new}");
    assert!(told("lost").contains(&again), "{}", told("lost"));
    for name in ["link", "whole", "settings", "never"] {
        assert!(!told(name).contains("mv "), "{name}: {}", told(name));
    }
    assert!(
        told("link").contains("has lost its Python"),
        "{}",
        told("link")
    );
    let own = format!("\"command\": \"{}\"", project.at("whole/.venv/bin/python"));
    assert!(told("whole").contains(&own), "{}", told("whole"));
    assert!(
        !told("settings").contains("environment"),
        "{}",
        told("settings")
    );
    assert!(
        told("never").contains("python3 -m venv "),
        "{}",
        told("never")
    );
}

#[test]
#[ignore = "takes long: `.ci/full` runs it"]
fn a_mute_server_of_python_is_asked_at_which_line_it_waits() {
    let project = Project::empty();
    let mute = project.write("mute.py", "import threading\n\nthreading.Event().wait()\n");
    let servers = json!({ "mute": { "command": "python3", "args": [mute] } });
    let text = json!({ "mcpServers": servers }).to_string();
    project.write("mcp.json", text);
    let ended = project
        .jelly(&["doctor", "mcp.json", "--format", "json", "--timeout", "3s"])
        .output();
    let report: Value = serde_json::from_str(&ended.stdout).unwrap();
    let line = fix(&report, "mute", "$ cd ").trim_start_matches("$ ");
    assert!(line.contains("timeout --signal=ABRT 15"), "{line}");
    let line = line
        .replace("ABRT 15", "ABRT 1")
        .replace("sleep 20", "sleep 3");
    let shown = Command::new("sh").args(["-c", &line]).output().unwrap();
    let told = String::from_utf8_lossy(&shown.stderr);
    assert!(told.contains("mute.py\", line 3"), "{told}");
}

#[test]
fn a_variable_that_names_nothing_is_no_missing_one() {
    let project = Project::empty();
    let script = project.write(
        "server.py",
        format!(
            r#"
import os

folder = os.environ.get("ALLOWED_DIR")
if not folder or not os.path.exists(folder):
    raise ValueError("Valid ALLOWED_DIR is required")
os.execv({:?}, ["jelly", "mock"])
"#,
            env!("CARGO_BIN_EXE_jelly")
        ),
    );
    let gone = project.path("gone").display().to_string();
    let mut servers = json!({ "cli": {
        "command": "python3", "args": [script], "env": { "ALLOWED_DIR": gone },
    } });
    let report = examined(&project, &servers, "60s");
    let cli = of(&report, "cli");
    assert_eq!(
        cli["diagnosis"]["root_cause"], "missing_directory",
        "{cli:#}"
    );
    let there = project.path("").display().to_string();
    paste(
        &mut servers,
        &report,
        "cli",
        "\"env\"",
        &[("<path that there is>", &there)],
    );
    let report = examined(&project, &servers, "60s");
    assert_eq!(of(&report, "cli")["state"], "healthy", "{report:#}");
}

#[test]
fn of_a_url_that_never_answers_the_command_that_shows_it_is_printed() {
    let project = Project::empty();
    // It takes connections, and nobody accepts them.
    let mute = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/mcp", mute.local_addr().unwrap());
    let servers = json!({ "mute": { "url": url } });
    let report = examined(&project, &servers, "2s");
    let mute_one = of(&report, "mute");
    assert_eq!(mute_one["diagnosis"]["root_cause"], "startup_timeout");
    let fixes = fixes(mute_one);
    let command = fixes.iter().find(|fix| fix.starts_with("$ curl")).unwrap();
    assert!(
        command.contains(&url) && command.contains("initialize"),
        "{command}"
    );
    // Nothing is installed or started for a URL.
    assert!(
        !fixes.iter().any(|fix| fix.contains("install")),
        "{fixes:#?}"
    );
}

#[test]
#[ignore = "takes long: `.ci/full` runs it"]
fn a_breakpoint_and_a_dependency_that_is_not_to_be_had_are_told() {
    let project = Project::empty();
    let stops = project.write(
        "stops.py",
        format!(
            "import os\nbreakpoint()\nos.execv({:?}, ['jelly', 'mock'])\n",
            env!("CARGO_BIN_EXE_jelly")
        ),
    );
    // As npm says it of a dependency, in the place of npx.
    let npx = project.write(
        "bin/npx",
        "#!/bin/sh\necho 'npm error code ETARGET' >&2\necho 'npm error notarget No matching version found for @a/re2@^1.2.1.' >&2\nexit 1\n",
    );
    Command::new("chmod").arg("+x").arg(&npx).status().unwrap();
    // What uv says of another requirement, and of a package with two programs.
    let uvx = project.script(
        "bin/uvx",
        "#!/bin/sh\ncase \"$*\" in *mcp*)\n\
         echo 'error: No solution found when resolving tool dependencies' >&2\n\
         echo '  cause: Because all versions of notes depend on mcp and only mcp>=0.9.1 is available, we can conclude so.' >&2;;\n\
         *)\necho 'An executable named `two` is not provided by package `two`.' >&2\n\
         echo 'The following executables are available:' >&2\n\
         echo '- two-mcp-client' >&2\necho '- two-mcp-server' >&2;; esac\nexit 1\n",
    );
    // A structured log says that it listens.
    let stream = project.write(
        "stream.py",
        format!(
            "import os, sys, time\nif 'stream' not in sys.argv:\n    os.execv({:?}, ['jelly', 'mock'])\n\
             print('level=INFO msg=\"MCP server starting\" transport=stream address=http://localhost:8080/mcp', file=sys.stderr, flush=True)\n\
             time.sleep(60)\n",
            env!("CARGO_BIN_EXE_jelly")
        ),
    );
    let made = Command::new("python3")
        .args(["-m", "venv", "--without-pip"])
        .arg(project.path("venv"))
        .status();
    assert!(made.unwrap().success());
    let python = project.path("venv/bin/python");
    let site = Command::new(&python)
        .args([
            "-c",
            "import sysconfig; print(sysconfig.get_path('purelib'))",
        ])
        .output();
    let site = String::from_utf8(site.unwrap().stdout).unwrap();
    std::fs::create_dir(std::path::Path::new(site.trim()).join("some_notes_server")).unwrap();
    let mut servers = json!({
        "stops": { "command": "python3", "args": [stops] },
        "lacks": { "command": npx, "args": ["-y", "@b/server@1.0.0", "dir"] },
        "chain": { "command": uvx, "args": ["--with", "mcp<0.2", "--from", "notes", "python", "-m", "notes"] },
        "two": { "command": uvx, "args": ["two"] },
        "stream": { "command": "python3", "args": [stream, "--transport", "stream"] },
        "module": { "command": python, "args": ["-m", "some_notes_serve.main"] },
    });
    let report = examined(&project, &servers, "6s");
    let cause = &of(&report, "stops")["diagnosis"]["root_cause"];
    assert_eq!(cause, "waits_for_input", "{report:#}");
    let lacks = fix(&report, "lacks", "\"args\"");
    assert_eq!(lacks, r#""args": ["-y", "@b/server@<version>", "dir"]"#);
    for (name, args, told) in [
        (
            "chain",
            r#""args": ["--with", "mcp==<version>", "--from", "notes", "python", "-m", "notes"]"#,
            "$ pip index versions mcp",
        ),
        (
            "two",
            r#""args": ["--from", "two", "two-mcp-server"]"#,
            "`two-mcp-client`, `two-mcp-server`",
        ),
        (
            "module",
            r#""args": ["-m", "some_notes_server.main"]"#,
            "`some_notes_serve` is not installed, and `some_notes_server` is",
        ),
    ] {
        assert_eq!(fix(&report, name, "\"args\""), args);
        let printed = fixes(of(&report, name)).join("\n");
        assert!(printed.contains(told), "{name}: {told}\n{printed}");
        assert!(!printed.contains("pip install"), "{name}: {printed}");
    }
    let cause = &of(&report, "stream")["diagnosis"]["root_cause"];
    assert_eq!(cause, "transport_mismatch", "{report:#}");
    paste(&mut servers, &report, "stream", "\"args\"", &[]);
    paste(&mut servers, &report, "stops", "\"env\"", &[]);
    for name in ["lacks", "chain", "two", "module"] {
        servers.as_object_mut().unwrap().remove(name);
    }
    let report = examined(&project, &servers, "60s");
    for name in ["stops", "stream"] {
        assert_eq!(of(&report, name)["state"], "healthy", "{report:#}");
    }
}
