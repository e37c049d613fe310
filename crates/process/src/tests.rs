//! The room's promises, on real processes.

use super::{Capture, CommandSpec, ExitBoundReader, How, Process, Shutdown, spawn, sweep_orphans};
use jelly_base::model::{Exit, SpawnError};
use jelly_base::text::redact::Redactor;
use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::time::timeout;

/// Far more than anything here takes, so that only a hang runs into it.
const FOREVER: Duration = Duration::from_secs(20);

fn sh(script: &str) -> CommandSpec {
    command(&["sh", "-c", script])
}

fn command(argv: &[&str]) -> CommandSpec {
    CommandSpec {
        argv: argv.iter().map(|arg| (*arg).to_owned()).collect(),
        cwd: std::env::temp_dir(),
        env: Vec::new(),
    }
}

async fn started(spec: &CommandSpec) -> Process {
    spawn(spec, Capture::default()).await.expect("it starts")
}

async fn refused(spec: &CommandSpec) -> SpawnError {
    match spawn(spec, Capture::default()).await {
        Ok(_) => panic!("it should not start: {spec:?}"),
        Err(error) => error,
    }
}

async fn exit_of(script: &str) -> Exit {
    let process = started(&sh(script)).await;
    timeout(FOREVER, process.exit_watch().wait())
        .await
        .expect("it exits")
}

async fn stop(process: &mut Process, grace: Duration) -> Shutdown {
    timeout(FOREVER, process.shutdown(grace))
        .await
        .expect("the shutdown is bounded")
}

/// The next line of stdout.
async fn line(process: &mut Process) -> String {
    let stdout = process.stdout.as_mut().expect("stdout was not taken");
    let mut bytes = Vec::new();
    loop {
        let byte = timeout(FOREVER, stdout.read_u8()).await.expect("it writes");
        match byte.expect("it writes a whole line") {
            b'\n' => return String::from_utf8(bytes).expect("it writes text"),
            byte => bytes.push(byte),
        }
    }
}

/// Whether a pid belongs to anybody, a zombie included.
fn exists(pid: u32) -> bool {
    let pid = i32::try_from(pid)
        .ok()
        .and_then(rustix::process::Pid::from_raw);
    pid.is_some_and(|pid| rustix::process::test_kill_process(pid).is_ok())
}

/// Waits for a process that is not our child, and so is reaped by somebody.
async fn gone(pid: u32) {
    let until = Instant::now() + FOREVER;
    while exists(pid) && !is_zombie(pid) {
        assert!(Instant::now() < until, "process {pid} lives on");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

fn is_zombie(pid: u32) -> bool {
    fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| stat.contains(") Z "))
}

fn script(folder: &Path, name: &str, text: &str, mode: u32) -> String {
    let path = folder.join(name);
    fs::write(&path, text).expect("the script can be written");
    fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("its mode can be set");
    path.to_str().expect("the path is text").to_owned()
}

fn text_of(error: &SpawnError) -> &str {
    error.text.as_deref().expect("the error has a text")
}

#[tokio::test]
async fn an_exit_code_is_told() {
    let exit = exit_of("exit 3").await;
    assert_eq!((exit.code, exit.signal), (Some(3), None));
}

#[tokio::test]
async fn a_deadly_signal_is_told_by_its_name() {
    for name in ["KILL", "TERM", "SEGV", "HUP"] {
        let exit = exit_of(&format!("kill -{name} $$; sleep 20")).await;
        assert_eq!((exit.code, exit.signal), (None, Some(format!("SIG{name}"))));
    }
}

#[tokio::test]
async fn the_exit_is_told_to_everybody_also_after_the_process_is_dropped() {
    let process = started(&sh("sleep 20")).await;
    let (first, second) = (process.exit_watch(), process.exit_watch());
    assert_eq!(first.now(), None);
    drop(process);
    for watch in [first, second] {
        let exit = timeout(FOREVER, watch.wait()).await.expect("it is told");
        assert_eq!(exit.signal.as_deref(), Some("SIGKILL"));
        assert_eq!(watch.now(), Some(exit));
    }
}

#[tokio::test]
async fn a_command_that_is_nowhere_in_path_is_named() {
    let error = refused(&command(&["jelly-no-such-command", "--flag"])).await;
    assert_eq!(
        (error.errno, error.name.as_deref()),
        (Some(2), Some("ENOENT"))
    );
    assert_eq!(
        text_of(&error),
        "No such file or directory: 'jelly-no-such-command' (command not found in PATH)"
    );
}

#[tokio::test]
async fn a_missing_working_directory_is_not_taken_for_a_missing_command() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut spec = sh("true");
    spec.cwd = folder.path().join("missing");
    let error = refused(&spec).await;
    assert_eq!(error.name.as_deref(), Some("ENOENT"));
    assert!(
        text_of(&error).ends_with("missing' (the working directory does not exist)"),
        "{error:?}"
    );

    spec.cwd = script(folder.path(), "file", "", 0o644).into();
    let error = refused(&spec).await;
    assert_eq!(error.name.as_deref(), Some("ENOTDIR"), "{error:?}");
}

