//! `jelly serve`: what it may read and start, and what a client can't do to it.

use crate::support::agent::Agent;
use crate::support::{Project, procs};
use serde_json::json;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::symlink;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

/// A plan whose server never answers.
const SLOW: &str = "\
version: 1
name: slow
servers:
  mute: { command: sleep, args: [\"300\"], startup_timeout: 100s }
steps:
  - { id: a, server: mute, list: tools }
";

const GONE: Duration = Duration::from_secs(20);

#[test]
fn nothing_outside_of_the_allowed_folders_is_read() {
    let project = Project::with(SLOW);
    project.write("../secret.yaml", "hunter2: [");
    project.write("sub/r.xml", "<testsuite/>");
    symlink(project.path("../secret.yaml"), project.path("link.yaml")).unwrap();
    symlink(project.path(".."), project.path("up")).unwrap();
    symlink("/etc", project.path("sub/etc")).unwrap();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        project.path("pipe.xml"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RWXU,
        0,
    )
    .unwrap();
    let mut agent = Agent::start(&project, &["--allow-run"]);
    let outside = project.at("../secret.yaml");
    let cases = [
        ("../secret.yaml", "bad_path"),
        ("sub/../../secret.yaml", "bad_path"),
        (outside.as_str(), "not_allowed"),
        ("link.yaml", "not_allowed"),
        ("up/secret.yaml", "not_allowed"),
        ("/etc/passwd", "not_allowed"),
        ("/dev/zero", "not_allowed"),
        ("sub", "not_a_file"),
        ("pipe.xml", "not_a_file"),
        ("", "bad_path"),
    ];
    for (path, kind) in cases {
        let calls = [
            ("check_plan", json!({"path": path})),
            ("run_plan", json!({"path": path})),
            ("doctor", json!({"path": path})),
            (
                "triage_report",
                json!({"paths": ["sub/r.xml"], "baseline": path}),
            ),
        ];
        for (tool, arguments) in calls {
            let refused = agent.refusal(tool, arguments);
            assert_eq!(refused["kind"], kind, "{tool} {path:?}: {refused}");
            assert!(!refused.to_string().contains("hunter2"));
        }
        if path != "sub" {
            let refused = agent.refusal("triage_report", json!({"paths": [path]}));
            assert_eq!(refused["kind"], kind, "{path:?}: {refused}");
        }
    }
    for pattern in [
        "/etc/*",
        "../*",
        "up/*.yaml",
        "link.*",
        "/etc/**/*.xml",
        "pipe*",
    ] {
        agent.refusal("triage_report", json!({"paths": [pattern]}));
    }
    // Another folder can be allowed.
    let dir = project.at("sub");
    let mut narrow = Agent::start(&project, &["--allow", &dir]);
    assert_eq!(
        narrow.refusal("check_plan", json!({"path": "plan.yaml"}))["kind"],
        "not_allowed"
    );
    narrow.call("triage_report", json!({"paths": ["sub/r.xml"]}));
}

#[test]
fn what_starts_processes_has_to_be_allowed() {
    let project = Project::with(SLOW);
    let touch = project.script("touch.sh", "#!/bin/sh\ntouch started\nexit 1\n");
    let config = json!({"mcpServers": {"a": {"command": touch}}});
    project.write(".mcp.json", config.to_string());
    project.write(
        "hooked.yaml",
        SLOW.replace("servers:", "hooks: { fix_tests: [./touch.sh] }\nservers:"),
    );
    let mut agent = Agent::start(&project, &[]);
    let refused = agent.refusal("run_plan", json!({"path": "plan.yaml"}));
    assert_eq!(refused["kind"], "not_allowed");
    assert!(
        refused["next"].as_str().unwrap().contains("--allow-run"),
        "{refused}"
    );
    for arguments in [json!({}), json!({"path": ".mcp.json"})] {
        let looked = agent.tool("doctor", arguments);
        assert_eq!(looked["started"], false);
        assert_eq!(looked["servers"][0]["name"], "a");
    }
    assert!(!project.exists("started"));
    let mut agent = Agent::start(&project, &["--allow-run"]);
    assert_eq!(agent.tool("doctor", json!({}))["started"], false);
    assert!(!project.exists("started"));
    let run = agent.tool("run_plan", json!({"path": "hooked.yaml"}));
    assert_eq!(run["verdict"], "invalid_input", "{run}");
    let told = run.to_string();
    assert!(
        told.contains("fix_tests") && told.contains("jelly serve --allow-hooks"),
        "{run}"
    );
    assert!(!project.exists("started"));
    assert_eq!(
        agent.tool("doctor", json!({"path": ".mcp.json"}))["started"],
        true
    );
    assert!(project.exists("started"));
    assert!(agent.close().success());
}

#[test]
fn doctor_reads_no_home_folder() {
    let project = Project::empty();
    let mut agent = Agent::start(&project, &[]);
    let refused = agent.refusal("doctor", json!({}));
    assert_eq!(refused["kind"], "no_configuration");
}

#[test]
fn a_report_of_a_gigabyte_is_refused() {
    let project = Project::empty();
    let file = File::create(project.path("huge.xml")).unwrap();
    file.set_len(1 << 30).unwrap();
    let mut agent = Agent::start(&project, &[]);
    for paths in [json!(["huge.xml"]), json!(["*.xml"])] {
        let refused = agent.refusal("triage_report", json!({"paths": paths}));
        assert_eq!(refused["kind"], "too_large", "{refused}");
        assert!(
            refused["what"].as_str().unwrap().contains("1073741824"),
            "{refused}"
        );
    }
}

#[test]
fn a_cancelled_call_stops_its_run_and_its_servers() {
    let project = Project::with(SLOW);
    let mut agent = Agent::start(&project, &["--allow-run"]);
    let id = agent.send(
        "tools/call",
        json!({"name": "run_plan", "arguments": {"path": "plan.yaml"}}),
    );
    procs::until("the run with its server", || {
        (procs::alive(&project).len() >= 5).then_some(())
    });
    agent.write(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}}));
    // The server itself, which is two processes, stays.
    procs::until("the end of the run", || {
        (procs::alive(&project).len() <= 2).then_some(())
    });
    let runs = agent.tool("list_runs", json!({}));
    let ended = json!({"run_id": runs["runs"][0]["run_id"], "wait_s": 20});
    assert_eq!(agent.tool("run_status", ended)["verdict"], "interrupted");
}

