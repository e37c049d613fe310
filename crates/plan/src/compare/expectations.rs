//! Everything that a plan expects, one by one, with what nobody has to write:
//! that there is no error, and that an output is as it was declared.

use super::spelled::SpelledNames;
use crate::anything::{Surface, holds_of_anything};
use crate::{
    Answer, Capture, ErrorExpect, Expect, HeaderExpect, HttpExpect, JsonExpect, NotificationExpect,
    Plan, Predicate, Redaction, RefusalExpect, Request, Server, StartupExpect, Step,
};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::Duration;

/// Whose expectation it is.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Owner {
    Step(String),
    Server(String),
}

/// What makes an expectation the one that it is.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ExpectationKey {
    pub owner: Owner,
    /// As in `text`, `json` or `error.code`.
    pub surface: &'static str,
    pub path: String,
    pub operator: String,
}

/// How an expectation stands in one plan.
#[derive(Debug, Clone)]
pub(super) struct Said {
    /// Its variables replaced.
    pub operand: Value,
    pub of_anything: bool,
}

/// By key, in the order of the plan.
pub(super) type Expectations = BTreeMap<ExpectationKey, Vec<Said>>;

/// All of a plan's; of a step that is not in both plans it says nothing.
pub(super) fn expectations(plan: &Plan, env: &BTreeMap<String, String>) -> Expectations {
    let mut found = Collected {
        all: Expectations::new(),
        names: SpelledNames {
            vars: &plan.vars,
            env: None,
        },
        known: SpelledNames {
            vars: &plan.vars,
            env: Some(env),
        },
        limit: Duration::MAX,
    };
    for server in plan.servers.values() {
        found.server(server, plan.wire_check);
        if plan.contract_promised {
            let owner = Owner::Server(server.name.clone());
            found.plain(&owner, "contract", "", "promised");
        }
    }
    for step in plan.all_steps() {
        let server = plan.servers.get(&step.server);
        found.limit = server.map_or(Duration::MAX, |server| {
            let total = step.total_limit(server);
            total.unwrap_or_else(|| step.limit(server))
        });
        found.step(step);
    }
    found.all
}

struct Collected<'p> {
    all: Expectations,
    /// For what is compared.
    names: SpelledNames<'p>,
    /// For what it comes to in this environment.
    known: SpelledNames<'p>,
    /// After which a request has failed anyway.
    limit: Duration,
}

