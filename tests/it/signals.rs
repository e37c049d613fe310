//! Whatever ends jelly, no process of its servers survives it; and a signal
//! leaves the reports of what was done.

use crate::support::{Call, Project, Run, Running, fixtures, procs, real};
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use serde_json::Value;
use std::time::Duration;

/// What the contract gives to the end of everything after a SIGKILL of jelly.
const AFTER_SIGKILL: Duration = Duration::from_secs(2);

/// A server that starts a child which leaves the session and ignores SIGTERM;
/// `stubborn` exists once it runs.
fn plan(project: &Project, faults: &[&str], step: &str) -> String {
    let mut args = vec!["mock".to_owned()];
    for fault in faults {
        args.push("--fault".to_owned());
        args.push(fault.replace("STUBBORN", &format!("{},setsid", project.at("stubborn"))));
    }
    let args = serde_json::to_string(&args).unwrap();
    format!(
        "version: 1\n\
         servers:\n  s: {{ command: jelly, args: {args}, startup_timeout: 50s, shutdown_timeout: 20s }}\n\
         steps:\n  - {{ id: first, tool: echo, args: {{ message: hi }} }}\n  - {step}\n"
    )
}

const LONG: &str = "{ id: long, tool: sleep, args: { ms: 50000 }, timeout: 55s }";
const SHORT: &str = "{ id: short, tool: echo, args: { message: hi } }";

fn project_with(faults: &[&str], step: &str) -> Project {
    let project = Project::empty();
    project.write("plan.yaml", plan(&project, faults, step));
    project
}

fn start(project: &Project, args: &[&str]) -> Running {
    procs::marked(project, project.call(args)).start()
}

/// Starts it and waits until the stubborn child runs.
fn start_until_stubborn(project: &Project) -> Running {
    let running = start(project, &[]);
    procs::until("a stubborn child", || {
        let text = std::fs::read_to_string(project.path("stubborn")).ok()?;
        text.trim().parse::<u32>().ok()
    });
    running
}

/// What is on disk by now.
fn results(project: &Project) -> Option<Value> {
    let text = std::fs::read_to_string(project.path("reports/latest/results.json")).ok()?;
    serde_json::from_str(&text).ok()
}

/// Sends the signal and looks at the end that it should make.
#[track_caller]
fn ends_by(project: &Project, running: Running, signal: Signal) -> Run {
    running.signal(signal);
    let run = Run::of(project, running.wait());
    procs::none_within(project, Duration::from_millis(200));
    run.ends(if signal == Signal::INT { 130 } else { 143 }, "interrupted");
    assert_eq!(run.results["needs_user_help"], false);
    assert!(run.markdown.contains("nterrupted"), "{}", run.markdown);
    run
}

fn both(test: impl Fn(Signal)) {
    test(Signal::INT);
    test(Signal::TERM);
}

#[test]
fn a_signal_in_a_handshake_that_hangs_ends_server_and_children() {
    both(|signal| {
        let project = project_with(&["grandchild=STUBBORN", "hang@spawn"], SHORT);
        let run = ends_by(&project, start_until_stubborn(&project), signal);
        assert_eq!(run.iteration(1).total("passed"), 0);
    });
}

#[test]
fn a_signal_in_a_call_ends_server_and_children_and_keeps_what_was_done() {
    both(|signal| {
        let project = project_with(&["grandchild@tool:sleep=STUBBORN", "ignore_sigterm"], LONG);
        let run = ends_by(&project, start_until_stubborn(&project), signal);
        assert_eq!(run.iteration(1).state("first"), "passed");
        assert_eq!(run.iteration(1).state("long"), "skipped");
        assert_eq!(run.iteration(1).step("long")["because"], "interrupted");
        assert!(run.junit.contains("name=\"first\""), "{}", run.junit);
    });
}

