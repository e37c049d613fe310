//! A login from the store, renewed where it must be.
//!
//! Main type: [`Renewal`]. An authorization server may take a token to renew by
//! only once. So a renewal, once begun, is brought to its end and kept whether
//! or not anybody still waits for it, and of all that share a login one renews
//! it while the others wait for that.

use super::client::Client;
use super::discovery::Found;
use super::error::{AuthError, Stage};
use super::fetch::Http;
use super::token::{Tokens, shown};
use super::token_store::{Entry, TokenStore};
use tokio::sync::oneshot;

/// What is needed to use a login.
pub(super) struct Renewal {
    pub http: Http,
    pub store: TokenStore,
    pub found: Found,
    /// The access token that the server refuses by now.
    pub used: Option<String>,
}

/// A login that can be used.
#[derive(Debug)]
pub(super) struct Usable {
    pub tokens: Tokens,
    pub scopes: Vec<String>,
    pub client: Client,
    /// Issued just now, not kept from before.
    pub is_fresh: bool,
}

impl Renewal {
    /// The login as it is kept, if it is still good, else renewed by a task of
    /// its own, which the store knows ([`TokenStore::settled`]).
    ///
    /// # Errors
    /// There is no login, or none that can be used.
    pub async fn usable(self) -> Result<Usable, AuthError> {
        let entry = self.entry()?;
        if let Some(usable) = self.kept(&entry) {
            return Ok(usable);
        }
        let (tell, told) = oneshot::channel();
        let store = self.store.clone();
        store.begin(tokio::spawn(async move {
            // Whoever asked may have gone.
            let _ = tell.send(self.renewed().await);
        }));
        told.await.unwrap_or_else(|_| {
            let text = "the run ended before the login was renewed";
            Err(AuthError::new(Stage::Unreachable, text))
        })
    }

    async fn renewed(&self) -> Result<Usable, AuthError> {
        let (resource, issuer) = (&self.found.resource, &self.found.server.issuer);
        let alone = self
            .store
            .lock(resource, issuer, self.http.patience() * 2)
            .await?;
        // Whoever had the lock before may have renewed it.
        let entry = self.entry()?;
        if let Some(usable) = self.kept(&entry) {
            return Ok(usable);
        }
        let stored = entry.tokens();
        let Some(token) = &stored.refresh else {
            return Err(self
                .refuse("there is no token to renew by, and the other has run out, of the login"));
        };
        let client = entry.client();
        let tokens = match self.http.refresh(&self.found, &client, token).await {
            Ok(tokens) => tokens,
            Err(error) if error.stage == Stage::Token => {
                // Where files can't be locked, another run may have been first.
                let newer = self.entry()?;
                if newer.tokens().access != stored.access
                    && let Some(usable) = self.kept(&newer)
                {
                    return Ok(usable);
                }
                let text = format!("the login can't be renewed: {}", error.text);
                return Err(AuthError::new(Stage::Login, text));
            }
            Err(error) => return Err(error),
        };
        // Nothing is waited for between the answer and this.
        let renewed = Entry::new((resource, issuer), &client, &tokens, &entry.scopes);
        self.store.write(&renewed)?;
        drop(alone);
        Ok(Usable {
            tokens,
            scopes: entry.scopes,
            client,
            is_fresh: true,
        })
    }

    /// What is kept, known to the redactor.
    fn entry(&self) -> Result<Entry, AuthError> {
        let (resource, issuer) = (&self.found.resource, &self.found.server.issuer);
        let entry = self.store.read(resource, issuer)?;
        let entry = entry.ok_or_else(|| self.refuse("there is no login"))?;
        self.http.learn_client(&entry.client());
        self.http.learn_tokens(&entry.tokens());
        Ok(entry)
    }

    /// The kept login, if it is worth a try.
    fn kept(&self, entry: &Entry) -> Option<Usable> {
        let tokens = entry.tokens();
        let good = !entry.is_expired() && self.used.as_ref() != Some(&tokens.access);
        good.then(|| Usable {
            tokens,
            scopes: entry.scopes.clone(),
            client: entry.client(),
            is_fresh: false,
        })
    }

    fn refuse(&self, why: &str) -> AuthError {
        let (resource, issuer) = (&self.found.resource, &self.found.server.issuer);
        let text = format!("{why} to {} by {}", shown(resource), shown(issuer));
        AuthError::new(Stage::Login, text)
    }
}

