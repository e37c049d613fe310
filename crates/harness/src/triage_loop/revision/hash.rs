//! A number that stands for what was added to it.

use sha2::{Digest, Sha256};

/// Takes in texts and numbers, in their order, and ends as one number.
///
/// The history keeps that number, so it must come out the same on every
/// machine and from every build. Hashes of the standard library, and the bytes
/// that `derive(Hash)` feeds them, promise neither.
///
/// No secret enters it: what the plan spells out is known by its value
/// beforehand, and its name takes its place.
#[derive(Clone)]
pub(in crate::triage_loop) struct StableHash<'a> {
    sha: Sha256,
    /// Names and values of secrets.
    secrets: &'a [(String, String)],
}

impl<'a> StableHash<'a> {
    pub fn new(secrets: &'a [(String, String)]) -> Self {
        Self {
            sha: Sha256::default(),
            secrets,
        }
    }

    /// Another one that hides the same secrets.
    pub fn apart(&self) -> Self {
        Self::new(self.secrets)
    }

    pub fn text(&mut self, text: &str) -> &mut Self {
        let mut held = self.secrets.iter();
        if held.any(|(_, value)| text.contains(value.as_str())) {
            let mut masked = text.to_owned();
            for (name, value) in self.secrets {
                masked = masked.replace(value.as_str(), &format!("${{secret:{name}}}"));
            }
            return self.bytes(masked.as_bytes());
        }
        self.bytes(text.as_bytes())
    }

    pub fn bytes(&mut self, bytes: &[u8]) -> &mut Self {
        // The length keeps two texts from reading like two others.
        self.number(bytes.len() as u64);
        self.sha.update(bytes);
        self
    }

    pub fn number(&mut self, number: u64) -> &mut Self {
        self.sha.update(number.to_le_bytes());
        self
    }

    pub fn flag(&mut self, flag: bool) -> &mut Self {
        self.number(flag.into())
    }

    /// What may be absent; absence counts too.
    pub fn maybe<T>(&mut self, value: Option<T>, add: impl FnOnce(&mut Self, T)) -> &mut Self {
        self.flag(value.is_some());
        if let Some(value) = value {
            add(self, value);
        }
        self
    }

    /// Each of several; their number counts too.
    pub fn each<T>(
        &mut self,
        items: impl ExactSizeIterator<Item = T>,
        mut add: impl FnMut(&mut Self, T),
    ) -> &mut Self {
        self.number(items.len() as u64);
        for item in items {
            add(self, item);
        }
        self
    }

    pub fn finish(self) -> u64 {
        let mut first = [0; 8];
        first.copy_from_slice(&self.sha.finalize()[..8]);
        u64::from_be_bytes(first)
    }
}
