//! What can be made to go wrong, and when.
//!
//! The main type is [`Fault`]: a [`Kind`] at a place ([`At`]). Faults are
//! written `KIND[@PHASE][=VALUE]`, on the command line and in scripts alike;
//! a script may also spell them as a map. This module reads and matches
//! them; it must not know how a fault is carried out.

use super::catalogue::{self, Places};
use super::units;
use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, Error as _, MapAccess, Visitor};
use serde_json::Value;
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// A fault and the moments at which it acts.
#[derive(Debug, Clone, PartialEq)]
pub struct Fault {
    pub kind: Kind,
    pub at: At,
}

/// When a fault acts.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum At {
    /// Before anything is read.
    Spawn,
    Initialize,
    Discover,
    /// Whichever of `initialize` and `server/discover` comes.
    Handshake,
    /// The notification of a legacy client.
    Initialized,
    /// `tools/list` and the other lists.
    List,
    /// Every tool call.
    Call,
    /// The nth tool call, from 1.
    NthCall(u64),
    /// Every call of this tool.
    Tool(String),
    /// The end of stdin.
    Shutdown,
    /// Every request.
    Any,
}

/// What happens to a server just now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Moment {
    Spawn,
    Initialize,
    Discover,
    Initialized,
    List,
    /// `n` counts tool calls from 1.
    Call {
        n: u64,
        tool: String,
    },
    /// Any other request.
    Other,
    Shutdown,
}

impl At {
    #[must_use]
    pub fn matches(&self, moment: &Moment) -> bool {
        match (self, moment) {
            (Self::Spawn, Moment::Spawn)
            | (Self::Initialize | Self::Handshake, Moment::Initialize)
            | (Self::Discover | Self::Handshake, Moment::Discover)
            | (Self::Initialized, Moment::Initialized)
            | (Self::List, Moment::List)
            | (Self::Call, Moment::Call { .. })
            | (Self::Shutdown, Moment::Shutdown) => true,
            (Self::NthCall(wanted), Moment::Call { n, .. }) => wanted == n,
            (Self::Tool(wanted), Moment::Call { tool, .. }) => wanted == tool,
            (Self::Any, moment) => !matches!(
                moment,
                Moment::Spawn | Moment::Initialized | Moment::Shutdown
            ),
            (
                Self::Spawn
                | Self::Initialize
                | Self::Discover
                | Self::Handshake
                | Self::Initialized
                | Self::List
                | Self::Call
                | Self::NthCall(_)
                | Self::Tool(_)
                | Self::Shutdown,
                _,
            ) => false,
        }
    }

    /// Whether there is a request, and so a reply, at this place.
    #[must_use]
    pub fn is_request(&self) -> bool {
        !matches!(self, Self::Spawn | Self::Initialized | Self::Shutdown)
    }
}

/// The phases that are a word of their own.
const WORDS: [(&str, At); 9] = [
    ("spawn", At::Spawn),
    ("initialize", At::Initialize),
    ("discover", At::Discover),
    ("handshake", At::Handshake),
    ("initialized", At::Initialized),
    ("list", At::List),
    ("call", At::Call),
    ("shutdown", At::Shutdown),
    ("any", At::Any),
];

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NthCall(n) => write!(f, "call:{n}"),
            Self::Tool(name) => write!(f, "tool:{name}"),
            word => {
                let known = WORDS.iter().find(|(_, at)| at == word);
                f.write_str(known.map_or("", |(name, _)| name))
            }
        }
    }
}

/// The phases as they are written, for messages.
#[must_use]
pub fn phases() -> Vec<&'static str> {
    let mut names: Vec<&str> = WORDS.iter().map(|(name, _)| *name).collect();
    // Beside the word that they begin with.
    let calls = names.iter().position(|name| *name == "call").unwrap_or(0);
    names.splice(calls + 1..calls + 1, ["call:N", "tool:NAME"]);
    names
}

impl FromStr for At {
    type Err = FaultError;

    fn from_str(text: &str) -> Result<Self, FaultError> {
        let nth_call = || text.strip_prefix("call:")?.parse().ok().filter(|n| *n > 0);
        let tool = || text.strip_prefix("tool:").filter(|name| !name.is_empty());
        let word = WORDS.iter().find(|(name, _)| *name == text);
        word.map(|(_, at)| at.clone())
            .or_else(|| nth_call().map(Self::NthCall))
            .or_else(|| tool().map(|name| Self::Tool(name.to_owned())))
            .ok_or_else(|| FaultError::UnknownPhase {
                phase: text.to_owned(),
                hint: units::did_you_mean(text, phases()),
            })
    }
}

