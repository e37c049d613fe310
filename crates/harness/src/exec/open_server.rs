//! A server that is ready, outside of a plan: what it lists, and calls of its
//! tools, with the same facts as those of a lane when something goes wrong.
//!
//! Main types: [`OpenServer`] and [`ToolCall`].

use super::bound::copied;
use super::checkup::{facts, preflight};
use super::clean::Cleaner;
use super::declared::{Declared, is_error, text_of};
use super::failed_reply::FailedReply;
use super::launch::ServerFacts;
use super::output::{Breach, breach, malformed};
use jelly_base::mcp::ListKind;
use jelly_base::model::{
    Assertion, AssertionTarget, Failure, Inventory, Outcome, Phase, RequestFacts, ToolResult,
};
use jelly_base::text::redact::Redactor;
use jelly_plan::Request;
use jelly_wire::{self as wire, Launch, Reply, ReplyOutcome, Session};
use serde_json::{Value, json};
use std::time::Duration;

/// A session with a server that no plan starts.
///
/// Dropping it kills the server's whole tree; [`OpenServer::stop`] is the polite
/// way.
pub struct OpenServer {
    session: Session,
    facts: ServerFacts,
    cleaner: Cleaner,
}

/// The end of one call of a tool.
#[derive(Debug, Clone)]
pub struct ToolCall {
    /// The result as the server sent it, not redacted, be it an error or not.
    pub result: Option<Value>,
    /// What is wrong, redacted: a death, no answer, a JSON-RPC error, `isError`,
    /// or an output that breaks its own schema.
    pub failure: Option<Box<Failure>>,
    /// From the call to its end.
    pub elapsed: Duration,
    /// Progress notifications for a call that was not answered in time.
    pub progress: u64,
}

impl OpenServer {
    /// Starts the server, or reaches it.
    ///
    /// # Errors
    /// It did not become ready; the failure is what a run would tell of it.
    pub async fn start(launch: &Launch) -> Result<Self, Box<Failure>> {
        let (name, reach, redactor) = (&launch.server, &launch.reach, &launch.redactor);
        if let Some(failure) = preflight(name, reach, redactor) {
            return Err(Box::new(failure));
        }
        let facts = facts(name, reach, redactor);
        let cleaner = Cleaner::of_secrets(redactor.clone());
        match wire::start(launch).await {
            Ok(session) => Ok(Self {
                session,
                facts,
                cleaner,
            }),
            Err(start) => {
                let mut failure = facts.start_failure(*start, reach.command().is_some());
                cleaner.failure(&mut failure);
                Err(Box::new(failure))
            }
        }
    }

    /// For what is not here: requests of any kind.
    #[must_use]
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// What the server has, as it lists it.
    ///
    /// # Errors
    /// A list that it says it has did not come.
    pub async fn inventory(&self, limit: Duration) -> Result<Inventory, Box<Failure>> {
        let all = inventory(&self.session, &self.facts, limit).await;
        all.map_err(|failure| self.cleaned(failure))
    }

    /// One list with all its pages; none where the server says it has none.
    ///
    /// # Errors
    /// It says that it has it, and it did not come.
    pub async fn list(
        &self,
        kind: ListKind,
        limit: Duration,
    ) -> Result<Option<Vec<Value>>, Box<Failure>> {
        let listed = list(&self.session, &self.facts, kind, limit).await;
        listed.map_err(|failure| self.cleaned(failure))
    }

    fn cleaned(&self, mut failure: Box<Failure>) -> Box<Failure> {
        self.cleaner.failure(&mut failure);
        failure
    }

