//! The edge: reads stdin, carries actions out.
//!
//! Plain blocking input and output, since a mock must cost nothing: one
//! write per message, and a thread only for what is due later.

use super::action::{Action, Pieces};
use super::args::MockArgs;
use super::catalogue;
use super::fault::{Grandchild, Signal};
use super::host::OsHost;
use super::server::Server;
use super::state::State;
use super::units::Dice;
use std::collections::HashMap;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// The exit code of bad flags, a bad script or an unusable state file.
const BAD_INPUT: u8 = 2;

/// How long a stubborn child stays at most: a test that went wrong must not
/// leave it for ever.
const STUBBORN_LIFE: Duration = Duration::from_secs(600);

/// Is the mock server until stdin ends or a fault ends it.
///
/// Faults that end the process do so from within. Returns 0 after a healthy
/// life and 2 for bad input, with the reason on stderr.
#[must_use]
pub fn run(args: &MockArgs) -> ExitCode {
    if args.list_faults {
        let width = std::env::var("COLUMNS")
            .ok()
            .and_then(|columns| columns.parse().ok())
            .unwrap_or(120);
        // A reader that has seen enough, as `head`, is no error.
        let _ = writeln!(io::stdout(), "{}", catalogue::table(width));
        return ExitCode::SUCCESS;
    }
    if let Some(pid_file) = &args.stubborn_child {
        return be_stubborn(pid_file, args.setsid);
    }
    match prepare(args) {
        Ok((server, state_file)) => serve(server, state_file),
        Err(problem) => {
            complain(&problem);
            ExitCode::from(BAD_INPUT)
        }
    }
}

fn prepare(args: &MockArgs) -> Result<(Server<OsHost>, Option<PathBuf>), String> {
    let script = args.resolve().map_err(|error| error.to_string())?;
    let state_file = script.state_file.clone();
    let before = match &state_file {
        Some(path) => load_state(path)?,
        None => State::default(),
    };
    Ok((Server::new(script, OsHost::default(), before), state_file))
}

fn load_state(path: &Path) -> Result<State, String> {
    match std::fs::read(path) {
        Ok(bytes) => serde_json::from_slice(&bytes)
            .map_err(|error| format!("{}: not a state of jelly mock: {error}", path.display())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(State::default()),
        Err(error) => Err(format!("can't read {}: {error}", path.display())),
    }
}

/// Puts a file in its place when it is whole.
fn write_whole(path: &Path, content: &str) -> io::Result<()> {
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty());
    let mut file = tempfile::NamedTempFile::new_in(folder.unwrap_or(Path::new(".")))?;
    file.write_all(content.as_bytes())?;
    file.persist(path)?;
    Ok(())
}

fn complain(problem: &str) {
    // Without a stderr there is nobody to complain to.
    let _ = writeln!(io::stderr(), "jelly mock: {problem}");
}

fn serve(mut server: Server<OsHost>, state_file: Option<PathBuf>) -> ExitCode {
    let edge = Arc::new(Edge {
        state_file,
        stdout: Mutex::new(()),
        due: Mutex::new(HashMap::new()),
    });
    edge.perform(server.start());
    let mut input = BufReader::with_capacity(64 * 1024, io::stdin().lock());
    let mut line = Vec::new();
    loop {
        line.clear();
        match input.read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => break,
            Ok(_) => edge.perform(server.line(&String::from_utf8_lossy(&line))),
        }
    }
    edge.perform(server.end_of_input());
    ExitCode::SUCCESS
}

/// What threads share.
struct Edge {
    state_file: Option<PathBuf>,
    /// Held while a message goes out, so that messages never mix.
    stdout: Mutex<()>,
    /// What is due later, by request; true once it is cancelled.
    due: Mutex<HashMap<String, Arc<AtomicBool>>>,
}

impl Edge {
    fn perform(self: &Arc<Self>, actions: Vec<Action>) {
        for action in actions {
            self.act(action);
        }
    }

