//! `servers.NAME.auth`.

use super::path::Path;
use super::reader::{Fields, Reader};
use crate::grammar::{AUTH, CLIENT_CREDENTIALS, LOGIN, WORKLOAD};
use crate::syntax::{Data, Node};
use crate::template::Template;
use crate::{ALGORITHMS, Auth, AuthGrant, AuthProof};

impl<'t> Reader<'t> {
    pub(super) fn auth(&mut self, node: &Node<'t>, path: Path<'_>) -> Option<Auth> {
        if let Data::String(_) = node.data {
            self.word_of(node, path, &LOGIN)?;
            return Some(Auth {
                grant: AuthGrant::Login,
                issuer: None,
                token_endpoint: None,
            });
        }
        let fields = self.fields(node, path, &AUTH)?;
        let issuer = self.url_of_issuer(fields, "issuer", "issuer");
        let token_endpoint = self.url_of_issuer(fields, "token_endpoint", "token endpoint");
        if let Some(node) = fields.get("workload") {
            if let Some(entry) = fields.entry("client_credentials") {
                let message = "`auth` has `client_credentials` or `workload`, not both";
                self.problem(entry.key_span, path, message);
            }
            let grant = self.workload(node, path.key("workload"))?;
            return Some(Auth {
                grant,
                issuer,
                token_endpoint,
            });
        }
        let Some(client) = fields.get("client_credentials") else {
            self.problem(node.span, path, "`auth` does not say how to get a token")
                .hint("`auth: { client_credentials: { … } }` for a machine, `auth: { workload: { … } }` for a job whose platform vouches for it, `auth: login` for what `jelly login` has left");
            return None;
        };
        // 2026-07-28, "Authorization Server Binding": what one issuer registered
        // is nothing to another, and a server may name whomever it likes.
        if fields.get("issuer").is_none() {
            let message = "a client needs the `issuer` that it is registered with";
            self.problem(node.span, path, message).hint(
                "write it beside `client_credentials`, as in `issuer: https://auth.example.org`; \
                 the server names its own in `authorization_servers` of \
                 /.well-known/oauth-protected-resource",
            );
        }
        let grant = self.client_credentials(client, path.key("client_credentials"))?;
        Some(Auth {
            grant,
            issuer,
            token_endpoint,
        })
    }

    fn url_of_issuer(
        &mut self,
        fields: Fields<'_, 't, '_>,
        key: &'static str,
        what: &str,
    ) -> Option<Template> {
        let (node, path) = (fields.get(key)?, fields.path.key(key));
        let url = self.server_template(node, path)?;
        let is_url = ["https://", "http://"]
            .iter()
            .any(|scheme| url.raw.starts_with(scheme));
        if url.is_literal() && !is_url {
            let message = format!("no {what} that a server could have");
            self.problem(node.span, path, message)
                .hint("it is a URL, as the authorization server itself writes it");
        }
        Some(url)
    }

    fn client_credentials(&mut self, node: &Node<'t>, path: Path<'_>) -> Option<AuthGrant> {
        let fields = self.fields(node, path, &CLIENT_CREDENTIALS)?;
        let client_id = self.client_id(fields);
        let scopes = self.scopes(fields);
        let proof = self.proof(fields);
        Some(AuthGrant::ClientCredentials {
            client_id: client_id?,
            proof: proof?,
            scopes,
        })
    }

    fn workload(&mut self, node: &Node<'t>, path: Path<'_>) -> Option<AuthGrant> {
        let fields = self.fields(node, path, &WORKLOAD)?;
        let client_id = self.client_id(fields);
        let scopes = self.scopes(fields);
        let token = self.required(fields, "token");
        let token = token.and_then(|token| self.secret(token, path, "token"));
        Some(AuthGrant::ClientCredentials {
            client_id: client_id?,
            proof: AuthProof::Workload(token?),
            scopes,
        })
    }

    fn client_id(&mut self, fields: Fields<'_, 't, '_>) -> Option<Template> {
        let id = self.required(fields, "client_id")?;
        self.server_template(id, fields.path.key("client_id"))
    }

