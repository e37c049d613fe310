//! Which version a program says that it is of.

use super::platform;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

/// Of an answer, this much is read.
const ANSWER: u64 = 4096;
const LOOK: Duration = Duration::from_millis(10);

/// The first line of what a program prints for `--version`; none where it
/// fails, says nothing, or takes longer than it may.
#[must_use]
pub fn version_of(program: &Path, patience: Duration) -> Option<String> {
    let mut child = {
        let _gate = platform::spawn_gate();
        Command::new(program)
            .arg("--version")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()
            .ok()?
    };
    let deadline = Instant::now() + patience;
    let ended = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status.success(),
            Ok(None) if Instant::now() < deadline => thread::sleep(LOOK),
            Ok(None) | Err(_) => {
                // Whether it is gone already makes no difference.
                let _ = child.kill();
                let _ = child.wait();
                break false;
            }
        }
    };
    if !ended {
        return None;
    }
    let stdout = child.stdout.take()?;
    // A grandchild may hold the pipe open without a word.
    let (say, said) = mpsc::channel();
    thread::spawn(move || {
        let mut line = String::new();
        let read = BufReader::new(stdout.take(ANSWER)).read_line(&mut line);
        // Who asked may be gone.
        let _ = say.send(read.map(|_| line));
    });
    let left = deadline.saturating_duration_since(Instant::now());
    let line = said.recv_timeout(left.max(LOOK)).ok()?.ok()?;
    let line = line.trim();
    (!line.is_empty()).then(|| line.to_owned())
}

#[cfg(test)]
mod tests {
    use super::version_of;
    use std::path::Path;
    use std::time::{Duration, Instant};

    #[test]
    fn a_program_says_its_version_or_is_left() {
        let patience = Duration::from_millis(500);
        let said = version_of(Path::new("bash"), Duration::from_secs(10)).unwrap();
        assert!(said.contains("version"), "{said}");
        assert_eq!(version_of(Path::new("/nowhere/node"), patience), None);
        let started = Instant::now();
        // It takes the flag for a file to read, and fails.
        assert_eq!(version_of(Path::new("false"), patience), None);
        assert!(started.elapsed() < Duration::from_secs(10));
    }
}
