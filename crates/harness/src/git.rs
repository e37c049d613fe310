//! Asks git, where there is one: no shell, a limit for time and length, and
//! nothing that a repository configures is run.

use jelly_process::{Capture, CommandSpec, ExitBoundReader, spawn};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::io::AsyncReadExt;

/// So long git may take to say one thing.
const LIMIT: Duration = Duration::from_secs(5);
/// What it is given to end, twice.
const GRACE: Duration = Duration::from_millis(200);

/// What git prints, where it succeeds in time and in at most so many bytes.
pub(crate) async fn git(folder: &Path, args: &[&str], most: usize) -> Option<Vec<u8>> {
    let options = [
        "--no-pager",
        "-c",
        "core.fsmonitor=false",
        "-c",
        "core.quotePath=false",
    ];
    let mut argv = vec!["git".to_owned()];
    argv.extend(options.iter().chain(args).map(|word| (*word).to_owned()));
    let spec = CommandSpec {
        argv,
        cwd: folder.to_owned(),
        env: [("GIT_OPTIONAL_LOCKS", "0"), ("GIT_TERMINAL_PROMPT", "0")]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .to_vec(),
    };
    let mut process = spawn(&spec, Capture::default()).await.ok()?;
    process.close_stdin();
    let watch = process.exit_watch();
    let stdout = process.stdout.take();
    let read = async {
        let mut output = Vec::new();
        if let Some(stdout) = stdout {
            let bound = u64::try_from(most).unwrap_or(u64::MAX);
            let mut reader = ExitBoundReader::new(stdout, &watch).take(bound);
            reader.read_to_end(&mut output).await.ok()?;
        }
        (output.len() < most).then_some(output)
    };
    let output = tokio::time::timeout(LIMIT, read).await.ok().flatten();
    // What is read to its end has ended, or is about to.
    let exit = match output {
        Some(_) => tokio::time::timeout(LIMIT, watch.wait()).await.ok(),
        None => None,
    };
    process.shutdown(GRACE).await;
    output.filter(|_| exit.is_some_and(|exit| exit.code == Some(0)))
}

/// A path as git writes it with `-z`.
#[cfg(unix)]
pub(crate) fn path_of(name: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt;
    std::ffi::OsStr::from_bytes(name).into()
}

#[cfg(not(unix))]
pub(crate) fn path_of(name: &[u8]) -> PathBuf {
    String::from_utf8_lossy(name).into_owned().into()
}