#[test]
fn a_signal_in_back_off_ends_the_wait() {
    both(|signal| {
        let project = project_with(
            &["stderr=Error: connect ECONNREFUSED 127.0.0.1:5432", "exit"],
            SHORT,
        );
        // With this seed the sixth wait takes 4.99 s, and those before it
        // less than a third of a second together.
        let call = project
            .jelly(&["run", "plan.yaml", "--seed", "42081"])
            .args(&["--retries", "20", "--max-iterations", "30"]);
        let running = procs::marked(&project, call).start();
        procs::until("the report of iteration 6", || {
            let results = results(&project)?;
            (results["iterations"].as_array()?.len() == 6).then_some(())
        });
        let run = ends_by(&project, running, signal);
        assert_eq!(run.iterations().len(), 6);
        assert_eq!(run.actions()[..5], ["retry"; 5]);
    });
}

#[test]
fn a_signal_in_a_hook_ends_it_and_its_children() {
    both(|signal| {
        let project = project_with(&["stderr=no such thing", "exit=7"], SHORT);
        project.script(
            "fix.sh",
            "#!/bin/sh\ntrap '' TERM INT\nsetsid sleep 50 &\necho $! > child\nsleep 51\n",
        );
        let running = start(&project, &["--fix-tests", "./fix.sh"]);
        procs::until("the hook's child", || {
            let text = std::fs::read_to_string(project.path("child")).ok()?;
            (!text.is_empty()).then_some(())
        });
        let run = ends_by(&project, running, signal);
        assert_eq!(run.actions(), ["fix_tests"]);
    });
}

#[test]
fn a_signal_in_a_shutdown_that_takes_long_does_not_wait_for_it() {
    both(|signal| {
        let faults = [
            "ignore_eof",
            "ignore_sigterm",
            "grandchild@shutdown=STUBBORN",
        ];
        let project = project_with(&faults, SHORT);
        let running = start_until_stubborn(&project);
        let run = ends_by(&project, running, signal);
        assert!(
            run.elapsed < Duration::from_secs(15),
            "waited for shutdown_timeout: {:?}",
            run.elapsed
        );
        assert_eq!(run.iteration(1).total("passed"), 2);
    });
}

#[test]
fn a_second_signal_leaves_the_reports() {
    both(|signal| {
        let (project, running) = in_a_call();
        running.signal(signal);
        let run = ends_by_another(&project, running, (signal, signal));
        assert_eq!(run.iteration(1).state("first"), "passed");
        assert!(run.junit.contains("name=\"first\""), "{}", run.junit);
    });
}

/// As of someone who presses Ctrl-C until something happens.
#[test]
fn quick_signals_leave_the_reports() {
    both(|signal| {
        let faults = [
            "grandchild@tool:sleep=STUBBORN",
            "ignore_eof",
            "ignore_sigterm",
        ];
        let project = project_with(&faults, LONG);
        let running = start(&project, &["--report", "junit=all.xml"]);
        procs::until("a stubborn child", || {
            let text = std::fs::read_to_string(project.path("stubborn")).ok()?;
            text.trim().parse::<u32>().ok()
        });
        for _ in 0..4 {
            let _ = kill_process(pid(running.pid()), signal);
            std::thread::sleep(Duration::from_millis(50));
        }
        let run = Run::of(&project, running.wait());
        procs::none_within(&project, Duration::from_millis(200));
        run.ends(if signal == Signal::INT { 130 } else { 143 }, "interrupted");
        assert_eq!(run.iteration(1).state("first"), "passed");
        for junit in [&run.junit, &project.read("all.xml")] {
            assert!(junit.contains("name=\"first\""), "{junit}");
        }
        assert!(run.stdout.contains("nterrupted"), "{}", run.stdout);
    });
}

/// Sends the second of two signals, and looks at the end that the first makes.
#[track_caller]
fn ends_by_another(project: &Project, running: Running, signals: (Signal, Signal)) -> Run {
    running.signal(signals.1);
    let run = Run::of(project, running.wait());
    procs::none_within(project, Duration::from_millis(200));
    run.ends(
        if signals.0 == Signal::INT { 130 } else { 143 },
        "interrupted",
    );
    run
}

