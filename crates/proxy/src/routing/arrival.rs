//! What a client has posted, and whether its headers fit.
//!
//! Main type: [`Arrival`]. Pure.

use crate::message::{Kind, Line, Peek, RequestParams, peek};
use jelly_base::mcp::{DISCOVER, Era, INITIALIZE, ListKind, Method, Revision};
use jelly_wire::header_text;
use serde_json::Value;

/// Whether a version is of the modern era, as all are that are not known.
pub fn is_modern(version: &str) -> bool {
    Revision::find(version).map(|v| v.era) != Some(Era::Legacy)
}

/// A body that was looked at.
#[derive(Debug, PartialEq, Eq)]
pub enum Arrival {
    /// It is no message.
    Nothing,
    /// It opens a session.
    Opening(Vec<PostedRequest>),
    /// Of the modern era: one request.
    Modern(ModernRequest),
    /// A notification of the modern era, of which there is none that is heeded.
    ModernWord,
    /// Of a session: requests, where it has any.
    InSession(Vec<PostedRequest>),
}

/// What has to be known of a request to bring its answer back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PostedRequest {
    /// As it is written.
    pub id: String,
    /// Of its progress, as it is written.
    pub token: Option<String>,
    /// It wants messages of the log, as a modern request says.
    pub logs: bool,
    /// Its result is a list of tools.
    pub lists_tools: bool,
}

/// A request of the modern era.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModernRequest {
    pub request: PostedRequest,
    pub method: String,
    /// The version that it is in; none where it says none.
    pub version: Option<String>,
    /// What it is about: a tool, a prompt or a resource.
    pub name: Option<String>,
    /// It says of itself what each request must, in its `_meta`.
    pub is_complete: bool,
}

impl Arrival {
    /// Looks at a body. `version` is the header's.
    pub fn of(line: &[u8], version: Option<&str>) -> Self {
        match peek(line) {
            Line::Noise | Line::Other => Self::Nothing,
            Line::One(message) => Self::of_one(&message, version),
            Line::Many(messages) => {
                let requests = messages.iter().filter_map(posted).collect();
                match messages.iter().any(|m| m.method() == INITIALIZE) {
                    true => Self::Opening(requests),
                    false => Self::InSession(requests),
                }
            }
        }
    }

    fn of_one(message: &Peek<'_>, header: Option<&str>) -> Self {
        let own = message.read_params::<RequestParams<'_>>();
        let own = own.meta.unwrap_or_default();
        let has_capabilities = own.client_capabilities.is_some();
        let own = own.protocol_version;
        let Some(request) = posted(message) else {
            return match (message.kind(), header) {
                (Kind::Unknown, _) => Self::Nothing,
                (Kind::Notification, Some(header)) if is_modern(header) => Self::ModernWord,
                _ => Self::InSession(Vec::new()),
            };
        };
        let method = message.method();
        let says_modern = own.as_deref().is_some_and(is_modern);
        if method == INITIALIZE && !says_modern {
            return Self::Opening(vec![request]);
        }
        if says_modern || method == DISCOVER {
            return Self::Modern(ModernRequest {
                request,
                method: method.to_owned(),
                is_complete: own.is_some() && has_capabilities,
                version: own,
                name: subject(message),
            });
        }
        Self::InSession(vec![request])
    }
}

fn posted(message: &Peek<'_>) -> Option<PostedRequest> {
    let id = message.id().filter(|_| message.kind() == Kind::Request)?;
    let params: RequestParams<'_> = message.read_params();
    let meta = params.meta.unwrap_or_default();
    Some(PostedRequest {
        id: id.to_owned(),
        token: meta.progress_token.map(|token| token.get().to_owned()),
        logs: meta.log_level.is_some(),
        lists_tools: message.method() == ListKind::Tools.method(),
    })
}

fn subject(message: &Peek<'_>) -> Option<String> {
    let key = Method::find(message.method())?.subject?.name_key();
    let params: Value = serde_json::from_str(message.params()?).ok()?;
    params.get(key)?.as_str().map(str::to_owned)
}

