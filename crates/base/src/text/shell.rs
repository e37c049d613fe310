//! Words for a POSIX shell.

use super::redact::MARK;
use super::words::is_variable_name;

/// What stands for a secret begins so, where its name is known.
const NAMED_SECRET: &str = "[secret ";

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

/// The path of a file as an operand of a command, as a word of a shell: one that
/// begins like a flag is named from its folder. A `-` alone is stdin.
#[must_use]
pub fn shell_path(path: &str) -> String {
    match path.starts_with('-') && path.len() > 1 {
        true => shell_word(&format!("./{path}")),
        false => shell_word(path),
    }
}

/// A flag and its value as words of a shell; joined where the value would pass
/// for another flag.
#[must_use]
pub fn shell_flag(flag: &str, value: &str) -> String {
    match value.starts_with('-') {
        true => shell_word(&format!("{flag}={value}")),
        false => format!("{flag} {}", shell_word(value)),
    }
}

/// What reports call the folder that only one iteration has.
pub const TMP: &str = "${tmp}";

/// A command to paste. Reports call a port that was free at the time `${port}`,
/// which a shell would not understand: any other that is free does as well.
#[must_use]
pub fn shell_command(argv: &[String]) -> String {
    let words: Vec<String> = argv
        .iter()
        .map(|word| shell_word(&with_a_port(word)))
        .collect();
    words.join(" ")
}

/// Whatever port the report was about, one that is most likely free.
#[must_use]
pub fn with_a_port(text: &str) -> String {
    text.replace("${port}", SOME_PORT)
}

/// What starts a server by hand: in its folder, with the variables that are set
/// for it. For the folder of an iteration it makes one, and a secret comes from
/// the variable that holds it.
#[must_use]
pub fn start_by_hand(folder: Option<&str>, variables: &[(&str, &str)], argv: &[String]) -> String {
    // A shell takes other names for a command.
    let by_env = variables.iter().any(|(name, _)| !is_variable_name(name));
    let assignments = variables.iter().map(|(name, value)| {
        let is_secret = value.contains(MARK);
        match (is_secret, is_variable_name(name)) {
            (true, true) => format!("{name}=\"${name}\""),
            (true, false) => shell_word(&format!("{name}=<value>")),
            (false, true) => format!("{name}={}", expanded(value)),
            (false, false) => expanded(&format!("{name}={value}")),
        }
    });
    let words: Vec<String> = by_env
        .then(|| "env".to_owned())
        .into_iter()
        .chain(assignments)
        .chain(argv.iter().map(|word| expanded(word)))
        .collect();
    let folder = folder.filter(|folder| !folder.is_empty());
    let values = variables.iter().map(|(_, value)| *value);
    let texts = values.chain(argv.iter().map(String::as_str)).chain(folder);
    let mut command = String::new();
    if texts.into_iter().any(|text| text.contains(TMP)) {
        command.push_str("tmp=$(mktemp -d) && ");
    }
    if let Some(folder) = folder {
        command.push_str(&format!("cd {} && ", expanded(folder)));
    }
    command + &words.join(" ")
}

/// A word with variables of the shell for what only a run has.
fn expanded(word: &str) -> String {
    let word = with_a_port(word);
    let (mut line, mut rest) = (String::new(), word.as_str());
    while let Some((before, variable, after)) = split_at_variable(rest) {
        if !before.is_empty() {
            line.push_str(&shell_word(before));
        }
        line.push_str(&format!("\"${variable}\""));
        rest = after;
    }
    if !rest.is_empty() || line.is_empty() {
        line.push_str(&shell_word(rest));
    }
    line
}

/// The first `${tmp}`, or mark of a secret that has the name of a variable, with
/// what is before and behind it.
fn split_at_variable(text: &str) -> Option<(&str, &str, &str)> {
    let is_upper = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    let secret = text.match_indices(NAMED_SECRET).find_map(|(at, mark)| {
        let (name, after) = text[at + mark.len()..].split_once(']')?;
        let is_one = is_variable_name(name) && name.chars().all(is_upper);
        is_one.then_some((at, name, after))
    });
    let tmp = text.find(TMP);
    match (tmp, secret) {
        (Some(tmp), Some((at, name, after))) if at < tmp => Some((&text[..at], name, after)),
        (Some(tmp), _) => Some((&text[..tmp], "tmp", &text[tmp + TMP.len()..])),
        (None, Some((at, name, after))) => Some((&text[..at], name, after)),
        (None, None) => None,
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
    use super::{shell_command, shell_flag, shell_path, shell_word, start_by_hand};
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
    fn a_file_or_value_that_begins_like_a_flag_is_none() {
        assert_eq!(shell_path("-q $x.yaml"), "'./-q $x.yaml'");
        assert_eq!(shell_path("--list"), "./--list");
        assert_eq!(shell_path("-"), "-");
        assert_eq!(shell_path("a/-q.yaml"), "a/-q.yaml");
        assert_eq!(shell_flag("--only", "-x y"), "'--only=-x y'");
        assert_eq!(shell_flag("--only", "x y"), "--only 'x y'");
    }

    #[test]
    fn a_command_holds_a_port_and_not_the_name_that_reports_have_for_it() {
        let argv = ["serve", "--port", "${port}", "http://h:${port}/a b"].map(str::to_owned);
        assert_eq!(
            shell_command(&argv),
            "serve --port 18080 'http://h:18080/a b'"
        );
    }

    #[test]
    fn a_server_starts_by_hand_with_a_folder_of_its_own_and_its_variables() {
        let argv = [
            "srv",
            "--db",
            "${tmp}/x y.db",
            "--port=${port}",
            "k=[secret K_1]",
        ];
        let argv = argv.map(str::to_owned);
        let variables = [("A", "a b"), ("T", "[secret KEY]"), ("P", "x[secret]")];
        assert_eq!(
            start_by_hand(Some("${tmp}"), &variables, &argv),
            r#"tmp=$(mktemp -d) && cd "$tmp" && A='a b' T="$KEY" P="$P" srv --db "$tmp"'/x y.db' --port=18080 k="$K_1""#
        );
        let odd = [("my-var", "x y"), ("X; touch y #_TOKEN", "[secret]")];
        assert_eq!(
            start_by_hand(Some(""), &odd, &["[secret --key]".to_owned()]),
            "env 'my-var=x y' 'X; touch y #_TOKEN=<value>' '[secret --key]'"
        );
        assert_eq!(
            start_by_hand(Some("/a b"), &[], &["s".into()]),
            "cd '/a b' && s"
        );
        // A shell reads it as it is meant.
        let shown = ["printf", "%s|", "${tmp}/a", "[secret IT_S]"].map(str::to_owned);
        let script = start_by_hand(None, &[], &shown);
        let shell = Command::new("sh")
            .args(["-c", &script])
            .env("IT_S", "it's; $x")
            .output();
        let said = String::from_utf8(shell.unwrap().stdout).unwrap();
        let (folder, secret) = said.split_once("/a|").unwrap();
        assert!(folder.starts_with('/') && secret == "it's; $x|", "{said}");
        std::fs::remove_dir(folder).unwrap();
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
