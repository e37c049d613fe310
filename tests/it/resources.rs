//! What the system may refuse: threads, processes, descriptors, room in a file,
//! a folder for what is temporary. Each ends in a sentence that names it.

use crate::support::{Call, Ended, Project};
use std::time::Duration;

/// Longer than any of these calls may take.
const LIMIT: Duration = Duration::from_secs(30);

/// Runs what follows with fewer means: `nofile N`, `fsize N`, or `threads`, by
/// a filter of system calls, since a limit of processes holds of no root.
const WITHOUT: &str = r#"
import ctypes, os, platform, resource, struct, sys
kind, number, command = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
if kind == "nofile":
    resource.setrlimit(resource.RLIMIT_NOFILE, (number, number))
elif kind == "fsize":
    resource.setrlimit(resource.RLIMIT_FSIZE, (number, number))
else:
    clone = {"x86_64": 56, "aarch64": 220}[platform.machine()]
    refuse = lambda errno: (0x06, 0, 0, 0x00050000 | errno)
    program = [
        (0x20, 0, 0, 0),            # the system call's number
        (0x15, 0, 1, 435),          # clone3: not known, so that clone is tried
        refuse(38),
        (0x15, 0, 3, clone),
        (0x20, 0, 0, 16),           # its flags
        (0x45, 0, 1, 0x00010000),   # a thread
        refuse(11),
        (0x06, 0, 0, 0x7fff0000),
    ]
    code = b"".join(struct.pack("HBBI", *line) for line in program)
    buffer = ctypes.create_string_buffer(code)
    class Program(ctypes.Structure):
        _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_void_p)]
    libc = ctypes.CDLL(None, use_errno=True)
    assert libc.prctl(38, 1, 0, 0, 0) == 0
    filter = Program(len(program), ctypes.addressof(buffer))
    assert libc.prctl(22, 2, ctypes.byref(filter), 0, 0) == 0, ctypes.get_errno()
os.execv(command[0], command)
"#;

const PLAN: &str = "version: 1
servers: { s: { command: jelly, args: [mock, --tool, say=hi] } }
steps: [ { id: a, tool: say, expect: { text: { equals: hi } } } ]
";

fn project() -> Project {
    let project = Project::with(PLAN);
    project.write("without.py", WITHOUT);
    project.write(
        "mcp.json",
        r#"{ "mcpServers": { "s": { "command": "jelly", "args": ["mock"] } } }"#,
    );
    std::fs::create_dir(project.path("temporary")).unwrap();
    project
}

/// Calls jelly with fewer means. Whatever it ends with, it does so in time, with
/// a sentence of its own and without leaving anything.
#[track_caller]
fn without(project: &Project, what: &[&str], args: &[&str]) -> Ended {
    let mut means = vec!["without.py"];
    means.extend(what);
    let ended = Call::by(project, "python3", &means)
        .args(args)
        .env("TMPDIR", project.path("temporary"))
        .limit(LIMIT)
        .output();
    let said = format!("{what:?} {args:?}: {}\n{}", ended.stdout, ended.stderr);
    assert!(
        !said.contains("panicked") && !said.contains("stack backtrace"),
        "{said}"
    );
    let left = std::fs::read_dir(project.path("temporary"))
        .unwrap()
        .count();
    assert_eq!(left, 0, "{said}");
    ended
}

#[test]
fn without_threads_every_command_ends_in_a_sentence() {
    let project = project();
    for args in [
        &["run", "plan.yaml"] as &[&str],
        &["doctor", "mcp.json"],
        &["init", "--", "jelly", "mock"],
    ] {
        let ended = without(&project, &["threads", "0"], args);
        assert_eq!(ended.code, Some(70), "{args:?}: {}", ended.stderr);
        assert!(
            ended.stderr.contains("failed to start a thread"),
            "{}",
            ended.stderr
        );
        assert!(ended.stderr.contains("ulimit -u"), "{}", ended.stderr);
    }
}