impl Collected<'_> {
    fn add(
        &mut self,
        owner: &Owner,
        surface: &'static str,
        path: &str,
        operator: &str,
        said: Said,
    ) {
        let key = ExpectationKey {
            owner: owner.clone(),
            surface,
            path: path.to_owned(),
            operator: operator.to_owned(),
        };
        self.all.entry(key).or_default().push(said);
    }

    /// One that is there or not, and has no operand.
    fn plain(&mut self, owner: &Owner, surface: &'static str, path: &str, operator: &str) {
        let said = Said {
            operand: Value::Null,
            of_anything: false,
        };
        self.add(owner, surface, path, operator, said);
    }

    fn server(&mut self, server: &Server, wire_check: bool) {
        let owner = Owner::Server(server.name.clone());
        if server.wire_check.unwrap_or(wire_check) {
            self.plain(&owner, "wire", "", "strict");
        }
        for answer in &server.answers {
            self.answer(&owner, answer, false);
        }
    }

    fn step(&mut self, step: &Step) {
        let Step {
            id,
            name: _,
            section: _,
            server: _,
            request,
            args: _,
            at_once,
            expect,
            capture,
            tags: _,
            timeout: _,
            progress_extends: _,
            total_timeout: _,
            at: _,
            path: _,
            needs: _,
            answers,
            log_level: _,
            cancel,
            bare: _,
            requires: _,
            condition: _,
            until,
            case: _,
        } = step;
        let owner = Owner::Step(id.clone());
        for call in at_once {
            self.plain(&owner, "at_once", &call.tool, "answered");
        }
        if cancel.is_some() {
            self.plain(&owner, "answer", "", "cancelled");
        } else if let Request::Http(_) = request {
            self.plain(&owner, "answer", "http", "form");
            if expect
                .http
                .as_ref()
                .is_none_or(|http| http.status.is_empty())
            {
                self.plain(&owner, "answer", "", "success");
            }
        } else if *request == Request::Startup {
            self.plain(&owner, "startup", "", "looks");
        } else {
            // By whose form the answer is judged.
            self.plain(&owner, "answer", request.kind(), "form");
            if step.expects().all(|expect| expect.error.is_none()) {
                self.plain(&owner, "answer", "", "no_protocol_error");
            }
            if !step.expects_error() {
                self.plain(&owner, "is_error", "", "false");
                if matches!(request, Request::Tool(_)) {
                    self.plain(&owner, "answer", "", "as_declared");
                }
            }
        }
        self.expect(&owner, expect);
        // The last answer is held against it too.
        if let Some(until) = until {
            self.expect(&owner, &until.expect);
        }
        for (name, capture) in capture {
            let Capture {
                path: _,
                raw,
                at: _,
            } = capture;
            let said = Said {
                operand: Value::from(raw.as_str()),
                of_anything: false,
            };
            self.add(&owner, "capture", name, "finds", said);
        }
        for answer in answers {
            self.answer(&owner, answer, true);
        }
    }

    fn expect(&mut self, owner: &Owner, expect: &Expect) {
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
        if is_error.is_some_and(|flag| flag.value) {
            self.plain(owner, "is_error", "", "true");
        }
        if let Some(wanted) = error {
            let ErrorExpect {
                code,
                message,
                at: _,
            } = wanted;
            self.plain(owner, "error", "", "expected");
            self.predicates(owner, "error.code", Surface::ErrorCode, code);
            self.predicates(owner, "error.message", Surface::Text, message);
        }
        self.predicates(owner, "text", Surface::Text, text);
        self.json(owner, "json", "", json);
        self.predicates(owner, "structured", Surface::Structured, structured);
        self.predicates(owner, "duration", Surface::Duration(self.limit), duration);
        self.predicates(owner, "stderr", Surface::Text, stderr);
        for wanted in notifications {
            self.notification(owner, wanted);
        }
        if let Some(http) = http {
            let HttpExpect { status, headers } = http.as_ref();
            self.predicates(owner, "status", Surface::ErrorCode, status);
            for HeaderExpect {
                name,
                predicates,
                at: _,
            } in headers
            {
                for predicate in predicates {
                    // That a header is there says something.
                    let said = self.said(Surface::Json("$.header"), predicate);
                    let name = name.to_ascii_lowercase();
                    self.add(owner, "headers", &name, predicate.operator.name(), said);
                }
            }
        }
        if let Some(startup) = startup {
            let StartupExpect {
                server_info,
                capabilities,
                refuses,
            } = startup.as_ref();
            self.json(owner, "server_info", "", server_info);
            self.json(owner, "capabilities", "", capabilities);
            if let Some(RefusalExpect { exit, at: _ }) = refuses {
                self.plain(owner, "startup", "", "refuses");
                self.predicates(owner, "exit", Surface::ErrorCode, exit);
            }
        }
    }

    fn answer(&mut self, owner: &Owner, answer: &Answer, of_step: bool) {
        let Answer {
            method,
            expect,
            give: _,
            optional,
            at: _,
        } = answer;
        if of_step && !optional {
            self.plain(owner, "answers", method, "asked");
        }
        self.json(owner, "answers", method, expect);
    }

    fn json(&mut self, owner: &Owner, surface: &'static str, of: &str, expects: &[JsonExpect]) {
        for expect in expects {
            let JsonExpect {
                path: _,
                raw_path,
                predicates,
                at: _,
            } = expect;
            let path = format!("{of} {raw_path}");
            for predicate in predicates {
                let said = self.said(Surface::Json(raw_path.trim()), predicate);
                self.add(owner, surface, path.trim(), predicate.operator.name(), said);
            }
        }
    }

    fn predicates(
        &mut self,
        owner: &Owner,
        name: &'static str,
        surface: Surface<'_>,
        predicates: &[Predicate],
    ) {
        for predicate in predicates {
            let said = self.said(surface, predicate);
            self.add(owner, name, "", predicate.operator.name(), said);
        }
    }

    fn said(&self, surface: Surface<'_>, predicate: &Predicate) -> Said {
        let operand = self.names.value(&predicate.operand);
        let redact: Vec<Value> = predicate.redact.iter().map(redaction).collect();
        Said {
            of_anything: holds_of_anything(
                surface,
                predicate,
                &self.known.value(&predicate.operand),
            ),
            operand: if redact.is_empty() {
                operand
            } else {
                json!([operand, redact])
            },
        }
    }

    /// What a notification must be like is looked for among those that come.
    /// Where one is enough, each of it is an expectation; where some must not
    /// come, more of it lets more of them through.
    fn notification(&mut self, owner: &Owner, wanted: &NotificationExpect) {
        let NotificationExpect {
            method,
            json,
            count,
            absent,
            within,
            at: _,
        } = wanted;
        let within = json!(within.map(|time| time.as_millis().to_string()));
        let count: Vec<(&Predicate, Said)> = count
            .iter()
            .map(|predicate| (predicate, self.said(Surface::Count, predicate)))
            .collect();
        if !absent && wanted.count_only_grows() {
            if count.is_empty() || count.iter().any(|(_, said)| !said.of_anything) {
                let said = Said {
                    operand: within,
                    of_anything: false,
                };
                self.add(owner, "notifications", method, "comes", said);
            }
            self.json(owner, "notifications", method, json);
            for (predicate, said) in count {
                let operator = format!("count {}", predicate.operator.name());
                self.add(owner, "notifications", method, &operator, said);
            }
            return;
        }
        let mut alike: Vec<String> = Vec::new();
        let mut operands: Vec<Value> = Vec::new();
        for expect in json {
            for predicate in &expect.predicates {
                alike.push(format!("{} {}", expect.raw_path, predicate.operator.name()));
                operands.push(
                    self.said(Surface::Json(&expect.raw_path), predicate)
                        .operand,
                );
            }
        }
        let path = format!("{method} {}", alike.join(", "));
        if *absent {
            let said = Said {
                operand: json!([within, operands]),
                of_anything: false,
            };
            self.add(owner, "notifications", path.trim(), "absent", said);
        }
        for (predicate, said) in count {
            let operator = format!("count {}", predicate.operator.name());
            let said = Said {
                operand: json!([within, operands, said.operand]),
                of_anything: said.of_anything,
            };
            self.add(owner, "notifications", path.trim(), &operator, said);
        }
    }
}

fn redaction(redaction: &Redaction) -> Value {
    match redaction {
        Redaction::At { path: _, raw, with } => json!(["path", raw, with]),
        Redaction::Matching {
            regex: _,
            raw,
            with,
        } => json!(["pattern", raw, with]),
        Redaction::Kind(kind) => json!(["kind", kind.name()]),
    }
}
