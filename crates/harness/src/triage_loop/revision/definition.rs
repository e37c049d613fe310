//! What the parts of a plan come to in a hash.
//!
//! Every type is taken apart without `..`, so that a field which joins one has
//! to be given a place here: either it is part of what a step rests on, or it
//! is named as what is not, with the reason.

use super::hash::StableHash;
use jelly_base::model::Section;
use jelly_plan::{
    Answer, Auth, AuthGrant, AuthProof, CallAtOnce, Cancel, Capture, Command, Completion,
    CompletionOf, ErrorExpect, Expect, Flag, Give, HeaderExpect, HttpCall, HttpExpect, JsonExpect,
    NotificationExpect, PackageUse, Predicate, Raw, Redaction, RefusalExpect, Request, Server,
    StartupExpect, Step, Subscription, Template, Transport, Until,
};
use serde_json::Value;
use std::time::Duration;

/// A step, but for what its references stand for. `limit` is how long its
/// request may take.
///
/// Names, tags and places are for people and for selecting. A time limit says
/// how long one would wait and not what is answered, unless it is also how long
/// a notification is waited for.
pub(super) fn add_step(step: &Step, limit: Duration, hash: &mut StableHash<'_>) {
    let Step {
        id,
        name: _,
        section,
        server,
        request,
        args,
        at_once,
        expect,
        capture,
        tags: _,
        timeout: _,
        progress_extends: _,
        total_timeout: _,
        at: _,
        path: _,
        needs,
        answers,
        log_level,
        cancel,
        bare,
        // Whether it runs; how far each step got is counted by itself.
        requires: _,
        // Likewise; how far each step got is counted by itself.
        condition: _,
        until,
        // Its values stand in the step, and its label in the id.
        case: _,
    } = step;
    hash.text(id).text(server).text(match section {
        Section::Setup => "setup",
        Section::Steps => "steps",
        Section::Teardown => "teardown",
    });
    add_request(request, hash);
    add_value(args, hash);
    add_expect(expect, limit, hash);
    hash.each(capture.iter(), |hash, (name, capture)| {
        let Capture {
            path: _,
            raw,
            at: _,
        } = capture;
        hash.text(name).text(raw);
    });
    hash.each(needs.iter(), |hash, id| {
        hash.text(id);
    });
    add_answers(answers, hash);
    hash.maybe(log_level.as_ref(), |hash, level| {
        hash.text(level.name());
    });
    hash.maybe(cancel.as_ref(), |hash, cancel| {
        let Cancel { after, quiet_for } = cancel;
        add_duration(*after, hash);
        add_duration(*quiet_for, hash);
    });
    hash.flag(*bare);
    // Where there is none, what was kept before there could be one still counts.
    if !at_once.is_empty() {
        hash.text("at_once").each(at_once.iter(), |hash, call| {
            let CallAtOnce { tool, args } = call;
            add_value(args, hash.text(tool));
        });
    }
    // Likewise.
    if let Some(until) = until {
        let Until {
            expect,
            // How often it is asked, and not what comes.
            every: _,
            // Who waits for less may see what went by for others.
            lasts,
        } = until.as_ref();
        add_expect(expect, limit, hash.text("until"));
        add_duration(*lasts, hash);
    }
}

fn add_request(request: &Request, hash: &mut StableHash<'_>) {
    match request {
        Request::Tool(name) => hash.text("tool").text(name),
        Request::List(kind) => hash.text("list").text(kind.plan_key()),
        Request::Read(uri) => hash.text("read").text(uri),
        Request::Prompt(name) => hash.text("prompt").text(name),
        Request::Method(name) => hash.text("request").text(name),
        Request::Complete(completion) => {
            let Completion {
                of,
                argument,
                value,
            } = completion;
            match of {
                CompletionOf::Prompt(name) => hash.text("complete prompt").text(name),
                CompletionOf::Resource(uri) => hash.text("complete resource").text(uri),
            };
            hash.text(argument).text(value)
        }
        Request::Subscribe(to) => {
            let Subscription {
                resources,
                tools,
                prompts,
                resources_list,
            } = to;
            hash.text("subscribe").each(resources.iter(), |hash, uri| {
                hash.text(uri);
            });
            hash.flag(*tools).flag(*prompts).flag(*resources_list)
        }
        Request::Unsubscribe(id) => hash.text("unsubscribe").text(id),
        Request::Raw(Raw::Text(text)) => hash.text("raw").text(text),
        Request::Raw(Raw::Bytes(bytes)) => hash.text("raw bytes").bytes(bytes),
        Request::Startup => hash.text("startup"),
        Request::Http(HttpCall {
            method,
            path,
            headers,
        }) => {
            hash.text("http")
                .text(method)
                .text(path)
                .each(headers.iter(), |hash, (name, value)| {
                    hash.text(name).text(value);
                })
        }
    };
}

