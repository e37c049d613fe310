//! What a sound server answers, and the two faults that need its dice and its
//! machine to know the wrong answer.

use super::{Job, Server};
use crate::action::Action;
use crate::builtins::{self, Outcome};
use crate::fault::{EchoForm, Kind};
use crate::host::Host;
use crate::reply::Body;
use crate::spec::UnknownMethods;
use crate::tools::{self, Refs};
use crate::{content, interpolate, protocol, stacks};
use jelly_base::mcp::code;
use serde_json::{Value, json};

impl<H: Host> Server<H> {
    pub(super) fn wrong_text(&mut self, job: &Job) -> Option<String> {
        for kind in &job.kinds {
            match kind {
                Kind::WrongValue(text) => {
                    let mut refs = Refs {
                        args: &job.params["arguments"],
                        call: job.nth,
                        state: &self.state,
                        host: &self.host,
                        dice: &mut self.dice,
                    };
                    return Some(interpolate::resolve_text(text, &mut refs));
                }
                Kind::Flaky(probability) if self.dice.chance(*probability) => {
                    return Some("wrong".to_owned());
                }
                _not_about_values => {}
            }
        }
        None
    }

    pub(super) fn secrets(&self, kinds: &[Kind]) -> Vec<String> {
        kinds
            .iter()
            .filter_map(|kind| match kind {
                Kind::EchoEnv {
                    name,
                    form: EchoForm::Result,
                } => Some(self.host.env(name).unwrap_or_default()),
                _other => None,
            })
            .collect()
    }

    /// What a sound server answers.
    pub(super) fn perform(&mut self, job: &Job) -> Outcome {
        if job.modern && job.method == "initialize" {
            return Outcome::of(protocol::refuse_initialize());
        }
        if !protocol::knows(&job.method, job.modern, &self.script) {
            return self.unknown_method(&job.method);
        }
        if job.modern
            && let Some(refusal) = protocol::refuse_meta(&job.params)
        {
            return Outcome::of(refusal);
        }
        let handshake = job.method == "initialize" || job.method == "ping";
        if !job.modern && !self.initialized && !handshake {
            return Outcome::of(Body::invalid(
                "Received request before initialization was complete",
            ));
        }
        let params = &job.params;
        let page_size = self.script.page_size;
        let list = |items: &[Value], key| match protocol::page(items, key, params, page_size) {
            Some(page) => Body::Result(page),
            None => Body::invalid("Invalid cursor"),
        };
        Outcome::of(match job.method.as_str() {
            "initialize" => {
                self.initialized = true;
                protocol::initialize(&self.script, protocol::negotiate(params))
            }
            "server/discover" => protocol::discover(&self.script),
            "ping" => Body::Result(json!({})),
            "tools/list" => list(self.tools.listed(), "tools"),
            "resources/list" => list(&content::resources(&self.script), "resources"),
            "resources/templates/list" => list(&[], "resourceTemplates"),
            "prompts/list" => list(&content::prompts(&self.script), "prompts"),
            "resources/read" => content::read(&self.script, params, job.modern),
            "prompts/get" => {
                let mut refs = Refs {
                    args: &params["arguments"],
                    call: 0,
                    state: &self.state,
                    host: &self.host,
                    dice: &mut self.dice,
                };
                content::prompt(&self.script, params, &mut refs)
            }
            // `knows` lets nothing else through.
            _tools_call => return self.call(job),
        })
    }

    fn unknown_method(&self, method: &str) -> Outcome {
        let error = Body::error(
            code::METHOD_NOT_FOUND,
            format!("Method not found: {method}"),
        );
        let instead = match self.script.unknown_methods {
            UnknownMethods::Error => None,
            UnknownMethods::Ignore => Some(Vec::new()),
            UnknownMethods::Die => Some(vec![
                Action::Stderr(stacks::unknown_request(method).into_bytes()),
                Action::Exit(1),
            ]),
        };
        Outcome {
            instead,
            ..Outcome::of(error)
        }
    }

    fn call(&mut self, job: &Job) -> Outcome {
        let Some(name) = job.params["name"].as_str() else {
            return Outcome::of(Body::invalid("Invalid params: `name` is missing"));
        };
        if !self.tools.knows(name) {
            return Outcome::of(Body::invalid(format!("Unknown tool: {name}")));
        }
        let empty = json!({});
        let args = match &job.params["arguments"] {
            Value::Null => &empty,
            args => args,
        };
        if self.script.validate
            && let Some(problem) = self.tools.misfit(name, args)
        {
            return Outcome::of(Body::invalid(format!(
                "Invalid arguments for tool {name}: {problem}"
            )));
        }
        if let Some(response) = &job.response {
            let mut refs = Refs {
                args,
                call: job.nth,
                state: &self.state,
                host: &self.host,
                dice: &mut self.dice,
            };
            return tools::play(response, &mut refs);
        }
        let by_files = self
            .script
            .files
            .as_deref()
            .and_then(|root| builtins::call_files(name, args, root, &mut self.host));
        let outcome = match by_files {
            Some(outcome) => outcome,
            None => match builtins::call(name, args, &mut self.state, &self.host) {
                Some(outcome) => outcome,
                // A name that is listed is a tool of one of the three.
                None => Outcome::of(Body::invalid(format!("Unknown tool: {name}"))),
            },
        };
        if self.script.persist && name == "counter" {
            let mut outcome = outcome;
            outcome.before.push(Action::Persist(self.state.clone()));
            return outcome;
        }
        outcome
    }
}
