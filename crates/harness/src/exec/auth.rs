//! From `auth` in the plan to what gets the tokens.

use super::launch::ServerFacts;
use super::settings::ExecSettings;
use jelly_base::model::{Failure, HttpFacts, Phase};
use jelly_plan::{Auth, AuthGrant, AuthProof, Server, Template};
use jelly_wire::auth::{
    Algorithm, AuthError, AuthSettings, Client, Grant, SigningKey, Stage, WorkloadToken,
};
use std::time::Duration;

/// One request for a token or for what leads to one takes no longer than this,
/// nor than half of the server's `request_timeout`: what hangs is to be named
/// before the step that waits for it runs out of time.
const PATIENCE: Duration = Duration::from_secs(10);

/// By what the tokens of a server are had. `text` puts values in the place of
/// names, and is asked for every template, whatever is wrong with another.
pub fn auth_settings(
    url: &str,
    auth: &Auth,
    server: &Server,
    settings: &ExecSettings,
    text: &mut impl FnMut(&Template) -> String,
) -> Result<AuthSettings, AuthError> {
    let mut wanted_scopes = Vec::new();
    let mut issuer = None;
    let grant = match &auth.grant {
        AuthGrant::ClientCredentials {
            client_id,
            proof,
            scopes,
        } => {
            let client_id = text(client_id);
            let client = match proof {
                AuthProof::Secret(secret) => {
                    Ok((Client::new(&client_id, Some(text(secret))), None))
                }
                AuthProof::Workload(token) => {
                    let token = WorkloadToken(text(token));
                    Ok((Client::new(&client_id, None), Some(token)))
                }
                AuthProof::Key {
                    key,
                    algorithm,
                    key_id,
                } => {
                    let (key, key_id) = (text(key), key_id.as_ref().map(&mut *text));
                    let algorithm = algorithm.and_then(Algorithm::find);
                    let key = SigningKey::from_pem(&key, algorithm, key_id);
                    key.map(|key| (Client::with_key(&client_id, key), None))
                }
            };
            wanted_scopes.extend(scopes.iter().map(&mut *text));
            issuer = auth.issuer.as_ref().map(&mut *text);
            let token_endpoint = auth.token_endpoint.as_ref().map(text);
            client.map(|(client, token)| {
                let client = Client {
                    token_endpoint,
                    ..client
                };
                match token {
                    Some(token) => Grant::Assertion(client, token),
                    None => Grant::ClientCredentials(client),
                }
            })
        }
        AuthGrant::Login => settings.logins.clone().map(Grant::Stored).ok_or_else(|| {
            let text = "there is no place where a login could be kept: the user has no home folder";
            AuthError {
                stage: Stage::Login,
                text: text.to_owned(),
                is_unclaimed: false,
            }
        }),
    };
    Ok(AuthSettings {
        server: url.to_owned(),
        grant: grant?,
        scopes: wanted_scopes,
        issuer,
        patience: PATIENCE.min(server.request_timeout / 2),
        is_offered: false,
    })
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
