//! A place that takes documents, and answers nothing of interest.
//!
//! Main type: [`JsonPoster`].

use super::client::{bare, client_for, is_loopback, unread_proxy};
use super::facts;
use jelly_base::text::redact::Redactor;
use reqwest::header::{CONTENT_TYPE, HeaderValue};
use reqwest::{Client, Url};

/// See the module. Time limits are the caller's.
#[derive(Debug)]
pub struct JsonPoster {
    client: Client,
    url: Url,
    redactor: Redactor,
}

impl JsonPoster {
    /// # Errors
    /// The URL can't be used; a fragment that says why.
    pub fn new(url: &str, redactor: &Redactor) -> Result<Self, String> {
        let url = Url::parse(url).map_err(|error| format!("it is not a URL ({error})"))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(format!(
                "its scheme is `{}`, and not http or https",
                url.scheme()
            ));
        }
        if let Some(unread) = unread_proxy(&url) {
            return Err(unread.to_string());
        }
        let client = client_for(is_loopback(&url)).map_err(|error| error.to_string())?;
        Ok(Self {
            client,
            url,
            redactor: redactor.clone(),
        })
    }

    /// Where it posts, as it may be shown.
    #[must_use]
    pub fn shown(&self) -> String {
        bare(&self.url, &self.redactor)
    }

    /// # Errors
    /// It was not taken; a fragment that says why.
    pub async fn post(&self, body: Vec<u8>) -> Result<(), String> {
        let request = self
            .client
            .post(self.url.clone())
            .header(CONTENT_TYPE, HeaderValue::from_static("application/json"))
            .body(body);
        match request.send().await {
            Ok(answer) if answer.status().is_success() => Ok(()),
            Ok(answer) => Err(format!(
                "it was answered with {}",
                facts::in_words(answer.status().as_u16())
            )),
            Err(error) => Err(self.redactor.redact(&facts::in_full(&error)).into_owned()),
        }
    }
}
