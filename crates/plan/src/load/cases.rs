//! `cases`: one step written once, and run with several sets of variables.
//!
//! Each case is a copy of the step's tree in which its variables are replaced by
//! their values, so that everything behind it reads a step like any other.

use super::path::Path;
use super::reader::Reader;
use super::step::UnreadStep;
use crate::DocPath;
use crate::syntax::{Data, Entry, Node, Span};
use crate::template::{Part, Template, has_reference};
use indexmap::IndexMap;
use jelly_base::text::WordList;
use serde_json::Value;
use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};

/// The key of a case that is no variable.
const LABEL: &str = "name";

/// Keys of a step in which the variables of a case stand for their values.
const FILLED: WordList = WordList(
    "name tool prompt request read complete subscribe raw http args at_once answers expect until \
     if",
);

/// Cases of one step.
const MOST_CASES: usize = 1000;

/// Bytes of a step, written out for all of its cases.
const MOST_BYTES: usize = 64 << 20;

/// Which case of a step it is that is read.
#[derive(Debug, Clone, Default)]
pub(super) struct UnreadCase {
    /// The id of the step as it is written.
    pub step: String,
    /// Its name or its index.
    pub label: String,
    pub span: Span,
    pub vars: IndexMap<String, Value>,
    /// What holds a value of the case, from the step on.
    pub filled: Vec<DocPath>,
}

impl<'t> Reader<'t> {
    /// The steps with one in the place of each case, and their ids.
    pub(super) fn expand<'n>(
        &mut self,
        raw: Vec<UnreadStep<'n, 't>>,
        ids: Vec<String>,
    ) -> (Vec<UnreadStep<'n, 't>>, Vec<String>) {
        if raw.iter().all(|step| step.node.entry("cases").is_none()) {
            return (raw, ids);
        }
        let mut taken: HashMap<String, (usize, Span)> = HashMap::new();
        for (step, id) in raw.iter().zip(&ids) {
            taken.insert(id.clone(), (step.file, step.node.span));
        }
        let (mut steps, mut names) = (Vec::new(), Vec::new());
        for (step, id) in raw.into_iter().zip(ids) {
            let Some(cases) = step.node.entry("cases").cloned() else {
                steps.push(step);
                names.push(id);
                continue;
            };
            self.enter(step.file);
            let list = Path::ROOT.key(step.section_key());
            let of_step = list.index(step.index);
            for case in self.cases(&step, &cases, &id, of_step) {
                let name = format!("{id}[{}]", case.case.as_ref().map_or("", |c| &c.label));
                if let Some((file, other)) = taken.get(&name).copied() {
                    let span = case.case.as_ref().map_or(step.node.span, |c| c.span);
                    let message = format!("two steps have the id `{name}`");
                    let elsewhere = self.elsewhere(step.file, (file, other));
                    let problem = self.problem(span, of_step.key("cases"), message);
                    problem.hint("an id is unique in the plan");
                    match elsewhere {
                        Some(place) => problem.hint(format!("the other one is at {place}")),
                        None => problem.also(other.range(), "the other one"),
                    };
                    continue;
                }
                steps.push(case);
                names.push(name);
            }
        }
        self.enter(0);
        (steps, names)
    }

    /// Where something is, if it is in another file than the one that is read.
    pub(super) fn elsewhere(&mut self, here: usize, (file, span): (usize, Span)) -> Option<String> {
        let path = self.names.files.get(file).filter(|_| file != here);
        let path = path?.display().to_string();
        self.enter(file);
        let at = self.at(span);
        self.enter(here);
        Some(format!("{path}:{}:{}", at.line, at.column))
    }

    fn cases<'n>(
        &mut self,
        step: &UnreadStep<'n, 't>,
        cases: &Entry<'t>,
        id: &str,
        of_step: Path<'_>,
    ) -> Vec<UnreadStep<'n, 't>> {
        let path = of_step.key("cases");
        let items = self
            .list(&cases.value, path, "variables by name")
            .unwrap_or(&[])
            .to_vec();
        if let Data::List(all) = &cases.value.data
            && all.is_empty()
        {
            self.problem(
                cases.value.span,
                path,
                "there are no cases, so nothing runs",
            )
            .hint(
                "as in `cases: [{ name: short, text: a }]`; leave `cases` out to run the step once",
            );
        }
        let bytes = step.node.span.range().len().saturating_mul(items.len());
        if items.len() > MOST_CASES || bytes > MOST_BYTES {
            let message = format!(
                "too many cases: at most {MOST_CASES}, and {} MiB of steps once they are written out",
                MOST_BYTES >> 20
            );
            self.problem(cases.key_span, path, message)
                .hint("make several steps of it");
            return Vec::new();
        }
        if let Some(capture) = step.node.entry("capture") {
            let message =
                "a step with `cases` captures nothing: each case would give another value";
            self.problem(capture.key_span, of_step, message)
                .hint("capture in a step of its own");
        }
        let mut labels: HashMap<String, Span> = HashMap::new();
        let mut expanded = Vec::new();
        for (index, item) in items.iter().enumerate() {
            let path = path.index(index);
            let Some(entries) = self.entries(item, path, "variables by name") else {
                continue;
            };
            if entries.is_empty() {
                self.problem(item.span, path, "a case sets a variable, or has a `name`");
                continue;
            }
            let Some(label) = self.label(entries, index, path) else {
                continue;
            };
            if let Some(first) = labels.insert(label.clone(), item.span) {
                self.problem(item.span, path, format!("two cases are called `{label}`"))
                    .also(first.range(), "the first one")
                    .hint("give each case a `name` of its own");
                continue;
            }
            let vars = self.case_vars(entries, path);
            let mut filling = Filling {
                vars: &vars,
                filled: Vec::new(),
                used: BTreeSet::new(),
            };
            let mut node = step.node.clone().into_owned();
            if let Data::Map(keys) = &mut node.data {
                keys.retain(|entry| entry.key != "cases");
                for entry in keys
                    .iter_mut()
                    .filter(|entry| FILLED.has(entry.key.as_ref()))
                {
                    let at = DocPath::default().key(entry.key.as_ref());
                    filling.fill(&mut entry.value, &at);
                    if entry.key == "if" {
                        filling.note_condition(&entry.value);
                    }
                }
            }
            let Filling { filled, used, .. } = filling;
            for entry in &vars {
                if !used.contains(entry.key.as_ref()) {
                    let name = entry.key.as_ref();
                    self.problem(
                        entry.key_span,
                        path,
                        format!("the step does not use `{name}`"),
                    )
                    .hint(format!(
                        "write `${{{name}}}` where the value goes, or leave it out"
                    ));
                }
            }
            let values = vars
                .iter()
                .map(|entry| (entry.key.clone().into_owned(), entry.value.to_value()));
            let case = UnreadCase {
                step: id.to_owned(),
                label,
                span: item.span,
                vars: values.collect(),
                filled,
            };
            expanded.push(UnreadStep {
                section: step.section,
                file: step.file,
                index: step.index,
                node: Cow::Owned(node),
                case: Some(case),
            });
        }
        expanded
    }

    /// What the case is called in the id of its step.
    fn label(&mut self, entries: &[Entry<'t>], index: usize, path: Path<'_>) -> Option<String> {
        let Some(entry) = entries.iter().find(|entry| entry.key == LABEL) else {
            return Some(index.to_string());
        };
        let path = path.key(LABEL);
        let name = self.fixed_string(&entry.value, path, "a case's name")?;
        if name.trim() != name || name.contains(|c: char| c.is_control() || "[]".contains(c)) {
            let message = "a case's name is one line, without brackets and without space around it";
            self.problem(entry.value.span, path, message);
            return None;
        }
        Some(name.to_owned())
    }

    fn case_vars(&mut self, entries: &[Entry<'t>], path: Path<'_>) -> Vec<Entry<'t>> {
        let mut vars = Vec::new();
        for entry in entries.iter().filter(|entry| entry.key != LABEL) {
            let name = entry.key.as_ref();
            let path = path.key(name);
            if !self.new_name(entry.key_span, name, path) {
                continue;
            }
            let other = if self.names.vars.contains(name) {
                Some("a variable".to_owned())
            } else {
                let step = self.names.later_captures.get(name);
                step.map(|step| format!("a capture of step `{step}`"))
            };
            if let Some(other) = other {
                self.problem(entry.key_span, path, format!("`{name}` is {other} already"))
                    .hint("give the variable of the case another name");
                continue;
            }
            vars.push(entry.clone());
        }
        vars
    }
}

