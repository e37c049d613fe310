//! Any bytes are a stream of events, and the same ones however they are cut.

use jelly_wire::{SseItem, SseParser};

const LIMIT: usize = 256;

fn feed(parser: &mut SseParser, bytes: &[u8], seen: &mut Vec<String>) {
    parser.push(bytes, &mut |item| {
        if let SseItem::Event { data, .. } = &item {
            // A byte that is no UTF-8 becomes a character of three.
            assert!(data.len() < 3 * LIMIT);
        }
        seen.push(format!("{item:?}"));
    });
}

/// Parses the bytes in one piece and in pieces.
pub fn check((bytes, cuts): (&[u8], Vec<u8>)) {
    let (mut whole, mut seen) = (SseParser::new(LIMIT), Vec::new());
    feed(&mut whole, bytes, &mut seen);

    let (mut split, mut seen_split) = (SseParser::new(LIMIT), Vec::new());
    let mut rest = bytes;
    for cut in cuts {
        let (head, tail) = rest.split_at(usize::from(cut).min(rest.len()));
        feed(&mut split, head, &mut seen_split);
        rest = tail;
    }
    feed(&mut split, rest, &mut seen_split);
    assert_eq!(seen, seen_split);
    assert_eq!(whole.last_event_id(), split.last_event_id());
    assert_eq!(whole.is_mid_event(), split.is_mid_event());
}
