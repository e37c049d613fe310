//! One request over HTTP, from its body to its answer.
//!
//! Main function: [`answer`].

use super::answers::{self, HttpAnswer};
use super::sessions::{ClientSession, Sessions};
use super::versions::refuse_version;
use crate::message::{Line, peek};
use crate::routing::{Arrival, FirstWord, ModernRequest, Outflow, PostedRequest, is_modern};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::body::{Body, Bytes, Incoming};
use hyper::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use hyper::{Method, Request, StatusCode};
use jelly_base::mcp::{DISCOVER, code};
use serde::Deserialize;
use std::rc::Rc;
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::timeout;

/// A larger request is refused.
const LARGEST: usize = 16 * 1024 * 1024;
/// What a client may take over its body.
const BODY_TAKES: Duration = Duration::from_secs(60);
/// An answer that takes longer is a stream, so that the client hears something.
const AT_ONCE: Duration = Duration::from_secs(5);
/// Longer than any start is waited for.
const OPENING: Duration = Duration::from_secs(24 * 3600);

const SESSION: &str = "mcp-session-id";
const VERSION: &str = "mcp-protocol-version";
/// As the official SDKs say it.
const NO_SESSION: i64 = -32000;
const SESSION_NOT_FOUND: i64 = -32001;

/// The answer to a request that may be asked; `cut` ends its connection.
pub async fn answer(
    request: Request<Incoming>,
    sessions: &Rc<Sessions>,
    cut: Rc<Notify>,
) -> HttpAnswer {
    let session = text_of(request.headers(), SESSION).map(str::to_owned);
    match (request.method(), session) {
        (&Method::POST, session) => post(request, session.as_deref(), sessions, cut).await,
        (&Method::GET, Some(session)) => match sessions.find(&session) {
            Some(session) if !session.speaks(text_of(request.headers(), VERSION)) => {
                unsupported(None)
            }
            // Events have no ids, so that there is nothing that `Last-Event-ID`
            // could name.
            Some(session) => {
                session.touch();
                let outflow = session.router.listen(cut);
                streamed(&session, outflow)
            }
            None => not_found(None),
        },
        (&Method::DELETE, Some(session)) => match sessions.end(&session) {
            true => answers::empty(StatusCode::OK),
            false => not_found(None),
        },
        (&Method::GET | &Method::DELETE, None) => {
            let text = "Bad Request: Mcp-Session-Id header is required";
            answers::refusal(StatusCode::BAD_REQUEST, None, NO_SESSION, text)
        }
        _ => answers::not_allowed(),
    }
}

fn text_of<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    headers.get(name)?.to_str().ok().map(str::trim)
}

/// All that a header says; none where it has other characters than it may.
fn whole_text_of(headers: &HeaderMap, name: &str) -> Option<String> {
    let values = headers.get_all(name).iter().map(HeaderValue::to_str);
    let values: Vec<&str> = values.collect::<Result<_, _>>().ok()?;
    let values: Vec<&str> = values.into_iter().map(str::trim).collect();
    (!values.is_empty()).then(|| values.join(", "))
}

fn unsupported(id: Option<&str>) -> HttpAnswer {
    answers::refusal(
        StatusCode::BAD_REQUEST,
        id,
        NO_SESSION,
        "Bad Request: Unsupported protocol version: MCP-Protocol-Version names none that the \
         session was opened in",
    )
}

fn not_found(id: Option<&str>) -> HttpAnswer {
    answers::refusal(
        StatusCode::NOT_FOUND,
        id,
        SESSION_NOT_FOUND,
        "Session not found: it has ended; open another one by `initialize`",
    )
}

