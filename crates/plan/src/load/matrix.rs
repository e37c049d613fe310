//! `matrix`.

use super::path::Path;
use super::reader::Reader;
use super::step::UnreadStep;
use crate::grammar::{MATRIX, REVISION};
use crate::matrix::{MAX_VARIANTS, Matrix};
use crate::syntax::{Data, Node};
use std::collections::BTreeSet;

impl<'t> Reader<'t> {
    /// Reads the axes; the names of the servers are known by then.
    pub(super) fn matrix(&mut self, node: &Node<'t>, path: Path<'_>) -> Option<Matrix> {
        let before = self.problems_so_far();
        let fields = self.fields(node, path, &MATRIX)?;
        let mut matrix = Matrix::default();
        if let Some(entry) = fields.entry("protocol") {
            let node = &entry.value;
            matrix.protocol_at = Some(self.at(entry.key_span));
            let path = path.key("protocol");
            matrix.protocol = self.axis(node, path, "revisions", |reader, item, path| {
                let word = reader.word_of(item, path, &REVISION);
                word.map(str::to_owned)
            });
        }
        if let Some(node) = fields.get("servers") {
            let path = path.key("servers");
            for entry in self.entries(node, path, "servers by name").unwrap_or(&[]) {
                let path = path.key(&entry.key);
                let name = entry.key.as_ref();
                let servers = self.axis(&entry.value, path, "servers", Self::known_server);
                if self.names.servers.contains(name) && !servers.iter().any(|server| server == name)
                {
                    let message = format!("a server is called `{name}`, and is not in its list");
                    self.problem(entry.key_span, path, message).hint(
                        "steps would never reach it: add it to the list, or choose another name",
                    );
                }
                matrix.servers.insert(name.to_owned(), servers);
            }
        }
        if self.problems_so_far() > before {
            return None;
        }
        if matrix.axes().is_empty() {
            self.problem(node.span, path, "a matrix needs something to vary")
                .hint("as in `matrix: { protocol: [2025-11-25, 2026-07-28] }`");
            return None;
        }
        let size = matrix.size();
        if size > MAX_VARIANTS {
            let message = format!("{size} combinations, where at most {MAX_VARIANTS} are run");
            self.problem(node.span, path, message);
            return None;
        }
        Some(matrix)
    }

    /// Refuses an axis that no run would feel: combinations that are all the
    /// same compare nothing, and would be green.
    pub(super) fn axes_that_reach_nothing(
        &mut self,
        matrix: (&Node<'t>, &Matrix),
        servers: Option<&Node<'t>>,
        steps: &[UnreadStep<'_, 't>],
        path: Path<'_>,
    ) {
        let (node, matrix) = matrix;
        let mut named: BTreeSet<&str> = steps
            .iter()
            .filter_map(|step| step.node.entry("server")?.value.as_str())
            .collect();
        let implied = match self.names.likely_servers.as_slice() {
            [only] => Some(only.clone()),
            _ => None,
        };
        if steps.iter().any(|step| step.node.entry("server").is_none()) {
            named.extend(implied.as_deref());
        }
        if named.is_empty() {
            // What is wrong then is said of the steps.
            return;
        }
        let turns = node.entry("servers").map(|entry| &entry.value.data);
        if let Some(Data::Map(turns)) = turns {
            for entry in turns.iter().filter(|e| !named.contains(e.key.as_ref())) {
                let list = path.key("servers");
                let path = list.key(&entry.key);
                let name = entry.key.as_ref();
                let message = format!("no step runs against `{name}`, so nothing takes turns");
                self.problem(entry.key_span, path, message)
                    .hint(format!("write `server: {name}` at the steps that should"));
            }
        }
        let (Some(axis), Some(Data::Map(servers))) =
            (node.entry("protocol"), servers.map(|node| &node.data))
        else {
            return;
        };
        let reached: BTreeSet<&str> = named
            .into_iter()
            .flat_map(|name| match matrix.servers.get(name) {
                Some(turns) => turns.iter().map(String::as_str).collect(),
                None => vec![name],
            })
            .collect();
        let mut reached = servers
            .iter()
            .filter(|server| reached.contains(server.key.as_ref()))
            .peekable();
        let pins =
            |server: &Node<'t>| server.entry("protocol").is_some() || server.entry("era").is_some();
        if reached.peek().is_some() && reached.all(|server| pins(&server.value)) {
            let message = "every server that steps run against says `protocol` or `era` itself, \
                           so none is held to these revisions";
            self.problem(axis.key_span, path.key("protocol"), message)
                .hint(
                    "leave it out at the server that the matrix is about, or leave out this axis",
                );
        }
    }

    /// The values of an axis: at least two, and each once.
    fn axis(
        &mut self,
        node: &Node<'t>,
        path: Path<'_>,
        what: &str,
        read: impl Fn(&mut Self, &Node<'t>, Path<'_>) -> Option<String>,
    ) -> Vec<String> {
        let mut values: Vec<String> = Vec::new();
        let Some(items) = self.list(node, path, what) else {
            return values;
        };
        if items.len() < 2 {
            let message = format!("expected two {what} or more");
            self.problem(node.span, path, message)
                .hint("to hold a server to one revision, write `protocol` there");
        }
        for (index, item) in items.iter().enumerate() {
            let path = path.index(index);
            let Some(value) = read(self, item, path) else {
                continue;
            };
            if values.contains(&value) {
                self.problem(item.span, path, format!("`{value}` is given twice"));
            }
            values.push(value);
        }
        values
    }

    fn known_server(&mut self, node: &Node<'t>, path: Path<'_>) -> Option<String> {
        let name = self.fixed_string(node, path, "a server's name")?;
        if self.names.servers.contains(name) {
            return Some(name.to_owned());
        }
        self.no_such_server(node.span, path, name);
        None
    }
}
