//! Faults in the answers of another server, on their way to its client.
//!
//! Main type: [`Injector`]. It uses what the mock itself does to its own
//! answers; what is a matter of a process of the mock's can't be done to
//! another's.

use super::action::Action;
use super::emit;
use super::fault::{Fault, Kind, Moment};
use super::host::OsHost;
use super::reply::{self, Body};
use super::units::Dice;
use serde_json::Value;

/// See the module.
#[derive(Debug, Clone)]
pub struct Injector {
    faults: Vec<Fault>,
    calls: u64,
    dice: Dice,
}

/// What a fault does to traffic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FaultPart {
    /// Beside the answer, which stays as it is.
    Beside,
    /// In the answer, or in its place.
    Answer,
    /// It is a manner of a process.
    Process,
}

fn part(kind: &Kind) -> FaultPart {
    match kind {
        Kind::Slow(_) | Kind::Banner(_) | Kind::Junk(_) | Kind::Log(_) | Kind::Notify(_) => {
            FaultPart::Beside
        }
        Kind::Exit(_)
        | Kind::ExitAfter(_)
        | Kind::Kill(_)
        | Kind::Hang
        | Kind::Mute
        | Kind::JunkOnly(_)
        | Kind::Truncate
        | Kind::ContentLength
        | Kind::Crlf
        | Kind::Burst(_)
        | Kind::Huge(_)
        | Kind::WrongId(_)
        | Kind::Duplicate
        | Kind::JsonrpcVersion(_)
        | Kind::Set { .. }
        | Kind::Drop(_)
        | Kind::ProtocolVersion(_)
        | Kind::Error { .. }
        | Kind::NullResult
        | Kind::EmptyResult
        | Kind::MalformedTools(_)
        | Kind::ListLoop
        | Kind::SchemaBreach
        | Kind::WrongValue(_)
        | Kind::Flaky(_) => FaultPart::Answer,
        Kind::Panic(_)
        | Kind::CloseStdout
        | Kind::HttpBanner(_)
        | Kind::Drip(_)
        | Kind::Split(_)
        | Kind::Stderr(_)
        | Kind::StderrFlood(_)
        | Kind::EchoEnv { .. }
        | Kind::Ask(_)
        | Kind::AskNowait(_)
        | Kind::Progress(_)
        | Kind::IgnoreEof
        | Kind::IgnoreSigterm
        | Kind::Grandchild(_)
        | Kind::RequireEnv(_)
        | Kind::RequireDir(_) => FaultPart::Process,
    }
}

impl Injector {
    /// # Errors
    /// One of them can't be done to another server's answers; a sentence.
    pub fn new(faults: Vec<Fault>, seed: u64) -> Result<Self, String> {
        for Fault { kind, at } in &faults {
            if part(kind) == FaultPart::Process {
                return Err(
                    "it is a manner of a process, which can't be given to another one; \
                            what concerns an answer can"
                        .to_owned(),
                );
            }
            if !at.is_request() {
                return Err(format!(
                    "it acts at `{at}`, where there is no answer; write @call, @list or another \
                     phase with one"
                ));
            }
        }
        Ok(Self {
            faults,
            calls: 0,
            dice: Dice::new(seed),
        })
    }

    /// What the answer to this request will meet.
    pub fn meets(&mut self, method: &str, tool: Option<&str>) -> Vec<Kind> {
        let moment = match method {
            "initialize" => Moment::Initialize,
            "server/discover" => Moment::Discover,
            "tools/call" => {
                self.calls += 1;
                Moment::Call {
                    n: self.calls,
                    tool: tool.unwrap_or_default().to_owned(),
                }
            }
            method if method.ends_with("/list") => Moment::List,
            _ => Moment::Other,
        };
        let met = self.faults.iter().filter(|fault| fault.at.matches(&moment));
        let kinds: Vec<Kind> = met.map(|fault| fault.kind.clone()).collect();
        let mut happening = Vec::new();
        for kind in kinds {
            match kind {
                Kind::Flaky(probability) => {
                    if self.dice.chance(probability) {
                        happening.push(Kind::WrongValue("wrong".to_owned()));
                    }
                }
                other => happening.push(other),
            }
        }
        happening
    }
}

