//! Chunks of an event stream → messages for the peer.
//!
//! Main function: [`hear`].

use super::exchange::REFUSAL_BYTES;
use super::sse::{SseItem, SseParser};
use crate::connection::Shared;
use crate::message::Understood;
use jelly_base::model::OwnLimit;
use std::time::Duration;

/// A stream that broke off is taken up again after this pause, if the server
/// does not say another.
pub(super) const DEFAULT_RETRY: Duration = Duration::from_secs(1);
/// A server may not make us wait longer than this, nor ask it without a pause.
const LONGEST_RETRY: Duration = Duration::from_secs(60);
const SHORTEST_RETRY: Duration = Duration::from_millis(10);
/// So often in a row without anything new.
pub(super) const RESUMPTIONS: usize = 5;

/// The pause that a server asks for, within bounds.
pub(super) fn pause_of(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds).clamp(SHORTEST_RETRY, LONGEST_RETRY)
}

/// Takes a chunk of a stream: messages go to the peer, the rest is noted. The
/// newest event that was none is left in `last`, unless a message followed it. What was not read, for a limit
/// of jelly's own, may have been the answer.
pub(super) fn hear(
    shared: &Shared,
    parser: &mut SseParser,
    chunk: &[u8],
    retry: &mut Duration,
    last: &mut Vec<u8>,
) -> Option<OwnLimit> {
    let mut unread = None;
    parser.push(chunk, &mut |item| match item {
        SseItem::Event {
            name: "message",
            data,
        } if !data.trim_ascii().is_empty() => {
            let mut peer = shared.peer();
            match peer.receive_whole(data) {
                Understood::Message => last.clear(),
                Understood::Nothing => {
                    peer.breach("sent an event that is no JSON-RPC message");
                    last.clear();
                    last.extend_from_slice(&data[..data.len().min(REFUSAL_BYTES)]);
                }
                Understood::Beyond(limit) => unread = Some(limit),
            }
        }
        SseItem::Event { .. } => {}
        SseItem::Retry(pause) => *retry = pause_of(pause),
        SseItem::TooLong(limit) => {
            let text = format!("sent a longer event than the {limit} bytes that jelly reads");
            let mut peer = shared.peer();
            unread = Some(peer.pass_over(OwnLimit::MessageSize, &text).limit);
        }
    });
    // A request of the server may be among it, and its answer is to be sent
    // while the stream goes on.
    shared.wake.notify_one();
    unread
}
