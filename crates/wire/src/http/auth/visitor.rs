//! Who goes to the page where a person allows what jelly asks for.
//!
//! Main type: [`Visitor`].

use super::fetch::Http;
use jelly_base::text::redact::Redactor;
use reqwest::Url;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

/// What a visit comes to; an error completes "the page could not be …".
pub type Visit<'a> = Pin<Box<dyn Future<Output = Result<(), String>> + Send + 'a>>;

/// Sees to it that somebody goes to a page, and is sent back from there to a
/// URL on this machine, where jelly listens meanwhile.
pub trait Visitor: Send + Sync + fmt::Debug {
    /// Takes note of the page, or goes there; need not wait for the end.
    fn visit<'a>(&'a self, page: &'a str) -> Visit<'a>;
}

/// Goes to the page itself and back to where the page sends it, without a
/// browser: for authorization servers that ask nobody, as those of tests.
#[derive(Debug, Clone, Copy)]
pub struct FollowRedirects {
    /// For each of both requests.
    pub patience: Duration,
}

impl Visitor for FollowRedirects {
    fn visit<'a>(&'a self, page: &'a str) -> Visit<'a> {
        Box::pin(async move {
            let page = Url::parse(page).map_err(|error| format!("read as a URL ({error})"))?;
            let http = Http::new(&page, self.patience, &Redactor::none());
            let http = http.map_err(|error| format!("asked for: {error}"))?;
            let got = http.page(&page).await;
            let got = got.map_err(|error| format!("asked for: {error}"))?;
            let back = got.location.as_deref().and_then(|to| page.join(to).ok());
            let Some(back) = back else {
                return Err(format!("followed: it answered with {}", got.words()));
            };
            let home = Http::new(&back, self.patience, &Redactor::none());
            let home = home.map_err(|error| format!("left: {error}"))?;
            let left = home.page(&back).await;
            left.map(drop).map_err(|error| format!("left: {error}"))
        })
    }
}
