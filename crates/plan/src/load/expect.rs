//! `expect`.

use super::path::Path;
use super::reader::{Reader, entry, get};
use super::references::Needs;
use crate::grammar::{ERROR_EXPECT, EXPECT, Target};
use crate::same_path::is_same_path;
use crate::syntax::{Data, Entry, Node};
use crate::{ErrorExpect, Expect, Flag, JsonExpect, Operator, Predicate};
use jelly_base::text::close_names;

impl<'t> Reader<'t> {
    pub(super) fn expect(&mut self, node: &Node<'t>, path: Path<'_>, needs: &mut Needs) -> Expect {
        let mut expect = Expect::default();
        let Some(fields) = self.fields(node, path, &EXPECT) else {
            return expect;
        };
        if fields.entries.is_empty() {
            self.problem(
                node.span,
                path,
                "nothing is expected, so this tests nothing",
            )
            .hint(
                "say what, as in `expect: { text: { contains: hi } }`; leave `expect` out where \
                     it is enough that there is an answer and no error",
            );
        }
        self.names.due_answer.may_be_error = fields.get("error").is_some();
        for entry in fields.entries {
            let value = &entry.value;
            let to = path.key(&entry.key);
            match entry.key.as_ref() {
                "is_error" => expect.is_error = self.flag(entry, to),
                "text" => expect.text = self.predicates(value, to, Target::Text, needs),
                "stderr" => expect.stderr = self.predicates(value, to, Target::Stderr, needs),
                "structured" => {
                    expect.structured = self.predicates(value, to, Target::Structured, needs);
                }
                "duration" => expect.duration = self.predicates(value, to, Target::Duration, needs),
                "json" => expect.json = self.json_expects(value, to, needs),
                "notifications" => {
                    // They come beside the answer.
                    let due = std::mem::take(&mut self.names.due_answer);
                    expect.notifications = self.notifications(value, to, needs);
                    self.names.due_answer = due;
                }
                "error" => expect.error = self.error_expect(entry, to, needs),
                _ => {}
            }
        }
        expect.http = self.http_expect(fields, needs);
        if let (Some(error), Some(flag)) = (fields.entry("error"), &expect.is_error)
            && !flag.value
        {
            self.problem(
                error.key_span,
                path,
                "an error is expected, and `is_error` says that none is",
            )
            .hint("leave one of them out");
        }
        expect
    }

    fn flag(&mut self, entry: &Entry<'t>, path: Path<'_>) -> Option<Flag> {
        if let Data::Map(_) = &entry.value.data {
            self.problem(
                entry.value.span,
                path,
                "`is_error` takes no operators: it is `true` or `false`",
            )
            .hint("write `is_error: true`; what the error says is tested with `text`");
            return None;
        }
        Some(Flag {
            value: self.boolean(&entry.value, path)?,
            at: self.at(entry.key_span),
        })
    }

    pub(super) fn json_expects(
        &mut self,
        node: &Node<'t>,
        path: Path<'_>,
        needs: &mut Needs,
    ) -> Vec<JsonExpect> {
        let mut expects = Vec::new();
        let items = self.list(node, path, "paths with operators");
        if items.is_some_and(<[_]>::is_empty) {
            self.problem(node.span, path, "no path given, so this tests nothing")
                .hint("as in `[{ path: $.content[0].text, equals: hi }]`");
        }
        for (index, item) in items.unwrap_or(&[]).iter().enumerate() {
            let path = path.index(index);
            let Some(entries) = self.entries(item, path, "a path with operators") else {
                continue;
            };
            let before = self.problems_so_far();
            let predicates = self.operators(entries, path, Target::Json, needs);
            self.refuse_own_path(entries, path);
            if self.problems_so_far() == before {
                let place = get(entries, "path").and_then(|at| match &at.data {
                    Data::String(place) => Some(place.trim()),
                    _ => None,
                });
                let about = (Target::Json, place.unwrap_or_default());
                self.refuse_vacuous(item, path, about, &predicates);
            }
            let Some(at) = entry(entries, "path") else {
                self.problem(item.span, path, "a `path` is missing")
                    .hint("as in `path: \"$.content[0].text\"`");
                continue;
            };
            if entries.len() == 1 {
                self.problem(at.key_span, path, "the path comes without an operator")
                    .hint("to ask only whether something is there, write `exists: true`");
            }
            if let Some((json_path, raw_path)) = self.result_path(&at.value, path.key("path")) {
                expects.push(JsonExpect {
                    path: json_path,
                    raw_path,
                    predicates,
                    at: self.at(at.key_span),
                });
            }
        }
        expects.shrink_to_fit();
        expects
    }

