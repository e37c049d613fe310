//! What of a report the history counts once: its content, in the run that it is
//! of.
//!
//! Main function: [`record_key`].

use crate::history::RunOrigin;
use sha2::{Digest, Sha256};
use std::io::{self, BufRead, Read};

/// Stands for a report in a run; the same again is the same report.
///
/// Two runs may write the same bytes, as where a test fails, passes, and fails
/// again. The CI's name for the run tells them apart, else the times that the
/// report itself holds (`is_dated`), else when it was written. Where nothing
/// does, there is no key, and the report counts however often it comes.
#[must_use]
pub fn record_key(
    origin: &RunOrigin,
    content: &str,
    is_dated: bool,
    written: impl FnOnce() -> Option<String>,
) -> Option<String> {
    let RunOrigin {
        project,
        branch,
        commit,
        run_key,
        attempt,
        // Shards triage reports of their own, or the same ones.
        shard: _,
        shards: _,
    } = origin;
    let run = match run_key {
        Some(key) => Some(format!("{key}/{}", attempt.unwrap_or(1))),
        None if is_dated => Some(String::new()),
        None => written(),
    };
    let run = run?;
    let of_build = [project, branch, commit].map(|part| part.as_deref().unwrap_or_default());
    let mut hash = Sha256::new();
    for part in of_build.into_iter().chain([run.as_str(), content]) {
        hash.update(part.len().to_le_bytes());
        hash.update(part);
    }
    let half: String = hex(hash).chars().take(32).collect();
    Some(format!("r2:{half}"))
}

fn hex(hash: Sha256) -> String {
    let digest = hash.finalize();
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Reads, and takes a digest of what was read where that is wanted.
pub(super) struct ContentReader<R> {
    input: R,
    hash: Option<Sha256>,
}

impl<R: BufRead> ContentReader<R> {
    pub(super) fn new(input: R, wanted: bool) -> Self {
        Self {
            input,
            hash: wanted.then(Sha256::new),
        }
    }

    /// Of all that was read.
    pub(super) fn digest(self) -> Option<String> {
        self.hash.map(hex)
    }
}

impl<R: BufRead> Read for ContentReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(buffer)?;
        if let Some(hash) = &mut self.hash {
            hash.update(&buffer[..read]);
        }
        Ok(read)
    }
}

impl<R: BufRead> BufRead for ContentReader<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.input.fill_buf()
    }

    fn consume(&mut self, amount: usize) {
        if let Some(hash) = &mut self.hash
            && let Ok(filled) = self.input.fill_buf()
        {
            hash.update(&filled[..amount.min(filled.len())]);
        }
        self.input.consume(amount);
    }
}

#[cfg(test)]
mod tests {
    use super::{ContentReader, record_key};
    use crate::history::RunOrigin;
    use std::io::{BufRead as _, Read as _};

    #[test]
    fn a_report_is_the_same_in_the_same_run_only() {
        let run = |key: &str, attempt| RunOrigin {
            run_key: Some(key.to_owned()),
            attempt: Some(attempt),
            ..RunOrigin::default()
        };
        let of = |origin: &RunOrigin, content| record_key(origin, content, false, || None);
        let first = of(&run("7", 1), "a");
        assert!(first.is_some());
        assert_eq!(of(&run("7", 1), "a"), first);
        for (origin, content) in [(run("8", 1), "a"), (run("7", 2), "a"), (run("7", 1), "b")] {
            assert_ne!(of(&origin, content), first);
        }
        let nowhere = RunOrigin::default();
        let at = |when: &str| record_key(&nowhere, "a", false, || Some(when.to_owned()));
        assert_eq!(of(&nowhere, "a"), None);
        assert_eq!(at("1"), at("1"));
        assert_ne!(at("1"), at("2"));
        let dated = |when: &str| record_key(&nowhere, "a", true, || Some(when.to_owned()));
        assert_eq!(dated("1"), dated("2"));
        let at_commit = RunOrigin {
            commit: Some("c".to_owned()),
            ..RunOrigin::default()
        };
        assert_ne!(record_key(&at_commit, "a", true, || None), dated("1"));
    }

    #[test]
    fn a_digest_is_of_the_bytes_however_they_are_read() {
        let mut lines = ContentReader::new(&b"a\nb\nrest"[..], true);
        lines.read_until(b'\n', &mut Vec::new()).unwrap();
        lines.read_to_end(&mut Vec::new()).unwrap();
        let mut whole = ContentReader::new(&b"a\nb\nrest"[..], true);
        whole.read_to_end(&mut Vec::new()).unwrap();
        let digest = whole.digest();
        assert!(digest.is_some());
        assert_eq!(lines.digest(), digest);
        assert_eq!(ContentReader::new(&b"a"[..], false).digest(), None);
    }
}
