//! `jelly init`: values that a `server.json` leaves open, and short secrets.

use crate::support::{Ended, HeldPort, Project};
use serde_json::json;

/// A server over HTTP that wants a key, and has tools that say secrets.
const SERVER: &str = r#"
import json, os
from http.server import *
class Server(BaseHTTPRequestHandler):
    def log_message(self, *args): pass
    def do_POST(self):
        message = json.loads(self.rfile.read(int(self.headers["content-length"])))
        status, answer = 200, {"jsonrpc": "2.0", "id": message.get("id")}
        tool = lambda name: {"name": name, "inputSchema": {"type": "object"}}
        if self.headers.get("X-Api-Key") != "abc-123-xyz" or self.headers.get("X-Mode") != "fast":
            status = 401
        elif message["method"] == "initialize":
            answer["result"] = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "x", "version": "1"}}
        elif message["method"] == "tools/list":
            answer["result"] = {"tools": [tool("get_text"), tool("get-abc-123-xyz")]}
        elif message["method"] == "tools/call":
            answer["result"] = {"content": [{"type": "text", "text": "next"}]}
        else:
            answer["error"] = {"code": -32601, "message": "no"}
        body = json.dumps(answer).encode() if "id" in message else b""
        self.send_response(status if body else 202)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
ThreadingHTTPServer(("127.0.0.1", PORT), Server).serve_forever()
"#;

#[test]
fn a_package_over_http_gets_its_headers_and_a_short_secret_hides_no_words() {
    let held = HeldPort::new();
    let port = held.number();
    let project = Project::empty();
    project.write("server.py", SERVER.replace("PORT", &port.to_string()));
    let npx = project.script("bin/npx", "#!/bin/sh\nexec python3 server.py\n");
    let definition = json!({
        "name": "io.example/x", "description": "d", "version": "1.0.0",
        "packages": [{
            "registryType": "npm", "identifier": "x-mcp", "version": "1.0.0",
            "transport": {"type": "streamable-http", "url": format!("http://127.0.0.1:{port}/mcp"), "headers": [
                {"name": "X-Api-Key", "isRequired": true, "isSecret": true},
                {"name": "X-Mode", "value": "fast"},
            ]},
            "packageArguments": [{"type": "named", "name": "--local-timezone", "isRequired": true}],
            "environmentVariables": [{"name": "PIN", "isRequired": true, "isSecret": true}],
        }],
    });
    project.write("server.json", definition.to_string());
    let bin = npx.parent().unwrap().display().to_string();
    let path = format!("{bin}:{}", std::env::var("PATH").unwrap());
    let jelly = |args: &[&str], pin: &str| -> Ended {
        let call = project.jelly(args).env("PATH", &path).env("PIN", pin);
        call.env("X_API_KEY", if pin.is_empty() { "" } else { "abc-123-xyz" })
            .output()
    };
    let ended = jelly(&["init", "server.json"], "");
    assert_eq!(ended.code, Some(2), "{}", ended.stderr);
    for missing in ["--local-timezone", "PIN", "X-Api-Key"] {
        assert!(
            ended.stderr.contains(missing),
            "{missing}: {}",
            ended.stderr
        );
    }
    let ended = jelly(&["init", "server.json", "--arg", "local_timezone=UTC"], "x");
    assert_eq!(ended.code, Some(0), "{}{}", ended.stdout, ended.stderr);
    let left_out = "the tool `get-[secret X_API_KEY]` is left out: its name contains a secret";
    assert!(ended.stderr.contains(left_out), "{}", ended.stderr);
    let plan = project.read("plans/x.yaml");
    for line in [
        r#"package_args: { "--local-timezone": UTC }"#,
        r#"headers: { X-Api-Key: "${secret:X_API_KEY}", X-Mode: fast }"#,
        "tool: get_text\n",
        "# The tool `get-[secret X_API_KEY]` is left out",
    ] {
        assert!(plan.contains(line), "{line} in\n{plan}");
    }
    assert!(!plan.contains("[secret PIN]"), "{plan}");
    let run = jelly(&["run", "plans/x.yaml"], "x");
    assert_eq!(run.code, Some(0), "{}", run.stdout);
}

