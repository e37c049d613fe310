//! How requests end, for who keeps account of them.
//!
//! Main types: [`RequestEnd`], and [`TraceParent`], the client's span that it
//! belongs to.

use jelly_base::model::Rung;
use tokio::time::Instant;

/// The end of a request of the client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestEnd<'a> {
    pub method: &'a str,
    /// Of a call.
    pub tool: Option<&'a str>,
    /// When it came.
    pub since: Instant,
    pub outcome: RequestOutcome<'a>,
    /// How the output of a tool was read.
    pub rung: Option<Rung>,
    pub parent: Option<&'a TraceParent>,
}

/// A span of the client's, as `traceparent` names it (W3C Trace Context; MCP has
/// it in `_meta`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceParent {
    /// In hexadecimal, as in `traceparent`.
    pub trace: String,
    pub span: String,
}

impl TraceParent {
    /// `None` where it names no span.
    #[must_use]
    pub fn read(text: &str) -> Option<Self> {
        let mut parts = text.split('-');
        let (version, trace) = (parts.next()?, parts.next()?);
        let (span, flags) = (parts.next()?, parts.next()?);
        let hex = |part: &str, length: usize| {
            let digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
            part.len() == length && part.bytes().all(digit)
        };
        let is_sound = hex(version, 2) && hex(trace, 32) && hex(span, 16) && hex(flags, 2);
        let is_known = version != "ff" && (version != "00" || parts.next().is_none());
        let is_some = |part: &str| part.bytes().any(|byte| byte != b'0');
        (is_sound && is_known && is_some(trace) && is_some(span)).then(|| Self {
            trace: trace.to_owned(),
            span: span.to_owned(),
        })
    }
}

/// What a request came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestOutcome<'a> {
    Answered,
    /// The tool says that it failed.
    ToolError,
    /// The server answered with an error.
    Refused,
    /// jelly answered for the server, for this cause.
    Unavailable {
        root_cause: &'a str,
    },
    /// jelly cancelled it at its limit.
    TimedOut,
    /// The client did not want it any more.
    Cancelled,
}

impl RequestOutcome<'_> {
    /// In a word.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Answered => "ok",
            Self::ToolError => "tool_error",
            Self::Refused => "error",
            Self::Unavailable { .. } => "unavailable",
            Self::TimedOut => "timed_out",
            Self::Cancelled => "cancelled",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::TraceParent;

    #[test]
    fn a_span_is_named_as_trace_context_has_it() {
        const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
        const SPAN: &str = "b7ad6b7169203331";
        let read = |text: &str| TraceParent::read(text);
        for sound in [
            format!("00-{TRACE}-{SPAN}-01"),
            format!("00-{TRACE}-{SPAN}-00"),
            format!("01-{TRACE}-{SPAN}-01-more"),
        ] {
            let parent = read(&sound).unwrap();
            assert_eq!((parent.trace.as_str(), parent.span.as_str()), (TRACE, SPAN));
        }
        for unsound in [
            String::new(),
            format!("00-{TRACE}-{SPAN}"),
            format!("00-{TRACE}-{SPAN}-01-more"),
            format!("ff-{TRACE}-{SPAN}-01"),
            format!("00-{}-{SPAN}-01", TRACE.to_uppercase()),
            format!("00-{}-{SPAN}-01", "0".repeat(32)),
            format!("00-{TRACE}-{}-01", "0".repeat(16)),
            format!("00-{TRACE}1-{SPAN}-01"),
        ] {
            assert_eq!(read(&unsound), None, "{unsound}");
        }
    }
}
