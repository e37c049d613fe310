//! What a shell takes for a line, and where its words end.

/// Which of the words are lines of a shell: what follows its `-c`. `program` is what they
/// are given to, and empty where it is one of them.
#[must_use]
pub fn shell_lines<S: AsRef<str>>(program: &str, words: &[S]) -> Vec<bool> {
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
    is_open: bool,
    is_line_next: bool,
    is_option_next: bool,
}

impl Shell {
    /// Reads the next word; whether that is a line.
    fn reads(&mut self, word: &str) -> bool {
        let is_line = std::mem::take(&mut self.is_line_next);
        let is_option = std::mem::take(&mut self.is_option_next);
        if is_line {
            self.is_open = false;
        } else if word.starts_with(['-', '+']) {
            self.is_line_next = self.is_open && takes_line(word);
            self.is_option_next = word.ends_with('o') || matches!(word, "--rcfile" | "--init-file");
        } else if !is_option {
            self.is_open = is_shell(word);
        }
        is_line
    }
}

fn is_shell(program: &str) -> bool {
    const SHELLS: &[&str] = &["sh", "bash", "zsh", "dash", "ash", "ksh", "fish"];
    let name = program.rsplit(['/', '\\']).next().unwrap_or_default();
    let name = name.to_ascii_lowercase();
    SHELLS.contains(&name.strip_suffix(".exe").unwrap_or(&name))
}

/// Whether a shell takes the word behind this flag for a line: `-c`, `-lc`.
fn takes_line(flag: &str) -> bool {
    const LETTERS: usize = 5;
    flag.strip_prefix('-').is_some_and(|letters| {
        letters.len() <= LETTERS
            && letters.ends_with('c')
            && letters.bytes().all(|byte| byte.is_ascii_lowercase())
    })
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

/// The length of a word as a shell reads it: quotes, brackets and backquotes hold it
/// together wherever they stand, and run to the end where they are not closed.
pub(super) fn shell_word(text: &str) -> usize {
    // What closes what is open, the innermost last.
    let mut open: Vec<char> = Vec::new();
    let mut before = ' ';
    let mut letters = text.char_indices();
    while let Some((at, c)) = letters.next() {
        let inside = open.last().copied();
        if inside == Some(c) {
            open.pop();
        } else if inside == Some('\'') {
            // All but its end stands for itself.
        } else if c == '\\' {
            letters.next();
        } else if inside.is_none() && ends_word(c) {
            return at;
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
    text.len()
}
