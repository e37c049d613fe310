//! `JELLY_*` of the environment: which of them count, and which are slips.

use super::{PROFILE, SETTINGS, Setting};
use jelly_base::text::close_names;
use jelly_plan::SettingKind;
use std::env;
use std::ffi::OsString;

/// How all of them begin.
const PREFIX: &str = "JELLY_";
/// Variables that are no settings.
const BESIDES: [&str; 2] = [PROFILE, "JELLY_LOGINS_DIR"];
/// So many letters at the beginning, and somebody may have meant the name.
const ALIKE: usize = 4;

/// The value of a variable. One that is empty counts as not set: pipelines
/// have no other way to unset what stands above them.
pub fn value_of(name: &str) -> Option<OsString> {
    env::var_os(name).filter(|value| !value.is_empty())
}

/// Whether a variable says yes, in one of the words that a switch takes.
pub fn is_on(name: &str) -> bool {
    let says = env::var(name).unwrap_or_default().to_ascii_lowercase();
    ["true", "t", "yes", "y", "on", "1"].contains(&says.as_str())
}

/// Whether the variable is to be asked: it is not set to nothing.
pub fn is_meant(name: &str) -> bool {
    env::var_os(name).is_none_or(|value| !value.is_empty())
}

/// Refuses values that are no text where the settings of a command are told
/// by text.
///
/// # Errors
/// The first, as it is to be printed.
pub fn refuse_no_text(called: &str) -> Result<(), String> {
    let concerned = |setting: &&Setting| {
        let commands = setting.commands.iter();
        let mut first = commands.filter_map(|path| path.split(' ').next());
        called == "config" || first.any(|command| command.is_empty() || command == called)
    };
    let of_settings = SETTINGS.iter().filter(concerned);
    let of_settings = of_settings.filter(|setting| !matches!(setting.key.kind, SettingKind::Path));
    let mut names = of_settings.map(|setting| setting.env).chain([PROFILE]);
    match names.find(|name| value_of(name).is_some_and(|value| value.to_str().is_none())) {
        Some(name) => Err(format!(
            "error: the environment variable {name} holds bytes that are not UTF-8 text\n\
             help: set it anew, or unset it"
        )),
        None => Ok(()),
    }
}

/// Variables that look like settings and are none, in order.
pub fn unknown() -> Vec<String> {
    let names = env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    let mut unknown: Vec<String> = names
        .filter(|name| name.starts_with(PREFIX) && !known().any(|known| known == name))
        .collect();
    unknown.sort();
    unknown
}

fn known() -> impl Iterator<Item = &'static str> {
    SETTINGS.iter().map(|setting| setting.env).chain(BESIDES)
}

/// What to say of those for which a setting may have been meant. Others may be
/// anybody's: a plan may name a variable as it likes.
pub fn slips() -> Vec<String> {
    let told = |name: String| {
        let meant = meant(&name)?;
        Some(format!(
            "the environment variable {name} sets nothing; did you mean {meant}?"
        ))
    };
    unknown().into_iter().filter_map(told).collect()
}

fn meant(name: &str) -> Option<&'static str> {
    let short = |name: &'static str| name.strip_prefix(PREFIX).unwrap_or(name);
    let name = name.strip_prefix(PREFIX)?;
    let close = close_names(name, known().map(short));
    let alike = |known: &str| {
        let shared = known.bytes().zip(name.bytes()).take_while(|(a, b)| a == b);
        shared.count() >= ALIKE
    };
    known()
        .find(|known| close.first().is_some_and(|close| close == short(known)))
        .or_else(|| known().find(|known| alike(short(known))))
}

#[cfg(test)]
mod tests {
    use super::meant;

    #[test]
    fn a_slip_is_told_from_a_name_of_somebody_else() {
        assert_eq!(meant("JELLY_RETRY"), Some("JELLY_RETRIES"));
        assert_eq!(meant("JELLY_REPORT_DIR"), Some("JELLY_REPORTS_DIR"));
        assert_eq!(meant("JELLY_TRIAGE_FORMATS"), Some("JELLY_TRIAGE_FORMAT"));
        for other in ["JELLY_TOKEN", "JELLY_HOME", "JELLY_API_KEY", "JELLY_"] {
            assert_eq!(meant(other), None, "{other}");
        }
    }
}