/// Ends unless it is given the token.
const TOKENED: &str = r#"
import json, sys
if "swordfish-77" not in " ".join(sys.argv): sys.exit("no token")
for line in sys.stdin:
    message = json.loads(line)
    answer = {"jsonrpc": "2.0", "id": message.get("id")}
    if message["method"] == "initialize":
        answer["result"] = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "x", "version": "1"}}
    elif message["method"] == "tools/list":
        answer["result"] = {"tools": [{"name": "get_text", "inputSchema": {"type": "object"}}]}
    elif message["method"] == "tools/call":
        answer["result"] = {"content": [{"type": "text", "text": "next"}]}
    else:
        answer["error"] = {"code": -32601, "message": "no"}
    if "id" in message: print(json.dumps(answer), flush=True)
"#;

#[test]
fn a_value_that_names_a_variable_reaches_the_server_and_stays_a_name_in_the_plan() {
    let project = Project::empty();
    let server = project.write("server.py", TOKENED).display().to_string();
    let npx = format!("#!/bin/sh\nshift 2\nexec python3 {server} \"$@\"\n");
    let npx = project.script("bin/npx", &npx);
    let definition = json!({
        "name": "io.example/x", "description": "d", "version": "1.0.0",
        "packages": [{
            "registryType": "npm", "identifier": "x-mcp", "version": "1.0.0",
            "transport": {"type": "stdio"},
            "packageArguments": [{"type": "named", "name": "--token", "isRequired": true}],
        }],
    });
    project.write("server.json", definition.to_string());
    let config = json!({
        "inputs": [{"id": "token", "type": "promptString", "description": "d"}],
        "servers": {"x": {"command": "python3", "args": [server, "${input:token}"]}},
    });
    project.write(".vscode/mcp.json", config.to_string());
    let bin = npx.parent().unwrap().display().to_string();
    let path = format!("{bin}:{}", std::env::var("PATH").unwrap());
    for (name, args) in [
        ("--token", &["init", "server.json", "-o", "-"][..]),
        (
            "token",
            &["init", "--config", ".vscode/mcp.json", "-o", "-"],
        ),
    ] {
        let given = format!("{name}=${{secret:TOKEN}}");
        let args: Vec<&str> = args.iter().copied().chain(["--arg", &given]).collect();
        let ended = project
            .jelly(&args)
            .env("PATH", &path)
            .env("TOKEN", "swordfish-77")
            .output();
        assert_eq!(ended.code, Some(0), "{}{}", ended.stdout, ended.stderr);
        assert!(ended.stdout.contains("${secret:TOKEN}"), "{}", ended.stdout);
        assert!(!ended.stdout.contains("swordfish"), "{}", ended.stdout);
        let ended = project.jelly(&args).env("PATH", &path).output();
        assert_eq!(ended.code, Some(2), "{}{}", ended.stdout, ended.stderr);
        assert!(
            ended.stderr.contains("`TOKEN` is not set"),
            "{}",
            ended.stderr
        );
    }
}

#[test]
fn a_typed_secret_stands_in_no_plan_however_common_its_value_is() {
    let project = Project::empty();
    let server = project.write("server.py", TOKENED).display().to_string();
    let args = [
        "init",
        "-o",
        "-",
        "-e",
        "API_KEY=test",
        "-e",
        "MODE=test",
        "--",
        "python3",
    ];
    let args: Vec<&str> = args
        .into_iter()
        .chain([server.as_str(), "swordfish-77"])
        .collect();
    let ended = project.jelly(&args).output();
    assert_eq!(ended.code, Some(0), "{}{}", ended.stdout, ended.stderr);
    let env = r#"env: { API_KEY: "${secret:API_KEY}", MODE: test }"#;
    assert!(ended.stdout.contains(env), "{}", ended.stdout);
}

