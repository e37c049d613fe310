//! Where metadata are, and what they say. Pure.
//!
//! Main types: [`ResourceMetadata`] (RFC 9728) and [`ServerMetadata`] (RFC
//! 8414, OpenID Connect Discovery 1.0). Where to look, and in which order, is
//! from 2026-07-28, "Authorization Server Discovery".

use super::scopes;
use reqwest::Url;
use serde_json::Value;

/// So many entries of a list are looked at.
const MAX_ENTRIES: usize = 64;

/// Where the metadata of a protected resource may be, in the order in which
/// they are tried: where the challenge says, and only there if it does.
///
/// # Errors
/// The challenge names what is no URL.
pub(super) fn resource_urls(server: &Url, named: Option<&str>) -> Result<Vec<Url>, String> {
    if let Some(named) = named {
        let url = server
            .join(named)
            .map_err(|error| format!("its resource_metadata is not a URL ({error})"))?;
        return Ok(vec![url]);
    }
    let root = "/.well-known/oauth-protected-resource";
    let path = server.path().trim_end_matches('/');
    let mut urls = Vec::new();
    if !path.is_empty() {
        urls.push(at(server, &format!("{root}{path}")));
    }
    urls.push(at(server, root));
    Ok(urls)
}

/// Where the metadata of an authorization server may be, in the order in which
/// they are tried.
pub(super) fn server_urls(issuer: &Url) -> Vec<Url> {
    let (oauth, openid) = (
        "/.well-known/oauth-authorization-server",
        "/.well-known/openid-configuration",
    );
    let path = issuer.path().trim_end_matches('/');
    if path.is_empty() {
        return vec![at(issuer, oauth), at(issuer, openid)];
    }
    vec![
        at(issuer, &format!("{oauth}{path}")),
        at(issuer, &format!("{openid}{path}")),
        at(issuer, &format!("{path}{openid}")),
    ]
}

/// The origin's URL with another path, and without all that follows it.
pub(super) fn at(origin: &Url, path: &str) -> Url {
    let mut url = origin.clone();
    // One without a host has no user either; those are no servers of ours.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.set_path(path);
    url.set_query(None);
    url.set_fragment(None);
    url
}

/// The URL of a server as it names the resource: in its canonical form, without
/// a slash that means nothing, and without what may hold a key: user, fragment
/// and query.
///
/// Source: RFC 8707, section 2: a resource should have no query.
pub(super) fn canonical(server: &Url) -> String {
    let mut url = server.clone();
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.set_fragment(None);
    url.set_query(None);
    let text = url.to_string();
    match url.path() {
        "/" => text.trim_end_matches('/').to_owned(),
        _ => text,
    }
}

/// What a protected resource says of itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct ResourceMetadata {
    pub resource: Option<String>,
    pub authorization_servers: Vec<String>,
    pub scopes_supported: Option<Vec<String>>,
}

impl ResourceMetadata {
    /// # Errors
    /// What is wrong with the document, as a fragment after "it".
    pub fn read(document: &Value) -> Result<Self, String> {
        if !document.is_object() {
            return Err("is not a JSON object".to_owned());
        }
        let authorization_servers = strings(document, "authorization_servers")?.unwrap_or_default();
        Ok(Self {
            resource: string(document, "resource")?,
            authorization_servers,
            scopes_supported: scopes_of(document)?,
        })
    }

    /// Whether it is about this server: of the same origin, and its path the
    /// server's or one above it.
    pub fn is_about(&self, server: &Url) -> bool {
        let Some(resource) = &self.resource else {
            // RFC 9728 wants it; what the well-known place of the server
            // itself says is about nothing else.
            return true;
        };
        let Ok(resource) = Url::parse(resource) else {
            return false;
        };
        let (above, path) = (resource.path().trim_end_matches('/'), server.path());
        resource.origin() == server.origin()
            && path
                .strip_prefix(above)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }
}

/// What an authorization server says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ServerMetadata {
    pub issuer: String,
    pub token_endpoint: Url,
    pub authorization_endpoint: Option<Url>,
    pub registration_endpoint: Option<Url>,
    pub scopes_supported: Option<Vec<String>>,
    /// How clients may show who they are; absent where it does not say.
    pub auth_methods: Option<Vec<String>>,
    /// By which algorithms they may sign.
    pub signing_algorithms: Option<Vec<String>>,
    /// It says who it is when it sends a browser back (RFC 9207).
    pub names_itself: bool,
    /// A client's id may be the URL of what is to be known of it.
    pub takes_client_urls: bool,
    /// Ways of PKCE; absent where there are no metadata to say so.
    pub pkce: Option<Vec<String>>,
}

