//! The client: at our standard streams, or one over HTTP whose messages come
//! and go one by one.
//!
//! Main type: [`Client`].

use super::front::{ClientInput, ClientOutput};
use super::relay::Outbox;
use super::routing::Router;
use jelly_wire::LineSplitter;
use std::future::pending;
use std::io;
use std::rc::Rc;
use tokio::sync::mpsc::Receiver;

/// See the module.
pub enum Client {
    Streams(Box<StreamsClient>),
    Messages(MessagesClient),
}

/// Who started us.
pub struct StreamsClient {
    input: ClientInput,
    output: ClientOutput,
    splitter: LineSplitter,
}

/// Who asks over HTTP.
pub struct MessagesClient {
    /// Its messages; closed when it has gone.
    pub inbox: Receiver<Vec<u8>>,
    /// Where what is said to it goes.
    pub router: Rc<Router>,
}

/// What happened at the client's end.
pub enum FromClient {
    /// Bytes came, to be cut into lines.
    Read(io::Result<usize>),
    /// So many bytes were taken.
    Wrote(io::Result<usize>),
    Message(Vec<u8>),
    Gone,
    /// There may be room for more messages.
    Room,
}

impl Client {
    /// The one at our standard streams.
    ///
    /// # Errors
    /// They are closed.
    pub fn at_streams() -> io::Result<Self> {
        Ok(Self::Streams(Box::new(StreamsClient {
            input: ClientInput::new()?,
            output: ClientOutput::new()?,
            splitter: LineSplitter::default(),
        })))
    }

    /// What comes next, where `unsent` waits to be written. Cancel-safe.
    pub async fn news(&mut self, unsent: &[u8], reads: bool) -> FromClient {
        match self {
            Self::Streams(client) => {
                let StreamsClient {
                    input,
                    output,
                    splitter,
                } = &mut **client;
                tokio::select! {
                    wrote = output.write(unsent), if !unsent.is_empty() => FromClient::Wrote(wrote),
                    read = input.read(splitter.room()), if reads => FromClient::Read(read),
                    else => pending().await,
                }
            }
            Self::Messages(client) => {
                let MessagesClient { inbox, router } = client;
                tokio::select! {
                    message = inbox.recv(), if reads => {
                        message.map_or(FromClient::Gone, FromClient::Message)
                    }
                    () = router.has_room(), if router.is_full() => FromClient::Room,
                    else => pending().await,
                }
            }
        }
    }

    /// Takes what goes in whole messages.
    pub fn take_messages(&mut self, outbox: &mut Outbox) {
        if let Self::Messages(client) = self {
            outbox.take_lines(|line| client.router.take(line));
        }
    }

    /// Headers that came with a message of it, to be passed on.
    pub fn carried(&self, line: &[u8]) -> Vec<(String, String)> {
        match self {
            Self::Streams(_) => Vec::new(),
            Self::Messages(client) => client.router.carried(line),
        }
    }

    /// No more can be taken for now.
    pub fn is_full(&self) -> bool {
        match self {
            // What waits there is counted as it is written.
            Self::Streams(_) => false,
            Self::Messages(client) => client.router.is_full(),
        }
    }

    /// Cuts bytes into lines.
    pub fn splitter(&mut self) -> Option<&mut LineSplitter> {
        match self {
            Self::Streams(client) => Some(&mut client.splitter),
            Self::Messages(_) => None,
        }
    }
}