/// A plan whose long step is interrupted, with this step of teardown.
fn with_teardown(step: &str) -> Project {
    let project = project_with(&["grandchild@tool:sleep=STUBBORN"], LONG);
    let plan = project.read("plan.yaml");
    project.write("plan.yaml", format!("{plan}teardown:\n  - {step}\n"));
    project
}

#[test]
fn teardown_runs_after_a_signal() {
    both(|signal| {
        let project = with_teardown("{ id: down, tool: echo, args: { message: bye } }");
        let run = ends_by(&project, start_until_stubborn(&project), signal);
        assert_eq!(run.iteration(1).state("long"), "skipped");
        assert_eq!(run.iteration(1).state("down"), "passed");
    });
}

#[test]
fn a_teardown_that_hangs_after_a_signal_holds_up_no_report_and_is_cut_by_the_second() {
    for second in [Signal::INT, Signal::TERM] {
        both(|first| {
            let project = with_teardown("{ id: down, tool: sleep, args: { ms: 50000 } }");
            let running = start_until_stubborn(&project);
            running.signal(first);
            let early = procs::until("reports while teardown runs", || {
                results(&project).filter(|results| results["verdict"] == "interrupted")
            });
            let steps = &early["iterations"][0]["steps"];
            assert_eq!(steps[0]["state"], "passed", "{steps}");
            // The reports are written one after the other.
            procs::until("junit.xml while teardown runs", || {
                let junit = project.path("reports/latest/junit.xml");
                let junit = std::fs::read_to_string(junit).unwrap_or_default();
                junit.contains("name=\"first\"").then_some(())
            });
            let run = ends_by_another(&project, running, (first, second));
            assert_eq!(run.iteration(1).step("down")["because"], "interrupted");
        });
    }
}

#[test]
fn a_teardown_that_hangs_after_a_signal_is_cut_after_a_while() {
    let project = with_teardown("{ id: down, tool: sleep, args: { ms: 50000 }, timeout: 55s }");
    let run = ends_by(&project, start_until_stubborn(&project), Signal::INT);
    assert_eq!(run.iteration(1).step("down")["because"], "interrupted");
}

#[test]
fn a_third_signal_ends_what_hears_none() {
    let project = Project::with(
        "version: 1\nservers: { s: { command: jelly, args: [mock] } }\nsteps:\n  - { tool: sleep, \
         args: { ms: 50000 }, timeout: 55s }\n",
    );
    let running = start(&project, &[]);
    let worker = procs::until("both processes of jelly", || {
        let worker = |process: &procs::Proc| process.parent == running.pid();
        procs::alive(&project).into_iter().find(worker)
    });
    // It hears nothing any more, and what waits for it counts as one at most.
    stop(worker.pid);
    // Two of one kind that wait are heard as one, and SIGHUP is ignored where
    // the tests run below nohup.
    for signal in [Signal::INT, Signal::TERM, Signal::INT] {
        running.signal(signal);
        procs::until("a signal that is heard", || {
            let status = std::fs::read_to_string(format!("/proc/{}/status", running.pid()));
            let heard = status.map_or(true, |status| {
                let waits = status.lines().find_map(|line| line.strip_prefix("ShdPnd:"));
                waits.is_none_or(|waits| waits.trim().bytes().all(|digit| digit == b'0'))
            });
            heard.then_some(())
        });
    }
    let ended = running.wait();
    assert!(matches!(ended.code, Some(130 | 143)), "{:?}", ended.code);
}

#[test]
fn after_a_sigkill_no_older_run_is_the_latest() {
    let project = project_with(&["grandchild@tool:sleep=STUBBORN"], SHORT);
    project.write("green.yaml", project.read("plan.yaml"));
    assert_eq!(project.jelly(&["run", "green.yaml"]).output().code, Some(0));
    project.write(
        "plan.yaml",
        plan(&project, &["grandchild@tool:sleep=STUBBORN"], LONG),
    );
    let running = start_until_stubborn(&project);
    running.signal(Signal::KILL);
    running.wait();
    assert!(project.path("reports/latest").is_dir());
    assert!(!project.path("reports/latest/junit.xml").exists());
}

