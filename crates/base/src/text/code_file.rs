//! Which files hold code, by their names.

use super::word_list::WordList;

/// Endings of files that are run, or that a program loads code from.
const ENDINGS: WordList = WordList(
    ".js .mjs .cjs .ts .mts .cts .tsx .jsx .py .pyz .pyd .rb .sh .bash .php .pl .lua .jar .class \
     .dll .exe .so .dylib .node .bat .cmd .ps1 .wasm .r",
);

/// Whether the name of a file says that it holds code.
#[must_use]
pub fn is_code_file(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    ENDINGS.words().any(|ending| lower.ends_with(ending))
}