#[tokio::test]
async fn a_script_whose_interpreter_is_missing_is_not_taken_for_missing_itself() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = script(folder.path(), "a", "#! /no/such/interpreter -x\n", 0o755);
    let error = refused(&command(&[&path])).await;
    assert_eq!(error.name.as_deref(), Some("ENOENT"));
    assert!(
        text_of(&error).contains("its interpreter '/no/such/interpreter' does not exist"),
        "{error:?}"
    );

    let path = script(folder.path(), "b", "#!/bin/sh\r\necho\r\n", 0o755);
    let error = refused(&command(&[&path])).await;
    assert!(text_of(&error).contains("Windows line ends"), "{error:?}");
}

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
#[tokio::test]
async fn a_program_whose_loader_is_missing_says_which_one_it_asks_for() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = script(folder.path(), "a", "", 0o755);
    std::fs::write(&path, super::elf::tests::program("/no/such/ld.so.1")).expect("a program");
    let error = refused(&command(&[&path])).await;
    assert_eq!(error.name.as_deref(), Some("ENOENT"));
    assert!(
        text_of(&error).contains("the loader '/no/such/ld.so.1' that the program asks for"),
        "{error:?}"
    );
}

#[tokio::test]
async fn what_can_not_be_executed_is_told_from_what_is_missing() {
    let folder = tempfile::tempdir().expect("a folder");
    let plain = script(folder.path(), "plain", "#!/bin/sh\n", 0o644);
    let shebangless = script(folder.path(), "shebangless", "echo hello\n", 0o755);
    let folder_path = folder.path().to_str().expect("the path is text");
    for (path, name, why) in [
        (plain.as_str(), "EACCES", "(not marked as executable)"),
        (folder_path, "EISDIR", "(a directory, not a program)"),
        (&shebangless, "ENOEXEC", "(neither a program"),
        ("/no/such/program", "ENOENT", "(the command does not exist)"),
    ] {
        let error = refused(&command(&[path])).await;
        assert_eq!(error.name.as_deref(), Some(name), "{error:?}");
        assert!(text_of(&error).contains(why), "{error:?}");
        assert!(text_of(&error).contains(path), "{error:?}");
    }

    let mut spec = command(&["plain"]);
    spec.env = vec![("PATH".into(), folder_path.into())];
    let error = refused(&spec).await;
    assert_eq!(error.name.as_deref(), Some("EACCES"), "{error:?}");
}

#[tokio::test]
async fn a_secret_in_a_path_does_not_show_in_the_error() {
    let capture = Capture {
        redactor: Redactor::new([("TOKEN", "hunter2-hunter2")]),
        ..Capture::default()
    };
    let error = spawn(&command(&["/hunter2-hunter2/server"]), capture)
        .await
        .err()
        .expect("it does not start");
    assert!(!text_of(&error).contains("hunter2"), "{error:?}");
}

#[tokio::test]
async fn a_nul_byte_and_an_empty_argv_are_errors_and_no_panic() {
    for argv in [&["sh", "a\0b"][..], &[], &[""]] {
        let error = refused(&command(argv)).await;
        assert!(error.text.is_some(), "{error:?}");
    }
}

