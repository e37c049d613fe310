//! Small things done to texts: redaction, truncation, plurals, durations.
//!
//! Pure functions on strings. Must know nothing of failures, plans or servers.

mod address;
mod code_file;
mod difference;
mod disarm;
mod file_name;
mod harmless;
mod jsonc;
pub mod launchers;
mod modes;
mod names;
mod numbers;
mod order;
mod pattern;
mod placeholder;
mod pypi;
mod quoted;
pub mod redact;
mod shell;
mod stable;
mod tree;
mod volatile;
mod word_list;
mod words;

pub use address::{THIS_MACHINE, address, addresses};
pub use code_file::is_code_file;
pub use difference::{first_difference, hunks, is_long, untold};
pub use disarm::{Disarmer, Disarming, Notation, disarmed};
pub use file_name::file_name;
pub use harmless::{is_blank, is_unseen, sanitize, strip_ansi};
pub use jsonc::{JsonSlip, JsoncError, parse_jsonc, refused_by_strict_json, without_mark};
pub use modes::{
    HttpPart, address_words, http_parts, http_variables, listening_line, listening_ports,
};
pub use names::{close_names, did_you_mean};
pub use numbers::{is_whole, order, read_number, roughly, same};
pub use order::natural_cmp;
pub use pattern::{LazyBytePattern, LazyPattern, ascii_classes};
pub use placeholder::is_placeholder;
pub use pypi::{is_known_module, package_to_install, pypi_package};
pub use quoted::{Lines, Quoted, render_quoted};
pub use shell::{
    TMP, is_sayable, shell_command, shell_flag, shell_path, shell_word, start_by_hand, with_a_port,
};
pub use stable::{MOMENT, UUID, stable_name};
pub use tree::{TREE_BYTES, is_too_large, is_too_large_json, read_json, tree_bytes, tree_bytes_of};
pub use volatile::{Varying, Volatile, varying, without_volatile};
pub use word_list::{WordList, WordSet};
pub use words::{
    capitalised, first_names, holds_whole, human_duration, is_variable_name, json_type, lines,
    listed, one_line, plural, truncate, truncate_middle, variable_name, without_numbers,
};
