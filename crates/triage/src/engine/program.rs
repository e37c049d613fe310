//! How the program of a command is looked up, and what it does, as advice has to
//! know it.

use super::advice::Values;
use jelly_base::model::Failure;
use jelly_base::text::launchers::{NeededThere, needed_there};
use std::path::Path;

/// Programs that fetch what they start.
const FETCHING: &[&str] = &[
    "bunx", "docker", "dnx", "npm", "npx", "pipx", "pnpm", "pnpx", "podman", "uv", "uvx", "yarn",
];

/// Adds by which of its names the program is looked for, and who fetches it.
pub(super) fn describe(failure: &Failure, values: &mut Values) {
    let Some(program) = values.get("argv0").cloned() else {
        return;
    };
    let args = failure.argv.iter().skip(1).map(String::as_str);
    let (name, value) = match needed_there(&program, &args.collect::<Vec<_>>()) {
        Some(NeededThere::File(file)) => ("file_of_cwd", Some(file.to_owned())),
        Some(NeededThere::ProjectOf(runner)) => ("runner_of_cwd", Some(runner.to_owned())),
        None => ("cwd_to_make", failure.cwd.clone()),
    };
    values.extend(value.map(|value| (name.to_owned(), value)));
    let path = Path::new(&program);
    let name = path.file_name().and_then(|name| name.to_str());
    if let Some(name) = name.filter(|name| FETCHING.contains(name)) {
        values.insert("fetched_by".to_owned(), name.to_owned());
    }
    if let Some((first, args)) = words_of(&program) {
        values.insert("line_program".to_owned(), first.to_owned());
        values.insert("line_args".to_owned(), args);
        return;
    }
    let by = match (program.contains('/'), path.is_absolute()) {
        (false, _) => "on_path",
        (true, false) => "relative",
        (true, true) => "absolute",
    };
    values.insert(by.to_owned(), program.clone());
    // A name that only this iteration gave a folder is none for a shell.
    let cwd = failure.cwd.as_deref().filter(|cwd| !cwd.contains("${"));
    let file = match by {
        "absolute" => Some(program),
        "relative" => cwd.map(|cwd| Path::new(cwd).join(path).display().to_string()),
        _ => None,
    };
    if let Some(file) = file {
        values.insert("program_file".to_owned(), file);
    }
}

/// The program and the arguments, as a plan writes them, of a command that holds a whole line.
fn words_of(command: &str) -> Option<(&str, String)> {
    // What a shell reads would reach the program as it stands, and what is masked can't be
    // written.
    const OF_SHELL: [char; 11] = ['"', '\'', '\\', '$', '~', '*', '|', '&', ';', '<', '>'];
    if command.contains(OF_SHELL) || command.contains("[secret") {
        return None;
    }
    let mut words = command.split_whitespace();
    let first = words.next()?;
    let args: Vec<&str> = words.collect();
    let is_flag = |word: &&str| word.starts_with('-') && word.len() > 1;
    let is_line = args.iter().any(is_flag) || FETCHING.contains(&first);
    // A path may have blanks.
    let is_path = first.contains(['/', '\\']);
    (is_line && !is_path && !args.is_empty())
        .then(|| Some((first, serde_json::to_string(&args).ok()?)))?
}

#[cfg(test)]
mod tests {
    use super::super::advice::Values;
    use super::describe;
    use jelly_base::model::Failure;

    #[test]
    fn a_whole_line_in_the_command_is_told_in_words() {
        let told = |argv0: &str| {
            let mut values = Values::from([("argv0".to_owned(), argv0.to_owned())]);
            describe(&Failure::default(), &mut values);
            (
                values.get("line_program").cloned(),
                values.get("line_args").cloned(),
            )
        };
        let of = |program: &str, args: &str| (Some(program.to_owned()), Some(args.to_owned()));
        assert_eq!(
            told("acme-mcp --root /tmp"),
            of("acme-mcp", "[\"--root\",\"/tmp\"]")
        );
        assert_eq!(told("npx @acme/depot"), of("npx", "[\"@acme/depot\"]"));
        for path in [
            "/opt/My Tools/srv",
            "acme",
            "My Server",
            "My Server - copy",
            "acme-mcp --root \"/my dir\" --x",
            "acme-mcp --token [secret token] --root /tmp",
        ] {
            assert_eq!(told(path), (None, None), "{path}");
        }
    }

    #[test]
    fn a_path_is_told_from_a_name() {
        for (argv0, cwd, by, file) in [
            ("npx", "/srv", "on_path", None),
            ("../bin/x", "/srv/a", "relative", Some("/srv/a/../bin/x")),
            ("../bin/x", "${tmp}", "relative", None),
            ("/opt/x", "/srv", "absolute", Some("/opt/x")),
        ] {
            let failure = Failure {
                cwd: Some(cwd.to_owned()),
                ..Failure::default()
            };
            let mut values = Values::from([("argv0".to_owned(), argv0.to_owned())]);
            describe(&failure, &mut values);
            assert_eq!(values.get(by).map(String::as_str), Some(argv0));
            assert_eq!(values.get("program_file").map(String::as_str), file);
            assert_eq!(values.contains_key("fetched_by"), argv0 == "npx");
            assert_eq!(values.contains_key("file_of_cwd"), by == "relative");
            assert_eq!(values.contains_key("cwd_to_make"), by != "relative");
        }
    }
}
