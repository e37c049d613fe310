//! Client, proxy or server killed at any moment, over many calls: nobody is
//! left, no file is half written, and no call is executed twice.

use crate::proxy::python_server;
use crate::support::{Project, procs};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

const JELLY: &str = env!("CARGO_BIN_EXE_jelly");

/// Who may be killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Victim {
    Client,
    /// One of its processes.
    Proxy,
    Server,
}

impl Victim {
    /// Nobody, of what an interpreter's own start may need.
    fn of(argv: &str) -> Option<Self> {
        match argv {
            argv if argv.starts_with(JELLY) => Some(Self::Proxy),
            argv if argv.contains("client.py") => Some(Self::Client),
            argv => argv.contains("count.py").then_some(Self::Server),
        }
    }
}

/// The latest moment, in milliseconds: in it a debug build starts and passes
/// some hundred calls.
const LATEST: u64 = 600;

/// Notes each call before it answers.
const COUNTS: &str = r#"
if method == "initialize": opened(message)
elif method == "tools/list": answer(message, {"tools": [{"name": "count", "inputSchema": {"type": "object"},
    "outputSchema": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}}]})
elif method == "tools/call":
    n = message["params"]["arguments"]["n"]
    with open(os.path.join(os.path.dirname(__file__), "calls"), "a") as calls: calls.write(f"{n}\n")
    answer(message, {"content": [{"type": "text", "text": json.dumps({"n": n})}]})"#;

/// Has three calls on the way all the time, and notes what comes of each, until
/// there is a file `stop`.
const CLIENT: &str = r#"import json, os, subprocess, sys, time
here = os.path.dirname(os.path.abspath(__file__))
answers = open(os.path.join(here, "answers"), "a")
proxy = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
last = 0
def send(method, params, **id):
    line = json.dumps({"jsonrpc": "2.0", "method": method, "params": params, **id})
    proxy.stdin.write(line.encode() + b"\n"); proxy.stdin.flush()
def ask(method, params):
    global last
    last += 1
    send(method, params, id=last)
def call(): ask("tools/call", {"name": "count", "arguments": {"n": last + 1}})
def open_it(): ask("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "kills", "version": "1"}})
is_open, listing = False, None
try:
    open_it()
    for line in proxy.stdout:
        message = json.loads(line)
        if "id" not in message or "method" in message: continue
        if os.path.exists(os.path.join(here, "stop")): break
        if message["id"] == listing: continue
        if is_open:
            said = "ok" if "result" in message else "told"
            answers.write(f"{said} {message['id']}\n"); answers.flush()
            call()
        elif "result" in message:
            is_open = True
            send("notifications/initialized", {})
            ask("tools/list", {})
            listing = last
            call(); call(); call()
        else:
            time.sleep(0.05)
            open_it()
except OSError: pass
try: proxy.stdin.close()
except OSError: pass
proxy.stdout.read()
proxy.wait()
"#;

#[test]
fn twenty_kills_leave_nobody_nothing_half_written_and_no_call_twice() {
    kills(20, 1);
}

#[test]
#[ignore = "minutes; .ci/full runs it"]
fn two_hundred_kills_leave_nobody_nothing_half_written_and_no_call_twice() {
    let seed = std::env::var("KILLS_SEED").ok();
    kills(200, seed.map_or(2, |seed| seed.parse().expect("a number")));
}

fn kills(many: u64, seed: u64) {
    let next = AtomicU64::new(0);
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= many {
                        break;
                    }
                    kill_once(seed, number);
                }
            });
        }
    });
}

/// Of any number, one that tells nothing of it.
fn scattered(number: u64) -> u64 {
    let mut z = number.wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

fn kill_once(seed: u64, number: u64) {
    let random = scattered(scattered(seed) ^ number);
    let victims = [Victim::Client, Victim::Proxy, Victim::Server];
    let victim = victims[usize::try_from(random % 3).unwrap()];
    let moment = Duration::from_micros(random / 3 % (LATEST * 1000));
    let what = format!("seed {seed}, kill {number}: {victim:?} after {moment:?}");

    let project = Project::empty();
    let server = python_server(&project, "count.py", COUNTS);
    let client = project.write("client.py", CLIENT);
    let client = client.display().to_string();
    let call = project.wrapped("python3", &[&client]);
    let call = call.args(&["proxy", "--record-to", "wire.jsonl", "--schema-store"]);
    let call = call.args(&["store.json", "--", "python3", &server]);
    let running = procs::marked(&project, call).start();

    // The moment itself, and no wait for anything.
    thread::sleep(moment);
    let alive = procs::alive(&project);
    let of_kind = alive
        .iter()
        .filter(|proc| Victim::of(&proc.argv) == Some(victim));
    // The server may not be there yet.
    let of_kind: Vec<u32> = of_kind.map(|proc| proc.pid).collect();
    let chosen = of_kind.get(usize::try_from(random >> 40).unwrap() % of_kind.len().max(1));
    let answered = || project.exists("answers").then(|| project.read("answers"));
    if let Some(pid) = chosen {
        let pid = Pid::from_raw(i32::try_from(*pid).unwrap()).unwrap();
        // It may have ended by itself meanwhile: a start takes several processes.
        let _ = kill_process(pid, Signal::KILL);
    }
    if victim == Victim::Server || chosen.is_none() {
        // The others go on.
        let before = answered().unwrap_or_default().lines().count();
        procs::until(&format!("answers go on: {what}"), || {
            let answers = answered()?;
            let more = answers.lines().skip(before + 3);
            more.filter(|line| line.starts_with("ok"))
                .nth(5)
                .map(|_| ())
        });
    }
    project.write("stop", "");
    running.wait();
    procs::none_within(&project, Duration::from_secs(5));

    // A line that its writer was killed over is none.
    let whole = |name: &str| -> Vec<String> {
        let text = project.exists(name).then(|| project.read(name));
        let text = text.unwrap_or_default();
        let end = text.rfind('\n').map_or(0, |feed| feed + 1);
        text[..end].lines().map(str::to_owned).collect()
    };
    let calls = whole("calls");
    let executed: BTreeSet<&str> = calls.iter().map(String::as_str).collect();
    assert_eq!(calls.len(), executed.len(), "{what}: executed twice");
    let answers = whole("answers");
    let ids = answers.iter().filter_map(|line| line.split_once(' '));
    let told: BTreeSet<&str> = ids.clone().map(|(_, id)| id).collect();
    assert_eq!(answers.len(), told.len(), "{what}: answered twice");
    for (said, id) in ids {
        assert!(
            said != "ok" || executed.contains(id),
            "{what}: {id} was answered, and never executed"
        );
    }
    files_are_whole(&project, &what);
}

#[track_caller]
fn files_are_whole(project: &Project, what: &str) {
    for entry in fs::read_dir(project.dir()).unwrap().flatten() {
        let name = entry.file_name().into_string().unwrap();
        let json = |text: &str| {
            let read = serde_json::from_str::<Value>(text);
            assert!(read.is_ok(), "{what}: {name} is half written: {text}");
        };
        match name.as_str() {
            "wire.jsonl" => {
                let text = project.read(&name);
                assert!(text.is_empty() || text.ends_with('\n'), "{what}: {name}");
                text.lines().for_each(json);
            }
            // Beside it: between two system calls of a writer that was killed.
            "store.json" | "store.json.new" => json(&project.read(&name)),
            "client.py" | "count.py" | "calls" | "answers" | "stop" => {}
            lock if lock.starts_with("store.json") && lock.ends_with("lock") => {}
            other => panic!("{what}: {other} is left"),
        }
    }
}