fn add_expect(expect: &Expect, limit: Duration, hash: &mut StableHash<'_>) {
    let Expect {
        is_error,
        text,
        json,
        structured,
        error,
        duration,
        stderr,
        notifications,
        startup,
        http,
    } = expect;
    hash.maybe(is_error.as_ref(), |hash, flag| {
        let Flag { value, at: _ } = flag;
        hash.flag(*value);
    });
    for predicates in [text, structured, duration, stderr] {
        add_predicates(predicates, hash);
    }
    add_json(json, hash);
    hash.maybe(error.as_ref(), |hash, error| {
        let ErrorExpect {
            code,
            message,
            at: _,
        } = error;
        add_predicates(code, hash);
        add_predicates(message, hash);
    });
    hash.each(notifications.iter(), |hash, wanted| {
        let NotificationExpect {
            method,
            json,
            count,
            absent,
            within,
            at: _,
        } = wanted;
        hash.text(method).flag(*absent);
        add_json(json, hash);
        add_predicates(count, hash);
        add_duration(within.unwrap_or(limit), hash);
    });
    // Where there is none, what was kept before there could be one still counts.
    if let Some(http) = http {
        let HttpExpect { status, headers } = http.as_ref();
        add_predicates(status, hash.text("status"));
        hash.each(headers.iter(), |hash, header| {
            let HeaderExpect {
                name,
                predicates,
                at: _,
            } = header;
            hash.text(name);
            add_predicates(predicates, hash);
        });
    }
    if let Some(startup) = startup {
        let StartupExpect {
            server_info,
            capabilities,
            refuses,
        } = startup.as_ref();
        add_json(server_info, hash.text("startup"));
        add_json(capabilities, hash);
        hash.maybe(refuses.as_ref(), |hash, refusal| {
            let RefusalExpect { exit, at: _ } = refusal;
            add_predicates(exit, hash);
        });
    }
}

fn add_json(expects: &[JsonExpect], hash: &mut StableHash<'_>) {
    hash.each(expects.iter(), |hash, expect| {
        let JsonExpect {
            path: _,
            raw_path,
            predicates,
            at: _,
        } = expect;
        hash.text(raw_path);
        add_predicates(predicates, hash);
    });
}

fn add_predicates(predicates: &[Predicate], hash: &mut StableHash<'_>) {
    hash.each(predicates.iter(), |hash, predicate| {
        let Predicate {
            operator,
            operand,
            redact,
            at: _,
        } = predicate;
        hash.text(operator.name());
        add_value(operand, hash);
        hash.each(redact.iter(), |hash, redaction| {
            match redaction {
                Redaction::At { path: _, raw, with } => hash.text("at").text(raw).text(with),
                Redaction::Matching {
                    regex: _,
                    raw,
                    with,
                } => hash.text("matching").text(raw).text(with),
                Redaction::Kind(kind) => hash.text("kind").text(kind.name()),
            };
        });
    });
}

fn add_answers(answers: &[Answer], hash: &mut StableHash<'_>) {
    hash.each(answers.iter(), |hash, answer| {
        let Answer {
            method,
            expect,
            give,
            optional,
            at: _,
        } = answer;
        hash.text(method).flag(*optional);
        add_json(expect, hash);
        match give {
            Give::Result(value) => add_value(value, hash.text("result")),
            Give::Error(value) => add_value(value, hash.text("error")),
            Give::AcceptDefaults => {
                hash.text("accept_defaults");
            }
        }
    });
}

/// How the settings of a run change what a plan says of its servers.
#[derive(Debug, Clone, Copy)]
pub(super) struct InEffect {
    pub adapt: bool,
    pub wire_check: bool,
}