#[test]
fn runs_beyond_the_limit_are_refused_and_all_end_with_the_client() {
    let project = Project::with(SLOW);
    let mut agent = Agent::start(&project, &["--allow-run"]);
    let start = json!({"path": "plan.yaml", "wait_s": 0});
    let ids: Vec<_> = (0..4)
        .map(|_| agent.tool("run_plan", start.clone())["run_id"].clone())
        .collect();
    let refused = agent.refusal("run_plan", start.clone());
    assert_eq!(refused["kind"], "busy");
    let stopped = agent.tool("cancel_run", json!({"run_id": ids[0]}));
    assert_eq!(stopped["verdict"], "interrupted");
    assert_eq!(agent.tool("run_plan", start)["state"], "running");
    assert!(agent.close().success());
    procs::none_within(&project, GONE);
}

#[test]
fn no_server_outlives_a_killed_jelly() {
    let project = Project::with(SLOW);
    let mut agent = Agent::start(&project, &["--allow-run"]);
    agent.tool("run_plan", json!({"path": "plan.yaml", "wait_s": 0}));
    agent.kill();
    procs::none_within(&project, GONE);
}

#[test]
fn junk_and_huge_lines_are_passed_over() {
    let project = Project::with(SLOW);
    let mut agent = Agent::start(&project, &[]);
    agent.write_raw(b"junk\n\xff\xfe\x00\n{\"a\": 1}\n[]\n\n");
    let mut huge = b"{\"jsonrpc\": \"2.0\", \"id\": 9, \"method\": \"".to_vec();
    huge.resize(20_000_000, b'x');
    huge.push(b'\n');
    agent.write_raw(&huge);
    let checked = agent.tool("check_plan", json!({"path": "plan.yaml"}));
    assert_eq!(checked["exit_code"], 0);
    assert!(agent.close().success());
}

