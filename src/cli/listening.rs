//! An address that clients reach jelly at, and whom it answers there.
//!
//! Main function: [`listen_at`].

use super::refusal::Refusal;
use super::settings::World;
use jelly_wire::{ListenGuard, ListenRefusal};
use std::net::SocketAddr;
use tokio::net::TcpListener;

/// Listens; and where, if the system has chosen the port.
pub async fn listen_at(
    address: SocketAddr,
    token_env: Option<&str>,
    world: &World,
) -> Result<(ListenGuard, TcpListener, SocketAddr), Refusal> {
    let token = match token_env {
        None => None,
        Some(name) => Some(world.env.get(name).cloned().ok_or_else(|| {
            Refusal::with_help(
                format!("the environment variable {name}, which is to hold the token, is not set"),
                "set it to a long random word, as from `openssl rand -hex 32`",
            )
        })?),
    };
    let guard = ListenGuard::new(address, token).map_err(|error| {
        let next = match error {
            ListenRefusal::NoToken(_) => {
                "listen at 127.0.0.1, or name the variable with a token: --token-env NAME"
            }
            ListenRefusal::EmptyToken | ListenRefusal::UnsendableToken => {
                "set the variable to a long random word, as from `openssl rand -hex 32`"
            }
        };
        Refusal::with_help(format!("{address} can't be listened at: {error}"), next)
    })?;
    let listener = TcpListener::bind(address).await;
    let bound = listener.and_then(|listener| Ok((listener.local_addr()?, listener)));
    let (bound, listener) = bound.map_err(|error| {
        Refusal::needs_help(format!(
            "error: {address} can't be listened at: {error}\nhelp: name another port; port 0 takes a free one"
        ))
    })?;
    Ok((guard.at(bound), listener, bound))
}
