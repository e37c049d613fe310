//! A port that stays as a test needs it, whatever the tests beside it bind.

use tokio::net::TcpSocket;

/// A port of 127.0.0.1 that is bound and not listened at: a connection is refused, no other test
/// is given it, and a server that asks for it by its number with `SO_REUSEADDR` (Node's and
/// Python's do) may listen at it.
pub struct HeldPort(TcpSocket);

impl HeldPort {
    pub fn new() -> Self {
        let socket = TcpSocket::new_v4().unwrap();
        socket.set_reuseaddr(true).unwrap();
        socket.bind(([127, 0, 0, 1], 0).into()).unwrap();
        Self(socket)
    }

    pub fn number(&self) -> u16 {
        self.0.local_addr().unwrap().port()
    }
}