/// A server, but for what its references stand for.
pub(super) fn add_server(server: &Server, in_effect: InEffect, hash: &mut StableHash<'_>) {
    let Server {
        name,
        transport,
        // As they are in effect.
        wire_check: _,
        adapt: _,
        era,
        protocol,
        capabilities,
        answers,
        // Counts at each step.
        requires: _,
        // How long one would wait, and not what comes.
        startup_timeout: _,
        wait_for_package: _,
        request_timeout: _,
        progress_extends: _,
        total_timeout: _,
        shutdown_timeout: _,
        pinned_at: _,
        at: _,
        path: _,
    } = server;
    let InEffect { adapt, wire_check } = in_effect;
    hash.text(name).flag(adapt).flag(wire_check);
    hash.maybe(era.as_ref(), |hash, era| {
        hash.text(&era.to_string());
    });
    hash.maybe(protocol.as_ref(), |hash, revision| {
        hash.text(revision);
    });
    hash.maybe(capabilities.as_ref(), |hash, value| add_value(value, hash));
    add_answers(answers, hash);
    match transport {
        Transport::Stdio(command) => {
            hash.text("stdio");
            add_command(command, hash);
        }
        Transport::Http {
            url,
            headers,
            auth,
            command,
        } => {
            hash.text("http");
            add_template(url, hash);
            hash.each(headers.iter(), |hash, (name, value)| {
                hash.text(name);
                add_template(value, hash);
            });
            hash.maybe(auth.as_deref(), |hash, auth| add_auth(auth, hash));
            hash.maybe(command.as_ref(), |hash, command| add_command(command, hash));
        }
    }
}

fn add_auth(auth: &Auth, hash: &mut StableHash<'_>) {
    let Auth {
        grant,
        issuer,
        token_endpoint,
    } = auth;
    match grant {
        AuthGrant::ClientCredentials {
            client_id,
            proof,
            scopes,
        } => {
            hash.text("client_credentials");
            add_template(client_id, hash);
            match proof {
                AuthProof::Secret(secret) => add_template(secret, hash.text("secret")),
                AuthProof::Key {
                    key,
                    algorithm,
                    key_id,
                } => {
                    add_template(key, hash.text("key"));
                    hash.maybe(algorithm.as_ref(), |hash, name| {
                        hash.text(name);
                    });
                    hash.maybe(key_id.as_ref(), |hash, id| add_template(id, hash));
                }
                AuthProof::Workload(token) => add_template(token, hash.text("workload")),
            }
            hash.each(scopes.iter(), |hash, scope| add_template(scope, hash));
        }
        AuthGrant::Login => {
            hash.text("login");
        }
    }
    hash.maybe(issuer.as_ref(), |hash, issuer| add_template(issuer, hash));
    // Where there is none, what was kept before there could be one still counts.
    if let Some(url) = token_endpoint {
        add_template(url, hash.text("token_endpoint"));
    }
}

fn add_command(command: &Command, hash: &mut StableHash<'_>) {
    let Command {
        command,
        args,
        env,
        cwd,
        package,
    } = command;
    hash.maybe(command.as_ref(), |hash, word| add_template(word, hash));
    hash.each(args.iter(), |hash, word| add_template(word, hash));
    hash.each(env.iter(), |hash, (name, value)| {
        hash.text(name);
        add_template(value, hash);
    });
    hash.maybe(cwd.as_ref(), |hash, folder| add_template(folder, hash));
    hash.maybe(package.as_deref(), |hash, used| {
        let PackageUse {
            package,
            args,
            templates: _,
        } = used;
        // What it says comes to a text that is the same for the same package.
        hash.text(&package.to_plan().to_string());
        hash.each(args.iter(), |hash, (name, value)| {
            hash.text(name);
            add_value(value, hash);
        });
    });
}

fn add_template(template: &Template, hash: &mut StableHash<'_>) {
    let Template { raw, parts: _ } = template;
    hash.text(raw);
}

/// As JSON, in which the order of keys counts.
pub(super) fn add_value(value: &Value, hash: &mut StableHash<'_>) {
    match value {
        // Not by its JSON, whose escapes would hide a secret in it.
        Value::String(text) => {
            hash.number(1).text(text);
        }
        Value::Array(items) => {
            hash.number(2)
                .each(items.iter(), |hash, item| add_value(item, hash));
        }
        Value::Object(entries) => {
            hash.number(3).each(entries.iter(), |hash, (key, item)| {
                hash.text(key);
                add_value(item, hash);
            });
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {
            hash.number(0).text(&value.to_string());
        }
    }
}

fn add_duration(duration: Duration, hash: &mut StableHash<'_>) {
    hash.number(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX));
}
