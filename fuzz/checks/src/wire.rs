//! Bytes cut anywhere give the same lines.

use jelly_wire::LineSplitter;

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

/// Splits the bytes in one piece and in two.
pub fn check((cut, bytes): (usize, &[u8])) {
    let (head, tail) = bytes.split_at(cut % (bytes.len() + 1));
    assert_eq!(lines(&[bytes]), lines(&[head, tail]));
}