impl ServerMetadata {
    /// # Errors
    /// What is wrong with the document, as a fragment after "it".
    pub fn read(document: &Value) -> Result<Self, String> {
        if !document.is_object() {
            return Err("is not a JSON object".to_owned());
        }
        let issuer = string(document, "issuer")?.ok_or("names no `issuer`")?;
        let flag = |key: &str| document.get(key).and_then(Value::as_bool) == Some(true);
        Ok(Self {
            issuer,
            token_endpoint: endpoint(document, "token_endpoint")?
                .ok_or("names no `token_endpoint`")?,
            authorization_endpoint: endpoint(document, "authorization_endpoint")?,
            registration_endpoint: endpoint(document, "registration_endpoint")?,
            scopes_supported: scopes_of(document)?,
            auth_methods: strings(document, "token_endpoint_auth_methods_supported")?,
            signing_algorithms: strings(
                document,
                "token_endpoint_auth_signing_alg_values_supported",
            )?,
            names_itself: flag("authorization_response_iss_parameter_supported"),
            takes_client_urls: flag("client_id_metadata_document_supported"),
            pkce: Some(strings(document, "code_challenge_methods_supported")?.unwrap_or_default()),
        })
    }

    /// Of a server of 2025-03-26 that has none: its endpoints have fixed paths
    /// at its origin ("Fallbacks for Servers without Metadata Discovery").
    pub fn by_default(server: &Url) -> Self {
        Self {
            issuer: server.origin().ascii_serialization(),
            token_endpoint: at(server, "/token"),
            authorization_endpoint: Some(at(server, "/authorize")),
            registration_endpoint: Some(at(server, "/register")),
            scopes_supported: None,
            auth_methods: None,
            signing_algorithms: None,
            names_itself: false,
            takes_client_urls: false,
            pkce: None,
        }
    }
}

fn string(document: &Value, key: &str) -> Result<Option<String>, String> {
    match document.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(_) => Err(format!("has a `{key}` that is no string")),
    }
}

fn strings(document: &Value, key: &str) -> Result<Option<Vec<String>>, String> {
    match document.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Array(items)) => {
            let texts = items.iter().take(MAX_ENTRIES).map(|item| {
                let text = item.as_str().map(str::to_owned);
                text.ok_or_else(|| format!("has a `{key}` that holds more than strings"))
            });
            Ok(Some(texts.collect::<Result<_, _>>()?))
        }
        Some(_) => Err(format!("has a `{key}` that is no list")),
    }
}

fn scopes_of(document: &Value) -> Result<Option<Vec<String>>, String> {
    let scopes = strings(document, "scopes_supported")?;
    Ok(scopes.map(|scopes| scopes::gathered(scopes.iter().map(String::as_str))))
}

fn endpoint(document: &Value, key: &str) -> Result<Option<Url>, String> {
    string(document, key)?
        .map(|text| Url::parse(&text).map_err(|_| format!("has a `{key}` that is not a URL")))
        .transpose()
}

#[cfg(test)]
mod tests {
    use super::{ResourceMetadata, ServerMetadata, canonical, resource_urls, server_urls};
    use proptest::prelude::*;
    use reqwest::Url;
    use serde_json::{Value, json};

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    fn texts(urls: Vec<Url>) -> Vec<String> {
        urls.into_iter().map(String::from).collect()
    }

    #[test]
    fn metadata_of_a_resource_are_looked_for_at_its_path_and_then_at_the_root() {
        let server = url("https://u:p@h:1/public/mcp/?q=1#f");
        assert_eq!(
            texts(resource_urls(&server, None).unwrap()),
            [
                "https://h:1/.well-known/oauth-protected-resource/public/mcp",
                "https://h:1/.well-known/oauth-protected-resource"
            ]
        );
        assert_eq!(
            texts(resource_urls(&url("https://h"), None).unwrap()),
            ["https://h/.well-known/oauth-protected-resource"]
        );
    }

    #[test]
    fn where_the_challenge_says_is_the_only_place() {
        let server = url("https://h/mcp");
        for (named, at) in [
            ("https://h/custom.json", "https://h/custom.json"),
            ("/custom.json", "https://h/custom.json"),
        ] {
            assert_eq!(texts(resource_urls(&server, Some(named)).unwrap()), [at]);
        }
        assert!(resource_urls(&server, Some("https://")).is_err());
    }

