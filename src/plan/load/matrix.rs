//! `matrix`.

use super::reader::{Path, Reader, Shape, get};
use crate::model::REVISIONS;
use crate::plan::matrix::{MAX_VARIANTS, Matrix};
use crate::plan::syntax::Node;
use crate::text::close_names;

const SHAPE: Shape = Shape {
    what: "`matrix`",
    keys: &["protocol", "servers"],
    instead: &[
        ("server", "did you mean `servers`?"),
        ("protocols", "did you mean `protocol`?"),
        ("version", "did you mean `protocol`?"),
        ("versions", "did you mean `protocol`?"),
    ],
};

impl<'t> Reader<'t> {
    /// Reads the axes; the names of the servers are known by then.
    pub(super) fn matrix(&mut self, node: &Node<'t>, path: Path<'_>) -> Option<Matrix> {
        let before = self.problems_so_far();
        let entries = self.map(node, path, &SHAPE)?;
        let mut matrix = Matrix::default();
        if let Some(node) = get(entries, "protocol") {
            let path = path.key("protocol");
            matrix.protocol = self.axis(node, path, "revisions", |reader, item, path| {
                reader.revision(item, path).map(str::to_owned)
            });
        }
        if let Some(node) = get(entries, "servers") {
            let path = path.key("servers");
            for entry in self.entries(node, path, "servers by name").unwrap_or(&[]) {
                let path = path.key(&entry.key);
                let name = entry.key.as_ref();
                let servers = self.axis(&entry.value, path, "servers", Self::known_server);
                if self.names.servers.iter().any(|known| known == name)
                    && !servers.iter().any(|server| server == name)
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
                self.problem(item.span, path, format!("`{value}` stands here twice"));
            }
            values.push(value);
        }
        values
    }

    /// A revision of the protocol.
    pub(super) fn revision(&mut self, node: &Node<'t>, path: Path<'_>) -> Option<&'static str> {
        let known = REVISIONS.map(|(name, _)| (name, name));
        self.one_of(node, path, "revision", &known)
    }

    fn known_server(&mut self, node: &Node<'t>, path: Path<'_>) -> Option<String> {
        let name = self.fixed_string(node, path, "a server's name")?;
        if self.names.servers.iter().any(|known| known == name) {
            return Some(name.to_owned());
        }
        let close = close_names(name, self.names.servers.iter().map(String::as_str));
        let all = self.names.servers.join("`, `");
        let problem = self.problem(node.span, path, format!("no server is called `{name}`"));
        match close.first() {
            Some(close) => problem.hint(format!("did you mean `{close}`?")),
            None => problem.hint(format!("the plan has `{all}`")),
        };
        None
    }
}
