//! What mends an entry whose program is there and can't be executed.

use super::prescribe::{Doctor, blank};
use super::steps::Remedy;
use jelly_base::text::shell_word as word;
use std::path::Path;

/// Which program runs a script, by its ending.
const BY_ENDING: &[(&str, &str)] = &[
    ("bash", "bash"),
    ("cjs", "node"),
    ("js", "node"),
    ("mjs", "node"),
    ("pl", "perl"),
    ("py", "python3"),
    ("rb", "ruby"),
    ("sh", "sh"),
];

impl Doctor<'_> {
    /// What is there, and can't be executed.
    pub(super) fn executable(&self) -> Remedy {
        let (started, sight) = (self.started, self.context.sight);
        let name = &*started.command.text;
        let file = self.whole(name);
        if sight.is_folder(&file) {
            let program = format!("{}/{}", name.trim_end_matches('/'), blank("program"));
            let what = "It is a folder; write the program in it that is meant,";
            return Remedy::new()
                .write(what, started.command(&program))
                .instead_of(&["make-executable"]);
        }
        let is_refused = self.context.failure.spawn_error.is_some();
        if !is_refused || !name.contains('/') || !sight.is_there(&file) {
            return Remedy::new();
        }
        let line = match &self.context.failure.cwd {
            Some(cwd) if !name.starts_with('/') => {
                format!("cd {} && chmod +x {}", word(cwd), word(name))
            }
            _ => format!("chmod +x {}", word(name)),
        };
        let first_line = self.first_line(&file);
        let by_ending = by_ending(&file);
        // Without a first line that names one, a shell takes whatever it is.
        let is_for_a_shell = matches!(by_ending, None | Some("sh"));
        let remedy = match first_line.is_some() || is_for_a_shell {
            true => Remedy::new().say("Make it executable:").run(line),
            false => Remedy::new(),
        };
        let remedy = match first_line.or_else(|| by_ending.map(|name| vec![name.to_owned()])) {
            Some(interpreter) => {
                let (program, own) = (&interpreter[0], &interpreter[1..]);
                let words = own.iter().cloned().chain([name.to_owned()]);
                let words: Vec<String> = words.chain(started.words()).collect();
                let what = match remedy.is_empty() {
                    true => "Its first line names no interpreter; write that before it,",
                    false => "Or have its interpreter start it; write",
                };
                remedy.write(what, started.command_and_args(program, &words))
            }
            None => remedy,
        };
        remedy.instead_of(&["make-executable"])
    }

    /// What the first line of a script names, with its own arguments; `env` looks
    /// for a program in the PATH, as clients do.
    fn first_line(&self, file: &Path) -> Option<Vec<String>> {
        let sight = self.context.sight;
        if !sight.head(file).starts_with(b"#!") {
            return None;
        }
        let text = sight.text(file)?;
        let words = text.lines().next()?.strip_prefix("#!")?.split_whitespace();
        let words: Vec<String> = words.map(str::to_owned).collect();
        let skipped = match words.as_slice() {
            [env, flag, ..] if env.ends_with("/env") && flag == "-S" => 2,
            [env, ..] if env.ends_with("/env") => 1,
            _ => 0,
        };
        let named = words.get(skipped..)?;
        (!named.is_empty()).then(|| named.to_vec())
    }
}

fn by_ending(file: &Path) -> Option<&'static str> {
    let ending = file.extension()?.to_str()?;
    let mut known = BY_ENDING.iter();
    known.find_map(|(own, program)| (*own == ending).then_some(*program))
}