#[cfg(test)]
mod tests {
    use super::{Renewal, Usable};
    use crate::http::auth::client::Client;
    use crate::http::auth::discovery::Found;
    use crate::http::auth::error::AuthError;
    use crate::http::auth::fetch::Http;
    use crate::http::auth::metadata::ServerMetadata;
    use crate::http::auth::token::Tokens;
    use crate::http::auth::token_store::{Entry, TokenStore};
    use jelly_base::text::redact::Redactor;
    use reqwest::Url;
    use std::time::Duration;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::{TcpListener, TcpStream};

    const LONG: Duration = Duration::from_secs(20);

    struct Issuer {
        listener: TcpListener,
        url: Url,
    }

    impl Issuer {
        async fn open() -> Self {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let url = format!("http://{}/", listener.local_addr().unwrap());
            Self {
                listener,
                url: Url::parse(&url).unwrap(),
            }
        }

        /// The next request, read whole.
        async fn heard(&self) -> (TcpStream, String) {
            let (mut stream, _) = self.listener.accept().await.unwrap();
            let mut heard = String::new();
            while !heard.contains("refresh_token=") {
                let mut piece = [0; 4096];
                let n = stream.read(&mut piece).await.unwrap();
                assert!(n > 0, "{heard}");
                heard.push_str(&String::from_utf8_lossy(&piece[..n]));
            }
            (stream, heard)
        }

        /// A login that has run out, and what would use it.
        fn renewal(&self, store: &TokenStore) -> Renewal {
            let found = Found {
                resource: "https://h/mcp".to_owned(),
                scopes_supported: None,
                server: ServerMetadata::by_default(&self.url),
            };
            Renewal {
                http: Http::new(&self.url, LONG, &Redactor::none()).unwrap(),
                store: store.clone(),
                found,
                used: None,
            }
        }

        fn write_expired(&self, store: &TokenStore) {
            let tokens = Tokens {
                access: "old-access".into(),
                refresh: Some("old-refresh".into()),
                lifetime: Some(Duration::ZERO),
                scopes: None,
            };
            let issuer = self.url.origin().ascii_serialization();
            let client = Client::new("id", None);
            store
                .write(&Entry::new(
                    ("https://h/mcp", &issuer),
                    &client,
                    &tokens,
                    &[],
                ))
                .unwrap();
        }

        fn kept(&self, store: &TokenStore) -> Tokens {
            let issuer = self.url.origin().ascii_serialization();
            let entry = store.read("https://h/mcp", &issuer).unwrap();
            entry.unwrap().tokens()
        }
    }

    async fn answer(mut stream: TcpStream, access: &str) {
        let body = format!(
            "{{\"access_token\":\"{access}\",\"token_type\":\"Bearer\",\"expires_in\":3600,\
             \"refresh_token\":\"new-refresh\"}}"
        );
        let answer = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: \
             {}\r\nconnection: close\r\n\r\n{body}",
            body.len()
        );
        stream.write_all(answer.as_bytes()).await.unwrap();
    }

    #[tokio::test]
    async fn a_renewal_that_nobody_waits_for_any_more_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let store = TokenStore::at(folder.path());
        let issuer = Issuer::open().await;
        issuer.write_expired(&store);
        let waiting = issuer.renewal(&store).usable();
        // The issuer has heard of it, and whoever asked gives up.
        let (stream, heard) = tokio::select! {
            _ = waiting => panic!("nothing has answered"),
            heard = issuer.heard() => heard,
        };
        assert!(heard.contains("refresh_token=old-refresh"), "{heard}");
        answer(stream, "new-access").await;
        store.settled(LONG).await;
        let kept = issuer.kept(&store);
        assert_eq!(kept.access, "new-access");
        assert_eq!(kept.refresh.as_deref(), Some("new-refresh"));
    }

    #[tokio::test]
    async fn of_two_that_share_a_login_one_renews_it() {
        let folder = tempfile::tempdir().unwrap();
        // As two runs would have it.
        let stores = [TokenStore::at(folder.path()), TokenStore::at(folder.path())];
        let issuer = Issuer::open().await;
        issuer.write_expired(&stores[0]);
        let both = async {
            tokio::join!(
                issuer.renewal(&stores[0]).usable(),
                issuer.renewal(&stores[1]).usable()
            )
        };
        let serve = async {
            let (stream, _) = issuer.heard().await;
            answer(stream, "new-access").await;
            // Another would be a second use of the same token.
            let _ = issuer.heard().await;
        };
        let (one, two): (Result<Usable, AuthError>, _) = tokio::select! {
            both = both => both,
            () = serve => panic!("it was renewed twice"),
        };
        let (one, two) = (one.unwrap(), two.unwrap());
        assert_eq!(one.tokens.access, "new-access");
        assert_eq!(two.tokens.access, "new-access");
        assert_ne!(one.is_fresh, two.is_fresh);
    }
}