    fn act(self: &Arc<Self>, action: Action) {
        match action {
            Action::Write { bytes, pieces } => self.write(&bytes, pieces),
            Action::Stderr(bytes) => {
                let _ = io::stderr().write_all(&bytes);
            }
            Action::StderrFlood(bytes) => flood(bytes),
            Action::Pause(wait) => thread::sleep(wait),
            Action::Later {
                after,
                request,
                then,
            } => self.later(after, request, then),
            Action::Cancel(request) => {
                if let Some(cancelled) = lock(&self.due).get(&request) {
                    cancelled.store(true, Ordering::Relaxed);
                }
            }
            Action::Exit(code) => std::process::exit(code),
            Action::Kill(signal) => kill_self(signal),
            Action::Hang => loop {
                thread::park();
            },
            Action::CloseStdout => {
                // The descriptor itself stays taken, by a file that leads
                // nowhere; what the client sees is the end of the pipe.
                if let Ok(null) = std::fs::File::create("/dev/null") {
                    let _ = rustix::stdio::dup2_stdout(null);
                }
            }
            Action::IgnoreSigterm => ignore_signals(),
            Action::Grandchild(child) => {
                if let Err(problem) = start_grandchild(&child) {
                    complain(&format!("can't start a grandchild: {problem}"));
                }
            }
            Action::Listen(text) => self.listen(&text),
            Action::Persist(state) => {
                if let Some(path) = &self.state_file
                    && let Err(error) = write_whole(path, &serde_json::json!(state).to_string())
                {
                    complain(&format!("can't write {}: {error}", path.display()));
                    std::process::exit(i32::from(BAD_INPUT));
                }
            }
        }
    }

    fn later(self: &Arc<Self>, after: Duration, request: String, then: Vec<Action>) {
        let cancelled = Arc::clone(lock(&self.due).entry(request.clone()).or_default());
        let edge = Arc::clone(self);
        thread::spawn(move || {
            thread::sleep(after);
            if !cancelled.load(Ordering::Relaxed) {
                edge.perform(then);
            }
            let mut due = lock(&edge.due);
            // The map's and this thread's: nothing else of it is due.
            if Arc::strong_count(&cancelled) <= 2 {
                due.remove(&request);
            }
        });
    }

    fn write(&self, bytes: &[u8], pieces: Pieces) {
        let _alone = lock(&self.stdout);
        match pieces {
            Pieces::Whole => write_all(bytes),
            Pieces::Fixed { size, pause } => {
                for piece in bytes.chunks(size.max(1)) {
                    write_all(piece);
                    thread::sleep(pause);
                }
            }
            Pieces::Random { seed } => {
                let mut dice = Dice::new(seed);
                let mut rest = bytes;
                while !rest.is_empty() {
                    let size = (dice.roll() % 16 + 1).min(rest.len() as u64);
                    let (piece, tail) = rest.split_at(usize::try_from(size).unwrap_or(1));
                    write_all(piece);
                    thread::sleep(Duration::from_micros(100));
                    rest = tail;
                }
            }
        }
    }