impl ModernRequest {
    /// Whether the headers say what the message says, as they must (2026-07-28,
    /// Streamable HTTP, "Server Validation").
    ///
    /// # Errors
    /// What does not fit.
    pub fn check_headers(&self, header: impl Fn(&str) -> Option<String>) -> Result<(), String> {
        let said = |name: &str, wanted: Option<&str>| match (header(name), wanted) {
            (Some(sent), Some(wanted)) if header_text(&sent).as_deref() == Some(wanted) => Ok(()),
            (None, None) => Ok(()),
            (None, Some(_)) => Err(format!("Header mismatch: {name} is missing")),
            // Nothing in the message is held against it.
            (Some(_), None) => Ok(()),
            (Some(_), Some(_)) => Err(format!(
                "Header mismatch: {name} does not say what the message says"
            )),
        };
        said("MCP-Protocol-Version", self.version.as_deref())?;
        said("Mcp-Method", Some(&self.method))?;
        said("Mcp-Name", self.name.as_deref())
    }
}

#[cfg(test)]
mod tests {
    use super::Arrival;

    const MODERN: &str = r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}"#;

    fn named(line: &str, version: Option<&str>) -> &'static str {
        match Arrival::of(line.as_bytes(), version) {
            Arrival::Nothing => "nothing",
            Arrival::Opening(_) => "opening",
            Arrival::Modern(_) => "modern",
            Arrival::ModernWord => "modern word",
            Arrival::InSession(_) => "in session",
        }
    }

    #[test]
    fn the_era_of_a_body_is_told_by_the_body() {
        let call = format!(r#"{{"id":1,"method":"tools/call","params":{{"_meta":{MODERN}}}}}"#);
        // Which the modern era does not have.
        let no_method = call.replace("tools/call", "initialize");
        for (line, version, wanted) in [
            (r#"{"id":1,"method":"initialize"}"#, None, "opening"),
            (r#"[{"id":1,"method":"initialize"}]"#, None, "opening"),
            (
                r#"{"id":1,"method":"tools/list"}"#,
                Some("2025-11-25"),
                "in session",
            ),
            (call.as_str(), None, "modern"),
            (r#"{"id":1,"method":"server/discover"}"#, None, "modern"),
            (no_method.as_str(), None, "modern"),
            (r#"{"method":"x"}"#, Some("2026-07-28"), "modern word"),
            (
                r#"{"method":"notifications/initialized"}"#,
                None,
                "in session",
            ),
            (r#"{"id":1,"result":{}}"#, None, "in session"),
            (r#"{"id":1}"#, None, "nothing"),
            ("[1]", None, "nothing"),
            ("oops", None, "nothing"),
        ] {
            assert_eq!(named(line, version), wanted, "{line}");
        }
    }

    #[test]
    fn headers_are_held_against_the_message() {
        let line = format!(
            r#"{{"id":"a","method":"tools/call","params":{{"name":"ä","_meta":{MODERN}}}}}"#
        );
        let Arrival::Modern(request) = Arrival::of(line.as_bytes(), None) else {
            panic!("it is modern");
        };
        let good = [
            ("MCP-Protocol-Version", "2026-07-28"),
            ("Mcp-Method", "tools/call"),
            ("Mcp-Name", "=?base64?w6Q=?="),
        ];
        let check = |headers: &[(&str, &'static str)]| {
            let find = |name: &str| {
                let found = headers.iter().find(|(known, _)| *known == name);
                found.map(|(_, value)| (*value).to_owned())
            };
            request.check_headers(find)
        };
        assert_eq!(check(&good), Ok(()));
        for (index, (name, _)) in good.iter().enumerate() {
            let mut headers = good.to_vec();
            headers[index].1 = "other";
            assert!(check(&headers).unwrap_err().contains(name), "{name}");
            headers.remove(index);
            assert!(check(&headers).unwrap_err().contains("missing"), "{name}");
        }
    }
}