    fn scopes(&mut self, fields: Fields<'_, 't, '_>) -> Vec<Template> {
        let Some(node) = fields.get("scopes") else {
            return Vec::new();
        };
        let path = fields.path.key("scopes");
        let items = self.list(node, path, "scopes").unwrap_or(&[]);
        items
            .iter()
            .enumerate()
            .filter_map(|(index, item)| self.scope(item, path.index(index)))
            .collect()
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

    fn proof(&mut self, fields: Fields<'_, 't, '_>) -> Option<AuthProof> {
        let path = fields.path;
        let algorithm: Option<&str> = self.read(fields, "algorithm");
        let algorithm =
            algorithm.and_then(|name| ALGORITHMS.into_iter().find(|known| *known == name));
        let key_id = fields.get("key_id");
        let key_id = key_id.and_then(|node| self.server_template(node, path.key("key_id")));
        match (fields.get("client_secret"), fields.get("private_key")) {
            (Some(secret), None) => {
                for key in ["algorithm", "key_id"] {
                    if let Some(entry) = fields.entry(key) {
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
                self.problem(fields.node.span, path, message)
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
                .hide()
                .hint(format!(
                    "set it as a variable of the environment, and write `{key}: \"${{secret:{name}}}\"`"
                ));
        }
        Some(secret)
    }
}

#[cfg(test)]
mod tests {
    use crate::{Auth, AuthGrant, AuthProof, PlanSource, Transport, check, load};
    use std::fmt::Write;

    fn plan(auth: &str) -> PlanSource {
        let text = format!(
            "version: 1\nservers:\n  s:\n    url: https://h/mcp\n    auth: {auth}\nsteps: \
             [{{ tool: t }}]\n"
        );
        PlanSource {
            path: "plan.yaml".into(),
            text: text.into(),
            variant: None,
        }
    }

    fn read(auth: &str) -> Auth {
        let plan = load(plan(auth)).unwrap_or_else(|error| panic!("{}", error.render(false)));
        assert_eq!(
            plan.secret_names(),
            if auth == "login" { vec![] } else { vec!["S"] }
        );
        let server = plan.servers.into_iter().next().unwrap().1;
        match server.transport {
            Transport::Http { auth, .. } => *auth.unwrap(),
            Transport::Stdio(_) => panic!("it has a url"),
        }
    }

    #[test]
    fn all_ways_to_get_tokens_are_read() {
        assert!(matches!(read("login").grant, AuthGrant::Login));
        let auth = read(
            "{ issuer: \"https://a\", client_credentials: { client_id: ci, client_secret: \
             \"${secret:S}\", scopes: [a, b] } }",
        );
        assert_eq!(auth.issuer.unwrap().raw, "https://a");
        let AuthGrant::ClientCredentials { proof, scopes, .. } = auth.grant else {
            panic!("another grant");
        };
        assert!(matches!(proof, AuthProof::Secret(_)));
        assert_eq!(scopes.len(), 2);
        let auth = read(
            "{ issuer: \"https://a\", client_credentials: { client_id: ci, private_key: \
             \"${secret:S}\", algorithm: RS256, key_id: k } }",
        );
        let AuthGrant::ClientCredentials { proof, .. } = auth.grant else {
            panic!("another grant");
        };
        let AuthProof::Key {
            algorithm, key_id, ..
        } = proof
        else {
            panic!("another proof");
        };
        assert_eq!(
            (algorithm, key_id.unwrap().raw.as_str()),
            (Some("RS256"), "k")
        );
    }

    #[test]
    fn everything_wrong_with_it_is_said_with_its_place() {
        let client =
            |inner: &str| format!("{{ issuer: \"https://a\", client_credentials: {{ {inner} }} }}");
        let mut text = String::new();
        for auth in [
            "logn".to_owned(),
            "[login]".to_owned(),
            "{ login: true }".to_owned(),
            "{ issuer: auth.example.org, client_id: x }".to_owned(),
            "{ client_credentials: { client_id: a, client_secret: \"${secret:S}\" } }".to_owned(),
            client("client_id: a"),
            client("client_secret: \"${secret:S}\""),
            client("client_id: a, client_secret: abc"),
            client("client_id: a, private_key: \"-----BEGIN\""),
            client("client_id: a, client_secret: \"${secret:S}\", algorithm: ES256"),
            client("client_id: a, client_secret: \"${secret:S}\", private_key: \"${secret:S}\""),
            client("client_id: a, private_key: \"${secret:S}\", algorithm: es256"),
            client("client_id: a, client_secret: \"${secret:S}\", scopes: [\"a b\", \"\"]"),
            client("client_id: a, client_secret: \"${secret:S}\", scope: a"),
            "login\n    headers: { authorization: \"Bearer x\" }".to_owned(),
            "login\n    oauth: {}".to_owned(),
        ] {
            let error = check(plan(&auth)).unwrap_err();
            writeln!(text, "── {auth}\n{}\n", error.render(false)).unwrap();
        }
        insta::assert_snapshot!(text);
    }
}
