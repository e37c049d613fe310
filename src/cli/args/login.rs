//! What can be typed behind `jelly login`.

use super::server::ServerPlace;
use super::shared::parse_duration;
use clap::Args;
use std::time::Duration;

#[derive(Debug, Args)]
#[command(
    override_usage = "jelly login [OPTIONS] URL\n       \
                      jelly login [OPTIONS] --config CONFIG --server NAME\n       \
                      jelly login [OPTIONS] --plan PLAN --server NAME",
    after_help = "\
Prints the page to open; only --open starts a browser. Tokens are stored in the user's
data folder, readable by this user only; JELLY_LOGINS_DIR names another folder. A plan
uses them with `auth: login`.

Exit codes: 0 logged in; 2 invalid input, in CI, or no terminal; 3 the login failed"
)]
pub struct LoginArgs {
    /// URL of an MCP server, or its name with --plan or --config
    #[arg(value_name = "URL|SERVER", conflicts_with_all = ["url", "server"])]
    pub named: Option<String>,

    #[command(flatten)]
    pub place: ServerPlace,

    /// Client ID, if jelly is already registered [default: register dynamically]
    #[arg(long, value_name = "ID")]
    pub client_id: Option<String>,

    /// Environment variable with the client's secret
    #[arg(long, value_name = "NAME", requires = "client_id")]
    pub client_secret_env: Option<String>,

    /// URL of a client metadata document, for servers that accept it as a client ID
    #[arg(long, value_name = "URL", conflicts_with = "client_id")]
    pub client_metadata_url: Option<String>,

    /// Request only this scope; can be repeated [default: what the server asks for]
    #[arg(long = "scope", value_name = "SCOPE")]
    pub scopes: Vec<String>,

    /// Issuer that the server must name; required with a client secret
    #[arg(long, value_name = "URL")]
    pub issuer: Option<String>,

    /// Token endpoint of the issuer, if on another host; the client's secret is sent
    /// nowhere else
    #[arg(long, value_name = "URL", requires = "client_id")]
    pub token_endpoint: Option<String>,

    /// Port for the browser's redirect [default: a free one]
    #[arg(
        long,
        value_name = "PORT",
        default_value_t = 0,
        hide_default_value = true
    )]
    pub port: u16,

    /// Open the browser
    #[arg(long)]
    pub open: bool,

    /// How long to wait for the login
    #[arg(long, value_name = "TIME", default_value = "5m", value_parser = parse_duration)]
    pub timeout: Duration,
}
