//! What `jelly doctor` says of servers in another mode than their client's,
//! and of those that wait.

use crate::support::Project;
use crate::support::doctor::{examined, fixes, of};
use serde_json::json;

/// Says that it listens, far down among other lines, and reads nothing.
const LISTENS: &str = r#"
import sys, time
print("Warning: No API key provided. Using default: none", file=sys.stderr)
for line in range(12):
    print("setting", line)
print("SSE endpoint: http://localhost:8000/sse", flush=True)
time.sleep(60)
"#;

#[test]
#[ignore = "takes long: `.ci/full` runs it"]
fn a_server_of_http_is_told_by_the_line_that_says_where_it_listens() {
    let project = Project::empty();
    let listens = project.write("listens.py", LISTENS);
    let mute = project.write("mute.py", "import time\ntime.sleep(60)\n");
    let gateway = project.script(
        "bin/some-gateway",
        "#!/bin/sh\necho Listening on port 8000\nexec sleep 60\n",
    );
    let servers = json!({
        "listens": { "command": "python3", "args": [listens] },
        "flags": { "command": "python3", "args": [mute, "--transport", "http", "--port", "41999"] },
        "variable": { "command": "python3", "args": [mute], "env": { "USE_SSE": "true", "A": "b" } },
        "gateway": { "command": gateway, "args": ["--port", "8000", "--stdio", "python3 -u x.py"] },
    });
    let report = examined(&project, &servers, "2s");
    for (name, fix) in [
        (
            "listens",
            r#""type": "sse", "url": "http://localhost:8000/sse""#,
        ),
        ("flags", r#"mute.py", "--transport", "stdio"]"#),
        ("flags", r#""url": "http://127.0.0.1:41999/mcp""#),
        ("variable", r#""env": { "A": "b" }"#),
        ("gateway", r#""command": "python3", "args": ["-u", "x.py"]"#),
    ] {
        let server = of(&report, name);
        let diagnosis = &server["diagnosis"];
        assert_eq!(diagnosis["root_cause"], "transport_mismatch", "{server:#}");
        let printed = fixes(server).join("\n");
        assert!(printed.contains(fix), "{name}: {fix}\n{printed}");
        // A second process would fall over the first one's port.
        assert!(
            !server["notes"].to_string().contains("second process"),
            "{server:#}"
        );
    }
}

#[test]
fn a_server_that_waits_for_a_person_is_told_as_such() {
    let project = Project::empty();
    let asks = project.write(
        "asks.py",
        "import sys\nkey = input('Enter your API key: ')\nsys.exit('ACME_API_KEY: invalid')\n",
    );
    let waits = project.write(
        "waits.py",
        "import sys, time\nsys.stderr.write('Password: ')\nsys.stderr.flush()\ntime.sleep(60)\n",
    );
    let servers = json!({
        "asks": { "command": "python3", "args": [asks] },
        "waits": { "command": "python3", "args": [waits] },
    });
    let report = examined(&project, &servers, "3s");
    for (name, told) in [
        (
            "asks",
            r#""env": { "ACME_API_KEY": "<value of ACME_API_KEY>" }"#,
        ),
        ("waits", "answer it by hand"),
    ] {
        let server = of(&report, name);
        let cause = &server["diagnosis"]["root_cause"];
        assert_eq!(cause, "waits_for_input", "{server:#}");
        let printed = fixes(server).join("\n");
        assert!(printed.contains(told), "{name}: {told}\n{printed}");
    }
}

#[test]
fn what_a_parser_of_arguments_says_is_what_is_written_or_left_out() {
    let project = Project::empty();
    let says = |name: &str, text: &str| {
        let code = format!("import sys\nsys.stderr.write({text:?})\nsys.exit(2)\n");
        project.write(name, code).display().to_string()
    };
    let unknown = says(
        "unknown.py",
        "usage: srv [-h]\nsrv: error: unrecognized arguments: --port 39111\n",
    );
    let missing = says(
        "missing.py",
        "Usage: clk.py [OPTIONS] VAULT\nTry 'clk.py --help' for help.\n\nError: Missing option '--project'.\n",
    );
    // What was meant stands on another line.
    let typed = says(
        "typed.py",
        "error: unknown option '--vualt'\n(Did you mean --vault?)\n",
    );
    let gone = project.path("gone").display().to_string();
    let git = says(
        "git.py",
        &format!("ERROR:mcp_server_git.server:{gone} does not exist\n"),
    );
    let servers = json!({
        "unknown": { "command": "python3", "args": [unknown, "stdio", "--port", "39111"] },
        "missing": { "command": "python3", "args": [missing] },
        "typed": { "command": "python3", "args": [typed, "--vualt=/v"] },
        "git": { "command": "python3", "args": [git, "--repository", gone] },
    });
    let report = examined(&project, &servers, "20s");
    for (name, fix) in [
        ("unknown", format!(r#""args": ["{unknown}", "stdio"]"#)),
        (
            "missing",
            format!(r#""args": ["{missing}", "--project", "<project>"]"#),
        ),
        ("typed", format!(r#""args": ["{typed}", "--vault=/v"]"#)),
        ("git", format!("$ git init {gone}")),
    ] {
        let printed = fixes(of(&report, name));
        assert!(printed.contains(&&*fix), "{name}: {fix}\n{printed:#?}");
    }
}