async fn post(
    request: Request<Incoming>,
    session: Option<&str>,
    sessions: &Rc<Sessions>,
    cut: Rc<Notify>,
) -> HttpAnswer {
    let (head, body) = request.into_parts();
    let headers = head.headers;
    let kind = text_of(&headers, CONTENT_TYPE.as_str()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    if !kind.eq_ignore_ascii_case("application/json") {
        let text = "Unsupported Media Type: Content-Type must be application/json";
        let status = StatusCode::UNSUPPORTED_MEDIA_TYPE;
        return answers::refusal(status, None, NO_SESSION, text);
    }
    let too_large = || {
        let text = format!("jelly proxy takes requests of {LARGEST} bytes at most");
        let status = StatusCode::PAYLOAD_TOO_LARGE;
        answers::refusal(status, None, code::INVALID_REQUEST, &text)
    };
    if body.size_hint().lower() > LARGEST as u64 {
        return too_large();
    }
    let line = match timeout(BODY_TAKES, Limited::new(body, LARGEST).collect()).await {
        Ok(Ok(body)) => in_one_line(body.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => return too_large(),
        // Nobody is there to read it, most likely.
        Ok(Err(_)) => return answers::plain(StatusCode::BAD_REQUEST, "the body broke off"),
        Err(_) => return answers::plain(StatusCode::REQUEST_TIMEOUT, "the body took too long"),
    };
    match Arrival::of(&line, text_of(&headers, VERSION)) {
        Arrival::Nothing => answers::refusal(
            StatusCode::BAD_REQUEST,
            None,
            code::PARSE_ERROR,
            "Parse error: the body is no JSON-RPC message",
        ),
        Arrival::Modern(request) => modern(request, &line, &headers, sessions, cut).await,
        Arrival::ModernWord => answers::empty(StatusCode::ACCEPTED),
        Arrival::Opening(requests) if session.is_none() => {
            opening(requests, line, sessions, cut).await
        }
        Arrival::Opening(requests) | Arrival::InSession(requests) => {
            let id = requests.first().map(|request| request.id.clone());
            let version = text_of(&headers, VERSION);
            let Some(session) = session else {
                if id.is_some() && version.is_some_and(is_modern) {
                    let text = "Invalid params: _meta lacks io.modelcontextprotocol/protocolVersion, \
                                and MCP-Protocol-Version names a version that wants it";
                    let status = StatusCode::BAD_REQUEST;
                    return answers::refusal(status, id.as_deref(), code::INVALID_PARAMS, text);
                }
                let text = "Bad Request: No valid session ID provided";
                let status = StatusCode::BAD_REQUEST;
                return answers::refusal(status, id.as_deref(), NO_SESSION, text);
            };
            match sessions.find(session) {
                Some(session) if !session.speaks(version) => unsupported(id.as_deref()),
                Some(session) => in_session(&session, requests, line, cut).await,
                None => not_found(id.as_deref()),
            }
        }
    }
}

/// JSON has line feeds between its tokens alone.
fn in_one_line(body: Bytes) -> Vec<u8> {
    let mut line = body.trim_ascii().to_vec();
    for byte in &mut line {
        if matches!(byte, b'\n' | b'\r') {
            *byte = b' ';
        }
    }
    line
}

async fn in_session(
    session: &Rc<ClientSession>,
    requests: Vec<PostedRequest>,
    line: Vec<u8>,
    cut: Rc<Notify>,
) -> HttpAnswer {
    if requests.is_empty() {
        return match session.say(line).await {
            true => answers::empty(StatusCode::ACCEPTED),
            false => not_found(None),
        };
    }
    let id = requests.first().map(|request| request.id.clone());
    let outflow = session.router.open(requests, cut);
    let departure = session.departure(&outflow);
    if !session.say(line).await {
        return not_found(id.as_deref());
    }
    match outflow.first_word(AT_ONCE).await {
        FirstWord::Whole(line) => answers::message(StatusCode::OK, line),
        FirstWord::Stream => answers::events(outflow, departure),
    }
}

fn streamed(session: &Rc<ClientSession>, outflow: Rc<Outflow>) -> HttpAnswer {
    let departure = session.departure(&outflow);
    answers::events(outflow, departure)
}

/// A client opens a session. It is one only if the server takes it: what could
/// not be started is kept for the next client, with what it has come to.
async fn opening(
    requests: Vec<PostedRequest>,
    line: Vec<u8>,
    sessions: &Rc<Sessions>,
    cut: Rc<Notify>,
) -> HttpAnswer {
    let id = requests.first().map(|request| request.id.clone());
    let fail = |text: &str| {
        let status = StatusCode::SERVICE_UNAVAILABLE;
        answers::refusal(status, id.as_deref(), NO_SESSION, text)
    };
    let session = match sessions.begin() {
        Ok(Some(session)) => session,
        Ok(None) => {
            return fail(
                "jelly proxy has no room for another session: each has a server of its own. \
                 Fix: close a client, or raise --max-sessions",
            );
        }
        Err(error) => return fail(&format!("jelly proxy can't open a session: {error}")),
    };
    let spare = {
        let (sessions, session) = (Rc::clone(sessions), Rc::clone(&session));
        SpareUnlessKept(Some((sessions, session)))
    };
    let outflow = session.router.open(requests, cut);
    let departure = session.departure(&outflow);
    if !session.say(line).await {
        return fail("jelly proxy can't reach its own session");
    }
    // By the end of the start it is answered in any case.
    if timeout(OPENING, outflow.ended()).await.is_err()
        || !outflow.look_at_last(is_result).unwrap_or_default()
    {
        return match outflow.first_word(Duration::ZERO).await {
            FirstWord::Whole(line) => answers::message(StatusCode::OK, line),
            FirstWord::Stream => answers::events(outflow, departure),
        };
    }
    if let Some(version) = outflow.look_at_last(version_of).flatten() {
        session.agree(version);
    }
    let kept = spare.keep();
    let session_id = match kept {
        Some((sessions, session)) => sessions.keep(session),
        None => Err(std::io::Error::other("it was given away")),
    };
    let session_id = match session_id {
        Ok(session_id) => session_id,
        Err(error) => return fail(&format!("jelly proxy can't open a session: {error}")),
    };
    let mut answer = match outflow.first_word(Duration::ZERO).await {
        FirstWord::Whole(line) => answers::message(StatusCode::OK, line),
        FirstWord::Stream => answers::events(outflow, departure),
    };
    if let Ok(value) = HeaderValue::from_str(&session_id) {
        answer.headers_mut().insert(SESSION, value);
    }
    answer
}

/// Keeps a session for the next client, whatever becomes of this one.
struct SpareUnlessKept(Option<(Rc<Sessions>, Rc<ClientSession>)>);

impl SpareUnlessKept {
    fn keep(mut self) -> Option<(Rc<Sessions>, Rc<ClientSession>)> {
        self.0.take()
    }
}

impl Drop for SpareUnlessKept {
    fn drop(&mut self) {
        if let Some((sessions, session)) = self.0.take() {
            sessions.keep_spare(session);
        }
    }
}

/// Whether a line is an answer that is no error.
fn is_result(line: &[u8]) -> bool {
    match peek(line) {
        Line::One(message) => message.result().is_some(),
        Line::Many(messages) => messages.iter().any(|message| message.result().is_some()),
        Line::Other | Line::Noise => false,
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct OpenedIn {
    protocol_version: String,
}

/// The version that an answer to `initialize` names.
fn version_of(line: &[u8]) -> Option<String> {
    let Line::One(message) = peek(line) else {
        return None;
    };
    let opened: OpenedIn = serde_json::from_str(message.result()?).ok()?;
    Some(opened.protocol_version)
}

async fn modern(
    request: ModernRequest,
    line: &[u8],
    headers: &HeaderMap,
    sessions: &Rc<Sessions>,
    cut: Rc<Notify>,
) -> HttpAnswer {
    let bad = |code: i64, text: &str| {
        let status = StatusCode::BAD_REQUEST;
        answers::refusal(status, Some(&request.request.id), code, text)
    };
    let header = |name: &str| whole_text_of(headers, name);
    if let Err(text) = request.check_headers(header) {
        return bad(code::HEADER_MISMATCH, &text);
    }
    // A server at pipes may settle on an era by the first message that it gets,
    // and this one is shared.
    if request.version.is_none() {
        return bad(
            code::INVALID_PARAMS,
            "Invalid params: _meta lacks io.modelcontextprotocol/protocolVersion",
        );
    }
    let session = match sessions.shared() {
        Ok(session) => session,
        Err(error) => return bad(code::INTERNAL_ERROR, &error.to_string()),
    };
    if let Some(error) = refuse_version(&session, &request).await {
        return answers::error(StatusCode::BAD_REQUEST, Some(&request.request.id), &error);
    }
    if let Err(text) = session.router.check_params(&request, line, header) {
        return bad(code::HEADER_MISMATCH, &text);
    }
    let opened = session
        .router
        .open_shared((request.request.clone(), carried(headers)), line, cut);
    let Some((line, outflow)) = opened else {
        return bad(code::INVALID_REQUEST, "the message can't be passed on");
    };
    let departure = session.departure(&outflow);
    if !session.say(line).await {
        return bad(
            code::INTERNAL_ERROR,
            "the server has just been stopped; ask again",
        );
    }
    match outflow.first_word(AT_ONCE).await {
        FirstWord::Whole(line) => {
            let status = status_of(&line, &request);
            answers::message(status, line)
        }
        FirstWord::Stream => answers::events(outflow, departure),
    }
}

/// Headers of MCP that came along: those that jelly does not know are passed on to
/// a server behind a URL.
fn carried(headers: &HeaderMap) -> Vec<(String, String)> {
    let of_mcp = headers
        .iter()
        .filter(|(name, _)| name.as_str().starts_with("mcp-"));
    of_mcp
        .filter_map(|(name, value)| Some((name.to_string(), value.to_str().ok()?.to_owned())))
        .collect()
}

#[derive(Default, Deserialize)]
struct CodeOnly {
    #[serde(default)]
    code: i64,
}

/// The status that goes with an answer in the modern era. Diagnoses of jelly go
/// with 200: an error of the transport would hide them.
fn status_of(line: &[u8], request: &ModernRequest) -> StatusCode {
    let Line::One(message) = peek(line) else {
        return StatusCode::OK;
    };
    let Some(error) = message.error() else {
        return StatusCode::OK;
    };
    let error: CodeOnly = serde_json::from_str(error).unwrap_or_default();
    match error.code {
        // So a client finds out that the server is of the legacy era.
        code::METHOD_NOT_FOUND if request.method == DISCOVER => StatusCode::BAD_REQUEST,
        code::METHOD_NOT_FOUND => StatusCode::NOT_FOUND,
        // It is about what each request must say of itself.
        code::INVALID_PARAMS if !request.is_complete => StatusCode::BAD_REQUEST,
        code if code::OF_MODERN_ERA.contains(&code) => StatusCode::BAD_REQUEST,
        _ => StatusCode::OK,
    }
}

#[cfg(test)]
mod tests {
    use super::status_of;
    use crate::routing::{ModernRequest, PostedRequest};

    fn asked(method: &str, is_complete: bool) -> ModernRequest {
        ModernRequest {
            request: PostedRequest {
                id: "1".to_owned(),
                token: None,
                logs: false,
                lists_tools: false,
            },
            method: method.to_owned(),
            version: None,
            name: None,
            is_complete,
        }
    }

    #[test]
    fn a_diagnosis_goes_with_200_and_errors_of_the_protocol_with_their_own_status() {
        for (code, method, status) in [
            (-31000, "tools/call", 200),
            (-32602, "tools/call", 200),
            (-32601, "x", 404),
            (-32601, "server/discover", 400),
            (-32022, "server/discover", 400),
        ] {
            let line = format!(r#"{{"id":1,"error":{{"code":{code},"message":"m"}}}}"#);
            let request = asked(method, true);
            assert_eq!(status_of(line.as_bytes(), &request), status, "{line}");
        }
        let incomplete = asked("x", false);
        let refused = br#"{"id":1,"error":{"code":-32602,"message":"m"}}"#;
        assert_eq!(status_of(refused, &incomplete), 400);
        assert_eq!(status_of(br#"{"id":1,"result":{}}"#, &incomplete), 200);
    }
}