#[tokio::test]
async fn a_command_is_looked_up_in_the_path_of_the_child_and_sees_its_environment() {
    let folder = tempfile::tempdir().expect("a folder");
    script(
        folder.path(),
        "hello-jelly",
        "#!/bin/sh\necho \"$GREETING $1 $PWD\"\n",
        0o755,
    );
    let cwd = folder.path().canonicalize().expect("it exists");
    let mut spec = command(&["hello-jelly", "a b"]);
    spec.cwd = cwd.clone();
    let inherited = std::env::var("PATH").expect("there is a PATH");
    // The first entry is relative: to the working directory of the child.
    spec.env = vec![
        ("GREETING".into(), "first".into()),
        ("PATH".into(), format!(".:{inherited}")),
        ("GREETING".into(), "last".into()),
    ];
    let mut process = started(&spec).await;
    assert_eq!(
        line(&mut process).await,
        format!("last a b {}", cwd.display())
    );
}

#[tokio::test]
async fn a_relative_command_is_relative_to_the_working_directory() {
    let folder = tempfile::tempdir().expect("a folder");
    script(folder.path(), "here", "#!/bin/sh\necho \"$0\"\n", 0o755);
    let mut spec = command(&["./here"]);
    spec.cwd = folder.path().to_owned();
    let mut process = started(&spec).await;
    assert_eq!(line(&mut process).await, "./here");
}

#[tokio::test]
async fn a_process_that_minds_its_stdin_ends_gracefully() {
    let mut process = started(&command(&["cat"])).await;
    drop(process.stdin.take());
    let shutdown = stop(&mut process, FOREVER).await;
    assert_eq!(shutdown.how, How::Graceful);
    assert_eq!(shutdown.exit.and_then(|exit| exit.code), Some(0));
    assert_eq!(shutdown.leftovers, 0);

    let again = stop(&mut process, FOREVER).await;
    assert_eq!(again.how, How::AlreadyExited);
}

#[tokio::test]
async fn a_process_that_ignores_its_stdin_gets_a_sigterm() {
    let mut process = started(&command(&["sleep", "20"])).await;
    let shutdown = stop(&mut process, Duration::from_millis(20)).await;
    assert_eq!(shutdown.how, How::Terminated);
    let signal = shutdown.exit.and_then(|exit| exit.signal);
    assert_eq!(signal.as_deref(), Some("SIGTERM"));
}

#[tokio::test]
async fn a_process_that_ignores_sigterm_gets_a_sigkill() {
    let mut process = started(&sh("trap '' TERM; echo ready; while :; do sleep 20; done")).await;
    line(&mut process).await;
    let shutdown = stop(&mut process, Duration::from_millis(20)).await;
    assert_eq!(shutdown.how, How::Killed);
    let signal = shutdown.exit.and_then(|exit| exit.signal);
    assert_eq!(signal.as_deref(), Some("SIGKILL"));
}

#[tokio::test]
async fn a_process_that_died_by_itself_is_told_from_one_that_was_ended() {
    let mut process = started(&sh("exit 5")).await;
    process.exit_watch().wait().await;
    let shutdown = stop(&mut process, FOREVER).await;
    assert_eq!(shutdown.how, How::AlreadyExited);
    assert_eq!(shutdown.exit.and_then(|exit| exit.code), Some(5));
}

#[tokio::test]
async fn a_dropped_process_is_dead_and_reaped() {
    let process = started(&sh("trap '' TERM; sleep 20")).await;
    let pid = process.pid();
    assert!(exists(pid));
    drop(process);
    // Our child: it would still exist as a zombie if nobody had reaped it.
    assert!(!exists(pid));
}