fn pid(raw: u32) -> Pid {
    Pid::from_raw(i32::try_from(raw).unwrap()).unwrap()
}

/// A run in the middle of a call, its server with a child in another session.
fn in_a_call() -> (Project, Running) {
    let faults = [
        "grandchild@tool:sleep=STUBBORN",
        "ignore_eof",
        "ignore_sigterm",
    ];
    let project = project_with(&faults, LONG);
    let running = start_until_stubborn(&project);
    // jelly's two processes, the server, and its child.
    assert_eq!(procs::alive(&project).len(), 4);
    (project, running)
}

#[test]
fn sigkill_of_jelly_leaves_no_server_and_no_descendant() {
    let (project, running) = in_a_call();
    running.signal(Signal::KILL);
    procs::none_within(&project, AFTER_SIGKILL);
    assert_eq!(running.wait().signal, Some(9));
}

#[test]
fn sigkill_of_the_whole_group_leaves_no_server_and_no_descendant() {
    let (project, running) = in_a_call();
    kill_process_group(pid(running.pid()), Signal::KILL).unwrap();
    procs::none_within(&project, AFTER_SIGKILL);
    assert_eq!(running.wait().signal, Some(9));
}

/// Stops all threads of a process: one that still runs would hear what comes.
fn stop(process: u32) {
    kill_process(pid(process), Signal::STOP).unwrap();
    procs::until("a stopped process", || {
        let tasks = std::fs::read_dir(format!("/proc/{process}/task")).unwrap();
        let is_stopped = |task: std::fs::DirEntry| {
            let status = std::fs::read_to_string(task.path().join("status"));
            status.is_ok_and(|status| status.contains("State:\tT"))
        };
        tasks.flatten().all(is_stopped).then_some(())
    });
}

fn worker_of(project: &Project, running: &Running) -> u32 {
    let all = procs::alive(project).into_iter();
    let mut workers = all.filter(|proc| proc.parent == running.pid());
    workers.next().expect("a worker").pid
}

#[test]
fn sigkill_of_the_worker_leaves_no_server_and_is_told() {
    let (project, running) = in_a_call();
    kill_process(pid(worker_of(&project, &running)), Signal::KILL).unwrap();
    procs::none_within(&project, AFTER_SIGKILL);
    let ended = running.wait();
    assert_eq!(ended.code, Some(70));
    assert!(ended.stderr.contains("SIGKILL"), "{}", ended.stderr);
}

/// Found by the soak: SIGTERM, SIGINT and SIGINT again ended with 130 where the
/// machine was so busy that the worker heard of all at once.
#[test]
fn of_signals_that_a_busy_worker_hears_of_together_the_first_decides() {
    fn waiting(process: u32, signal: Signal) -> bool {
        let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
        let line = status.lines().find(|line| line.starts_with("ShdPnd:"));
        let set = u64::from_str_radix(line.unwrap()[7..].trim(), 16).unwrap();
        set & (1 << (signal.as_raw() - 1)) != 0
    }
    for (first, second, code) in [
        (Signal::TERM, Signal::INT, 143),
        (Signal::INT, Signal::TERM, 130),
    ] {
        let (project, running) = in_a_call();
        let worker = worker_of(&project, &running);
        stop(worker);
        running.signal(first);
        procs::until("the first", || waiting(worker, first).then_some(()));
        running.signal(second);
        procs::until("the second", || {
            (!waiting(running.pid(), second)).then_some(())
        });
        // It was taken, and is passed on at once.
        std::thread::yield_now();
        kill_process(pid(worker), Signal::CONT).unwrap();
        assert_eq!(running.wait().code, Some(code), "{first:?}");
    }
}

#[test]
fn sigkill_during_a_start_that_hangs_leaves_no_server() {
    let project = project_with(&["grandchild=STUBBORN", "hang@spawn"], SHORT);
    let running = start_until_stubborn(&project);
    running.signal(Signal::KILL);
    procs::none_within(&project, AFTER_SIGKILL);
    drop(running.wait());
}

