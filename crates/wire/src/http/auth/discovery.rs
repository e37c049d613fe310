//! From a server to whoever issues tokens for it.
//!
//! Main function: [`discover`].

use super::error::{AuthError, Stage};
use super::fetch::{Got, Http};
use super::metadata::{
    ResourceMetadata, ServerMetadata, at, canonical, resource_urls, server_urls,
};
use super::token::shown;
use reqwest::Url;
use serde_json::Value;

/// Whom to ask for a token, and what for.
#[derive(Debug, Clone)]
pub(super) struct Found {
    /// The resource that the token is to be for.
    pub resource: String,
    pub scopes_supported: Option<Vec<String>>,
    pub server: ServerMetadata,
}

/// What is asked of discovery.
pub(super) struct Wanted<'a> {
    pub server: &'a Url,
    /// Where the challenge says that the metadata are.
    pub named: Option<&'a str>,
    /// The issuer that the plan insists on.
    pub issuer: Option<&'a str>,
    /// Take the fixed endpoints of 2025-03-26 where nothing else is said.
    pub fallback: bool,
}

/// Finds out who issues tokens for a server (2026-07-28, "Authorization Server
/// Discovery"), and where nothing of that is there, as 2025-03-26 has it.
pub(super) async fn discover(http: &Http, wanted: &Wanted<'_>) -> Result<Found, AuthError> {
    let about = resource(http, wanted).await?;
    let (resource, listed, scopes_supported) = match about {
        Some(about) => (
            about.resource.clone(),
            about.authorization_servers,
            about.scopes_supported,
        ),
        None => (None, Vec::new(), None),
    };
    let server = match (wanted.issuer, listed.first()) {
        (Some(pinned), Some(first)) if !listed.iter().any(|one| one == pinned) => {
            let text = format!(
                "the server names {} as its issuer, and the plan insists on {}",
                shown(first),
                shown(pinned)
            );
            return Err(AuthError::new(Stage::Issuer, text));
        }
        // What the plan says is as good as what the server would say.
        (Some(issuer), _) => authorization_server(http, issuer).await?,
        (None, Some(issuer)) => authorization_server(http, issuer).await?,
        (None, None) => of_2025_03_26(http, wanted).await?,
    };
    Ok(Found {
        resource: resource.unwrap_or_else(|| canonical(wanted.server)),
        scopes_supported,
        server,
    })
}

fn server_origin(wanted: &Wanted<'_>) -> String {
    wanted.server.origin().ascii_serialization()
}

/// What the protected resource says of itself; none where it says nothing.
async fn resource(http: &Http, wanted: &Wanted<'_>) -> Result<Option<ResourceMetadata>, AuthError> {
    let wrong = |text: String| AuthError::new(Stage::Metadata, text);
    let refused = |got: &Got, text: String| AuthError::new(stage_of(got), text);
    let urls = resource_urls(wanted.server, wanted.named)
        .map_err(|why| wrong(format!("the server asks for a token, and {why}")))?;
    for url in urls {
        let got = http.document(&url).await?;
        let place = http.shown(&url);
        if !got.is_success() {
            if wanted.named.is_some() {
                let words = got.words();
                let text = format!("{place}, where its metadata should be, answered with {words}");
                return Err(refused(&got, text));
            }
            if is_absent(&got) {
                continue;
            }
            let words = got.words();
            return Err(refused(&got, format!("{place} answered with {words}")));
        }
        let read = document(&got).and_then(|document| ResourceMetadata::read(&document));
        let about = read.map_err(|why| wrong(format!("what {place} holds {}", shown(&why))))?;
        if !about.is_about(wanted.server) {
            let text = format!(
                "{place} is about the resource {}, which is not {}",
                shown(about.resource.as_deref().unwrap_or_default()),
                http.shown(wanted.server)
            );
            return Err(AuthError::new(Stage::Resource, text));
        }
        if about.authorization_servers.is_empty() && wanted.issuer.is_none() {
            let text = format!("what {place} holds names no authorization server");
            return Err(wrong(text));
        }
        return Ok(Some(about));
    }
    Ok(None)
}

/// The metadata of an issuer, which must be its own (RFC 8414, section 3.3).
async fn authorization_server(http: &Http, issuer: &str) -> Result<ServerMetadata, AuthError> {
    let name = shown(issuer);
    let url = Url::parse(issuer).map_err(|_| {
        let text = format!("the authorization server `{name}` is not a URL");
        AuthError::new(Stage::Metadata, text)
    })?;
    let mut answers = Vec::new();
    let mut stage = Stage::Metadata;
    for place in server_urls(&url) {
        let got = http.document(&place).await?;
        if !got.is_success() {
            answers.push(format!("{} for {}", got.words(), place.path()));
            if stage_of(&got) == Stage::Unreachable {
                stage = Stage::Unreachable;
            }
            continue;
        }
        return own_metadata(http, &place, &got, &[issuer]);
    }
    let text = format!(
        "the authorization server {name} has no metadata where they could be: {}",
        answers.join(", ")
    );
    Err(AuthError::new(stage, text))
}

fn own_metadata(
    http: &Http,
    place: &Url,
    got: &Got,
    issuers: &[&str],
) -> Result<ServerMetadata, AuthError> {
    let shown_place = http.shown(place);
    let read = document(got).and_then(|document| ServerMetadata::read(&document));
    let server = read.map_err(|why| {
        let text = format!("what {shown_place} holds {}", shown(&why));
        AuthError::new(Stage::Metadata, text)
    })?;
    if !issuers.contains(&server.issuer.as_str()) {
        let text = format!(
            "{shown_place} says that it is of the issuer {}, and was asked for {}",
            shown(&server.issuer),
            shown(issuers[0])
        );
        return Err(AuthError::new(Stage::Issuer, text));
    }
    http.may_ask(&server.token_endpoint)?;
    Ok(server)
}

/// A server from before metadata of resources issues its tokens itself.
async fn of_2025_03_26(http: &Http, wanted: &Wanted<'_>) -> Result<ServerMetadata, AuthError> {
    let place = at(wanted.server, "/.well-known/oauth-authorization-server");
    let got = http.document(&place).await?;
    if got.is_success() {
        let origin = server_origin(wanted);
        let with_slash = format!("{origin}/");
        return own_metadata(http, &place, &got, &[&origin, &with_slash]);
    }
    if wanted.fallback && is_absent(&got) {
        return Ok(ServerMetadata::by_default(wanted.server));
    }
    let text = format!(
        "the server asks for a token, and nothing says who issues it: its challenge names no \
         resource_metadata, there are none at {} or above, and {} answered with {}",
        http.shown(
            &resource_urls(wanted.server, None)
                .map_or_else(|_| wanted.server.clone(), |mut urls| urls.swap_remove(0))
        ),
        http.shown(&place),
        got.words()
    );
    let error = AuthError::new(stage_of(&got), text);
    Err(match got.status {
        500.. => error,
        _ => error.unclaimed(),
    })
}

/// What a refusal to give a document comes to: there may be one later, where
/// the server is only in trouble.
fn stage_of(got: &Got) -> Stage {
    match got.status {
        429 | 500.. => Stage::Unreachable,
        _ => Stage::Metadata,
    }
}

/// Whether the answer says that there is nothing there.
fn is_absent(got: &Got) -> bool {
    // Some servers want a token for whatever they do not know.
    matches!(got.status, 400..=428 | 430..=499) || got.location.is_some()
}

fn document(got: &Got) -> Result<Value, String> {
    serde_json::from_slice(&got.body).map_err(|_| "is no JSON".to_owned())
}