#[test]
fn the_password_of_a_url_stands_in_no_plan_however_short_it_is() {
    let project = Project::empty();
    let server = project.write("server.py", TOKENED).display().to_string();
    let args = [
        "init",
        "--name",
        "x",
        "-o",
        "-",
        "-e",
        "DATABASE_URL=postgres://u:pw@h/db",
        "--",
        "python3",
        &server,
        "swordfish-77",
        "--db=redis://u:abc@h/0",
        "abcd",
    ];
    let ended = project.jelly(&args).output();
    assert_eq!(ended.code, Some(0), "{}{}", ended.stdout, ended.stderr);
    for said in [
        r#"env: { DATABASE_URL: "${secret:DATABASE_URL}" }"#,
        "--db=redis://u:${secret:SERVER_SECRET}@h/0",
        "abcd",
    ] {
        assert!(ended.stdout.contains(said), "{said}: {}", ended.stdout);
    }
}

#[test]
fn a_reference_that_was_typed_stays_the_one_it_is() {
    let project = Project::empty();
    let server = project.write("server.py", TOKENED).display().to_string();
    let config = json!({
        "inputs": [{"id": "tok", "type": "promptString", "description": "d", "password": true}],
        "servers": {"x": {"command": "python3", "args": [server, "${input:tok}"]}},
    });
    project.write(".vscode/mcp.json", config.to_string());
    let command = ["init", "-o", "-", "--", "python3", &server];
    let given = "tok=${secret:V}";
    let config = [
        "init",
        "-o",
        "-",
        "--config",
        ".vscode/mcp.json",
        "--arg",
        given,
    ];
    for (args, wanted, other) in [
        (
            [&command[..], &["${secret:V}", "--token", "${env:PLACE}"]].concat(),
            "${env:PLACE}",
            "${secret:PLACE}",
        ),
        (config.to_vec(), "${secret:V}", "TOK"),
    ] {
        let ended = project
            .jelly(&args)
            .env("V", "swordfish-77")
            .env("PLACE", "/srv/place")
            .output();
        assert_eq!(ended.code, Some(0), "{}{}", ended.stdout, ended.stderr);
        let plan = &ended.stdout;
        assert!(plan.contains(wanted) && !plan.contains(other), "{plan}");
        assert!(!plan.contains("swordfish"), "{plan}");
    }
}

#[test]
fn a_secret_that_a_shells_line_spells_with_escapes_is_set_as_it_is() {
    for spelled in [
        r"SRV_TOKEN=swordfish-77\ z python3",
        r"export SRV_TOKEN=swordfish-77' z'; exec python3",
        r#"SRV_TOKEN="swordfish-77 "z python3"#,
    ] {
        let project = Project::empty();
        let server = TOKENED.replace(
            r#""swordfish-77" not in " ".join(sys.argv)"#,
            r#"__import__("os").environ.get("SRV_TOKEN") != "swordfish-77 z""#,
        );
        let server = project.write("server.py", server).display().to_string();
        let line = format!("{spelled} {server}");
        let ended = project.jelly(&["init", "--", "sh", "-c", &line]).output();
        assert_eq!(ended.code, Some(0), "{}{}", ended.stdout, ended.stderr);
        let plan = project.read("plans/x.yaml");
        assert!(plan.contains("SRV_TOKEN='${secret:SRV_TOKEN}'"), "{plan}");
        assert!(!plan.contains("swordfish"), "{plan}");
        let run = project.jelly(&["run", "plans/x.yaml"]);
        let run = run.env("SRV_TOKEN", "swordfish-77 z").output();
        assert_eq!(run.code, Some(0), "{}{}", run.stdout, run.stderr);
    }
}
