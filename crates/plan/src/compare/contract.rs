//! What jelly and a server have agreed on, as values that can be held against
//! each other.

use super::spelled::SpelledNames;
use crate::{
    Answer, Auth, AuthGrant, AuthProof, CallAtOnce, Cancel, Command, Completion, CompletionOf,
    Give, HttpCall, LogLevel, PackageUse, Raw, Request, Server, Step, Subscription, Template,
    Transport, Until,
};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Keys of [`contract_of_server`] that belong to the program too.
pub(super) const PROGRAM_KEYS: [&str; 4] = ["args", "cwd", "env", "package"];

pub(super) type Contract = BTreeMap<&'static str, Value>;

/// What jelly and a server have agreed on besides the program, by the keys of
/// plans.
pub(super) fn contract_of_server(server: &Server, names: SpelledNames<'_>) -> Contract {
    let Server {
        name: _,
        transport,
        // Whether it is checked is among the expectations.
        wire_check: _,
        adapt,
        era,
        protocol,
        capabilities,
        answers,
        // Counts at each step.
        requires: _,
        startup_timeout,
        wait_for_package,
        request_timeout,
        progress_extends,
        total_timeout,
        shutdown_timeout,
        pinned_at: _,
        at: _,
        path: _,
    } = server;
    let mut contract = Contract::from([
        ("adapt", json!(adapt)),
        ("era", json!(era.map(|era| era.to_string()))),
        ("protocol", json!(protocol)),
        (
            "capabilities",
            capabilities
                .as_ref()
                .map_or(Value::Null, |c| names.value(c)),
        ),
        ("answers", gives(answers, names)),
        (
            "startup_timeout",
            json!(startup_timeout.as_nanos().to_string()),
        ),
        (
            "request_timeout",
            json!(request_timeout.as_nanos().to_string()),
        ),
        ("progress", json!(progress_extends)),
        (
            "wait_for_package",
            json!(wait_for_package.map(|limit| limit.as_nanos().to_string())),
        ),
        ("total_timeout", json!(total_timeout.as_nanos().to_string())),
        (
            "shutdown_timeout",
            json!(shutdown_timeout.as_nanos().to_string()),
        ),
    ]);
    let command = match transport {
        Transport::Stdio(command) => Some(command),
        Transport::Http {
            // Belongs to the program.
            url: _,
            headers,
            auth,
            command,
        } => {
            contract.insert("headers", templates(headers, names));
            let auth = auth
                .as_ref()
                .map_or(Value::Null, |auth| of_auth(auth, names));
            contract.insert("auth", auth);
            command.as_ref()
        }
    };
    if let Some(command) = command {
        let Command {
            // Belongs to the program.
            command: _,
            args,
            env,
            cwd,
            package,
        } = command;
        let args: Vec<Value> = args.iter().map(|arg| names.template(arg)).collect();
        contract.insert("args", Value::from(args));
        contract.insert("env", templates(env, names));
        let cwd = cwd.as_ref().map_or(Value::Null, |cwd| names.template(cwd));
        contract.insert("cwd", cwd);
        if let Some(used) = package {
            let PackageUse {
                package,
                args,
                templates: _,
            } = used.as_ref();
            contract.insert("package", Value::from(format!("{package:?}")));
            let args = args
                .iter()
                .map(|(name, value)| (name.clone(), names.value(value)));
            contract.insert("package_args", Value::Object(args.collect()));
        }
    }
    contract
}

fn templates<'t>(
    map: impl IntoIterator<Item = (&'t String, &'t Template)>,
    names: SpelledNames<'_>,
) -> Value {
    // The order of variables and headers means nothing.
    let sorted: BTreeMap<&String, Value> = map
        .into_iter()
        .map(|(name, template)| (name, names.template(template)))
        .collect();
    json!(sorted)
}

fn of_auth(auth: &Auth, names: SpelledNames<'_>) -> Value {
    let Auth {
        grant,
        issuer,
        token_endpoint,
    } = auth;
    let grant = match grant {
        AuthGrant::ClientCredentials {
            client_id,
            proof,
            scopes,
        } => {
            let proof = match proof {
                AuthProof::Secret(secret) => json!(["secret", names.template(secret)]),
                AuthProof::Workload(token) => json!(["workload", names.template(token)]),
                AuthProof::Key {
                    key,
                    algorithm,
                    key_id,
                } => json!([
                    "key",
                    names.template(key),
                    algorithm,
                    key_id.as_ref().map(|id| names.template(id)),
                ]),
            };
            let scopes: Vec<Value> = scopes.iter().map(|scope| names.template(scope)).collect();
            json!([names.template(client_id), proof, scopes])
        }
        AuthGrant::Login => json!("login"),
    };
    let urls = [issuer, token_endpoint].map(|url| Some(names.template(url.as_ref()?)));
    json!([grant, urls])
}