    /// A value always equals itself, whatever else is asked of it.
    fn refuse_own_path(&mut self, entries: &[Entry<'t>], path: Path<'_>) {
        let text = |key| get(entries, key).and_then(Node::as_str);
        let (Some(own), Some(other)) = (text("path"), text("equals_path")) else {
            return;
        };
        if let Some(at) = entry(entries, "equals_path").filter(|_| is_same_path(own, other)) {
            let message = "a path is compared with itself, so this tests nothing";
            self.problem(at.value.span, path.key("equals_path"), message)
                .hint("name another path of the same answer; that there is a value at all is `exists: true`");
        }
    }

    fn error_expect(
        &mut self,
        entry: &Entry<'t>,
        path: Path<'_>,
        needs: &mut Needs,
    ) -> Option<ErrorExpect> {
        let node = &entry.value;
        match &node.data {
            Data::Bool(_) | Data::Null => {
                self.problem(node.span, path, "`error` takes a map")
                    .hint("write `error: {}` to expect any error, or say which: `error: { code: -32602 }`");
                return None;
            }
            Data::Number(_) => {
                let written = self.written(node).into_owned();
                self.problem(node.span, path, "`error` takes a map")
                    .hint(format!("write `error: {{ code: {written} }}`"));
                return None;
            }
            Data::String(_) => {
                self.problem(node.span, path, "`error` takes a map")
                    .hint("write `error: { message: { contains: … } }`");
                return None;
            }
            Data::List(_) | Data::Map(_) => {}
        }
        let fields = self.fields(node, path, &ERROR_EXPECT)?;
        let code = match fields.get("code") {
            Some(code) => match &code.data {
                Data::Number(number) if !number.is_f64() => vec![Predicate {
                    operator: Operator::Equals,
                    operand: code.to_value(),
                    redact: Vec::new(),
                    at: self.at(code.span),
                }],
                Data::Null | Data::Bool(_) | Data::Number(_) | Data::String(_) => {
                    self.problem(
                        code.span,
                        path.key("code"),
                        "an error's code is a whole number",
                    )
                    .hint("as in `code: -32602`, or `code: { one_of: [-32602, -32603] }`");
                    Vec::new()
                }
                Data::List(_) | Data::Map(_) => {
                    self.predicates(code, path.key("code"), Target::ErrorCode, needs)
                }
            },
            None => Vec::new(),
        };
        let message = match fields.get("message") {
            Some(message) => {
                self.predicates(message, path.key("message"), Target::ErrorMessage, needs)
            }
            None => Vec::new(),
        };
        Some(ErrorExpect {
            code,
            message,
            at: self.at(entry.key_span),
        })
    }

    /// A map of operators, or a list of such maps.
    pub(super) fn predicates(
        &mut self,
        node: &Node<'t>,
        path: Path<'_>,
        target: Target,
        needs: &mut Needs,
    ) -> Vec<Predicate> {
        let before = self.problems_so_far();
        let predicates = match &node.data {
            Data::Map(entries) => {
                if entries.is_empty() {
                    self.problem(node.span, path, "no operator given, so this tests nothing")
                        .hint(target.example());
                }
                self.operators(entries, path, target, needs)
            }
            Data::List(items) => {
                if items.is_empty() {
                    self.problem(node.span, path, "no operator given, so this tests nothing")
                        .hint(target.example());
                }
                let mut predicates = Vec::new();
                for (index, item) in items.iter().enumerate() {
                    let path = path.index(index);
                    match &item.data {
                        Data::Map(entries) if !entries.is_empty() => {
                            predicates.extend(self.operators(entries, path, target, needs));
                        }
                        Data::Map(_)
                        | Data::Null
                        | Data::Bool(_)
                        | Data::Number(_)
                        | Data::String(_)
                        | Data::List(_) => {
                            self.problem(item.span, path, "expected an operator with its operand")
                                .hint(target.example());
                        }
                    }
                }
                predicates
            }
            Data::Null | Data::Bool(_) | Data::Number(_) | Data::String(_) => {
                let message = format!("expected an operator, found {}", node.kind());
                self.problem(node.span, path, message)
                    .hint(target.example());
                Vec::new()
            }
        };
        if self.problems_so_far() == before {
            self.refuse_vacuous(node, path, (target, ""), &predicates);
        }
        predicates
    }

    fn operators(
        &mut self,
        entries: &[Entry<'t>],
        path: Path<'_>,
        target: Target,
        needs: &mut Needs,
    ) -> Vec<Predicate> {
        let mut predicates = Vec::new();
        for entry in entries {
            let key = entry.key.as_ref();
            if key == "path" && target == Target::Json || key == "redact" {
                continue;
            }
            let Some(operator) = Operator::named(key) else {
                self.unknown_operator(entry, path, target);
                continue;
            };
            if let Err(hint) = target.takes(operator) {
                let message = format!("`{key}` does not apply to `{}`", target.name());
                self.problem(entry.key_span, path, message).hint(hint);
                continue;
            }
            if let Some(operand) =
                self.operand(operator, &entry.value, path.key(key), target, needs)
            {
                if operator == Operator::Snapshot {
                    self.note_snapshot(entry, path.key(key));
                }
                predicates.push(Predicate {
                    operator,
                    operand,
                    redact: Vec::new(),
                    at: self.at(entry.key_span),
                });
            }
        }
        if let Some(entry) = entry(entries, "redact") {
            let redact = self.redactions(&entry.value, path.key("redact"));
            let mut snapshots = predicates.iter_mut();
            match snapshots.rfind(|predicate| predicate.operator == Operator::Snapshot) {
                Some(snapshot) => snapshot.redact = redact,
                None => {
                    self.problem(entry.key_span, path, "`redact` belongs to a `snapshot`")
                        .hint("as in `{ snapshot: report, redact: [timestamp] }`");
                }
            }
        }
        // Most are one; a long plan has many.
        predicates.shrink_to_fit();
        predicates
    }

    fn unknown_operator(&mut self, entry: &Entry<'t>, path: Path<'_>, target: Target) {
        let key = entry.key.as_ref();
        let fitting: Vec<&str> = target.operators().map(Operator::name).collect();
        let takes_snapshots = target.takes(Operator::Snapshot).is_ok();
        let synonym = match key {
            "redactions" | "mask" | "filters" if takes_snapshots => Some("redact"),
            _ => Operator::meant_by(key).map(Operator::name),
        };
        let beside = takes_snapshots.then_some("redact");
        let known = Operator::ALL.map(Operator::name).into_iter().chain(beside);
        let close = close_names(key, known);
        let problem = self.problem(entry.key_span, path, format!("unknown operator `{key}`"));
        match synonym.or(close.first().map(String::as_str)) {
            Some(close) => problem.hint(format!("did you mean `{close}`?")),
            None => problem.hint(format!("the operators are `{}`", fitting.join("`, `"))),
        };
    }
}
