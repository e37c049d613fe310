//! What can be typed behind `jelly login`.

use super::shared::parse_duration;
use clap::Args;
use std::path::PathBuf;
use std::time::Duration;

#[derive(Debug, Args)]
#[command(after_help = "\
The page to open is printed; a browser is started only by --open. What the login
brings is kept in the user's data folder, for this user alone; JELLY_LOGINS_DIR
names another one. A plan uses it by `auth: login`.

Exit codes: 0 logged in; 2 wrong input, CI, or no terminal; 3 no login came of it")]
pub struct LoginArgs {
    /// The URL of an MCP server, or with --plan the name of one
    #[arg(value_name = "URL|SERVER")]
    pub server: String,

    /// The plan that names the server
    #[arg(long, value_name = "PLAN")]
    pub plan: Option<PathBuf>,

    /// The client to log in by, where jelly is registered [default: it registers itself]
    #[arg(long, value_name = "ID")]
    pub client_id: Option<String>,

    /// The environment variable that holds this client's secret
    #[arg(long, value_name = "NAME", requires = "client_id")]
    pub client_secret_env: Option<String>,

    /// A document that says who jelly is, for servers that take its URL as a client's id
    #[arg(long, value_name = "URL", conflicts_with = "client_id")]
    pub client_metadata_url: Option<String>,

    /// Asks for this scope, and none that is not named so [default: what the server says]
    #[arg(long = "scope", value_name = "SCOPE")]
    pub scopes: Vec<String>,

    /// The issuer that the server must name; with a client's secret it has to be given
    #[arg(long, value_name = "URL")]
    pub issuer: Option<String>,

    /// The issuer's token endpoint, where that is on another host: the client's secret goes
    /// nowhere else
    #[arg(long, value_name = "URL", requires = "client_id")]
    pub token_endpoint: Option<String>,

    /// The port that the browser comes back to [default: a free one]
    #[arg(
        long,
        value_name = "PORT",
        default_value_t = 0,
        hide_default_value = true
    )]
    pub port: u16,

    /// Starts the browser too
    #[arg(long)]
    pub open: bool,

    /// How long the page may take
    #[arg(long, value_name = "TIME", default_value = "5m", value_parser = parse_duration)]
    pub timeout: Duration,
}
