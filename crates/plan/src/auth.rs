//! What a plan says about a server's tokens.

use super::template::Template;

/// How the tokens of one server are got.
#[derive(Debug, Clone)]
pub struct Auth {
    pub grant: AuthGrant,
    /// The issuer that the server must name.
    pub issuer: Option<Template>,
    /// The issuer's token endpoint, where that is on another host.
    pub token_endpoint: Option<Template>,
}

/// Whose tokens they are.
#[derive(Debug, Clone)]
pub enum AuthGrant {
    /// Of a client that is registered: `client_credentials`, or `workload`.
    ClientCredentials {
        client_id: Template,
        proof: AuthProof,
        /// Exactly these; what the server asks for, where empty.
        scopes: Vec<Template>,
    },
    /// Of the person who called `jelly login`.
    Login,
}

/// What the client shows.
#[derive(Debug, Clone)]
pub enum AuthProof {
    Secret(Template),
    /// It signs an assertion.
    Key {
        /// In PEM.
        key: Template,
        /// One of [`ALGORITHMS`]; by the kind of key without.
        algorithm: Option<&'static str>,
        key_id: Option<Template>,
    },
    /// Not the client shows who it is, but a token that its platform has made
    /// out for it: `workload`.
    Workload(Template),
}

/// What an assertion may be signed by.
pub const ALGORITHMS: [&str; 7] = [
    "ES256", "ES384", "RS256", "RS384", "RS512", "PS256", "EdDSA",
];

impl Auth {
    /// All templates, in the order in which they are written here.
    #[must_use]
    pub fn templates(&self) -> Vec<&Template> {
        let mut all = Vec::new();
        match &self.grant {
            AuthGrant::ClientCredentials {
                client_id,
                proof,
                scopes,
            } => {
                all.push(client_id);
                match proof {
                    AuthProof::Secret(secret) | AuthProof::Workload(secret) => all.push(secret),
                    AuthProof::Key { key, key_id, .. } => {
                        all.push(key);
                        all.extend(key_id);
                    }
                }
                all.extend(scopes);
            }
            AuthGrant::Login => {}
        }
        all.extend(&self.issuer);
        all.extend(&self.token_endpoint);
        all
    }
}