    /// Listens as an HTTP server that knows no MCP would, for ever.
    fn listen(&self, text: &str) {
        let listener = match std::net::TcpListener::bind(("127.0.0.1", 0)) {
            Ok(listener) => listener,
            Err(error) => {
                complain(&format!("can't listen: {error}"));
                std::process::exit(1);
            }
        };
        let port = listener.local_addr().map_or(0, |address| address.port());
        let line = format!("{}\n", text.replace("${port}", &port.to_string()));
        self.write(line.as_bytes(), Pieces::Whole);
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { continue };
            let mut request = [0_u8; 1024];
            let _ = stream.read(&mut request);
            let _ = stream.write_all(
                b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n",
            );
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    // A thread that panicked leaves data that is still whole.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Writes to stdout past the standard library's buffer: a write here is a
/// write there.
fn write_all(mut bytes: &[u8]) {
    while !bytes.is_empty() {
        match rustix::io::write(rustix::stdio::stdout(), bytes) {
            Ok(written) => bytes = &bytes[written..],
            Err(rustix::io::Errno::INTR) => {}
            Err(rustix::io::Errno::AGAIN) => thread::sleep(Duration::from_millis(1)),
            // The client is gone, and with it the reason to be.
            Err(_) => std::process::exit(1),
        }
    }
}

fn flood(bytes: usize) {
    const LINE: &[u8] =
        b"debug: the quick brown fox jumps over the lazy dog, again and again and again\n";
    let chunk = LINE.repeat(64 * 1024 / LINE.len());
    let mut left = bytes;
    let mut stderr = io::stderr().lock();
    while left > 0 {
        let now = left.min(chunk.len());
        if stderr.write_all(&chunk[..now]).is_err() {
            return;
        }
        left -= now;
    }
}

fn kill_self(signal: Signal) -> ! {
    // Rust's runtime answers the first SIGSEGV and SIGBUS itself, by putting
    // the default back; the second one kills.
    for _ in 0..3 {
        let _ = rustix::process::kill_process(rustix::process::getpid(), signal.0);
        thread::sleep(Duration::from_millis(20));
    }
    // Ignored: what a shell would report is the next best thing.
    std::process::exit(128 + signal.0.as_raw());
}

/// SIGTERM, SIGINT and SIGHUP do nothing from now on.
fn ignore_signals() {
    use tokio::signal::unix::{SignalKind, signal};
    // A handler that tells a runtime nobody runs is how to ignore a signal
    // without unsafe code; it outlives the runtime.
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
    else {
        return;
    };
    let _inside = runtime.enter();
    for kind in [
        SignalKind::terminate(),
        SignalKind::interrupt(),
        SignalKind::hangup(),
    ] {
        let _ = signal(kind);
    }
}

fn start_grandchild(child: &Grandchild) -> io::Result<()> {
    let mut command = Command::new(std::env::current_exe()?);
    command
        .args(["mock", "--stubborn-child", &child.pid_file])
        .stdin(Stdio::null());
    if child.setsid {
        command.arg("--setsid");
    }
    if !child.holds {
        command.stdout(Stdio::null()).stderr(Stdio::null());
    }
    let _ = std::fs::remove_file(&child.pid_file);
    let mut process = command.spawn()?;
    // It is stubborn once its file is there; nobody should meet it before.
    let deadline = Instant::now() + Duration::from_secs(10);
    while !Path::new(&child.pid_file).exists() && Instant::now() < deadline {
        if let Some(status) = process.try_wait()? {
            return Err(io::Error::other(format!("it ended with {status}")));
        }
        thread::sleep(Duration::from_millis(2));
    }
    Ok(())
}

fn be_stubborn(pid_file: &str, leave_session: bool) -> ExitCode {
    ignore_signals();
    if leave_session {
        let _ = rustix::process::setsid();
    }
    let id = std::process::id().to_string();
    if let Err(error) = write_whole(Path::new(pid_file), &id) {
        complain(&format!("can't write {pid_file}: {error}"));
        return ExitCode::from(BAD_INPUT);
    }
    thread::sleep(STUBBORN_LIFE);
    ExitCode::SUCCESS
}

#[cfg(test)]
mod tests {
    use super::{load_state, write_whole};
    use crate::state::State;

    #[test]
    fn a_state_survives_its_file_and_a_broken_file_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("state.json");
        assert_eq!(load_state(&path), Ok(State::default()));
        let state = State {
            starts: 3,
            counter: 9,
            ..State::default()
        };
        write_whole(&path, &serde_json::json!(state).to_string()).unwrap();
        assert_eq!(load_state(&path), Ok(state));
        std::fs::write(&path, "{\"starts\": -1}").unwrap();
        assert!(load_state(&path).unwrap_err().contains("not a state"));
    }
}
