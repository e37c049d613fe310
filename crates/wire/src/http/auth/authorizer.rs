//! The tokens of one server: got when it asks for one, got again when it
//! refuses the one it was sent.
//!
//! Main type: [`Authorizer`]. Connections share one, so that a token outlives a
//! session, and only one authorization is under way at a time.

use super::assertion::WorkloadToken;
use super::challenge::Challenge;
use super::client::Client;
use super::code::Code;
use super::discovery::{Found, Wanted, discover};
use super::error::{AuthError, Stage};
use super::fetch::Http;
use super::metadata::canonical;
use super::redirect_listener::RedirectListener;
use super::renewal::Renewal;
use super::scopes;
use super::token::{FormFields, Refused, Tokens, form, shown};
use super::token_store::{Entry, TokenStore};
use jelly_base::text::plural;
use jelly_base::text::redact::Redactor;
use reqwest::Url;
use reqwest::header::{HeaderMap, HeaderValue};
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::Mutex as Turn;

/// So often one request may be sent again with more scopes.
const STEP_UPS: u32 = 2;
/// So often it may be sent again since another request brought a new token.
const JOINED: u32 = 2;
/// So many tokens are got for one server: each is a secret to be remembered.
const MAX_TOKENS: u32 = 64;

const JWT_BEARER: &str = "urn:ietf:params:oauth:grant-type:jwt-bearer";

/// How tokens are got.
#[derive(Debug, Clone)]
pub enum Grant {
    /// For the client itself, which is registered: no person is asked.
    ClientCredentials(Client),
    /// For a workload, by a token that its platform has made out for it, as a CI
    /// service does (RFC 7523, section 2.1; SEP-1933).
    Assertion(Client, WorkloadToken),
    /// For a person, who is asked.
    Code(Code),
    /// From what a person's login has left; nobody is asked.
    Stored(TokenStore),
}

/// What to authorize by.
#[derive(Debug, Clone)]
pub struct AuthSettings {
    /// The URL of the MCP server.
    pub server: String,
    pub grant: Grant,
    /// Exactly these, whatever the server says; as it says, where empty.
    pub scopes: Vec<String>,
    /// The issuer that it must be.
    pub issuer: Option<String>,
    /// For each request that belongs to authorization.
    pub patience: Duration,
    /// Nobody said that the server wants OAuth: a token is used if one is there.
    pub is_offered: bool,
}

/// Gets tokens for one server.
pub struct Authorizer {
    server: Url,
    settings: AuthSettings,
    http: Http,
    redactor: Redactor,
    current: Mutex<Option<Bearer>>,
    progress: Turn<Progress>,
}

impl fmt::Debug for Authorizer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Authorizer")
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}

/// One is the same as itself only: it has a life of its own.
impl PartialEq for Authorizer {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }
}

impl Eq for Authorizer {}

/// A token as a request carries it.
#[derive(Debug, Clone)]
pub(in crate::http) struct Bearer {
    pub header: HeaderValue,
    /// Tells it from those before it.
    generation: u32,
}

/// A refusal that asks for a token, or for another one.
#[derive(Debug)]
pub(in crate::http) enum Refusal {
    Unauthorized(Challenge),
    /// The token is good, and allows too little.
    TooLittle(Challenge),
}

impl Refusal {
    /// What a status with its headers is, if it is one of them.
    pub fn of(status: u16, headers: &HeaderMap) -> Option<Self> {
        let challenge = Challenge::of(headers);
        match status {
            401 => Some(Self::Unauthorized(challenge.unwrap_or_default())),
            403 => challenge
                .filter(|c| c.error.as_deref() == Some("insufficient_scope"))
                .map(Self::TooLittle),
            _ => None,
        }
    }
}

/// What was tried for one request.
#[derive(Debug, Default)]
pub(in crate::http) struct Tries {
    renewed: bool,
    /// A token that was kept from before was tried.
    took_kept: bool,
    stepped_up: u32,
    joined: u32,
}

/// What a login came to, as it may be told.
#[derive(Debug, Clone)]
pub struct LoggedIn {
    pub resource: String,
    pub issuer: String,
    pub scopes: Vec<String>,
    pub lifetime: Option<Duration>,
    /// There is a token to renew it by.
    pub renewable: bool,
    pub kept_in: Option<PathBuf>,
}

/// What is known of the way to a token.
#[derive(Default)]
struct Progress {
    /// The scopes that the newest token was asked for.
    asked: Vec<String>,
    tokens: Option<Tokens>,
    /// Who jelly is, by issuer: what one gave is of no use with another.
    clients: BTreeMap<String, Client>,
    /// The issuer of the newest token.
    issuer: Option<String>,
    /// That token was issued for us, not kept from before.
    is_fresh: bool,
    listener: Option<RedirectListener>,
    generation: u32,
    /// What will not be otherwise when it is tried again.
    hopeless: Option<AuthError>,
    /// The server answered without a token.
    is_open: bool,
    last: Option<LoggedIn>,
}

