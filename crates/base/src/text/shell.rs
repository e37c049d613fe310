//! Words for a POSIX shell.

/// Of the ports that no standard and no system gives away by itself.
const SOME_PORT: &str = "18080";

/// `word` as a shell reads it back, byte for byte: bare where nothing in it
/// means anything to a shell, in single quotes otherwise.
#[must_use]
pub fn shell_word(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:@%+,".contains(c);
    // In front of a command, `A=b` would set a variable; behind it not.
    let plain = |c: char| plain(c) || c == '=';
    if !word.is_empty() && word.chars().all(plain) && !word.starts_with('~') {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// A command to paste. Reports call a port that was free at the time `${port}`,
/// which a shell would not understand: any other that is free does as well.
#[must_use]
pub fn shell_command(argv: &[String]) -> String {
    let words: Vec<String> = argv
        .iter()
        .map(|word| shell_word(&word.replace("${port}", SOME_PORT)))
        .collect();
    words.join(" ")
}

/// The same, run in a folder: in the one where it is pasted without one.
#[must_use]
pub fn shell_command_in(folder: Option<&str>, argv: &[String]) -> String {
    let command = shell_command(argv);
    match folder.filter(|folder| !folder.is_empty()) {
        Some(folder) => format!("cd {} && {command}", shell_word(folder)),
        None => command,
    }
}

/// Whether a word can stand on one line of a script, and be an argument of a
/// process at all: no line ends, no NUL, nothing that a terminal obeys.
#[must_use]
pub fn is_sayable(word: &str) -> bool {
    !word.chars().any(char::is_control)
}

#[cfg(test)]
mod tests {
    use super::{shell_command, shell_word};
    use proptest::prelude::*;
    use std::process::Command;

    /// What a real shell makes of the words of a command.
    fn read_back(words: &[String]) -> Vec<String> {
        let quoted: Vec<String> = words.iter().map(|word| shell_word(word)).collect();
        let script = format!("printf '%s\\0' {}", quoted.join(" "));
        let output = Command::new("sh").args(["-c", &script]).output().unwrap();
        assert!(output.status.success(), "{script}");
        let text = String::from_utf8(output.stdout).unwrap();
        text.split_terminator('\0').map(str::to_owned).collect()
    }

    #[test]
    fn what_a_shell_would_obey_comes_back_as_it_was() {
        let words = [
            "", "-rf", "~", "$HOME", "`id`", "$(id)", "a b", "it's", "\"", "\\", "!!", "*", "?",
            "[a]", "{a,b}", "a;b", "a|b", "a&b", ">x", "#x", "a\nb", "'", "''", "é☃", "=x",
        ]
        .map(str::to_owned);
        assert_eq!(read_back(&words), words);
    }

    #[test]
    fn a_command_holds_a_port_and_not_the_name_that_reports_have_for_it() {
        let argv = ["serve", "--port", "${port}", "http://h:${port}/a b"].map(str::to_owned);
        assert_eq!(
            shell_command(&argv),
            "serve --port 18080 'http://h:18080/a b'"
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn any_words_come_back_as_they_were(
            words in proptest::collection::vec("[^\\x00]{0,40}", 1..8)
        ) {
            prop_assert_eq!(read_back(&words), words);
        }
    }
}