/// What comes in place of an answer, given in one line, that meets these.
#[must_use]
pub fn injected(kinds: &[Kind], line: &[u8]) -> Vec<Action> {
    let host = OsHost::default();
    let mut actions = Vec::new();
    for kind in kinds {
        if let Kind::Slow(pause) = kind {
            actions.push(Action::Pause(*pause));
        }
        actions.extend(emit::before(kind, &host).unwrap_or_default());
    }
    if let Some(instead) = kinds.iter().find_map(|kind| emit::instead(kind, &host)) {
        actions.extend(instead);
        return actions;
    }
    let message = serde_json::from_slice::<Value>(line).ok();
    let is_untouched = kinds.iter().all(|kind| part(kind) == FaultPart::Beside);
    let (Some(mut message), false) = (message, is_untouched) else {
        let text = String::from_utf8_lossy(line);
        actions.push(Action::stdout_line(text.trim_end_matches('\n')));
        return actions;
    };
    let id = message.get("id").cloned().unwrap_or_default();
    let body = match message.get_mut("result").map(Value::take) {
        Some(result) => Body::Result(result),
        None => {
            let error = message.get("error");
            let text = error.and_then(|error| error.get("message")?.as_str());
            let code = error.and_then(|error| error.get("code")?.as_i64());
            Body::Error {
                code: code.unwrap_or_default(),
                message: text.unwrap_or_default().to_owned(),
                data: error.and_then(|error| error.get("data").cloned()),
            }
        }
    };
    let wrong = kinds.iter().find_map(|kind| match kind {
        Kind::WrongValue(text) => Some(text.clone()),
        _other => None,
    });
    let body = reply::distort(body, kinds, wrong, Vec::new());
    actions.extend(reply::write(&id, body, kinds, 0));
    actions
}

#[cfg(test)]
mod tests {
    use super::{Injector, injected};
    use crate::action::Action;
    use crate::fault::{Fault, Kind};
    use std::time::Duration;

    fn faults(texts: &[&str]) -> Vec<Fault> {
        texts.iter().map(|text| text.parse().unwrap()).collect()
    }

    fn text(kinds: &[Kind], line: &str) -> String {
        let actions = injected(kinds, line.as_bytes());
        let written = actions.iter().filter_map(|action| match action {
            Action::Write { bytes, .. } => Some(String::from_utf8_lossy(bytes).into_owned()),
            _ => None,
        });
        written.collect()
    }

    #[test]
    fn a_fault_meets_the_requests_of_its_place() {
        let texts = ["error@call:2=-32000:no", "mute@tool:b", "slow@list=1s"];
        let mut injector = Injector::new(faults(&texts), 1).unwrap();
        assert!(injector.meets("initialize", None).is_empty());
        assert_eq!(
            injector.meets("tools/list", None),
            [Kind::Slow(Duration::from_secs(1))]
        );
        assert!(injector.meets("tools/call", Some("a")).is_empty());
        assert_eq!(injector.meets("tools/call", Some("b")).len(), 2);
        assert!(injector.meets("tools/call", Some("a")).is_empty());
    }

    #[test]
    fn what_is_a_manner_of_a_process_or_has_no_answer_is_refused() {
        for (fault, says) in [
            ("ignore_eof", "manner of a process"),
            ("grandchild=pid", "manner of a process"),
            ("exit", "no answer"),
            ("exit@shutdown", "no answer"),
        ] {
            let why = Injector::new(faults(&[fault]), 1).unwrap_err();
            assert!(why.contains(says), "{fault}: {why}");
        }
    }

    #[test]
    fn an_answer_is_changed_only_where_the_fault_is_in_it() {
        let line = r#"{"id":1.50,"jsonrpc":"2.0","result":{"content":[]}}"#;
        let kinds = |texts: &[&str]| -> Vec<Kind> {
            faults(texts).into_iter().map(|fault| fault.kind).collect()
        };
        assert_eq!(text(&kinds(&["slow@call"]), line), format!("{line}\n"));
        let junk = text(&kinds(&["junk@call=1"]), line);
        assert!(junk.ends_with(&format!("\n{line}\n")) && junk.len() > line.len() + 2);
        assert_eq!(text(&kinds(&["mute@call"]), line), "");
        let broken = text(&kinds(&["truncate@call"]), line);
        assert!(!broken.is_empty() && broken.len() < line.len());
        let error = text(&kinds(&["error@call=-32000:no"]), line);
        assert!(
            error.contains("-32000") && error.contains("1.50"),
            "{error}"
        );
        let wrong = text(&kinds(&["wrong_value@call=42"]), line);
        assert!(wrong.contains("\"text\":\"42\""), "{wrong}");
    }
}