/// Puts the values of a case in the place of its variables.
struct Filling<'v, 't> {
    vars: &'v [Entry<'t>],
    filled: Vec<DocPath>,
    used: BTreeSet<String>,
}

impl<'t> Filling<'_, 't> {
    fn fill(&mut self, node: &mut Node<'t>, at: &DocPath) {
        match &mut node.data {
            Data::Null | Data::Bool(_) | Data::Number(_) => {}
            Data::String(text) => {
                if let Some(filled) = self.filled(text) {
                    self.filled.push(at.clone());
                    match filled {
                        Filled::Whole(value) => *node = value,
                        Filled::Text(text) => node.data = Data::String(Cow::Owned(text)),
                    }
                }
            }
            Data::List(items) => {
                for (index, item) in items.iter_mut().enumerate() {
                    self.fill(item, &at.index(index));
                }
            }
            Data::Map(entries) => {
                for entry in entries {
                    self.fill(&mut entry.value, &at.key(entry.key.as_ref()));
                }
            }
        }
    }

    /// What a text comes to, where it names a variable of the case. A text that
    /// is no template is left for its reader to refuse.
    fn filled(&mut self, text: &str) -> Option<Filled<'t>> {
        if !has_reference(text) {
            return None;
        }
        let template = Template::parse(text).ok()?;
        let value = |part: &Part| {
            let name = part.name()?;
            self.vars.iter().find(|entry| entry.key == name)
        };
        if let [part] = template.parts.as_slice() {
            let entry = value(part)?;
            self.used.insert(entry.key.clone().into_owned());
            return Some(Filled::Whole(entry.value.clone()));
        }
        let mut filled = String::new();
        let mut used = Vec::new();
        for part in &template.parts {
            match value(part) {
                None => filled.push_str(&part.reference()),
                Some(entry) => {
                    used.push(entry.key.clone().into_owned());
                    match &entry.value.data {
                        Data::String(text) => filled.push_str(text),
                        Data::Null
                        | Data::Bool(_)
                        | Data::Number(_)
                        | Data::List(_)
                        | Data::Map(_) => filled.push_str(&entry.value.to_value().to_string()),
                    }
                }
            }
        }
        let any = !used.is_empty();
        self.used.extend(used);
        any.then_some(Filled::Text(filled))
    }

    /// The variables that an `if` asks for by their names.
    fn note_condition(&mut self, condition: &Node<'t>) {
        if let Some(Data::Map(asked)) = condition.entry("vars").map(|entry| &entry.value.data) {
            self.used
                .extend(asked.iter().map(|entry| entry.key.clone().into_owned()));
        }
    }
}

enum Filled<'t> {
    /// The text was nothing but the variable, which keeps its type.
    Whole(Node<'t>),
    Text(String),
}