    /// Calls a tool. `output_schema` is what it declares, if anything.
    pub async fn call(
        &self,
        tool: &str,
        arguments: &Value,
        output_schema: Option<&Value>,
        limit: Duration,
    ) -> ToolCall {
        let params = json!({ "name": tool, "arguments": arguments });
        let reply = self
            .session
            .request("tools/call", params.clone(), limit)
            .await;
        let elapsed = reply.elapsed;
        let progress = match &reply.outcome {
            ReplyOutcome::TimedOut(life) => life.progress,
            _ => 0,
        };
        let shown = format!("tools/call `{tool}`");
        let failed = failed(&self.session, &self.facts, Phase::Call, &shown);
        let (result, failure) = match no_answer(&self.session, failed, reply, limit) {
            Ok(result) => {
                let failure = self.judge(&shown, tool, &result, output_schema);
                (Some(result), failure)
            }
            Err(failure) => (None, Some(failure)),
        };
        let failure = failure.map(|mut failure| {
            failure.request = Some(RequestFacts {
                method: "tools/call".to_owned(),
                params: Some(params),
                ..RequestFacts::default()
            });
            failure.elapsed_ms = u64::try_from(elapsed.as_millis()).ok();
            self.cleaner.failure(&mut failure);
            failure
        });
        ToolCall {
            result,
            failure,
            elapsed,
            progress,
        }
    }

    /// Ends the session; the server is gone then.
    pub async fn stop(mut self, grace: Duration) {
        self.session.shutdown(grace).await;
    }

    fn judge(
        &self,
        shown: &str,
        tool: &str,
        result: &Value,
        output_schema: Option<&Value>,
    ) -> Option<Box<Failure>> {
        let failed = failed(&self.session, &self.facts, Phase::Call, shown);
        if let Some(why) = malformed(&Request::Tool(tool.to_owned()), result) {
            return Some(Box::new(Failure {
                outcome: Some(Outcome::Ok),
                ..failed.broken(why)
            }));
        }
        if is_error(result) {
            let quoted = self.cleaner.quote(&text_of(result));
            let own = ToolResult {
                is_error: true,
                text: text_of(result),
                structured_content: result
                    .get("structuredContent")
                    .map(|own| copied(own, &self.cleaner)),
            };
            return Some(Box::new(failed.tool_error(own, &quoted)));
        }
        let declared = Declared::new(output_schema?.clone());
        // The ladder takes the liberty too, where a plan does not say no.
        let broken = breach(result, &declared, true).ok().flatten()?;
        let absent = matches!(&broken, Breach::At(misfit) if misfit.is_missing);
        let (told, pointer, expected, actual) = match broken {
            Breach::At(misfit) => (
                misfit.describe(&self.cleaner),
                misfit.pointer,
                misfit.expected,
                copied(&misfit.actual, &self.cleaner),
            ),
            Breach::Whole { reason, actual } => (
                format!(": {}", self.cleaner.quote(&reason)),
                String::new(),
                Value::String(reason),
                copied(&actual, &self.cleaner),
            ),
        };
        let message = format!("the result breaks the tool's own output schema{told}");
        Some(Box::new(Failure {
            outcome: Some(Outcome::Ok),
            assertion: Some(Assertion {
                kind: "output_schema".to_owned(),
                target: Some(AssertionTarget::OutputSchema),
                path: Some(pointer),
                expected,
                actual,
                absent,
                ..Assertion::default()
            }),
            ..failed.told(message)
        }))
    }
}

/// Takes the secrets out of what a server lists.
pub fn redact_inventory(inventory: &mut Inventory, redactor: &Redactor) {
    let Inventory {
        server_info,
        era: _,
        protocol_version: _,
        capabilities,
        instructions,
        tools,
        resources,
        resource_templates,
        prompts,
    } = inventory;
    let lists = [tools, resources, resource_templates, prompts];
    let values = lists.into_iter().flatten().flatten();
    values
        .chain([server_info, capabilities])
        .for_each(|value| redactor.redact_json(value));
    if let Some(text) = instructions {
        *text = redactor.redact(text).into_owned();
    }
}