/// What is answered; what is expected of the question is among the
/// expectations.
fn gives(answers: &[Answer], names: SpelledNames<'_>) -> Value {
    let give = |answer: &Answer| {
        let Answer {
            method,
            expect: _,
            give,
            optional: _,
            at: _,
        } = answer;
        match give {
            Give::Result(value) => json!([method, "result", names.value(value)]),
            Give::Error(value) => json!([method, "error", names.value(value)]),
            Give::AcceptDefaults => json!([method, "accept_defaults"]),
        }
    };
    answers.iter().map(give).collect()
}

/// What a step sends and how, by what is to be said where it changes.
pub(super) fn contract_of_step(step: &Step, names: SpelledNames<'_>) -> Contract {
    let Step {
        // A step with another id is another step.
        id: _,
        name: _,
        section: _,
        server: _,
        request,
        args,
        at_once,
        // Among the expectations.
        expect: _,
        capture: _,
        tags: _,
        timeout,
        progress_extends,
        total_timeout,
        at: _,
        path: _,
        needs: _,
        answers,
        log_level,
        cancel,
        bare,
        // Said of their own.
        requires: _,
        condition: _,
        until,
        // Says which step it is.
        case: _,
    } = step;
    let cancel = cancel.map(|cancel| {
        let Cancel { after, quiet_for } = cancel;
        [
            after.as_nanos().to_string(),
            quiet_for.as_nanos().to_string(),
        ]
    });
    Contract::from([
        ("another request", of_request(request, names)),
        ("other arguments", names.value(args)),
        (
            "other calls `at_once`",
            json!(
                at_once
                    .iter()
                    .map(|call| {
                        let CallAtOnce { tool, args } = call;
                        json!([tool, names.value(args)])
                    })
                    .collect::<Vec<_>>()
            ),
        ),
        (
            "another `timeout`",
            json!(timeout.map(|t| t.as_nanos().to_string())),
        ),
        ("another `progress`", json!(progress_extends)),
        (
            "another `total_timeout`",
            json!(total_timeout.map(|t| t.as_nanos().to_string())),
        ),
        ("other `answers`", gives(answers, names)),
        ("another `log_level`", json!(log_level.map(LogLevel::name))),
        ("another `cancel_after`", json!(cancel)),
        ("another `bare`", json!(bare)),
        // What is waited for is among the expectations.
        (
            "another `until`",
            json!(until.as_ref().map(|until| {
                let Until {
                    expect: _,
                    every,
                    lasts,
                } = until.as_ref();
                [every.as_nanos().to_string(), lasts.as_nanos().to_string()]
            })),
        ),
    ])
}

fn of_request(request: &Request, names: SpelledNames<'_>) -> Value {
    match request {
        Request::Tool(name) => json!(["tool", name]),
        Request::List(kind) => json!(["list", kind.plan_key()]),
        Request::Read(uri) => json!(["read", names.text(uri)]),
        Request::Prompt(name) => json!(["prompt", name]),
        Request::Method(name) => json!(["request", name]),
        Request::Complete(completion) => {
            let Completion {
                of,
                argument,
                value,
            } = completion;
            let of = match of {
                CompletionOf::Prompt(name) => ["prompt", name],
                CompletionOf::Resource(uri) => ["resource", uri],
            };
            json!(["complete", of, argument, names.text(value)])
        }
        Request::Subscribe(to) => {
            let Subscription {
                resources,
                tools,
                prompts,
                resources_list,
            } = to;
            let resources: Vec<Value> = resources.iter().map(|uri| names.text(uri)).collect();
            json!(["subscribe", resources, tools, prompts, resources_list])
        }
        Request::Unsubscribe(id) => json!(["unsubscribe", id]),
        Request::Raw(Raw::Text(text)) => json!(["raw", names.text(text)]),
        Request::Raw(Raw::Bytes(bytes)) => json!(["raw_bytes", bytes]),
        Request::Http(HttpCall {
            method,
            path,
            headers,
        }) => {
            let headers: Vec<Value> = headers
                .iter()
                .map(|(name, value)| json!([name, names.text(value)]))
                .collect();
            json!(["http", method, names.text(path), headers])
        }
        Request::Startup => json!(["startup"]),
    }
}
