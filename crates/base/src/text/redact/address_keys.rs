//! Keys that are a part of the path of an address: of webhooks, and of MCP servers that
//! whoever has the address may use.

/// The name of a secret that is the last part of a webhook's address.
pub(super) const A_WEBHOOK: &str = "a webhook's key";
/// Parts of the addresses of services whose paths end with a key.
const WEBHOOKS: &[&str] = &[
    "hooks.slack.com/services/",
    "discord.com/api/webhooks/",
    "discordapp.com/api/webhooks/",
    ".webhook.office.com/webhook",
    "hooks.zapier.com/hooks/",
    "api.telegram.org/bot",
    "hooks.chime.aws/incomingwebhooks/",
];
/// The name of a secret that is a part of the path of another server's address.
pub(super) const A_PATH_KEY: &str = "a key in the URL";
/// Parts of the addresses of MCP servers behind which the next part of the path is a key.
const KEYED_PATHS: &[&str] = &[
    "mcp.zapier.com/api/mcp/s/",
    "mcp.zapier.com/api/mcp/a/",
    "mcp.pipedream.net/",
    "mcp.composio.dev/composio/server/",
    "mcp.composio.dev/partner/composio/",
];
/// Bytes of a key in a path.
const MIN_KEY: usize = 12;

/// Where in what follows `scheme://` a key stands that opens an MCP server: by the host, or
/// by its form beside a part of the path that says that such a server is there.
pub(super) fn path_key(url: &str) -> Option<(usize, usize)> {
    let path = &url[..url.find(['?', '#']).unwrap_or(url.len())];
    let part = |from: usize| {
        let end = path[from..].find('/').map_or(path.len(), |at| from + at);
        (from, end)
    };
    let known = KEYED_PATHS
        .iter()
        .find_map(|known| Some(part(path.find(known)? + known.len())))
        .filter(|(from, end)| end - from >= MIN_KEY);
    let parts = || path.match_indices('/').map(|(at, _)| part(at + 1));
    let is_of_mcp = || parts().any(|(from, end)| ["mcp", "sse"].contains(&&path[from..end]));
    known.or_else(|| {
        parts()
            .find(|&(from, end)| is_key_of_path(&path[from..end]))
            .filter(|_| is_of_mcp())
    })
}

/// Whether a part of an address is no word, name, number or UUID, but what a machine made
/// up and nobody guesses.
pub(super) fn is_key_of_path(part: &str) -> bool {
    const MIN_HEX: usize = 32;
    const MIN_MIXED: usize = 20;
    let has = |is: fn(&u8) -> bool| part.bytes().any(|byte| is(&byte));
    let is_hex = part.bytes().all(|byte| byte.is_ascii_hexdigit());
    let is_token = part
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || b"_-=%+".contains(&byte));
    let mixed = has(u8::is_ascii_digit) && has(u8::is_ascii_lowercase);
    mixed
        && (is_hex && part.len() >= MIN_HEX
            || is_token && part.len() >= MIN_MIXED && has(u8::is_ascii_uppercase))
}

/// Where in what follows `scheme://` the key of a webhook stands: who knows the
/// address may write there.
pub(super) fn webhook_key(url: &str) -> Option<(usize, usize)> {
    let end = url.find(['?', '#']).unwrap_or(url.len());
    let path = url[..end].trim_end_matches('/');
    let is_webhook = WEBHOOKS.iter().any(|known| path.contains(known));
    let from = path.rfind('/')? + 1;
    (is_webhook && path.len() - from >= MIN_KEY).then_some((from, path.len()))
}
