//! Bytes cut anywhere give the same lines.
#![no_main]

use jelly_wire::LineSplitter;
use libfuzzer_sys::fuzz_target;

fn lines(chunks: &[&[u8]]) -> Vec<String> {
    let mut splitter = LineSplitter::new(1 << 16);
    let mut lines = Vec::new();
    for chunk in chunks {
        splitter.push(chunk);
        while let Some(frame) = splitter.next_frame() {
            lines.push(format!("{frame:?}"));
        }
    }
    while let Some(frame) = splitter.finish() {
        lines.push(format!("{frame:?}"));
    }
    lines
}

fuzz_target!(|input: (usize, &[u8])| {
    let (cut, bytes) = input;
    let (head, tail) = bytes.split_at(cut % (bytes.len() + 1));
    assert_eq!(lines(&[bytes]), lines(&[head, tail]));
});