#[test]
fn sigkill_during_a_hook_leaves_none_of_it() {
    let project = project_with(&["stderr=no such thing", "exit=7"], SHORT);
    project.script(
        "fix.sh",
        "#!/bin/sh\nsetsid sleep 50 &\necho $! > child\nsleep 51\n",
    );
    let running = start(&project, &["--fix-tests", "./fix.sh"]);
    procs::until("the hook's child", || {
        let text = std::fs::read_to_string(project.path("child")).ok()?;
        (!text.is_empty()).then_some(())
    });
    running.signal(Signal::KILL);
    procs::none_within(&project, AFTER_SIGKILL);
    drop(running.wait());
}

/// Runs it to its end, and looks that nobody stays.
fn run_alone(project: &Project) -> Run {
    let ended = procs::marked(project, project.call(&[])).output();
    procs::none_within(project, Duration::from_millis(200));
    Run::of(project, ended)
}

#[test]
fn a_shell_as_launcher_leaves_nothing_behind() {
    let project = Project::with(
        "version: 1\n\
         servers:\n  s: { command: sh, args: [-c, 'jelly mock --fault ignore_eof; true'], shutdown_timeout: 200ms }\n\
         steps:\n  - { id: a, tool: echo, args: { message: hi }, expect: { text: { equals: hi } } }\n",
    );
    // The shell finds jelly by itself, unlike jelly.
    let bin = std::path::Path::new(env!("CARGO_BIN_EXE_jelly"))
        .parent()
        .unwrap();
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    let ended = procs::marked(&project, project.call(&[]))
        .env("PATH", path)
        .output();
    procs::none_within(&project, Duration::from_millis(200));
    Run::of(&project, ended).ends(0, "passed");
}

#[test]
fn npx_as_launcher_leaves_nothing_behind() {
    // It is found in the folder that npx is started in.
    real("npm/node_modules/.bin/mcp-server-everything");
    let project = Project::with(&format!(
        "version: 1\n\
         servers:\n  s: {{ command: npx, args: [--no-install, mcp-server-everything, stdio], cwd: \"{}\", startup_timeout: 50s }}\n\
         steps:\n  - {{ id: a, tool: echo, args: {{ message: hi }} }}\n",
        fixtures().join("npm").display()
    ));
    run_alone(&project).ends(0, "passed");
}

#[test]
fn a_server_that_ignores_the_end_of_its_input_and_sigterm_is_killed() {
    let project = Project::with(
        "version: 1\n\
         servers:\n  s: { command: jelly, args: [mock, --fault, ignore_eof, --fault, ignore_sigterm], shutdown_timeout: 200ms }\n\
         steps:\n  - { id: a, tool: echo, args: { message: hi } }\n",
    );
    let run = run_alone(&project);
    run.ends(0, "passed");
    assert_eq!(run.last().server("s")["exit"]["signal"], "SIGKILL");
    let notes = run.last().server("s")["notes"].to_string();
    assert!(notes.contains("SIGTERM"), "{notes}");
}

#[test]
fn a_child_that_holds_stdout_open_can_not_hang_the_run() {
    let project = project_with(&["grandchild=STUBBORN,holds"], SHORT);
    run_alone(&project).ends(0, "passed");

    let project = project_with(&["grandchild=STUBBORN,holds", "exit@tool:echo=3"], SHORT);
    let run = run_alone(&project);
    assert_eq!(run.code, Some(1), "{}", run.stdout);
    assert_eq!(run.last().failure("first")["exit"]["code"], 3);

    let project = project_with(&["grandchild=STUBBORN,holds", "exit=3"], SHORT);
    run_alone(&project).ends(3, "needs_user_help");
}

/// A call whose temporary folders lie in one of the project's own.
fn with_own_tmp(project: &Project, call: Call) -> Call {
    std::fs::create_dir(project.path("temporary")).unwrap();
    procs::marked(project, call).env("TMPDIR", project.path("temporary"))
}

/// What is left in it.
fn temporaries(project: &Project) -> Vec<String> {
    let entries = std::fs::read_dir(project.path("temporary")).unwrap();
    entries
        .map(|entry| entry.unwrap().path().display().to_string())
        .collect()
}