    #[test]
    fn metadata_of_an_authorization_server_are_looked_for_in_the_order_of_the_specification() {
        assert_eq!(
            texts(server_urls(&url("https://auth.example.com/tenant1"))),
            [
                "https://auth.example.com/.well-known/oauth-authorization-server/tenant1",
                "https://auth.example.com/.well-known/openid-configuration/tenant1",
                "https://auth.example.com/tenant1/.well-known/openid-configuration"
            ]
        );
        assert_eq!(
            texts(server_urls(&url("https://auth.example.com/"))),
            [
                "https://auth.example.com/.well-known/oauth-authorization-server",
                "https://auth.example.com/.well-known/openid-configuration"
            ]
        );
    }

    #[test]
    fn a_resource_is_its_origin_and_a_path_at_or_above_the_server() {
        let server = url("https://h/a/mcp");
        for (resource, fits) in [
            ("https://h/a/mcp", true),
            ("https://H/a/", true),
            ("https://h", true),
            ("https://h/a/mc", false),
            ("https://h/a/mcp/more", false),
            ("https://h:8443/a/mcp", false),
            ("http://h/a/mcp", false),
            ("https://evil.example/a/mcp", false),
            ("nonsense", false),
        ] {
            let read = ResourceMetadata::read(&json!({"resource": resource})).unwrap();
            assert_eq!(read.is_about(&server), fits, "{resource}");
        }
    }

    #[test]
    fn a_server_names_the_resource_without_what_means_nothing() {
        for (text, name) in [
            ("https://MCP.example.com/", "https://mcp.example.com"),
            ("https://h/mcp#x", "https://h/mcp"),
            ("https://h/mcp/", "https://h/mcp/"),
            ("https://u:p@h/?a=b", "https://h"),
            ("https://h/mcp?api_key=x", "https://h/mcp"),
        ] {
            assert_eq!(canonical(&url(text)), name);
        }
    }

    #[test]
    fn documents_that_break_their_rules_are_refused_with_the_reason() {
        for (document, why) in [
            (json!([]), "is not a JSON object"),
            (json!({}), "names no `issuer`"),
            (json!({"issuer": 1}), "has a `issuer` that is no string"),
            (json!({"issuer": "i"}), "names no `token_endpoint`"),
            (
                json!({"issuer": "i", "token_endpoint": "/token"}),
                "has a `token_endpoint` that is not a URL",
            ),
        ] {
            assert_eq!(ServerMetadata::read(&document).unwrap_err(), why);
        }
        let wrong = json!({"authorization_servers": [1]});
        let why = "has a `authorization_servers` that holds more than strings";
        assert_eq!(ResourceMetadata::read(&wrong).unwrap_err(), why);
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i32>().prop_map(Value::from),
            "[ -~]{0,30}".prop_map(Value::from),
            "https?://[a-z]{1,5}(/[a-z]{0,5}){0,3}".prop_map(Value::from),
        ];
        leaf.prop_recursive(2, 16, 4, |inner| {
            prop::collection::vec(inner, 0..4).prop_map(Value::from)
        })
    }

    proptest! {
        #[test]
        fn no_document_makes_them_panic(
            issuer in any_json(), endpoint in any_json(), scopes in any_json(), resource in any_json(),
        ) {
            let document = json!({"issuer": issuer, "token_endpoint": endpoint,
                "scopes_supported": scopes, "resource": resource,
                "authorization_servers": scopes});
            let _ = ServerMetadata::read(&document);
            if let Ok(read) = ResourceMetadata::read(&document) {
                let _ = read.is_about(&url("https://h/mcp"));
            }
        }

        #[test]
        fn whatever_is_tried_stays_at_the_origin(
            server in "https://[a-z]{1,8}(:[1-9][0-9]{0,3})?(/[a-zA-Z0-9._%-]{0,8}){0,4}(\\?[a-z]{0,4})?",
        ) {
            let Ok(server) = Url::parse(&server) else { return Ok(()) };
            for tried in resource_urls(&server, None).unwrap().into_iter().chain(server_urls(&server)) {
                prop_assert_eq!(tried.origin(), server.origin());
                prop_assert!(tried.query().is_none());
            }
        }
    }
}
