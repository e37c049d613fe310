//! What a server logs by notifications, before it is ready and while a call waits: evidence, and
//! help, as what it writes to stderr is.

use crate::support::{Project, python};
use serde_json::json;

/// A server that logs this in answer to the first message, and then does `end`.
fn logs_at_start(said: &str, end: &str) -> String {
    let record = json!({
        "jsonrpc": "2.0", "method": "notifications/message",
        "params": { "level": "error", "data": said },
    });
    python(&format!("read()\nsend({record})\n{end}"))
}

const NO_KEY: &str = "ACME_API_KEY is not set; get one at https://acme.test/keys";
const NO_FILE: &str = "SQLITE_CANTOPEN: unable to open database file /data/x.db";

#[test]
fn what_a_server_logs_before_it_is_ready_is_why_it_is_not() {
    let dies = logs_at_start(NO_KEY, "sys.exit(1)");
    let hangs = logs_at_start(NO_FILE, "time.sleep(60)").replacen('{', "{ startup_timeout: 3s,", 1);
    let plan = format!(
        "version: 1\nservers:\n  dies: {dies}\n  hangs: {hangs}\nsteps:\n\
         \x20 - {{ id: a, server: dies, tool: work }}\n\
         \x20 - {{ id: b, server: hangs, tool: work }}\n"
    );
    let run = Project::with(&plan).run(&["--max-iterations", "1"]);
    run.ends(3, "needs_user_help");
    for (server, cause, said) in [
        ("dies", "missing_env_var", NO_KEY),
        ("hangs", "missing_directory", NO_FILE),
    ] {
        let failure = run.last().failure(server).clone();
        let diagnosis = &failure["diagnosis"];
        assert_eq!(diagnosis["root_cause"], cause, "{failure:#}");
        assert_eq!(diagnosis["evidence"]["field"], "logs", "{failure:#}");
        assert_eq!(diagnosis["evidence"]["text"], said, "{failure:#}");
    }
    assert!(run.stdout.contains(NO_KEY), "{}", run.stdout);
}

#[test]
fn doctor_reads_what_a_server_logs_before_it_dies() {
    let project = Project::empty();
    let record = json!({
        "jsonrpc": "2.0", "method": "notifications/message",
        "params": { "level": "error", "data": NO_KEY },
    });
    let script = format!("read line\ncat <<'END'\n{record}\nEND\nexit 1\n");
    project.write("s.sh", script);
    let servers =
        json!({ "mcpServers": { "s": { "command": "sh", "args": [project.at("s.sh")] } } });
    project.write("mcp.json", servers.to_string());
    let ended = project
        .jelly(&["doctor", "mcp.json", "--format", "json"])
        .output();
    let report: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
    let diagnosis = &report["servers"][0]["diagnosis"];
    assert_eq!(diagnosis["root_cause"], "missing_env_var", "{report:#}");
    assert_eq!(diagnosis["evidence"]["text"], NO_KEY, "{report:#}");
}

#[test]
fn a_call_that_hangs_is_told_by_what_it_logs_meanwhile() {
    let tell = |said: &str| {
        format!(
            "send({{'jsonrpc': '2.0', 'method': 'notifications/message', \
             'params': {{'level': 'warning', 'data': '{said}'}}}})"
        )
    };
    let again = tell("Connect call failed (127.0.0.1, 5999)");
    let once = tell("reading the depot");
    let server = |body: &str| {
        let call = format!("def call(message):\n    {body}\n    time.sleep(60)\nserve(call)");
        python(&call).replacen('{', "{ request_timeout: 1s,", 1)
    };
    let plan = format!(
        "version: 1\nservers:\n  again: {}\n  once: {}\nsteps:\n\
         \x20 - {{ id: a, server: again, tool: work }}\n\
         \x20 - {{ id: b, server: once, tool: work }}\n",
        server(&format!("{again}\n    {again}\n    {again}")),
        server(&once)
    );
    let run = Project::with(&plan).run(&["--max-iterations", "1"]);
    run.ends(3, "needs_user_help");
    let again = run.last().failure("a").clone();
    assert_eq!(
        again["diagnosis"]["root_cause"], "connection_refused",
        "{again:#}"
    );
    assert_eq!(again["diagnosis"]["evidence"]["field"], "logs");
    let once = run.last().failure("b").clone();
    assert_eq!(once["diagnosis"]["root_cause"], "call_timeout", "{once:#}");
    let advice = once["diagnosis"]["advice"].to_string();
    assert!(advice.contains("reading the depot"), "{advice}");
    assert!(!advice.contains("stderr"), "it wrote nothing: {advice}");
}

/// A tool that ends the program, while a thread that reads keeps the process until the call
/// is given up: as servers on Python's SDK do.
#[test]
fn a_server_that_goes_when_its_call_is_given_up_has_ended_in_it() {
    let server = |last_words: &str| {
        python(&format!(
            r#"
def call(message):
    while (message := read()) is not None:
        if message.get("method") == "notifications/cancelled":
            sys.stderr.write({last_words:?})
            sys.stderr.flush()
            os._exit(3)
serve(call, tools=("work", "leave"))
"#
        ))
    };
    let run = |last_words: &str| {
        let server = server(last_words);
        let plan = format!(
            "version: 1\nservers: {{ s: {server} }}\nsteps:\n  - {{ id: a, tool: leave, timeout: 700ms }}\n"
        );
        Project::with(&plan).run(&["--retries", "0", "--no-repair"])
    };
    let told = run(
        "Traceback (most recent call last):\n  File \"s.py\", line 9, in leave\n    sys.exit(3)\nSystemExit: 3\n",
    );
    let failure = told.iteration(1).failure("a");
    assert_eq!(failure["diagnosis"]["root_cause"], "crashed_during_call");
    assert_eq!(failure["exit"]["code"], 3);
    let message = failure["message"].as_str().unwrap();
    assert!(
        message.ends_with("and then the server exited with code 3"),
        "{message}"
    );

    let silent = run("");
    silent.ends(3, "needs_user_help");
    let failure = silent.last().failure("a");
    assert_eq!(failure["diagnosis"]["rule"], "timeout/call-and-gone");
    let what = failure["diagnosis"]["advice"]["what"].as_str().unwrap();
    assert!(
        what.contains("went when the call was given up (exit code 3)"),
        "{what}"
    );
    assert!(
        silent.iteration(1).failures().len() == 1,
        "one death is one failure"
    );
}
