//! `jelly replay`: a recording, as a server over stdio.

use super::refusal::{Refusal, complain};
use crate::cli::args::ReplayArgs;
use jelly_base::files::open_to_read;
use jelly_base::model::ExitCode;
use jelly_base::text::{close_names, one_line};
use jelly_replay::{Order, Replay};
use jelly_wire::{MAX_LINE_BYTES, RecordedSession, Recording};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::Path;

/// Plays the server until stdin ends.
pub fn replay(args: &ReplayArgs) -> Result<ExitCode, Refusal> {
    let sessions = recorded(&args.file, args.server.as_deref())?;
    let order = match args.strict {
        true => Order::Strict,
        false => Order::Lenient,
    };
    let file = args.file.file_name().unwrap_or(args.file.as_os_str());
    let mut replay = Replay::new(file.to_string_lossy().into_owned(), &sessions, order);
    match serve(&mut replay) {
        Ok(()) => {}
        // The client is gone, as clients go.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {}
        Err(error) => complain(&format!("warning: jelly replay ended early: {error}")),
    }
    Ok(ExitCode::Passed)
}

fn serve(replay: &mut Replay) -> io::Result<()> {
    let mut input = BufReader::with_capacity(64 * 1024, io::stdin().lock());
    let limit = u64::try_from(MAX_LINE_BYTES).unwrap_or(u64::MAX);
    say(&replay.start())?;
    let mut line = Vec::new();
    loop {
        line.clear();
        match input.by_ref().take(limit).read_until(b'\n', &mut line)? {
            0 => return Ok(()),
            _ => say(&replay.line(&String::from_utf8_lossy(&line)))?,
        }
    }
}

/// As the server said it: traffic is the client's own.
fn say(lines: &[String]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    for line in lines {
        out.write_all(line.as_bytes())?;
        out.write_all(b"\n")?;
    }
    out.flush()
}

/// What a recording holds.
fn read(file: &Path) -> Result<Recording, Refusal> {
    let shown = file.display();
    let opened = open_to_read(file).map_err(|error| {
        Refusal::invalid(format!(
            "error: the recording {shown} can't be read: {error}"
        ))
    })?;
    let recording = Recording::read(BufReader::new(opened)).map_err(|error| {
        Refusal::invalid(format!(
            "error: {shown}: failed to {error}\nhelp: give a whole `wire.jsonl` of `jelly run \
             --record`, or a file of `jelly proxy --record-to`"
        ))
    })?;
    if let Some(why) = &recording.stopped {
        complain(&format!(
            "warning: {shown} stops before the end of what it recorded: {}",
            one_line(why, 80)
        ));
    }
    Ok(recording)
}

/// The sessions with each server of a recording; with one alone where it is named.
pub fn recorded_of_all(
    file: &Path,
    server: Option<&str>,
) -> Result<Vec<(String, Vec<RecordedSession>)>, Refusal> {
    if let Some(server) = server {
        return Ok(vec![(server.to_owned(), recorded(file, Some(server))?)]);
    }
    let mut all: Vec<(String, Vec<RecordedSession>)> = Vec::new();
    for session in read(file)?.sessions {
        match all.iter_mut().find(|(name, _)| *name == session.server) {
            Some((_, sessions)) => sessions.push(session),
            None => all.push((session.server.clone(), vec![session])),
        }
    }
    Ok(all)
}

/// The sessions with one server of a recording.
pub fn recorded(file: &Path, server: Option<&str>) -> Result<Vec<RecordedSession>, Refusal> {
    let shown = file.display();
    let recording = read(file)?;
    let names = recording.servers();
    let listed = names.iter().map(|name| format!("`{}`", one_line(name, 80)));
    let listed = listed.collect::<Vec<_>>().join(", ");
    let server = match (server, names.as_slice()) {
        (Some(server), names) if names.contains(&server) => server.to_owned(),
        (Some(server), names) => {
            let close = close_names(server, names.iter().copied());
            let help = match close.first() {
                Some(close) => format!("did you mean `{close}`?"),
                None => format!("it has {listed}"),
            };
            return Err(Refusal::invalid(format!(
                "error: {shown} has no server `{}`\nhelp: {help}",
                one_line(server, 80)
            )));
        }
        (None, [only]) => (*only).to_owned(),
        (None, _) => {
            return Err(Refusal::invalid(format!(
                "error: {shown} has several servers: {listed}\nhelp: say which with --server NAME"
            )));
        }
    };
    let mut sessions = recording.sessions;
    sessions.retain(|session| session.server == server);
    Ok(sessions)
}
