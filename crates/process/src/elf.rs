//! What a program in the format ELF says of itself.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::Path;

/// Segments that are looked at.
const SEGMENTS: u64 = 64;
/// Bytes of a path.
const PATH: u64 = 4096;
/// Bytes that hold the header, and those that hold the entry of a segment.
const HEADER: u64 = 64;
const ENTRY: u64 = 56;
/// The kind of the segment that names the loader.
const INTERPRETER: u64 = 3;

/// The loader that a program asks for (`PT_INTERP`), which maps it and its libraries; none of
/// what needs none, or is no such program.
pub(super) fn loader_of(program: &Path) -> Option<String> {
    let mut file = File::open(program).ok()?;
    let header = Part::read(&mut file, 0, HEADER)?;
    if !header.bytes.starts_with(b"\x7fELF") {
        return None;
    }
    let is_little = header.number(5, 1)? == 1;
    let header = Part {
        is_little,
        ..header
    };
    // Where the table of segments stands, how long an entry is, and how many there are; in an
    // entry, where the segment stands and how long it is; bytes of a place in the file.
    let (table, entry, count, place, length, width) = match header.number(4, 1)? {
        1 => (0x1c, 0x2a, 0x2c, 0x04, 0x10, 4),
        2 => (0x20, 0x36, 0x38, 0x08, 0x20, 8),
        _ => return None,
    };
    let (table, entry) = (header.number(table, width)?, header.number(entry, 2)?);
    let count = header.number(count, 2)?.min(SEGMENTS);
    (0..count).find_map(|segment| {
        let from = table.checked_add(segment * entry)?;
        let segment = Part {
            is_little,
            ..Part::read(&mut file, from, ENTRY)?
        };
        if segment.number(0, 4)? != INTERPRETER {
            return None;
        }
        let length = segment.number(length, width)?.min(PATH);
        let path = Part::read(&mut file, segment.number(place, width)?, length)?;
        let path = path.bytes.split(|byte| *byte == 0).next()?;
        (!path.is_empty()).then(|| String::from_utf8_lossy(path).into_owned())
    })
}

/// Bytes of a file.
struct Part {
    bytes: Vec<u8>,
    /// Whether a number begins with its lowest byte.
    is_little: bool,
}

impl Part {
    fn read(file: &mut File, from: u64, length: u64) -> Option<Self> {
        file.seek(SeekFrom::Start(from)).ok()?;
        let mut bytes = Vec::new();
        file.take(length).read_to_end(&mut bytes).ok()?;
        Some(Self {
            bytes,
            is_little: true,
        })
    }

    fn number(&self, at: usize, length: usize) -> Option<u64> {
        let bytes = self.bytes.get(at..at + length)?.iter();
        let push = |number: u64, byte: &u8| number << 8 | u64::from(*byte);
        Some(match self.is_little {
            true => bytes.rev().fold(0, push),
            false => bytes.fold(0, push),
        })
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::loader_of;
    use std::fs;

    /// The head of a program of 64 bits for x86-64 with this loader.
    pub(crate) fn program(loader: &str) -> Vec<u8> {
        let length = u8::try_from(loader.len() + 1).expect("a short path");
        let mut bytes = vec![0; 64 + 56];
        let parts: [(usize, &[u8]); 8] = [
            (0, b"\x7fELF\x02\x01\x01"),
            // It is to be executed, by x86-64.
            (16, &[2, 0, 0x3e, 0, 1]),
            (0x20, &[64]),
            (0x34, &[64, 0, 56, 0, 1]),
            (64, &[3, 0, 0, 0, 4]),
            (64 + 0x08, &[64 + 56]),
            (64 + 0x20, &[length]),
            (64 + 0x28, &[length]),
        ];
        for (at, value) in parts {
            bytes[at..at + value.len()].copy_from_slice(value);
        }
        bytes.extend(loader.bytes());
        bytes.push(0);
        bytes
    }

    #[test]
    fn a_program_says_which_loader_it_asks_for() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("program");
        let told = |bytes: &[u8]| {
            fs::write(&file, bytes).expect("a file");
            loader_of(&file)
        };
        let musl = program("/lib/ld-musl-x86_64.so.1");
        assert_eq!(told(&musl).as_deref(), Some("/lib/ld-musl-x86_64.so.1"));
        // Of 32 bits, the highest byte first.
        let mut other = vec![0; 0x34 + 0x20];
        let parts: [(usize, &[u8]); 5] = [
            (0, b"\x7fELF\x01\x02\x01"),
            (0x1c, &[0, 0, 0, 0x34]),
            (0x2a, &[0, 0x20, 0, 1]),
            (0x34, &[0, 0, 0, 3, 0, 0, 0, 0x54]),
            (0x34 + 0x10, &[0, 0, 0, 14]),
        ];
        for (at, value) in parts {
            other[at..at + value.len()].copy_from_slice(value);
        }
        other.extend(b"/lib/ld.so.1\0\0");
        assert_eq!(told(&other).as_deref(), Some("/lib/ld.so.1"));
        for end in 0..musl.len() {
            // What is cut off is no reason to end.
            let _ = told(&musl[..end]);
        }
        assert_eq!(told(b"#!/bin/sh\n"), None);
        assert_eq!(told(b"\x7fELF\x02\x01"), None);
    }
}