const HOLDS_ON: [&str; 3] = [
    "grandchild@tool:sleep=STUBBORN",
    "ignore_eof",
    "ignore_sigterm",
];

/// A run in the middle of a call, which has a temporary folder.
fn with_a_temporary() -> (Project, Running) {
    let project = project_with(&HOLDS_ON, LONG);
    let running = with_own_tmp(&project, project.call(&[])).start();
    procs::until("a stubborn child", || {
        let text = std::fs::read_to_string(project.path("stubborn")).ok()?;
        text.trim().parse::<u32>().ok()
    });
    assert_eq!(temporaries(&project).len(), 1);
    (project, running)
}

#[test]
fn no_temporary_folder_is_left_whatever_ends_jelly() {
    let (project, running) = with_a_temporary();
    running.signal(Signal::INT);
    running.signal(Signal::INT);
    assert_eq!(running.wait().code, Some(130));
    assert_eq!(temporaries(&project), [""; 0]);

    let (project, running) = with_a_temporary();
    running.signal(Signal::KILL);
    procs::none_within(&project, AFTER_SIGKILL);
    assert_eq!(temporaries(&project), [""; 0]);
    drop(running.wait());

    let (project, running) = with_a_temporary();
    kill_process(pid(worker_of(&project, &running)), Signal::KILL).unwrap();
    assert_eq!(running.wait().code, Some(70));
    assert_eq!(temporaries(&project), [""; 0]);

    let project = project_with(&[], SHORT);
    let ended = with_own_tmp(&project, project.call(&[])).output();
    assert_eq!(ended.code, Some(0), "{}", ended.stdout);
    assert_eq!(temporaries(&project), [""; 0]);
}

#[test]
fn a_second_signal_ends_what_is_deaf_to_the_first() {
    both(|signal| {
        let project = Project::empty();
        // It reads a plan that is never written to its end.
        let (plan, held) = std::io::pipe().unwrap();
        let running = procs::marked(&project, project.jelly(&["run", "-"]).reads(plan)).start();
        procs::until("both processes of jelly", || {
            let worker = |process: &procs::Proc| process.parent == running.pid();
            procs::alive(&project).into_iter().find(worker)
        });
        // Two that come at once may count as one.
        procs::until("its end", || {
            let _ = kill_process(pid(running.pid()), signal);
            procs::alive(&project).is_empty().then_some(())
        });
        let code = if signal == Signal::INT { 130 } else { 143 };
        assert_eq!(running.wait().code, Some(code));
        drop(held);
    });
}

/// Runs `jelly doctor` in an interactive shell of a terminal, presses Ctrl-Z
/// at the question, and answers it.
const AT_A_QUESTION: &str = r#"
import os, pty, sys
child, terminal = pty.fork()
if child == 0:
    os.environ["PS1"] = "prompt$ "
    os.execvp("bash", ["bash", "--norc", "--noprofile", "-i"])
seen = b""
def until(words):
    global seen
    while words not in seen:
        seen += os.read(terminal, 4096)
    seen = seen[seen.index(words) + len(words):]
until(b"prompt$ ")
os.write(terminal, (sys.argv[1] + " doctor in.json; echo ended $((1+1))\n").encode())
until(b"key: ")
os.write(terminal, b"\x1a")
os.write(terminal, b"an-answer\n")
until(b"ended 2")
os.write(terminal, b"exit\n")
os.waitpid(child, 0)
"#;

#[test]
fn ctrl_z_at_a_question_leaves_the_terminal_alive() {
    let project = Project::empty();
    project.write(
        "in.json",
        r#"{"inputs": [{"id": "key", "type": "promptString", "description": "key", "password": true}],
            "servers": {"s": {"command": "no-such-command", "env": {"KEY": "${input:key}"}}}}"#,
    );
    let call = project
        .wrapped("python3", &["-c", AT_A_QUESTION])
        .env("CI", "false")
        .limit(Duration::from_secs(30));
    let ended = procs::marked(&project, call).output();
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    procs::none_within(&project, Duration::from_millis(200));
}
