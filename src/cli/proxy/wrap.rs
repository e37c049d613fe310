//! `jelly proxy wrap` and `unwrap`: servers of a client's configuration, and
//! jelly in front of them.

use crate::cli::args::WrapArgs;
use crate::cli::ask::{choose, yes_or_no};
use crate::cli::out::stdout;
use crate::cli::refusal::Refusal;
use crate::cli::settings::World;
use jelly_base::model::ExitCode;
use jelly_base::text::redact::Redactor;
use jelly_base::text::{Notation, close_names, hunks, one_line, plural, sanitize};
use jelly_plan::PlanSource;
use jelly_setup::doctor::{
    ConfigError, Rewrapped, Turn, WrapPlace, client_of, read, secrets_of, unwrap as unwrap_text,
    wrap as wrap_text,
};
use std::io::Write;
use std::path::Path;

/// So many lines of a diff are shown.
const MAX_LINES: usize = 400;

/// Which way it goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WrapWay {
    In,
    Out,
}

/// Puts jelly in front of servers.
pub fn wrap(args: &WrapArgs, world: &World) -> Result<ExitCode, Refusal> {
    change(args, world, WrapWay::In)
}

/// Takes it out again.
pub fn unwrap(args: &WrapArgs, world: &World) -> Result<ExitCode, Refusal> {
    change(args, world, WrapWay::Out)
}

fn change(args: &WrapArgs, world: &World, way: WrapWay) -> Result<ExitCode, Refusal> {
    let jelly = world.jelly.as_deref().and_then(Path::to_str);
    let jelly = jelly.ok_or_else(|| {
        Refusal::with_help("the path of jelly itself is not known", "reinstall jelly")
    })?;
    // To open what is no file, as a pipe that nobody writes to, might never end.
    if std::fs::metadata(&args.file).is_ok_and(|there| !there.is_file() && !there.is_dir()) {
        return Err(Refusal::with_help(
            format!(
                "{} is no regular file",
                sanitize(&args.file.display().to_string())
            ),
            "name a client's configuration, as `jelly doctor` does",
        ));
    }
    let before = PlanSource::read(&args.file).map_err(|error| {
        Refusal::invalid(format!(
            "error: {}\nhelp: name a client's configuration, as `jelly doctor` does",
            sanitize(&error.to_string())
        ))
    })?;
    let shown = sanitize(&args.file.display().to_string()).into_owned();
    let file = world.cwd.join(&args.file);
    let place = WrapPlace {
        path: &file,
        project: &world.cwd,
        jelly,
    };
    known_servers(args, &file, &before.text, world)?;
    let wanted = |name: &str| args.servers.is_empty() || args.servers.iter().any(|s| s == name);
    let done = match way {
        WrapWay::In => wrap_text(place, &before.text, &wanted),
        WrapWay::Out => unwrap_text(place, &before.text, &wanted),
    };
    let done = done.map_err(|error| unreadable(&error))?;
    let after = PlanSource {
        text: done.text.as_str().into(),
        ..before.clone()
    };
    let redactor = secrets_in(&file, &[&before.text, &after.text], world);
    let mut out = stdout(Notation::Plain);
    let mut say = |text: &str| {
        writeln!(out, "{}", redactor.redact(&sanitize(text))).map_err(|error| {
            let what = format!("the change can't be shown, and was not made: {error}");
            Refusal::with_help(sanitize(&what), "see where the output goes")
        })
    };
    for line in told(&done, way) {
        say(&line)?;
    }
    let changed = done
        .entries
        .iter()
        .filter(|(_, turn)| matches!(turn, Turn::Changed | Turn::ChangedWith(_)));
    let changed = changed.count();
    if changed == 0 {
        say(&format!("{shown}: nothing to change"))?;
        return Ok(ExitCode::Passed);
    }
    let (old, new) = (redactor.redact(&before.text), redactor.redact(&after.text));
    say(hunks(&old, &new, MAX_LINES).trim_end())?;
    if args.dry_run {
        say("nothing was written (--dry-run)")?;
        return Ok(ExitCode::Passed);
    }
    if !args.yes {
        if !(world.stdin_is_terminal && world.stdout_is_terminal) {
            return Err(Refusal::with_help(
                format!("{shown}: nothing was written: nobody is there to be asked"),
                "look at the change above, and add --yes where it is what you want",
            ));
        }
        let asked = choose("write it? [y]es, [n]o: ", yes_or_no)
            .map_err(|why| Refusal::with_help(sanitize(&why), "say it by --yes"))?;
        if asked != Some(true) {
            say(&format!("{shown}: it is left as it is"))?;
            return Ok(ExitCode::Passed);
        }
    }
    after.replace(&before).map_err(|error| {
        Refusal::with_help(sanitize(&error.to_string()), "see who else writes the file")
    })?;
    // It is done; who does not hear of it reads the file.
    let next = match way {
        WrapWay::In => "restart the client; `jelly proxy unwrap` takes it back",
        WrapWay::Out => "restart the client",
    };
    let _ = say(&format!(
        "wrote {shown} with {}; {next}",
        plural(changed, "changed server")
    ));
    Ok(ExitCode::Passed)
}

