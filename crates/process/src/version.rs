//! Which version a program says that it is of.

use super::{platform, unix};
use rustix::process::Pid;
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
    let succeeded = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status.success(),
            Ok(None) if Instant::now() < deadline => thread::sleep(LOOK),
            Ok(None) | Err(_) => {
                // A version manager's shim starts the program itself, which
                // would be left behind.
                unix::kill_group_and_reap(Pid::from_child(&child));
                return None;
            }
        }
    };
    if !succeeded {
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
    use rustix::fs::{Mode, OFlags};
    use std::fs;
    use std::io::Read;
    use std::os::unix::fs::PermissionsExt;
    use std::path::Path;
    use std::process::Command;
    use std::thread;
    use std::time::{Duration, Instant};

    #[test]
    fn a_program_says_its_version() {
        let patience = Duration::from_secs(10);
        let said = version_of(Path::new("bash"), patience).unwrap();
        assert!(said.contains("version"), "{said}");
        assert_eq!(version_of(Path::new("/nowhere/node"), patience), None);
        // It prints its version, and fails.
        assert_eq!(version_of(Path::new("false"), patience), None);
    }

    #[test]
    fn one_that_hangs_is_ended_with_what_it_started() {
        let folder = tempfile::tempdir().unwrap();
        let fifo = folder.path().join("held");
        let made = Command::new("mkfifo").arg(&fifo).status().unwrap();
        assert!(made.success());
        // Both ends, so that opening it waits for nobody.
        let shim = folder.path().join("node");
        let script = "#!/bin/sh\nexec 9<>\"$(dirname \"$0\")/held\"\nsleep 600 &\nwait\n";
        fs::write(&shim, script).unwrap();
        fs::set_permissions(&shim, fs::Permissions::from_mode(0o700)).unwrap();
        assert_eq!(version_of(&shim, Duration::from_secs(2)), None);
        // While somebody holds it, there is no end to be read.
        let mut reader = fs::File::from(
            rustix::fs::open(&fifo, OFlags::RDONLY | OFlags::NONBLOCK, Mode::empty()).unwrap(),
        );
        let patience = Instant::now() + Duration::from_secs(10);
        while reader.read(&mut [0]).is_err() {
            assert!(Instant::now() < patience, "a process is left behind");
            thread::yield_now();
        }
    }
}