/// What goes wrong. The catalogue says it in words, with the values.
#[derive(Debug, Clone, PartialEq)]
pub enum Kind {
    Exit(End),
    ExitAfter(End),
    Kill(Signal),
    Panic(PanicStyle),
    Hang,
    Mute,
    Slow(Duration),
    CloseStdout,
    Truncate,

    Banner(String),
    Junk(u32),
    JunkOnly(u32),
    HttpBanner(String),
    ContentLength,
    Crlf,
    Drip(Duration),
    Split(SplitSize),
    Burst(u32),
    Huge(usize),

    WrongId(WrongId),
    Duplicate,
    JsonrpcVersion(String),
    /// Puts a value where a JSON pointer into the message leads.
    Set {
        pointer: String,
        value: Value,
    },
    /// Takes out what stands there.
    Drop(String),
    ProtocolVersion(String),
    Error {
        code: i64,
        message: String,
    },
    NullResult,
    EmptyResult,
    MalformedTools(Malformed),
    ListLoop,
    SchemaBreach,
    WrongValue(String),
    Flaky(f64),

    Stderr(String),
    StderrFlood(usize),
    EchoEnv {
        name: String,
        form: EchoForm,
    },

    Ask(Ask),
    AskNowait(Ask),
    Progress(u32),
    Log(String),
    Notify(String),

    IgnoreEof,
    IgnoreSigterm,
    Grandchild(Grandchild),
    RequireEnv(String),
    RequireDir(String),
}

/// How a process ends by its own hand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    Code(i32),
    Signal(Signal),
}

/// A signal a process can send itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Signal(pub rustix::process::Signal);

/// Whose way of dying is imitated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PanicStyle {
    Rust,
    Python,
    Node,
}

/// Into pieces of which size a message is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SplitSize {
    /// Always this many bytes.
    Fixed(usize),
    /// 1 to 16 bytes, by the seed.
    Random,
}

/// The id of a reply that fits no request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WrongId {
    /// Another number.
    Other,
    /// The right number as a string (or the string as a number).
    Retyped,
    Null,
}

/// What is wrong with a list of tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Malformed {
    /// An object where the array should be.
    NotArray,
    /// The first tool has no name.
    NoName,
    /// The first tool's input schema is no schema.
    BadSchema,
    /// The first tool's input schema is null.
    NullSchema,
}

/// In which clothes a secret is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EchoForm {
    Plain,
    /// In two writes with a pause between them.
    Split,
    Url,
    Base64,
    Json,
    /// Not on stderr: as a text block of the result.
    Result,
}

/// What the server wants of its client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ask {
    Ping,
    Roots,
    Sampling,
    Elicitation,
}

/// A child of the server that does not want to die.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grandchild {
    /// Where its process id is written.
    pub pid_file: String,
    /// It leaves the session, and so the process group.
    pub setsid: bool,
    /// It keeps the server's stdout and stderr open.
    pub holds: bool,
}

/// What is wrong with a fault as written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FaultError {
    #[error("unknown fault `{kind}`{hint}; `jelly mock --list-faults` shows them all")]
    UnknownKind { kind: String, hint: String },
    #[error("unknown phase `{phase}`{hint}; one of {}", phases().join(", "))]
    UnknownPhase { phase: String, hint: String },
    #[error("fault `{kind}` can't act at `{at}`: it acts {places}")]
    WrongPlace {
        kind: String,
        at: String,
        places: &'static str,
    },
    #[error("fault `{kind}`: {problem}")]
    BadValue { kind: String, problem: String },
}

impl Fault {
    /// Puts a fault together from its three parts as written.
    ///
    /// # Errors
    /// An unknown kind or phase, a place where the kind can't act, or a value
    /// it does not understand.
    pub fn new(kind: &str, at: Option<&str>, value: Option<&str>) -> Result<Self, FaultError> {
        let entry = catalogue::find(kind).ok_or_else(|| FaultError::UnknownKind {
            kind: kind.to_owned(),
            hint: units::did_you_mean(kind, catalogue::names()),
        })?;
        let bad_value = |problem| FaultError::BadValue {
            kind: kind.to_owned(),
            problem,
        };
        let value = value.map(str::trim).filter(|value| !value.is_empty());
        if entry.value.is_empty() && value.is_some() {
            return Err(bad_value("takes no value".to_owned()));
        }
        let parsed = (entry.parse)(value).map_err(bad_value)?;
        let at = match at {
            Some(at) => at.parse()?,
            None => entry.default_at.clone(),
        };
        let fits = match entry.places {
            Places::Start => at == At::Spawn,
            Places::Requests => at.is_request(),
            Places::StartAndRequests => at.is_request() || at == At::Spawn,
            Places::Moments => true,
        };
        if !fits {
            return Err(FaultError::WrongPlace {
                kind: kind.to_owned(),
                at: at.to_string(),
                places: entry.places.describe(),
            });
        }
        Ok(Self { kind: parsed, at })
    }
}