/// What to ask for.
enum Need<'a> {
    /// A token, or a fresh one.
    Any(&'a Challenge),
    /// One with just these scopes.
    Scopes(&'a Challenge, Vec<String>),
}

impl Authorizer {
    /// # Errors
    /// The URL is none, or no client for HTTP can be had.
    pub fn new(settings: AuthSettings, redactor: &Redactor) -> Result<Self, AuthError> {
        let server = Url::parse(&settings.server).map_err(|error| {
            let text = format!("the server's URL is none ({error})");
            AuthError::new(Stage::Metadata, text)
        })?;
        let authorizer = Self {
            http: Http::new(&server, settings.patience, redactor)?,
            server,
            redactor: redactor.clone(),
            current: Mutex::default(),
            progress: Turn::default(),
            settings,
        };
        let http = &authorizer.http;
        match &authorizer.settings.grant {
            Grant::ClientCredentials(client) => http.learn_client(client),
            Grant::Assertion(client, token) => {
                http.learn_client(client);
                http.learn("workload token", &token.0);
            }
            Grant::Code(code) => code.client.iter().for_each(|c| http.learn_client(c)),
            Grant::Stored(_) => {}
        }
        Ok(authorizer)
    }

    /// The token that requests carry now, if there is one.
    pub(in crate::http) fn bearer(&self) -> Option<Bearer> {
        let current = self.current.lock();
        current.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Does what a refusal asks for, after which the request can be sent again.
    /// `used` is the token that it carried.
    ///
    /// # Errors
    /// There is no token to be had, or no other one would help.
    pub(in crate::http) async fn answer(
        &self,
        refusal: &Refusal,
        used: Option<&Bearer>,
        tries: &mut Tries,
    ) -> Result<(), AuthError> {
        let mut progress = self.progress.lock().await;
        let now = self.bearer().map(|bearer| bearer.generation);
        if now != used.map(|bearer| bearer.generation) && tries.joined < JOINED {
            tries.joined += 1;
            return Ok(());
        }
        if let Some(error) = &progress.hopeless {
            return Err(error.clone());
        }
        match refusal {
            Refusal::Unauthorized(challenge) => {
                if tries.renewed {
                    let text = format!(
                        "the server refuses a token that was issued for it just now{}{}",
                        self.said(challenge),
                        self.for_another(&progress)
                    );
                    return Err(AuthError::new(Stage::Token, text).redacted(&self.redactor));
                }
                let obtained = self.obtain(&mut progress, &Need::Any(challenge)).await;
                // One that was kept may be refused by now; it is not tried twice.
                tries.renewed = progress.is_fresh || tries.took_kept;
                tries.took_kept = true;
                obtained
            }
            Refusal::TooLittle(challenge) => {
                let wanted = self.more(&progress, challenge, tries)?;
                let need = Need::Scopes(challenge, wanted);
                self.obtain(&mut progress, &need).await
            }
        }
    }

    /// The scopes to ask for when those of the token are too few (2026-07-28,
    /// "Step-Up Authorization Flow").
    fn more(
        &self,
        progress: &Progress,
        challenge: &Challenge,
        tries: &mut Tries,
    ) -> Result<Vec<String>, AuthError> {
        let challenged = challenge.scope.as_deref().unwrap_or_default();
        let needed = shown(&challenged.join(" "));
        let refuse = |why: String| {
            let said = self.said(challenge);
            let text = format!("the server wants the scopes `{needed}`{said}; {why}");
            Err(AuthError::new(Stage::Scope, text).redacted(&self.redactor))
        };
        if !self.settings.scopes.is_empty() {
            let pinned = self.settings.scopes.join(" ");
            return refuse(format!("the plan asks for `{pinned}` and nothing else"));
        }
        if let Grant::Stored(_) = self.settings.grant {
            let had = progress.asked.join(" ");
            // Nobody logged in: the answer is what it is.
            if had.is_empty() && progress.tokens.is_none() {
                let refused = refuse("nobody has logged in to it".to_owned());
                return refused.map_err(AuthError::unclaimed);
            }
            return refuse(match had.is_empty() {
                true => "the login names none".to_owned(),
                false => format!("the login has `{had}`"),
            });
        }
        let wanted = scopes::union(&progress.asked, challenged);
        if progress.tokens.is_some() && wanted.len() == progress.asked.len() {
            return refuse("the token was asked for with them already".to_owned());
        }
        if tries.stepped_up >= STEP_UPS {
            let times = plural(tries.stepped_up, "time");
            return refuse(format!(
                "the request was refused {times} for other scopes before"
            ));
        }
        tries.stepped_up += 1;
        Ok(wanted)
    }

    /// What the server says of its refusal.
    fn said(&self, challenge: &Challenge) -> String {
        let refused = Refused {
            error: challenge.error.clone(),
            description: challenge.error_description.clone(),
        };
        shown(&self.redactor.redact(&refused.in_words()))
    }

    /// That the token is for a resource above the server. RFC 9728, section 3.3,
    /// has clients refuse such metadata; the official SDKs take them, and so
    /// does jelly, but a server may not.
    fn for_another(&self, progress: &Progress) -> String {
        let resource = progress.last.as_ref().map(|last| &last.resource);
        match resource.filter(|resource| **resource != canonical(&self.server)) {
            Some(resource) => format!(
                "; its metadata name the resource {}, where its own URL should stand, and the \
                 token is for that",
                shown(resource)
            ),
            None => String::new(),
        }
    }

    async fn obtain(&self, progress: &mut Progress, need: &Need<'_>) -> Result<(), AuthError> {
        let obtained = self.try_to_obtain(progress, need).await;
        obtained.map_err(|error| {
            let error = error.redacted(&self.redactor);
            match error.stage {
                Stage::Unreachable | Stage::Scope => {}
                Stage::Metadata
                | Stage::Resource
                | Stage::Issuer
                | Stage::Client
                | Stage::Token
                | Stage::Login => progress.hopeless = Some(error.clone()),
            }
            error
        })
    }

    async fn try_to_obtain(
        &self,
        progress: &mut Progress,
        need: &Need<'_>,
    ) -> Result<(), AuthError> {
        if progress.generation >= MAX_TOKENS {
            let text = format!("{MAX_TOKENS} tokens were issued, and the server wants another");
            return Err(AuthError::new(Stage::Token, text));
        }
        // No token for whom it could not be sent to.
        self.http.may_ask(&self.server)?;
        let (Need::Any(challenge) | Need::Scopes(challenge, _)) = need;
        let wanted = Wanted {
            server: &self.server,
            named: challenge.resource_metadata.as_deref(),
            issuer: self.settings.issuer.as_deref(),
            // A secret goes to no endpoint that nothing has named, and who
            // asks for no token need not issue any.
            fallback: matches!(self.settings.grant, Grant::Code(_)) && !progress.is_open,
        };
        let found = discover(&self.http, &wanted).await?;
        let asked = match need {
            Need::Scopes(_, scopes) => scopes.clone(),
            Need::Any(_) if progress.asked.is_empty() => scopes::first(
                &self.settings.scopes,
                challenge.scope.as_deref(),
                found.scopes_supported.as_deref(),
            ),
            Need::Any(_) if !self.settings.scopes.is_empty() => self.settings.scopes.clone(),
            Need::Any(_) => {
                let more = challenge.scope.as_deref().unwrap_or_default();
                scopes::union(&progress.asked, more)
            }
        };
        let may_refresh = matches!(need, Need::Any(_));
        progress.is_fresh = true;
        let (tokens, asked) = match &self.settings.grant {
            Grant::ClientCredentials(client) => {
                let request = form("client_credentials", &found.resource, &asked);
                let tokens = self.of_client(progress, client, &found, request).await?;
                (tokens, asked)
            }
            Grant::Assertion(client, token) => {
                let mut request = form(JWT_BEARER, &found.resource, &asked);
                request.push(("assertion", token.0.clone()));
                let tokens = self.of_client(progress, client, &found, request).await?;
                (tokens, asked)
            }
            Grant::Code(code) => {
                if code.client.is_some() {
                    self.still_the_issuer_of(progress, &found)?;
                }
                self.of_person(progress, code, &found, asked, may_refresh)
                    .await?
            }
            Grant::Stored(store) => self.of_store(progress, store, &found).await?,
        };
        // Only now: whoever waits for a token may have given up meanwhile.
        progress.asked = asked;
        self.take(progress, found, tokens)
    }

    /// For a registered client, by a form that asks nobody.
    async fn of_client(
        &self,
        progress: &Progress,
        client: &Client,
        found: &Found,
        request: FormFields,
    ) -> Result<Tokens, AuthError> {
        self.still_the_issuer_of(progress, found)?;
        self.http.token(&found.server, client, request).await
    }

    /// Holds a pre-registered client to the issuer that it was first shown to
    /// (2026-07-28, "Authorization Server Binding").
    fn still_the_issuer_of(&self, progress: &Progress, found: &Found) -> Result<(), AuthError> {
        match &progress.issuer {
            Some(before) if *before != found.server.issuer => {
                let text = format!(
                    "the server named {} as its issuer before and names {} now, where the \
                     client is not registered",
                    shown(before),
                    shown(&found.server.issuer)
                );
                Err(AuthError::new(Stage::Issuer, text))
            }
            Some(_) | None => Ok(()),
        }
    }

    /// By the token to renew by, if there is one for this issuer, else by
    /// asking the person.
    async fn of_person(
        &self,
        progress: &mut Progress,
        code: &Code,
        found: &Found,
        asked: Vec<String>,
        may_refresh: bool,
    ) -> Result<(Tokens, Vec<String>), AuthError> {
        let issuer = &found.server.issuer;
        let known = progress.clients.get(issuer).cloned();
        let same = progress.issuer.as_ref() == Some(issuer);
        let refresh = progress.tokens.as_ref().and_then(|t| t.refresh.clone());
        if let (Some(client), Some(refresh), true, true) = (&known, refresh, same, may_refresh) {
            // One that is refused is no failure while there is a person to ask.
            if let Ok(tokens) = self.http.refresh(found, client, &refresh).await {
                return Ok((tokens, asked));
            }
        }
        let visited = code
            .tokens(
                &self.http,
                &mut progress.listener,
                known.as_ref(),
                found,
                &asked,
            )
            .await?;
        progress.clients.insert(issuer.clone(), visited.client);
        Ok((visited.tokens, visited.scopes))
    }

    /// From the store, renewed if it must be.
    async fn of_store(
        &self,
        progress: &mut Progress,
        store: &TokenStore,
        found: &Found,
    ) -> Result<(Tokens, Vec<String>), AuthError> {
        let renewal = Renewal {
            http: self.http.clone(),
            store: store.clone(),
            found: found.clone(),
            used: progress.tokens.as_ref().map(|t| t.access.clone()),
        };
        let usable = renewal.usable().await?;
        let issuer = found.server.issuer.clone();
        progress.clients.insert(issuer, usable.client);
        progress.is_fresh = usable.is_fresh;
        Ok((usable.tokens, usable.scopes))
    }

    /// Uses a token from now on.
    fn take(&self, progress: &mut Progress, found: Found, tokens: Tokens) -> Result<(), AuthError> {
        let Some(header) = tokens.header() else {
            let text = "the token fits no header";
            return Err(AuthError::new(Stage::Token, text));
        };
        let (resource, issuer) = (found.resource, found.server.issuer);
        let mut kept_in = None;
        if let Grant::Code(Code {
            store: Some(store), ..
        }) = &self.settings.grant
            && let Some(client) = progress.clients.get(&issuer)
        {
            let entry = Entry::new((&resource, &issuer), client, &tokens, &progress.asked);
            kept_in = Some(store.write(&entry)?);
        }
        progress.last = Some(LoggedIn {
            scopes: tokens.scopes.clone().unwrap_or(progress.asked.clone()),
            lifetime: tokens.lifetime,
            renewable: tokens.refresh.is_some(),
            kept_in,
            resource,
            issuer: issuer.clone(),
        });
        progress.tokens = Some(tokens);
        progress.issuer = Some(issuer);
        progress.generation += 1;
        let bearer = Bearer {
            header,
            generation: progress.generation,
        };
        let current = self.current.lock();
        *current.unwrap_or_else(PoisonError::into_inner) = Some(bearer);
        Ok(())
    }

    /// Whether nobody said that the server wants OAuth.
    pub(crate) fn is_offered(&self) -> bool {
        self.settings.is_offered
    }

    /// Gets a token before any connection needs one: asks the server what it
    /// wants, and does that.
    ///
    /// # Errors
    /// There is no token to be had.
    pub async fn log_in(&self) -> Result<LoggedIn, AuthError> {
        let (is_open, challenge) = self.http.knock(&self.server).await?;
        let mut progress = self.progress.lock().await;
        progress.is_open = is_open;
        let obtained = self.obtain(&mut progress, &Need::Any(&challenge)).await;
        match (obtained, &progress.last) {
            (Ok(()), Some(last)) => Ok(last.clone()),
            (Err(error), _) if is_open && error.stage == Stage::Metadata => {
                let text = format!(
                    "{} answers without a token, and does not say who issues any: there is \
                     nothing to log in to",
                    self.http.shown(&self.server)
                );
                Err(AuthError::new(Stage::Metadata, text))
            }
            (Err(error), _) => Err(error),
            // Whoever takes a token leaves this.
            (Ok(()), None) => Err(AuthError::new(Stage::Token, "no token was kept")),
        }
    }
}
