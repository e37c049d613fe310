//! What a shell takes for a line, and where its words end.

/// How a shell quotes, escapes, and ends its words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Language {
    Posix,
    Fish,
    PowerShell,
    Cmd,
}

/// Which of the words are lines of a shell: what follows its `-c`. `program` is what they
/// are given to, and empty where it is one of them.
#[must_use]
pub fn shell_lines<S: AsRef<str>>(program: &str, words: &[S]) -> Vec<bool> {
    let languages = line_languages(program, words);
    languages.iter().map(Option::is_some).collect()
}

/// The same, with the language of the shell that reads it.
pub(super) fn line_languages<S: AsRef<str>>(program: &str, words: &[S]) -> Vec<Option<Language>> {
    let mut shell = Shell::default();
    // It may have words of its own, as `env sh` has.
    for word in program.split_whitespace() {
        shell.reads(word);
    }
    words
        .iter()
        .map(|word| shell.reads(word.as_ref()))
        .collect()
}

/// Where in the words of a shell one is.
#[derive(Default)]
struct Shell {
    /// Before its line or its script.
    open: Option<Language>,
    /// It goes on behind a word that is neither, as behind the user of `su`.
    stays_open: bool,
    is_line_next: bool,
    is_option_next: bool,
}

impl Shell {
    /// Reads the next word; whose line that is.
    fn reads(&mut self, word: &str) -> Option<Language> {
        let is_line = std::mem::take(&mut self.is_line_next);
        let is_option = std::mem::take(&mut self.is_option_next);
        let is_flag = word.starts_with(['-', '+']) || self.is_switch(word);
        if is_line && is_flag && self.is_bare_flag(word) {
            // `sh -c -e LINE`
            self.is_line_next = true;
        } else if is_line || self.is_positional(word) {
            return self.line(word);
        } else if is_flag {
            self.is_line_next = self.open.is_some_and(|language| takes_line(word, language));
            self.is_option_next =
                word.ends_with(['o', 'O']) || matches!(word, "--rcfile" | "--init-file");
            if is_script_flag(word, self.open) {
                self.open = None;
            }
            if word.starts_with("--command=") {
                return self.open;
            }
        } else if let Some(language) = language_of(word) {
            // `su bob -s /bin/sh -c LINE`
            self.stays_open = self.stays_open && self.open.is_some() || is_runner(word);
            self.stays_open |= language == Language::PowerShell;
            self.open = Some(language);
        } else if !is_option && (!self.stays_open || word.ends_with(".ps1")) {
            self.open = None;
        }
        None
    }

    /// Whose line this word is, which stands where one does.
    fn line(&mut self, word: &str) -> Option<Language> {
        let language = self.open?;
        // Fish takes several.
        self.open = (language == Language::Fish).then_some(language);
        // Of a command in words, as `cmd /c npx -y x`, it is the program.
        let is_program = matches!(language, Language::Cmd | Language::PowerShell)
            && !word.contains(|c: char| c.is_whitespace() || c == '=');
        (!is_program).then_some(language)
    }

    /// `/s`, as cmd writes its flags.
    fn is_switch(&self, word: &str) -> bool {
        self.open == Some(Language::Cmd) && word.starts_with('/')
    }

    /// Whether this is a flag that can stand between `-c` and the line.
    fn is_bare_flag(&self, word: &str) -> bool {
        let letters = word.trim_start_matches(['-', '+']);
        self.open == Some(Language::Posix)
            && letters.len() <= FLAG_LETTERS
            && letters.bytes().all(|byte| byte.is_ascii_alphabetic())
    }

    /// Whether this is a line without a flag before it, as PowerShell takes one.
    fn is_positional(&self, word: &str) -> bool {
        self.open == Some(Language::PowerShell)
            && !word.starts_with('-')
            && word.contains(char::is_whitespace)
    }
}

/// Flags written together, at most.
const FLAG_LETTERS: usize = 5;

/// The name of a program without its folder, in lower case.
fn program_name(program: &str) -> String {
    let name = program.rsplit(['/', '\\']).next().unwrap_or_default();
    let name = name.to_ascii_lowercase();
    match name.strip_suffix(".exe") {
        Some(stem) => stem.to_owned(),
        None => name,
    }
}

fn language_of(program: &str) -> Option<Language> {
    Some(match program_name(program).as_str() {
        "sh" | "bash" | "rbash" | "zsh" | "dash" | "ash" | "ksh" | "mksh" | "oksh" | "pdksh"
        | "yash" | "posh" | "csh" | "tcsh" | "nu" | "elvish" | "xonsh" | "su" | "runuser"
        | "flock" | "nix-shell" => Language::Posix,
        "fish" => Language::Fish,
        "powershell" | "pwsh" | "powershell_ise" => Language::PowerShell,
        "cmd" => Language::Cmd,
        _ => return None,
    })
}

/// A program that gives a line to a shell, and takes other words before it.
fn is_runner(program: &str) -> bool {
    const RUNNERS: [&str; 4] = ["su", "runuser", "flock", "nix-shell"];
    RUNNERS.contains(&program_name(program).as_str())
}