impl FromStr for Fault {
    type Err = FaultError;

    /// Reads `KIND[@PHASE][=VALUE]`.
    fn from_str(text: &str) -> Result<Self, FaultError> {
        let (head, value) = match text.split_once('=') {
            Some((head, value)) => (head, Some(value)),
            None => (text, None),
        };
        let (kind, at) = match head.split_once('@') {
            Some((kind, at)) => (kind, Some(at.trim())),
            None => (head, None),
        };
        Self::new(kind.trim(), at, value)
    }
}

/// A fault that is spelled out.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FaultSpec {
    kind: String,
    #[serde(default, deserialize_with = "present")]
    at: Option<String>,
    #[serde(default, deserialize_with = "present")]
    value: Option<Value>,
}

/// Null is what is there, and not the absence of it.
fn present<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    T::deserialize(deserializer).map(Some)
}

impl<'de> Deserialize<'de> for Fault {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct FaultVisitor;

        impl<'de> Visitor<'de> for FaultVisitor {
            type Value = Fault;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a fault: `KIND@PHASE=VALUE`, or a map of kind, at, value")
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Fault, E> {
                text.parse().map_err(E::custom)
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Fault, A::Error> {
                let spec = FaultSpec::deserialize(MapAccessDeserializer::new(map))?;
                let value = spec.value.as_ref().map(scalar).transpose()?;
                Fault::new(&spec.kind, spec.at.as_deref(), value.as_deref())
                    .map_err(A::Error::custom)
            }
        }

        fn scalar<E: serde::de::Error>(value: &Value) -> Result<String, E> {
            match value {
                Value::String(text) => Ok(text.clone()),
                Value::Number(_) | Value::Bool(_) => Ok(value.to_string()),
                Value::Null | Value::Array(_) | Value::Object(_) => {
                    Err(E::custom("a fault's value is a string or a number"))
                }
            }
        }

        deserializer.deserialize_any(FaultVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::{At, End, Fault, FaultError, Kind, Moment};

    fn error(text: &str) -> String {
        text.parse::<Fault>().unwrap_err().to_string()
    }

    #[test]
    fn a_fault_is_read_from_its_compact_form() {
        assert_eq!(
            "exit@call:3=7".parse(),
            Ok(Fault {
                kind: Kind::Exit(End::Code(7)),
                at: At::NthCall(3)
            })
        );
        assert_eq!(
            "stderr@tool:echo=a=b@c".parse(),
            Ok(Fault {
                kind: Kind::Stderr("a=b@c".into()),
                at: At::Tool("echo".into())
            })
        );
    }

    #[test]
    fn a_slip_in_kind_or_phase_is_answered_with_what_was_meant() {
        assert!(error("exot").contains("did you mean `exit`"));
        assert!(error("hang@cal").contains("did you mean `call`"));
        assert!(error("exit@call:0").contains("unknown phase"));
    }

    #[test]
    fn a_fault_of_replies_has_no_place_at_spawn() {
        assert!(matches!(
            "wrong_id@spawn".parse::<Fault>(),
            Err(FaultError::WrongPlace { .. })
        ));
        assert!(matches!(
            "ignore_eof@call".parse::<Fault>(),
            Err(FaultError::WrongPlace { .. })
        ));
    }

    #[test]
    fn a_value_that_makes_no_sense_is_refused_with_its_reason() {
        assert!(error("exit=maybe").contains("maybe"));
        assert!(error("hang=3").contains("takes no value"));
        assert!(error("slow=fast").contains("duration"));
        assert!(error("flaky=1.5").contains("between 0 and 1"));
        assert!(error("require_env").contains("needs a value"));
    }

    #[test]
    fn any_means_requests_and_not_the_edges_of_a_life() {
        assert!(At::Any.matches(&Moment::Other));
        assert!(At::Any.matches(&Moment::Discover));
        assert!(!At::Any.matches(&Moment::Spawn));
        assert!(!At::Any.matches(&Moment::Initialized));
        assert!(!At::Any.matches(&Moment::Shutdown));
    }
}
