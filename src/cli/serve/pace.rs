//! A client that asks and does not read: with so many requests unanswered no
//! others are taken, and after some time it counts as gone.
//!
//! Main function: [`paced`].

use rmcp::RoleServer;
use rmcp::model::{ClientNotification, JsonRpcMessage, RequestId};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{Notify, watch};
use tokio::time::{Instant, sleep_until};

/// With so many requests unanswered, nothing more is read. Calls of tools alone
/// never come to it (see `MOST_CALLS`), so that cancelling them is always
/// heard.
pub const MOST_UNANSWERED: usize = 64;

/// So long no answer may be taken when that is used up.
const PATIENCE: Duration = Duration::from_secs(20);

/// A transport that reads as long as its client reads, too.
pub struct PacedTransport<T> {
    inner: T,
    pace: Arc<Pace>,
    gone: watch::Sender<bool>,
}

/// What both directions know.
#[derive(Default)]
struct Pace {
    unanswered: Mutex<Unanswered>,
    changed: Notify,
}

#[derive(Default)]
struct Unanswered {
    /// Requests that are worked on.
    worked_on: HashSet<RequestId>,
    /// Answers that wait until the client takes them.
    unwritten: usize,
    /// Since when the client has taken none of these.
    since: Option<Instant>,
}

impl Unanswered {
    fn count(&self) -> usize {
        self.worked_on.len() + self.unwritten
    }
}

impl Pace {
    fn lock(&self) -> MutexGuard<'_, Unanswered> {
        self.unanswered
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until more may be read; false where the client counts as gone.
    async fn may_read(&self) -> bool {
        loop {
            let since = {
                let unanswered = self.lock();
                if unanswered.count() < MOST_UNANSWERED {
                    return true;
                }
                unanswered.since
            };
            let changed = self.changed.notified();
            match since {
                Some(since) => tokio::select! {
                    () = changed => {}
                    () = sleep_until(since + PATIENCE) => return false,
                },
                None => changed.await,
            }
        }
    }

    fn note_received(&self, message: &RxJsonRpcMessage<RoleServer>) {
        match message {
            JsonRpcMessage::Request(request) => {
                self.lock().worked_on.insert(request.id.clone());
            }
            JsonRpcMessage::Notification(notification) => {
                let ClientNotification::CancelledNotification(cancelled) =
                    &notification.notification
                else {
                    return;
                };
                // The SDK sends no answer to it any more.
                if let Some(id) = &cancelled.params.request_id {
                    self.lock().worked_on.remove(id);
                    self.changed.notify_one();
                }
            }
            JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_) => {}
        }
    }

    /// One more message waits to be taken; until the guard is dropped.
    fn note_unwritten(
        self: &Arc<Self>,
        message: &TxJsonRpcMessage<RoleServer>,
    ) -> Option<UnwrittenAnswer> {
        let id = match message {
            JsonRpcMessage::Response(response) => Some(&response.id),
            JsonRpcMessage::Error(error) => error.id.as_ref(),
            // Each of these is waited for by the call that it belongs to.
            JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => return None,
        };
        let mut unanswered = self.lock();
        if let Some(id) = id {
            unanswered.worked_on.remove(id);
        }
        unanswered.unwritten += 1;
        unanswered.since.get_or_insert_with(Instant::now);
        drop(unanswered);
        Some(UnwrittenAnswer(self.clone()))
    }
}

/// An answer that the client has not taken.
struct UnwrittenAnswer(Arc<Pace>);

impl Drop for UnwrittenAnswer {
    fn drop(&mut self) {
        let mut unanswered = self.0.lock();
        unanswered.unwritten -= 1;
        unanswered.since = (unanswered.unwritten > 0).then(Instant::now);
        drop(unanswered);
        self.0.changed.notify_one();
    }
}

/// A client's transport, and whether the client has gone.
pub fn paced<T>(inner: T) -> (PacedTransport<T>, watch::Receiver<bool>) {
    let (gone, seen) = watch::channel(false);
    let pace = Arc::default();
    (PacedTransport { inner, pace, gone }, seen)
}

