//! From `auth` in the plan to what gets the tokens.

use super::launch::ServerFacts;
use super::settings::ExecSettings;
use jelly_base::model::{Failure, HttpFacts, Phase};
use jelly_plan::Server;
use jelly_wire::auth::{
    Algorithm, AuthError, AuthSettings, Authorizer, Client, Grant, SigningKey, Stage, WorkloadToken,
};
use std::time::Duration;

/// One request for a token or for what leads to one takes no longer than this,
/// nor than half of the server's `request_timeout`: what hangs is to be named
/// before the step that waits for it runs out of time.
const PATIENCE: Duration = Duration::from_secs(10);

/// `auth` with values in the place of names.
pub enum ReadyAuth {
    ClientCredentials {
        client_id: String,
        proof: ReadyProof,
        scopes: Vec<String>,
        issuer: Option<String>,
    },
    Login,
}

pub enum ReadyProof {
    Secret(String),
    Key {
        key: String,
        algorithm: Option<&'static str>,
        key_id: Option<String>,
    },
    Workload(String),
}

/// What gets the tokens of a server.
pub fn authorizer(
    url: &str,
    auth: &ReadyAuth,
    server: &Server,
    settings: &ExecSettings,
) -> Result<Authorizer, AuthError> {
    let (grant, scopes, issuer) = match auth {
        ReadyAuth::ClientCredentials {
            client_id,
            proof,
            scopes,
            issuer,
        } => {
            let grant = match proof {
                ReadyProof::Workload(token) => {
                    let client = Client::new(client_id, None);
                    Grant::Assertion(client, WorkloadToken(token.clone()))
                }
                ReadyProof::Secret(secret) => {
                    Grant::ClientCredentials(Client::new(client_id, Some(secret.clone())))
                }
                ReadyProof::Key {
                    key,
                    algorithm,
                    key_id,
                } => {
                    let algorithm = algorithm.and_then(Algorithm::find);
                    let key = SigningKey::from_pem(key, algorithm, key_id.clone())?;
                    Grant::ClientCredentials(Client::with_key(client_id, key))
                }
            };
            (grant, scopes.clone(), issuer.clone())
        }
        ReadyAuth::Login => {
            let Some(book) = settings.logins.clone() else {
                return Err(AuthError {
                    stage: Stage::Login,
                    text: "there is no place where a login could be kept: the user has no home \
                           folder"
                        .to_owned(),
                });
            };
            (Grant::Stored(book), Vec::new(), None)
        }
    };
    let wanted = AuthSettings {
        server: url.to_owned(),
        grant,
        scopes,
        issuer,
        patience: PATIENCE.min(server.request_timeout / 2),
    };
    Authorizer::new(wanted, &settings.redactor)
}

/// That there can be no token, found before anything is sent.
pub fn not_authorizable(facts: &ServerFacts, error: &AuthError) -> Failure {
    let mut failure = facts.failure(Phase::Config, format!("can't be authorized: {error}"));
    failure.http = Some(HttpFacts {
        error: Some(error.stage.name().to_owned()),
        text: Some(error.text.clone()),
        ..HttpFacts::default()
    });
    failure
}

#[cfg(test)]
mod tests {
    use jelly_plan::ALGORITHMS;
    use jelly_wire::auth::Algorithm;

    #[test]
    fn plans_and_the_wire_know_the_same_algorithms() {
        assert_eq!(ALGORITHMS, Algorithm::ALL.map(Algorithm::name));
    }
}
