//! Where a server says that it listens, and whether that is where it is asked.

use jelly_base::model::{FIRST_CHOSEN_PORT, Failure, Outcome};
use jelly_base::text::{WordList, holds_whole, listening_line, listening_ports};

/// Whether a server that is spoken to by pipes says that it listens on a port,
/// and never answered.
pub(super) fn listens(failure: &Failure) -> bool {
    failure.outcome == Some(Outcome::Timeout)
        && failure.url.is_none()
        && told_to_listen(failure).is_some_and(|(_, line)| !is_taken(failure, line))
}

/// Whether it says that the port of that line is in use: then it listens to nobody.
fn is_taken(failure: &Failure, line: &str) -> bool {
    const TAKEN: [&str; 2] = ["address already in use", "EADDRINUSE"];
    let ports = listening_ports(line);
    let is_of_port = |text: &str| ports.iter().any(|(_, port)| holds_whole(text, port));
    let lines = printed(failure).flat_map(|(_, text)| text.lines());
    let mut taken = lines.filter(|line| TAKEN.iter().any(|words| line.contains(words)));
    taken.any(is_of_port)
}

/// What it printed: the field, and the text.
fn printed(failure: &Failure) -> impl Iterator<Item = (&'static str, &str)> {
    let said = [
        ("stderr", failure.stderr.as_deref()),
        ("stdout", failure.stdout.as_deref()),
    ];
    let said = said
        .into_iter()
        .filter_map(|(field, text)| Some((field, text?)));
    let noise = failure.stdout_noise.iter();
    said.chain(noise.map(|line| ("stdout_noise", line.as_str())))
}

/// Where a server says that it listens: the field, and the line.
pub(super) fn told_to_listen(failure: &Failure) -> Option<(&'static str, &str)> {
    printed(failure).find_map(|(field, text)| Some((field, listening_line(text)?)))
}

/// The port at which a server is reached.
pub(super) fn own_port(failure: &Failure) -> Option<String> {
    let (_, host) = failure.url.as_ref()?.split_once("://")?;
    let host = host.split(['/', '?', '#']).next()?;
    let (_, port) = host.rsplit_once(':')?;
    let port: u16 = port.parse().ok()?;
    Some(port.to_string())
}

/// Where a server that is started and reached at a URL says that it listens, if that is at no
/// port of that URL and nobody was there: the field, and the line. Ports of what runs in a
/// container or on another machine are others' there than here.
pub(super) fn listening_elsewhere(failure: &Failure) -> Option<(&'static str, &str)> {
    const CARRIERS: WordList =
        WordList("docker podman nerdctl finch kubectl oc ssh wsl limactl vagrant devcontainer");
    let own = own_port(failure);
    let is_chosen = failure.url.as_ref()?.contains(":${port}");
    let is_other = |port: &str| match &own {
        Some(own) => port != own,
        // What stands in the arguments may be what was chosen.
        None => {
            let is_given = failure.argv.iter().any(|arg| arg.contains(port));
            is_chosen && !is_given && port.parse().is_ok_and(|port: u16| port < FIRST_CHOSEN_PORT)
        }
    };
    let http = failure.http.as_ref()?;
    let nobody = http.status.is_none() && http.error.as_deref() == Some("connection_refused");
    let is_carried = |word: &String| {
        let name = word.rsplit(['/', '\\']).next().unwrap_or(word);
        CARRIERS.has(name.strip_suffix(".exe").unwrap_or(name))
    };
    if !nobody || failure.argv.iter().any(is_carried) {
        return None;
    }
    let told = printed(failure).flat_map(|(field, text)| {
        let lines = listening_ports(text).into_iter();
        lines.map(move |(line, port)| (field, line, port))
    });
    let mut told = told.peekable();
    let (field, line, _) = *told.peek()?;
    told.all(|(_, _, port)| is_other(port))
        .then_some((field, line))
}

/// Whether it says that it listens there.
pub(super) fn listens_elsewhere(failure: &Failure) -> bool {
    listening_elsewhere(failure).is_some()
}