impl<T: Transport<RoleServer> + 'static> Transport<RoleServer> for PacedTransport<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let unwritten = self.pace.note_unwritten(&item);
        let sent = self.inner.send(item);
        async move {
            let sent = sent.await;
            drop(unwritten);
            sent
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        let message = match self.pace.may_read().await {
            true => self.inner.receive().await,
            // As at the end of its input.
            false => None,
        };
        match &message {
            Some(message) => self.pace.note_received(message),
            None => {
                self.gone.send_replace(true);
            }
        }
        message
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.inner.close().await
    }
}

#[cfg(test)]
mod tests {
    use super::{MOST_UNANSWERED, PATIENCE, paced};
    use rmcp::RoleServer;
    use rmcp::model::{JsonRpcMessage, RequestId, ServerResult};
    use rmcp::transport::Transport;
    use rmcp::transport::async_rw::AsyncRwTransport;
    use std::fmt::Write;
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};
    use tokio::time::Instant;

    fn pings(ids: std::ops::Range<usize>) -> String {
        ids.fold(String::new(), |mut text, id| {
            let _ = writeln!(
                text,
                r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/list"}}"#
            );
            text
        })
    }

    /// A client's ends, and the transport that serves it.
    macro_rules! client {
        ($input:ident, $output:ident, $transport:ident, $gone:ident) => {
            let (mut $input, input) = duplex(1 << 20);
            let (output, mut $output) = duplex(16);
            let (mut $transport, $gone) =
                paced(AsyncRwTransport::<RoleServer, _, _>::new(input, output));
        };
    }

    fn answer(id: RequestId) -> rmcp::service::TxJsonRpcMessage<RoleServer> {
        JsonRpcMessage::response(ServerResult::empty(()), id)
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_takes_no_answer_is_read_no_further_and_counts_as_gone() {
        client!(input, output, transport, gone);
        input.write_all(pings(0..1000).as_bytes()).await.unwrap();
        let mut sent = Vec::new();
        let since = Instant::now();
        while let Some(message) = transport.receive().await {
            let JsonRpcMessage::Request(request) = message else {
                panic!("{message:?}");
            };
            sent.push(tokio::spawn(transport.send(answer(request.id))));
        }
        assert_eq!(sent.len(), MOST_UNANSWERED);
        assert!(since.elapsed() >= PATIENCE);
        assert!(*gone.borrow());
        // It reads after all: its answers are there.
        drop(transport);
        let mut text = String::new();
        output.read_to_string(&mut text).await.unwrap();
        assert_eq!(text.lines().count(), MOST_UNANSWERED);
        for sent in sent {
            sent.await.unwrap().unwrap();
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_waits_for_answers_is_not_gone_and_may_cancel() {
        client!(input, _output, transport, gone);
        let most = MOST_UNANSWERED;
        let cancel = |id: usize| {
            format!(
                "{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{{\"requestId\":{id}}}}}\n"
            )
        };
        let text = pings(0..most - 1) + &cancel(3) + &pings(most..most + 2);
        input.write_all(text.as_bytes()).await.unwrap();
        for _ in 0..=most + 1 {
            transport.receive().await.unwrap();
        }
        // All are worked on, however long that takes.
        input.write_all(pings(9000..9001).as_bytes()).await.unwrap();
        let waited = tokio::time::timeout(PATIENCE * 10, transport.receive()).await;
        assert!(waited.is_err());
        assert!(!*gone.borrow());
    }

    #[tokio::test]
    async fn a_client_that_reads_is_read_to_its_end() {
        client!(input, output, transport, gone);
        let write = async {
            input.write_all(pings(0..5000).as_bytes()).await.unwrap();
            drop(input);
        };
        let take = async {
            let mut text = String::new();
            output.read_to_string(&mut text).await.unwrap();
            text.lines().count()
        };
        let serve = async move {
            let mut tasks = tokio::task::JoinSet::new();
            while let Some(JsonRpcMessage::Request(request)) = transport.receive().await {
                tasks.spawn(transport.send(answer(request.id)));
            }
            tasks.join_all().await
        };
        let ((), taken, _) = tokio::join!(write, take, serve);
        assert_eq!(taken, 5000);
        assert!(*gone.borrow());
    }
}