/// What a server said of itself when the session began, without its lists.
pub(super) fn greeted(session: &Session) -> Inventory {
    Inventory {
        server_info: session.server_info().clone(),
        era: session.era().to_string(),
        protocol_version: session.protocol_version().to_owned(),
        capabilities: session.capabilities().clone(),
        instructions: session.instructions().map(str::to_owned),
        ..Inventory::default()
    }
}

/// Everything that a server lists; what failed is not cleaned.
pub(super) async fn inventory(
    session: &Session,
    facts: &ServerFacts,
    limit: Duration,
) -> Result<Inventory, Box<Failure>> {
    let tools = list(session, facts, ListKind::Tools, limit).await?;
    let resources = list(session, facts, ListKind::Resources, limit).await?;
    let resource_templates = templates(session, facts, resources.is_some(), limit).await;
    let prompts = list(session, facts, ListKind::Prompts, limit).await?;
    Ok(Inventory {
        tools,
        resources,
        resource_templates,
        prompts,
        ..greeted(session)
    })
}

/// The templates of a server that has resources. Many know none, and say so by an
/// error, which is no failure of anything.
pub(super) async fn templates(
    session: &Session,
    facts: &ServerFacts,
    has_resources: bool,
    limit: Duration,
) -> Option<Vec<Value>> {
    match has_resources {
        true => list(session, facts, ListKind::ResourceTemplates, limit)
            .await
            .unwrap_or_default(),
        false => None,
    }
}

/// A list that the server says it has; what failed is not cleaned.
pub(super) async fn list(
    session: &Session,
    facts: &ServerFacts,
    kind: ListKind,
    limit: Duration,
) -> Result<Option<Vec<Value>>, Box<Failure>> {
    if session.capabilities().get(kind.capability()).is_none() {
        return Ok(None);
    }
    let method = kind.method();
    let reply = session.list(kind, Value::Null, limit).await;
    let failed = failed(session, facts, Phase::List, method);
    match no_answer(session, failed, reply, limit) {
        Ok(mut result) => Ok(match result.get_mut(kind.key()).map(Value::take) {
            Some(Value::Array(items)) => Some(items),
            Some(_) | None => None,
        }),
        Err(mut failure) => {
            failure.request = Some(RequestFacts {
                method: method.to_owned(),
                params: None,
                ..RequestFacts::default()
            });
            failure.process_alive.get_or_insert(true);
            failure
                .stderr
                .get_or_insert_with(|| session.stderr().tail());
            Err(failure)
        }
    }
}

/// What a failure of a request says whatever came of it.
fn failed(session: &Session, facts: &ServerFacts, phase: Phase, shown: &str) -> FailedReply {
    FailedReply {
        shown: shown.to_owned(),
        facts: Failure {
            process_alive: session.has_process().then_some(true),
            ..facts.failure(phase, "")
        },
    }
}

/// The result, or what came in its place as a failure.
fn no_answer(
    session: &Session,
    failed: FailedReply,
    reply: Reply,
    limit: Duration,
) -> Result<Value, Box<Failure>> {
    let failure = match reply.outcome {
        ReplyOutcome::Answered(result) => return Ok(result),
        ReplyOutcome::RpcError(error) => {
            let cut = error.message.floor_char_boundary(400);
            let head = error.message[..cut].to_owned();
            failed.refused(error, &head)
        }
        ReplyOutcome::TimedOut(life) => Failure {
            showed_life: Some(life.any()),
            stderr: Some(session.stderr().tail()),
            ..failed.timed_out(limit, "")
        },
        ReplyOutcome::Exited(exit) => Failure {
            stderr: Some(session.stderr().tail()),
            ..failed.exited(exit)
        },
        ReplyOutcome::Broken(why) => failed.broken(why),
        ReplyOutcome::Unanswered(why) => {
            let hint = "a plan answers it, by `answers`";
            failed.unanswered(&why, hint)
        }
        ReplyOutcome::Beyond(beyond) => failed.beyond(beyond.limit, &beyond.text),
        ReplyOutcome::Http(end) => failed.over_http(*end),
    };
    Err(Box::new(failure))
}
