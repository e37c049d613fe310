//! Commands and packages that people mean when they write others.

use jelly_base::text::{WordList, close_names};
use std::path::{Path, PathBuf};

/// Commands that start most servers.
const LAUNCHERS: WordList = WordList(
    "npx npm node uvx uv python3 python pipx docker podman bunx bun deno pnpm pnpx yarn \
     dnx dotnet java go",
);

/// Well-known servers on npm, as of November 2026.
const ON_NPM: WordList = WordList(
    "@benborla29/mcp-server-mysql @brave/brave-search-mcp-server \
     @elastic/mcp-server-elasticsearch @modelcontextprotocol/server-brave-search \
     @modelcontextprotocol/server-everart @modelcontextprotocol/server-everything \
     @modelcontextprotocol/server-filesystem @modelcontextprotocol/server-gdrive \
     @modelcontextprotocol/server-github @modelcontextprotocol/server-gitlab \
     @modelcontextprotocol/server-google-maps @modelcontextprotocol/server-memory \
     @modelcontextprotocol/server-postgres @modelcontextprotocol/server-puppeteer \
     @modelcontextprotocol/server-redis @modelcontextprotocol/server-sequential-thinking \
     @modelcontextprotocol/server-slack @notionhq/notion-mcp-server @playwright/mcp \
     @sentry/mcp-server @stripe/mcp @supabase/mcp-server-supabase @upstash/context7-mcp \
     @wonderwhy-er/desktop-commander airtable-mcp-server chrome-devtools-mcp \
     exa-mcp-server figma-developer-mcp firecrawl-mcp linear-mcp-server mcp-remote \
     mcp-server-kubernetes mongodb-mcp-server supergateway tavily-mcp",
);

/// Well-known servers on PyPI, as of November 2026.
const ON_PYPI: WordList = WordList(
    "arxiv-mcp-server awslabs.aws-documentation-mcp-server chroma-mcp \
     duckduckgo-mcp-server elasticsearch-mcp-server excel-mcp-server fastmcp \
     markitdown-mcp mcp-atlassian mcp-proxy mcp-server-fetch mcp-server-git \
     mcp-server-motherduck mcp-server-qdrant mcp-server-sqlite mcp-server-time \
     mcp-shell-server mysql-mcp-server postgres-mcp redis-mcp-server wikipedia-mcp",
);

/// Folders that programs are installed to and that a client started from a
/// desktop often does not look into, below the home folder.
const AT_HOME: &[&str] = &[
    ".local/bin",
    ".cargo/bin",
    ".bun/bin",
    ".deno/bin",
    ".volta/bin",
    ".npm-global/bin",
    "go/bin",
];

const ANYWHERE: &[&str] = &[
    "/opt/homebrew/bin",
    "/usr/local/bin",
    "/home/linuxbrew/.linuxbrew/bin",
    "/snap/bin",
];

/// Whether it is a command that starts servers.
pub(super) fn is_launcher(command: &str) -> bool {
    LAUNCHERS.has(command)
}

/// What was mistyped as this command, the likeliest first.
pub(super) fn launchers_like(command: &str) -> Vec<&'static str> {
    // `ts-node` and `python3.14` are programs of their own.
    let is_of_its_own = |meant: &str| {
        let rest = command.strip_prefix(meant).unwrap_or_default();
        let is_version = !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit() || b == b'.');
        // `npx-y` lacks a blank.
        let is_program = |(one, other): (&str, &str)| {
            let is_word = |part: &str| part.len() > 1;
            one == meant && is_word(other) || other == meant && is_word(one)
        };
        is_version || command.split_once('-').is_some_and(is_program)
    };
    let mut meant = like(command, LAUNCHERS);
    meant.retain(|meant| !is_of_its_own(meant));
    meant
}

/// What was mistyped as this package of npm or of PyPI; several where they are
/// equally likely.
pub(super) fn packages_like(name: &str, is_python: bool) -> Vec<&'static str> {
    let mut meant = like(name, if is_python { ON_PYPI } else { ON_NPM });
    let distance = |other: &str| strsim::damerau_levenshtein(name, other);
    let least = meant.first().map(|first| distance(first));
    meant.retain(|other| Some(distance(other)) == least);
    meant
}

/// Whether it is a well-known server, and then whether it is one of PyPI.
pub(super) fn is_on_pypi(name: &str) -> Option<bool> {
    if ON_PYPI.has(name) {
        return Some(true);
    }
    ON_NPM.has(name).then_some(false)
}

fn like(name: &str, known: WordList) -> Vec<&'static str> {
    if known.has(name) {
        return Vec::new();
    }
    let close = close_names(name, known.words());
    let of_list = |close: &String| known.words().find(|known| known == close);
    close.iter().filter_map(of_list).collect()
}

/// Where a command lies that the PATH does not lead to.
pub(super) fn elsewhere(
    command: &str,
    home: Option<&Path>,
    is_there: &dyn Fn(&Path) -> bool,
) -> Option<PathBuf> {
    let at_home = home.into_iter().flat_map(|home| {
        AT_HOME
            .iter()
            .map(move |folder| home.join(folder).join(command))
    });
    let anywhere = ANYWHERE
        .iter()
        .map(|folder| Path::new(folder).join(command));
    at_home.chain(anywhere).find(|path| is_there(path))
}

#[cfg(test)]
mod tests {
    use super::{elsewhere, launchers_like, packages_like};
    use std::path::Path;

    #[test]
    fn what_was_mistyped_is_known() {
        assert_eq!(launchers_like("npxx").first(), Some(&"npx"));
        for own in ["my-server", "ts-node", "node20", "python3.14"] {
            assert!(launchers_like(own).is_empty(), "{own}");
        }
        assert!(launchers_like("uvx").is_empty());
        assert_eq!(
            packages_like("@modelcontextprotocol/server-filesytem", false),
            ["@modelcontextprotocol/server-filesystem"]
        );
        assert_eq!(packages_like("mcp-server-tme", true), ["mcp-server-time"]);
        assert!(packages_like("mcp-server-time", true).is_empty());
        // What is on PyPI is no help for npx.
        assert!(packages_like("mcp-server-tme", false).is_empty());
    }

    #[test]
    fn a_command_beside_the_path_is_found() {
        let found = elsewhere("uvx", Some(Path::new("/home/me")), &|path| {
            path == Path::new("/home/me/.local/bin/uvx")
        });
        assert_eq!(found.as_deref(), Some(Path::new("/home/me/.local/bin/uvx")));
    }
}
