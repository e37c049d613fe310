//! `servers.NAME.auth`.

use super::reader::{Path, Reader, Shape, entry, get};
use crate::plan::syntax::{Data, Entry, Node};
use crate::plan::template::Template;
use crate::plan::{ALGORITHMS, Auth, AuthGrant, AuthProof};

const SHAPE: Shape = Shape {
    what: "`auth`",
    keys: &["client_credentials", "issuer"],
    instead: &[
        ("login", "write `auth: login`"),
        ("token", TOKEN),
        ("bearer", TOKEN),
        ("client_id", "put it under `client_credentials`"),
        ("client_secret", "put it under `client_credentials`"),
        ("scopes", "put them under `client_credentials`"),
    ],
};

const TOKEN: &str = "a token that is there already goes into `headers: { Authorization: \"Bearer ${secret:TOKEN}\" }`";

const CLIENT: Shape = Shape {
    what: "`client_credentials`",
    keys: &[
        "client_id",
        "client_secret",
        "private_key",
        "algorithm",
        "key_id",
        "scopes",
    ],
    instead: &[
        ("id", "did you mean `client_id`?"),
        ("secret", "did you mean `client_secret`?"),
        ("key", "did you mean `private_key`?"),
        ("kid", "did you mean `key_id`?"),
        ("alg", "did you mean `algorithm`?"),
        ("scope", "write `scopes: [A, B]`"),
        ("issuer", "put it beside `client_credentials`"),
    ],
};

impl<'t> Reader<'t> {
    pub(super) fn auth(&mut self, node: &Node<'t>, path: Path<'_>) -> Option<Auth> {
        if let Data::String(_) = node.data {
            let grants = [("login", ())];
            self.one_of(node, path, "way to get tokens", &grants)?;
            return Some(Auth {
                grant: AuthGrant::Login,
                issuer: None,
            });
        }
        let entries = self.map(node, path, &SHAPE)?;
        let issuer = get(entries, "issuer").and_then(|node| {
            let path = path.key("issuer");
            let issuer = self.server_template(node, path)?;
            let is_url = ["https://", "http://"]
                .iter()
                .any(|scheme| issuer.raw.starts_with(scheme));
            if issuer.is_literal() && !is_url {
                self.problem(node.span, path, "no issuer that a server could have")
                    .hint("it is a URL, as the authorization server itself writes it");
            }
            Some(issuer)
        });
        let Some(client) = get(entries, "client_credentials") else {
            self.problem(node.span, path, "`auth` does not say how to get a token")
                .hint("`auth: { client_credentials: { … } }` for a machine, `auth: login` for what `jelly login` has left");
            return None;
        };
        let grant = self.client_credentials(client, path.key("client_credentials"))?;
        Some(Auth { grant, issuer })
    }

    fn client_credentials(&mut self, node: &Node<'t>, path: Path<'_>) -> Option<AuthGrant> {
        let entries = self.map(node, path, &CLIENT)?;
        let client_id = match get(entries, "client_id") {
            Some(id) => self.server_template(id, path.key("client_id")),
            None => {
                self.problem(node.span, path, "a client needs a `client_id`");
                None
            }
        };
        let scopes = match get(entries, "scopes") {
            Some(node) => {
                let path = path.key("scopes");
                let items = self.list(node, path, "scopes").unwrap_or(&[]);
                items
                    .iter()
                    .enumerate()
                    .filter_map(|(index, item)| self.scope(item, path.index(index)))
                    .collect()
            }
            None => Vec::new(),
        };
        let proof = self.proof(node, entries, path);
        Some(AuthGrant::ClientCredentials {
            client_id: client_id?,
            proof: proof?,
            scopes,
        })
    }

    fn scope(&mut self, node: &Node<'t>, path: Path<'_>) -> Option<Template> {
        let scope = self.server_template(node, path)?;
        let fits = |byte: u8| matches!(byte, 0x21 | 0x23..=0x5B | 0x5D..=0x7E);
        if scope.is_literal() && (scope.raw.is_empty() || !scope.raw.bytes().all(fits)) {
            self.problem(node.span, path, "no scope that a server could have")
                .hint("each is an entry of its own: `[mcp:read, mcp:write]`");
        }
        Some(scope)
    }

    fn proof(
        &mut self,
        node: &Node<'t>,
        entries: &[Entry<'t>],
        path: Path<'_>,
    ) -> Option<AuthProof> {
        let algorithm = get(entries, "algorithm").and_then(|node| {
            let names = ALGORITHMS.map(|name| (name, name));
            self.one_of(node, path.key("algorithm"), "algorithm", &names)
        });
        let key_id =
            get(entries, "key_id").and_then(|node| self.server_template(node, path.key("key_id")));
        match (get(entries, "client_secret"), get(entries, "private_key")) {
            (Some(secret), None) => {
                for key in ["algorithm", "key_id"] {
                    if let Some(entry) = entry(entries, key) {
                        let message = format!("a client without a `private_key` has no `{key}`");
                        self.problem(entry.key_span, path, message);
                    }
                }
                let secret = self.secret(secret, path, "client_secret");
                secret.map(AuthProof::Secret)
            }
            (None, Some(key)) => Some(AuthProof::Key {
                key: self.secret(key, path, "private_key")?,
                algorithm,
                key_id,
            }),
            (Some(_), Some(key)) => {
                let message = "a client has a `client_secret` or a `private_key`, not both";
                self.problem(key.span, path.key("private_key"), message);
                None
            }
            (None, None) => {
                let message = "a client needs a `client_secret` or a `private_key`";
                self.problem(node.span, path, message)
                    .hint("as in `client_secret: \"${secret:CLIENT_SECRET}\"`");
                None
            }
        }
    }

    /// A value that stands in the environment, not in the plan.
    fn secret(&mut self, node: &Node<'t>, path: Path<'_>, key: &str) -> Option<Template> {
        let path = path.key(key);
        let secret = self.server_template(node, path)?;
        if secret.is_literal() {
            let name = key.to_ascii_uppercase();
            self.problem(node.span, path, "a secret does not belong in a plan")
                .hint(format!(
                    "set it as a variable of the environment, and write `{key}: \"${{secret:{name}}}\"`"
                ));
        }
        Some(secret)
    }
}
