//! Bytes on their way to one side.
//!
//! Main type: [`Outbox`]. Taking some off its front costs nothing, so that a
//! message of many megabytes is no burden while a pipe takes it piece by piece.

/// Room above this is given back once it is empty.
const KEEP: usize = 1024 * 1024;

/// See the module.
#[derive(Debug, Default)]
pub struct Outbox {
    bytes: Vec<u8>,
    /// Up to where they have been taken.
    at: usize,
}

impl Outbox {
    /// Adds a piece of a line.
    pub fn add(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Adds a line, or the end of one.
    pub fn line(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        self.bytes.push(b'\n');
    }

    /// What has not been taken.
    #[must_use]
    pub fn unsent(&self) -> &[u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.unsent().is_empty()
    }

    /// Takes back what was added since so many bytes waited.
    pub fn take_back(&mut self, waited: usize) -> Vec<u8> {
        let at = (self.at + waited).min(self.bytes.len());
        self.bytes.split_off(at)
    }

    /// So many bytes were taken.
    pub fn took(&mut self, bytes: usize) {
        self.at += bytes;
        if self.is_empty() {
            self.clear();
        }
    }

    /// Hands out all lines that wait.
    pub fn take_lines(&mut self, mut take: impl FnMut(&[u8])) {
        let lines = self.unsent().split(|byte| *byte == b'\n');
        lines.filter(|line| !line.is_empty()).for_each(&mut take);
        self.clear();
    }

    /// Nobody wants them any more.
    pub fn clear(&mut self) {
        self.at = 0;
        match self.bytes.capacity() > KEEP {
            true => self.bytes = Vec::new(),
            false => self.bytes.clear(),
        }
    }
}
