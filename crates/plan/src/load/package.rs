//! `package` and `package_args` of a server.

use super::path::Path;
use super::reader::{Reader, entry};
use super::references::{Needs, TemplatePlace};
use crate::syntax::{Data, Entry, Node};
use crate::{Command, PackageUse};
use indexmap::IndexMap;
use jelly_package::{self as package, InputKind, Level, Package, Problem as Flaw, Source, Trouble};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

impl<'t> Reader<'t> {
    pub(super) fn package(&mut self, entries: &[Entry<'t>], path: Path<'_>) -> Option<PackageUse> {
        let package = entry(entries, "package");
        let args = entry(entries, "package_args");
        let Some(found) = package else {
            if let Some(args) = args {
                self.problem(
                    args.key_span,
                    path,
                    "`package_args` are of a server with a `package`",
                )
                .hint("put the arguments of a `command` in `args`");
            }
            return None;
        };
        let definition = self.definition(&found.value, path.key("package"));
        let mut given = IndexMap::new();
        if let Some(args) = args {
            let path = path.key("package_args");
            if entry(entries, "command").is_some() {
                self.problem(
                    args.key_span,
                    path,
                    "a server with a `command` has its arguments in `args`",
                )
                .hint("leave `command` out, and the package is started");
            }
            for entry in self
                .entries(&args.value, path, "arguments by name")
                .unwrap_or(&[])
            {
                let needs = &mut Needs::new();
                self.templates(
                    &entry.value,
                    path.key(&entry.key),
                    TemplatePlace::Server,
                    needs,
                );
                given.insert(
                    entry.key.clone().into_owned(),
                    self.as_written(&entry.value),
                );
            }
        }
        Some(PackageUse::new(definition?, given))
    }

    fn definition(&mut self, node: &Node<'t>, path: Path<'_>) -> Option<Package> {
        self.entries(node, path, "a package's fields")?;
        let value = self.as_written(node);
        let (package, flaws) = package::package(&value, "", Source::Plan);
        for flaw in flaws.iter().filter(|flaw| flaw.level == Level::Error) {
            let segments: Vec<String> = flaw
                .pointer
                .split('/')
                .skip(1)
                .map(|segment| segment.replace("~1", "/").replace("~0", "~"))
                .collect();
            self.flaw(node, path, &segments, flaw);
        }
        let is_served = package
            .as_ref()
            .is_some_and(|package| package.transport.kind != "stdio");
        if is_served && let Some(transport) = node.entry("transport") {
            self.problem(
                transport.key_span,
                path,
                "`transport` follows from the server's `url`",
            )
            .hint("leave `transport` out, and write `url` beside `package`");
        }
        package
    }

    /// Reports a flaw of the definition where it stands.
    fn flaw(&mut self, node: &Node<'t>, path: Path<'_>, segments: &[String], flaw: &Flaw) {
        let span = node.span;
        let Some((first, rest)) = segments.split_first() else {
            self.flaw_at(span, path, flaw);
            return;
        };
        match &node.data {
            Data::Map(entries) => match entries.iter().find(|entry| entry.key == *first) {
                Some(entry) if rest.is_empty() && flaw.of_key => {
                    self.flaw_at(entry.key_span, path, flaw);
                }
                Some(entry) => self.flaw(&entry.value, path.key(first), rest, flaw),
                None => self.flaw_at(span, path, flaw),
            },
            Data::List(items) => match first.parse().ok().map(|i: usize| (i, items.get(i))) {
                Some((index, Some(item))) => self.flaw(item, path.index(index), rest, flaw),
                Some((_, None)) | None => self.flaw_at(span, path, flaw),
            },
            Data::Null | Data::Bool(_) | Data::Number(_) | Data::String(_) => {
                self.flaw_at(span, path, flaw);
            }
        }
    }

    fn flaw_at(&mut self, span: crate::syntax::Span, path: Path<'_>, flaw: &Flaw) {
        let problem = self.problem(span, path, flaw.message.clone());
        if let Some(hint) = &flaw.hint {
            problem.hint(hint.clone());
        }
    }

    /// The value, numbers as they are written: `1.10` is a version.
    fn as_written(&self, node: &Node<'t>) -> Value {
        match &node.data {
            Data::Number(_) => Value::String(self.written(node).into_owned()),
            Data::Null | Data::Bool(_) | Data::String(_) => node.to_value(),
            Data::List(items) => items.iter().map(|item| self.as_written(item)).collect(),
            Data::Map(entries) => Value::Object(
                entries
                    .iter()
                    .map(|entry| {
                        (
                            entry.key.clone().into_owned(),
                            self.as_written(&entry.value),
                        )
                    })
                    .collect::<Map<_, _>>(),
            ),
        }
    }

    /// What can be known to be in the way of a launch before its environment
    /// is.
    pub(super) fn launchable(&mut self, entries: &[Entry<'t>], command: &Command, path: Path<'_>) {
        let Some(used) = command.launched() else {
            return;
        };
        let given = command.given(BTreeMap::new(), &mut |template| {
            template.is_literal().then(|| {
                let nowhere = crate::Scope::default();
                template.resolve(&nowhere, "").unwrap_or_default()
            })
        });
        let troubles = match package::resolve(&used.package, &given) {
            Ok(_) => return,
            Err(troubles) => troubles,
        };
        for trouble in troubles {
            // It may be set where the plan runs.
            if matches!(&trouble, Trouble::Missing(lack) if lack.kind == InputKind::Environment) {
                continue;
            }
            let (span, to) = self.place_of(entries, &trouble, path);
            let secret = matches!(
                trouble,
                Trouble::NotAChoice { value: None, .. } | Trouble::NotOfFormat { value: None, .. }
            );
            let problem = self.problem(span, to, trouble.to_string());
            if let Some(hint) = trouble.hint() {
                problem.hint(hint);
            }
            if secret {
                problem.hide();
            }
        }
    }

    /// Where what was given stands, or else the package.
    fn place_of<'p>(
        &self,
        entries: &[Entry<'t>],
        trouble: &Trouble,
        path: Path<'p>,
    ) -> (crate::syntax::Span, Path<'p>) {
        let whole = entry(entries, "package").map_or_else(Default::default, |found| found.key_span);
        let Some(at) = trouble.at() else {
            return (whole, path);
        };
        let holder = if at.in_env { "env" } else { "package_args" };
        let Some(Data::Map(given)) = entry(entries, holder).map(|found| &found.value.data) else {
            return (whole, path);
        };
        // What is inside is written behind a dot.
        let outer = || at.key.split('.').next().unwrap_or_default();
        let found = entry(given, &at.key).or_else(|| entry(given, outer()));
        let Some(found) = found else {
            return (whole, path);
        };
        let of_key = matches!(trouble, Trouble::Unknown { .. });
        let span = match (&found.value.data, at.index) {
            _ if of_key => found.key_span,
            (Data::List(items), Some(index)) => {
                items.get(index).map_or(found.value.span, |item| item.span)
            }
            _ => found.value.span,
        };
        (span, path)
    }
}