#[tokio::test]
async fn nothing_is_blocked_or_ignored_in_the_child() {
    let mut blocked = std::mem::MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: the set is initialised by the first call; the mask is that of
    // this test's thread alone.
    unsafe {
        libc::sigemptyset(blocked.as_mut_ptr());
        libc::sigaddset(blocked.as_mut_ptr(), libc::SIGUSR1);
        libc::pthread_sigmask(libc::SIG_BLOCK, blocked.as_ptr(), std::ptr::null_mut());
    }
    // A shell catches what it likes, so the kernel is asked about a child that
    // catches nothing.
    let mut process = started(&command(&["cat", "/proc/self/status"])).await;
    let mut status = String::new();
    let mut stdout = process.stdout.take().expect("stdout was not taken");
    stdout.read_to_string(&mut status).await.expect("it writes");
    // Of the C library's own, which nobody can change through it.
    let out_of_reach = 0b11 << 31;
    for field in ["SigBlk:\t", "SigIgn:\t"] {
        let value = status.lines().find_map(|line| line.strip_prefix(field));
        let set = value.and_then(|hex| u64::from_str_radix(hex, 16).ok());
        assert_eq!(set.map(|set| set & !out_of_reach), Some(0), "{field}");
    }
}

#[tokio::test]
async fn a_child_leads_a_process_group_of_its_own() {
    let mut process = started(&sh("cut -d' ' -f5 /proc/$$/stat")).await;
    assert_eq!(line(&mut process).await, process.pid().to_string());
}

#[tokio::test]
async fn a_grandchild_that_holds_stdout_open_can_not_hang_the_reader() {
    let mut process = started(&sh("sleep 20 & echo last words; exit 0")).await;
    let stdout = process.stdout.take().expect("stdout was not taken");
    let mut reader = BufReader::new(ExitBoundReader::new(stdout, &process.exit_watch()));
    let mut text = String::new();
    let read = async { while reader.read_line(&mut text).await.expect("it can be read") > 0 {} };
    timeout(FOREVER, read).await.expect("the end is reported");
    assert_eq!(text, "last words\n");
    timeout(FOREVER, process.stderr().settled())
        .await
        .expect("stderr settles as well");
}

#[tokio::test]
async fn a_grandchild_that_goes_on_writing_can_not_hang_the_reader() {
    let mut process = started(&sh("yes & exit 0")).await;
    let stdout = process.stdout.take().expect("stdout was not taken");
    let mut reader = ExitBoundReader::new(stdout, &process.exit_watch());
    let mut buffer = vec![0; 64 * 1024];
    let read = async { while reader.read(&mut buffer).await.expect("it can be read") > 0 {} };
    timeout(FOREVER, read).await.expect("the end is reported");
}

#[tokio::test]
async fn last_words_are_not_lost_on_a_slow_reader() {
    let mut process = started(&sh(
        "sleep 20 & head -c 50000 /dev/zero | tr '\\0' x; exit 0",
    ))
    .await;
    process.exit_watch().wait().await;
    let stdout = process.stdout.take().expect("stdout was not taken");
    let mut reader = ExitBoundReader::new(stdout, &process.exit_watch());
    let mut total = reader.read(&mut [0; 100]).await.expect("it can be read");
    // Long enough for every time limit of the reader to be over.
    tokio::time::sleep(super::DRAIN_MAX * 2).await;
    let mut rest = Vec::new();
    total += timeout(FOREVER, reader.read_to_end(&mut rest))
        .await
        .expect("the end is reported")
        .expect("it can be read");
    assert_eq!(total, 50_000);
}

#[tokio::test]
async fn a_flood_of_stderr_before_the_first_word_neither_blocks_nor_is_kept_whole() {
    let flood = "echo first >&2; head -c 1000000 /dev/zero | tr '\\0' x >&2; echo last >&2";
    let mut process = started(&sh(&format!("{flood}; echo ready; cat"))).await;
    assert_eq!(line(&mut process).await, "ready");
    let stderr = process.stderr();
    stderr.caught_up().await;
    assert_eq!(stderr.bytes(), 1_000_011);
    let text = stderr.tail();
    assert!(text.starts_with("first\nxxx") && text.ends_with("xlast\n"));
    assert!(text.contains("\n[… 901707 bytes left out …]\n"));
    assert!(text.len() < 100_000, "{}", text.len());
}

