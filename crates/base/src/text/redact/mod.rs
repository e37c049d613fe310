//! Secrets never leave jelly: every text is redacted before it is kept.
//!
//! [`Redactor`] masks what is known to be secret, wherever and in whatever form
//! it stands. [`looks_secret`] and its neighbours tell what is secret by its
//! name, its place or its own form, for what nobody has called so:
//! [`show_argv`], [`show_url`], [`show_value`], [`show_text`] and [`mask_json`] mask it, [`secrets_in_argv`]
//! and the like name it.

mod address_keys;
mod blanks;
mod compared;
mod decoded;
mod flags;
mod forms;
mod keys;
mod line_words;
mod members;
mod names;
mod places;
mod prose;
mod redactor;
mod references;
mod requests;
mod shell_reader;
mod shell_secrets;
mod shell_words;
mod shown;
mod views;

pub use blanks::{argv_with_blanks, blank_for, first_blank};
pub use compared::mask_compared;
pub use keys::open_key;
pub use members::mask_json;
pub use names::{has_secret_form, holds_secret, is_password, looks_secret, may_be_secret};
pub use places::{
    AN_ARGUMENT, Found, URL_PASSWORD, secrets_in_args, secrets_in_argv, secrets_in_header,
    secrets_in_line, secrets_in_text, secrets_in_variable,
};
pub use prose::{is_telling, mask_quoted, mask_text, secrets_by_form, secrets_in_prose, show_text};
pub use redactor::{Redactor, StreamRedactor};
pub use shell_words::shell_lines;
pub use shown::{MARK, show_argv, show_url, show_value};