/// Whether what follows this flag is a script and the words of that.
fn is_script_flag(flag: &str, shell: Option<Language>) -> bool {
    let flag = flag.to_ascii_lowercase();
    shell == Some(Language::PowerShell)
        && flag.len() > 1
        && ("-file".starts_with(&flag) || "-encodedcommand".starts_with(&flag))
}

/// Whether a shell takes the word behind this flag for a line: `-c`, `-lc`, `-Command`, `/c`.
fn takes_line(flag: &str, language: Language) -> bool {
    let folded = flag.to_ascii_lowercase();
    let letters = flag.strip_prefix('-').unwrap_or_default();
    let is_short = letters.len() <= FLAG_LETTERS
        && letters.contains('c')
        && letters.bytes().all(|byte| byte.is_ascii_lowercase());
    match language {
        Language::Posix => is_short || matches!(flag, "--command" | "--commands" | "--run"),
        Language::Fish => is_short || matches!(flag, "-C" | "--command" | "--init-command"),
        Language::PowerShell => {
            let name = folded.trim_start_matches('-');
            !name.is_empty() && ("command".starts_with(name) || name == "commandwithargs")
        }
        Language::Cmd => matches!(folded.as_str(), "/c" | "/k" | "/r"),
    }
}

/// Whether a text ends with a flag behind which a shell takes a line.
pub(super) fn ends_with_line_flag(text: &str) -> bool {
    const LOOKED_AT: usize = 16;
    let text = text.trim_end_matches(' ');
    let text = &text[text.ceil_char_boundary(text.len().saturating_sub(LOOKED_AT))..];
    let flag = text.rsplit([' ', '\t', '\n']).next().unwrap_or_default();
    [Language::Posix, Language::PowerShell, Language::Cmd]
        .into_iter()
        .any(|language| takes_line(flag, language))
}

pub(super) fn ends_word(letter: char) -> bool {
    letter.is_whitespace() || letter == ';'
}

/// The length of a word that may be anybody's: only quotes at the beginning of it or of a
/// value hold it together, and only where they are closed.
pub(super) fn loose_word(text: &str) -> usize {
    let (mut quote, mut before) = (None, None);
    for (at, c) in text.char_indices() {
        let opens = || {
            let begins = |c: char| ends_word(c) || matches!(c, '=' | ':');
            let is_begin = matches!(c, '"' | '\'') && before.is_none_or(begins);
            is_begin && text.get(at + 1..).is_some_and(|rest| rest.contains(c))
        };
        if quote == Some(c) {
            quote = None;
        } else if quote.is_none() && opens() {
            quote = Some(c);
        } else if quote.is_none() && ends_word(c) {
            return at;
        }
        before = Some(c);
    }
    text.len()
}

/// Bytes of a word that are looked at for its end.
const LONGEST_WORD: usize = 2_048;

/// The length of a word as a shell reads it: quotes, brackets and backquotes hold it
/// together wherever they stand, and run to the end where they are not closed. Of a word
/// that is too long to be looked at, none.
pub(super) fn shell_word(text: &str) -> Option<usize> {
    // What closes what is open, the innermost last.
    let mut open: Vec<char> = Vec::new();
    let mut before = ' ';
    let mut letters = text.char_indices();
    while let Some((at, c)) = letters.next() {
        if at > LONGEST_WORD {
            return None;
        }
        let inside = open.last().copied();
        if inside == Some(c) {
            open.pop();
        } else if inside == Some('\'') {
            // All but its end stands for itself.
        } else if c == '\\' {
            letters.next();
        } else if inside.is_none() && ends_word(c) {
            return Some(at);
        } else {
            match c {
                '"' | '`' => open.push(c),
                '\'' if inside != Some('"') => open.push(c),
                '(' if before == '$' || inside == Some(')') => open.push(')'),
                '{' if before == '$' => open.push('}'),
                _ => {}
            }
        }
        before = c;
    }
    Some(text.len())
}

/// Whether a word of a POSIX shell spells a value out by escapes, or by quotes around a part of
/// it, so that no quotes can be left around what takes its place.
pub(super) fn is_pieced(word: &str) -> bool {
    // `$'` opens quotes too.
    let word = match word.strip_prefix('$') {
        Some(quoted) if quoted.starts_with('\'') => quoted,
        Some(_) | None => word,
    };
    let quoted = word.chars().next().filter(|c| "\"'".contains(*c));
    let inside = quoted.and_then(|quote| word.strip_prefix(quote)?.strip_suffix(quote));
    let whole = inside.zip(quoted);
    let is_quoted = whole.is_some_and(|(inside, quote)| !inside.contains(quote));
    !is_quoted && word.contains(['\\', '\'', '"'])
}

/// Whether a POSIX shell puts something else in the place of a part of a word.
pub(super) fn is_expanded(word: &str) -> bool {
    let mut is_single = false;
    let mut letters = word.chars();
    while let Some(c) = letters.next() {
        match c {
            '\'' => is_single = !is_single,
            '\\' if !is_single => drop(letters.next()),
            '$' | '`' if !is_single => return true,
            _ => {}
        }
    }
    false
}
