//! Words of a command that have a server wait for a debugger.

use crate::doctor::launcher::is_python_launcher;

/// Options of debugpy that take the next word.
const DEBUGPY_VALUES: &[&str] = &[
    "--listen",
    "--connect",
    "--log-to",
    "--adapter-access-token",
    "--configure-subProcess",
    "--pid",
];

/// Debuggers of Python that ask at a prompt.
const PROMPTS: &[&str] = &["pdb", "ipdb", "pudb", "bdb"];

/// The word that has it wait, if one does.
pub(super) fn waits(command: &str, words: &[String]) -> Option<String> {
    let is_python = command.starts_with("python") || is_python_launcher(command);
    let flag = words.iter().find(|word| {
        is_inspector(word)
            || (*word == "--wait-for-client" && words.iter().any(|word| word.contains("debugpy")))
            || word.starts_with("-agentlib:jdwp") && word.contains("suspend=y")
    });
    if let Some(flag) = flag {
        return Some(flag.clone());
    }
    let prompt = words
        .windows(2)
        .find(|pair| is_python && pair[0] == "-m" && PROMPTS.contains(&&*pair[1]))?;
    Some(prompt.join(" "))
}

fn is_inspector(word: &str) -> bool {
    let flag = word.split('=').next().unwrap_or(word);
    matches!(
        flag,
        "--inspect-brk" | "--inspect-wait" | "--inspect-brk-node"
    )
}

/// The words without what has it wait.
pub(super) fn without(words: &[String]) -> Vec<String> {
    let mut kept = Vec::with_capacity(words.len());
    let mut rest = words.iter().peekable();
    let mut in_debugpy = false;
    while let Some(word) = rest.next() {
        let next = rest.peek().map(|next| next.as_str());
        if is_inspector(word) || word.starts_with("-agentlib:jdwp") {
            continue;
        }
        if word == "-m" && next == Some("debugpy") {
            rest.next();
            in_debugpy = true;
            continue;
        }
        if word == "-m" && next.is_some_and(|next| PROMPTS.contains(&next)) {
            rest.next();
            // Commands for the debugger.
            while rest.next_if(|word| *word == "-c").is_some() {
                rest.next();
            }
            continue;
        }
        if in_debugpy {
            if DEBUGPY_VALUES.contains(&word.as_str()) {
                rest.next();
                continue;
            }
            if word == "--wait-for-client" {
                continue;
            }
            in_debugpy = false;
        }
        kept.push(word.clone());
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::{waits, without};

    #[test]
    fn what_waits_for_a_debugger_is_known_and_left_out() {
        for (line, flag, kept) in [
            ("node --inspect-brk=0 a.js x", "--inspect-brk=0", "a.js x"),
            ("bun --inspect-wait run a.ts", "--inspect-wait", "run a.ts"),
            (
                "python3 -m debugpy --listen 1 --wait-for-client -m srv --x",
                "--wait-for-client",
                "-m srv --x",
            ),
            ("python -m pdb -c continue a.py", "-m pdb", "a.py"),
            ("uv run python -m pdb a.py", "-m pdb", "run python a.py"),
        ] {
            let mut words = line.split(' ').map(str::to_owned);
            let command = words.next().unwrap();
            let words: Vec<String> = words.collect();
            assert_eq!(waits(&command, &words).as_deref(), Some(flag), "{line}");
            assert_eq!(without(&words).join(" "), kept);
        }
        for line in [
            "node --inspect a.js",
            "srv --wait-for-client",
            "node -m pdb",
        ] {
            let words: Vec<String> = line.split(' ').skip(1).map(str::to_owned).collect();
            assert_eq!(waits("node", &words), None, "{line}");
        }
    }
}