/// What came of each server.
fn told(done: &Rewrapped, way: WrapWay) -> Vec<String> {
    let line = |(name, turn): &(String, Turn)| {
        let name = one_line(name, 80);
        match (turn, way) {
            (Turn::Changed, WrapWay::In) => format!("{name}: goes through jelly"),
            (Turn::Changed, WrapWay::Out) => format!("{name}: is started by the client itself"),
            (Turn::ChangedWith(note), WrapWay::In) => format!("{name}: goes through jelly; {note}"),
            (Turn::ChangedWith(note), WrapWay::Out) => {
                format!("{name}: goes through jelly no more; {note}")
            }
            (Turn::Already, WrapWay::In) => format!("{name}: goes through jelly already"),
            (Turn::Already, WrapWay::Out) => format!("{name}: does not go through jelly"),
            (Turn::Left(why), _) => format!("{name}: is left as it is: {why}"),
        }
    };
    done.entries.iter().map(line).collect()
}

/// That each server which was named is there.
fn known_servers(args: &WrapArgs, file: &Path, text: &str, world: &World) -> Result<(), Refusal> {
    let config = read(file, text, &world.cwd).map_err(|error| unreadable(&error))?;
    let shown = args.file.display();
    let names: Vec<&str> = config
        .entries
        .iter()
        .map(|entry| entry.name.as_str())
        .collect();
    if names.is_empty() {
        let missing = client_of(file).format().no_servers();
        return Err(Refusal::invalid(format!(
            "error: {shown} has no servers: {missing}\nhelp: name the configuration that has them; \
             `jelly doctor` lists those that it finds"
        )));
    }
    let missing = args
        .servers
        .iter()
        .find(|name| !names.contains(&name.as_str()));
    let Some(missing) = missing else {
        return Ok(());
    };
    let close = close_names(missing, names.iter().copied());
    let help = match close.first() {
        Some(close) => format!("did you mean `{close}`?"),
        None => format!("it has {}", names.join(", ")),
    };
    Err(Refusal::invalid(format!(
        "error: {shown} has no server `{}`\nhelp: {}",
        one_line(missing, 80),
        one_line(&help, 300)
    )))
}

fn unreadable(error: &ConfigError) -> Refusal {
    let mut text = format!("error: {}: failed to {error}", error.at());
    if let Some(help) = &error.help {
        text.push_str(&format!("\nhelp: {help}"));
    }
    Refusal::invalid(sanitize(&text).into_owned())
}

/// All secrets that the servers of the texts have.
fn secrets_in(file: &Path, texts: &[&str], world: &World) -> Redactor {
    let redactor = Redactor::none();
    for text in texts {
        if let Ok(config) = read(file, text, &world.cwd) {
            redactor.learn(config.entries.iter().flat_map(secrets_of));
        }
    }
    redactor
}