/// Of each process of a project, what it has used of the processors.
fn ticks(project: &Project) -> Vec<(u32, String)> {
    let of = |pid: u32| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let fields: Vec<&str> = stat.rsplit(')').next()?.split(' ').collect();
        Some((pid, fields.get(12..14)?.join(" ")))
    };
    let all = procs::alive(project);
    all.iter().filter_map(|proc| of(proc.pid)).collect()
}

/// It was found to take tens of thousands of requests, and to hold all the
/// answers.
#[test]
#[ignore = "takes long: `.ci/full` runs it"]
fn a_client_that_never_reads_is_read_no_further_until_it_does() {
    const REQUESTS: usize = 20_000;
    let project = Project::empty();
    let mut child = Command::new(env!("CARGO_BIN_EXE_jelly"))
        .arg("serve")
        .current_dir(project.dir())
        .env(procs::MARK, project.dir())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let written = Arc::new(AtomicUsize::new(0));
    let counter = written.clone();
    let asks = thread::spawn(move || {
        let opening = crate::support::client::opening();
        let hello = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": opening});
        let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        stdin.write_all(format!("{hello}\n{ready}\n").as_bytes())?;
        for tens in 0..REQUESTS / 10 {
            let text = (1..=10).fold(String::new(), |mut text, id| {
                let id = tens * 10 + id;
                let ask = r#""method":"resources/templates/list"}"#;
                writeln!(text, r#"{{"jsonrpc":"2.0","id":{id},{ask}"#).unwrap();
                text
            });
            stdin.write_all(text.as_bytes())?;
            counter.fetch_add(10, Ordering::Relaxed);
        }
        std::io::Result::Ok(stdin)
    });
    // It has come to rest when nothing has changed for many looks.
    let (mut last, mut same) = (None, 0);
    procs::until("it comes to rest", || {
        let now = Some((written.load(Ordering::Relaxed), ticks(&project)));
        same = if now == last { same + 1 } else { 0 };
        last = now;
        (same > 60).then_some(())
    });
    // What the pipes hold, and a few.
    let taken = written.load(Ordering::Relaxed);
    assert!((1..3000).contains(&taken), "{taken} requests");
    for process in procs::alive(&project) {
        let status = fs::read_to_string(format!("/proc/{}/status", process.pid)).unwrap();
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kibibytes = peak.unwrap().trim_end_matches("kB").trim();
        let kibibytes: usize = kibibytes.parse().unwrap();
        assert!(kibibytes < 64 * 1024, "{kibibytes} KiB");
    }
    // It reads after all, and nothing is lost.
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    let mut ids = BTreeSet::new();
    let mut line = String::new();
    while ids.len() <= REQUESTS {
        line.clear();
        assert!(stdout.read_line(&mut line).unwrap() > 0, "{}", ids.len());
        let answer: serde_json::Value = serde_json::from_str(&line).unwrap();
        assert!(answer["result"].is_object(), "{answer}");
        assert!(ids.insert(answer["id"].as_u64().unwrap()), "{answer}");
    }
    drop(asks.join().unwrap().unwrap());
    assert!(child.wait().unwrap().success());
    procs::none_within(&project, GONE);
}

#[test]
fn it_ends_well_whenever_its_client_goes() {
    let project = Project::with(SLOW);
    for words in ["", "junk\n", "{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\""] {
        let mut agent = Agent::silent(&project, &[]);
        agent.write_raw(words.as_bytes());
        assert!(agent.close().success(), "{words:?}");
    }
    procs::none_within(&project, GONE);
}

#[test]
fn a_plan_is_never_written() {
    let project = Project::with(
        "version: 1\nname: p\nservers:\n  m: { command: JELLY, args: [mock] }\nsteps:\n  - { id: a, server: m, tool: ech, args: { message: hi } }\n",
    );
    let plan = project
        .read("plan.yaml")
        .replace("JELLY", env!("CARGO_BIN_EXE_jelly"));
    fs::write(project.path("plan.yaml"), &plan).unwrap();
    let mut agent = Agent::start(&project, &["--allow-run"]);
    let run = agent.tool("run_plan", json!({"path": "plan.yaml"}));
    assert_eq!(run["verdict"], "passed_after_repair", "{run}");
    assert_eq!(project.read("plan.yaml"), plan);
}