#[test]
#[ignore = "takes long: `.ci/full` runs it"]
fn with_few_descriptors_a_run_ends_in_a_sentence_or_is_green() {
    let project = project();
    let mut codes = Vec::new();
    for most in [6, 8, 10, 12, 14, 16, 18, 20, 24, 28, 32, 48] {
        let ended = without(
            &project,
            &["nofile", &most.to_string()],
            &["run", "plan.yaml", "--retries=0"],
        );
        let said = format!("{}{}", ended.stdout, ended.stderr).to_lowercase();
        match ended.code {
            Some(0) => {}
            Some(3 | 70) => assert!(said.contains("too many open files"), "{most}: {said}"),
            code => panic!("{most}: {code:?}: {said}"),
        }
        codes.push(ended.code);
    }
    assert_eq!(codes.first(), Some(&Some(70)));
    assert_eq!(codes.last(), Some(&Some(0)));
}

#[test]
fn a_report_that_is_too_large_is_no_end_of_jelly_and_hides_no_code_failure() {
    let project = project();
    let ended = without(&project, &["fsize", "100"], &["run", "plan.yaml"]);
    assert_eq!(ended.code, Some(3), "{}", ended.stderr);
    assert!(ended.stdout.contains("File too large"), "{}", ended.stdout);

    project.write("plan.yaml", PLAN.replace("equals: hi", "equals: ho"));
    let ended = without(&project, &["fsize", "100"], &["run", "plan.yaml"]);
    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    assert!(ended.stdout.contains("File too large"), "{}", ended.stdout);
}

#[test]
fn a_missing_tmpdir_is_named() {
    let project = project();
    project.write(
        "plan.yaml",
        PLAN.replace("say=hi", "say=hi, --files, \"${tmp}\""),
    );
    let ended = project
        .jelly(&["run", "plan.yaml"])
        .env("TMPDIR", "/nonexistent/temporary")
        .limit(LIMIT)
        .output();
    assert_eq!(ended.code, Some(3), "{}", ended.stderr);
    for told in ["/nonexistent/temporary", "TMPDIR"] {
        assert!(ended.stdout.contains(told), "{}", ended.stdout);
    }
    let results = project.read("reports/latest/results.json");
    let results: serde_json::Value = serde_json::from_str(&results).unwrap();
    let problems = results["help_summary"]["problems"].as_array().unwrap();
    assert_eq!(problems.len(), 1, "{problems:#?}");
    let failure = &results["iterations"][0]["failures"][0];
    assert_eq!(failure["diagnosis"]["rule"], "files/no-temporary-folder");
}

// Other systems execute what is being written.
#[cfg(target_os = "linux")]
#[test]
fn a_server_that_is_being_written_is_tried_again_and_named() {
    let project = project();
    project.write(
        "plan.yaml",
        "version: 1\nservers: { s: { command: ./server } }\nsteps: [{ id: a, tool: echo }]\n",
    );
    let server = project.path("server");
    std::fs::copy(env!("CARGO_BIN_EXE_jelly"), &server).unwrap();
    let writer = std::fs::OpenOptions::new()
        .append(true)
        .open(&server)
        .unwrap();
    let ended = project.jelly(&["run", "plan.yaml"]).limit(LIMIT).output();
    drop(writer);
    assert_eq!(ended.code, Some(3), "{}", ended.stderr);
    let told = "./server is being written while it should start";
    assert!(ended.stdout.contains(told), "{}", ended.stdout);
    let results = project.read("reports/latest/results.json");
    let results: serde_json::Value = serde_json::from_str(&results).unwrap();
    let iterations = results["iterations"].as_array().unwrap();
    assert!(iterations.len() > 1, "it may pass on a rerun");
    let failure = &iterations[0]["failures"][0];
    assert_eq!(failure["diagnosis"]["rule"], "process/being-written");
}