#[tokio::test]
async fn what_was_said_during_a_step_is_told_from_what_was_said_before() {
    let mut process = started(&sh(
        "echo before >&2; echo 1; read x; echo during >&2; echo 2; read x; exit 1",
    ))
    .await;
    let stderr = process.stderr();
    line(&mut process).await;
    stderr.caught_up().await;
    let mark = stderr.mark();
    let stdin = process.stdin.as_mut().expect("stdin was not taken");
    stdin.write_all(b"go\n").await.expect("it listens");
    line(&mut process).await;
    stderr.caught_up().await;
    assert_eq!(stderr.since(mark), "during\n");
    assert_eq!(stderr.tail(), "before\nduring\n");
    assert_eq!(stderr.since(stderr.mark()), "");
}

/// A sink that can be looked into, and that may fail.
#[derive(Clone, Default)]
struct Sink {
    text: Arc<Mutex<Vec<u8>>>,
    room: usize,
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut text = self.text.lock().expect("nobody panicked");
        if text.len() + bytes.len() > self.room {
            return Err(io::Error::from_raw_os_error(libc::ENOSPC));
        }
        text.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn a_secret_on_stderr_reaches_neither_the_ring_nor_the_sink() {
    let sink = Sink {
        room: 1 << 20,
        ..Sink::default()
    };
    let capture = Capture {
        redactor: Redactor::new([("TOKEN", "hunter2-hunter2")]),
        sink: Some(Box::new(sink.clone())),
        ..Capture::default()
    };
    // Split over two writes, with an exchange between them.
    let script = "printf 'token hunter2-' >&2; echo; read x; echo 'hunter2 taken' >&2";
    let mut process = spawn(&sh(script), capture).await.expect("it starts");
    line(&mut process).await;
    let stderr = process.stderr();
    stderr.caught_up().await;
    assert!(!stderr.tail().contains("hunter2"));
    let stdin = process.stdin.as_mut().expect("stdin was not taken");
    stdin.write_all(b"go\n").await.expect("it listens");
    stderr.settled().await;
    let kept = stderr.tail();
    assert!(
        kept.starts_with("token ") && kept.ends_with(" taken\n"),
        "{kept}"
    );
    assert!(!kept.contains("hunter2"), "{kept}");
    let copied = sink.text.lock().expect("nobody panicked").clone();
    assert_eq!(String::from_utf8(copied).expect("text"), kept);
    assert_eq!(stderr.sink_error(), None);
}

#[tokio::test]
async fn a_private_key_that_comes_line_by_line_is_not_in_the_sink() {
    let sink = Sink {
        room: 1 << 20,
        ..Sink::default()
    };
    let capture = Capture {
        sink: Some(Box::new(sink.clone())),
        ..Capture::default()
    };
    // An exchange before each line, so that each is read alone.
    let script = "for l in before '-----BEGIN RSA PRIVATE KEY-----' MIIEow/one MIIEow/two \
                  '-----END RSA PRIVATE KEY-----' after; do echo \"$l\" >&2; echo; read x; done";
    let mut process = spawn(&sh(script), capture).await.expect("it starts");
    let stderr = process.stderr();
    for _ in 0..6 {
        line(&mut process).await;
        stderr.caught_up().await;
        let stdin = process.stdin.as_mut().expect("stdin was not taken");
        stdin.write_all(b"go\n").await.expect("it listens");
    }
    stderr.settled().await;
    let copied = sink.text.lock().expect("nobody panicked").clone();
    assert_eq!(
        String::from_utf8(copied).expect("text"),
        "before\n-----BEGIN RSA PRIVATE KEY-----[secret a private key]\
         -----END RSA PRIVATE KEY-----\nafter\n"
    );
}

#[tokio::test]
async fn a_sink_that_fails_is_a_warning_and_the_ring_goes_on() {
    let capture = Capture {
        sink: Some(Box::new(Sink::default())),
        ..Capture::default()
    };
    let process = spawn(&sh("echo one >&2; echo two >&2"), capture)
        .await
        .expect("it starts");
    let stderr = process.stderr();
    stderr.settled().await;
    assert_eq!(stderr.tail(), "one\ntwo\n");
    assert!(
        stderr
            .sink_error()
            .is_some_and(|error| error.contains("space"))
    );
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn unread_stdin_tells_whether_a_dead_server_ever_looked_at_the_request() {
    let mut deaf = started(&sh("exit 1")).await;
    let stdin = deaf.stdin.as_mut().expect("stdin was not taken");
    // It may be gone before the write, which then fails; both are unread.
    let written = stdin.write_all(b"request\n").await.is_ok();
    deaf.exit_watch().wait().await;
    assert_eq!(deaf.unread_stdin_bytes(), Some(if written { 8 } else { 0 }));

    let mut keen = started(&sh("read x; exit 1")).await;
    let stdin = keen.stdin.as_mut().expect("stdin was not taken");
    stdin.write_all(b"request\n").await.expect("it listens");
    keen.exit_watch().wait().await;
    assert_eq!(keen.unread_stdin_bytes(), Some(0));
    keen.close_stdin();
    assert_eq!(keen.unread_stdin_bytes(), None);
}

/// A launcher with one child in its group and one in another session; prints
/// the pids of both, then lives on until its stdin ends.
#[cfg(target_os = "linux")]
const LAUNCHER: &str = "sleep 20 & echo $!; setsid sh -c 'echo $$; exec sleep 20' & cat >/dev/null";

#[cfg(target_os = "linux")]
async fn launched() -> (Process, [u32; 2]) {
    let mut process = started(&sh(LAUNCHER)).await;
    let first = line(&mut process).await.parse().expect("a pid");
    let second = line(&mut process).await.parse().expect("a pid");
    assert!(exists(first) && exists(second));
    (process, [first, second])
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_launcher_leaves_nothing_behind_though_it_ends_gracefully() {
    let (mut process, pids) = launched().await;
    drop(process.stdin.take());
    let shutdown = stop(&mut process, FOREVER).await;
    assert_eq!(shutdown.how, How::Graceful);
    assert_eq!(shutdown.leftovers, 2);
    for pid in pids {
        gone(pid).await;
    }
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_grandchild_that_called_setsid_is_killed_on_drop() {
    let (process, pids) = launched().await;
    drop(process);
    for pid in pids {
        gone(pid).await;
    }
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_child_that_ends_with_its_launcher_is_no_leftover() {
    let mut process = started(&sh("cat >/dev/null & wait")).await;
    // In the background stdin is not inherited, so the child ends at once.
    let shutdown = stop(&mut process, FOREVER).await;
    assert_eq!((shutdown.how, shutdown.leftovers), (How::Graceful, 0));
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn only_a_subreaper_sweeps() {
    let mut bystander = std::process::Command::new("sleep")
        .arg("20")
        .spawn()
        .expect("it starts");
    assert_eq!(sweep_orphans(&[]), 0);
    assert!(bystander.try_wait().expect("it is ours").is_none());
    bystander.kill().expect("it is ours");
    bystander.wait().expect("it is ours");
}

#[tokio::test]
async fn many_processes_come_and_go_without_leaving_zombies() {
    let mut pids = Vec::new();
    for _ in 0..20 {
        let mut process = started(&command(&["cat"])).await;
        pids.push(process.pid());
        stop(&mut process, FOREVER).await;
    }
    assert!(pids.into_iter().all(|pid| !exists(pid) || !is_zombie(pid)));
}

/// The end of a line may be the beginning of a secret, and is shown all the same.
#[tokio::test]
async fn the_last_words_of_a_process_that_goes_on_are_whole() {
    let capture = Capture {
        redactor: Redactor::new([("KEY", "1\nabcdefgh-0123")]),
        ..Capture::default()
    };
    let spec = sh("echo 'port 39121' >&2; echo said; exec sleep 60");
    let mut process = spawn(&spec, capture).await.expect("it starts");
    assert_eq!(line(&mut process).await, "said");
    process.stderr().caught_up().await;
    assert_eq!(process.stderr().tail(), "port 39121\n");
    let mark = process.stderr().mark();
    assert_eq!(process.stderr().since(mark), "");
    stop(&mut process, Duration::ZERO).await;
    assert_eq!(process.stderr().tail(), "port 39121\n");
}
