//! The values that faults take, as they are written.

use super::fault::{Ask, EchoForm, End, Grandchild, Kind, Signal};

/// The value itself.
///
/// # Errors
/// There is none.
pub fn required(value: Option<&str>) -> Result<String, String> {
    value
        .map(str::to_owned)
        .ok_or_else(|| "needs a value".to_owned())
}

/// A JSON pointer to something within a message.
///
/// # Errors
/// It is none.
pub fn pointer(text: &str) -> Result<String, String> {
    if text.starts_with('/') {
        Ok(text.to_owned())
    } else {
        Err(format!(
            "`{text}` is not a JSON pointer: it begins with a slash"
        ))
    }
}

/// A JSON pointer, a space, and a value.
///
/// # Errors
/// It is not that.
pub fn pointed_value(value: &str) -> Result<Kind, String> {
    let (path, text) = value.split_once(' ').ok_or("the value is POINTER JSON")?;
    let value = serde_json::from_str(text).map_err(|why| format!("`{text}` is not JSON: {why}"))?;
    Ok(Kind::Set {
        pointer: pointer(path)?,
        value,
    })
}

/// A whole number.
///
/// # Errors
/// It is none.
pub fn count(text: &str) -> Result<u32, String> {
    text.parse()
        .map_err(|_| format!("`{text}` is not a whole number"))
}

/// What a word stands for.
///
/// # Errors
/// It is none of these.
pub fn word<T: Clone>(text: &str, known: &[(&str, T)]) -> Result<T, String> {
    let found = known.iter().find(|(name, _)| *name == text);
    found.map(|(_, meant)| meant.clone()).ok_or_else(|| {
        let names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
        format!("`{text}` is none of {}", names.join(", "))
    })
}

/// An exit code or a signal.
///
/// # Errors
/// It is neither.
pub fn end(text: &str) -> Result<End, String> {
    // What a parent sees of an exit code is its last eight bits.
    if let Ok(code) = text.parse::<u8>() {
        return Ok(End::Code(i32::from(code)));
    }
    signal(text)
        .map(End::Signal)
        .map_err(|_| format!("`{text}` is neither an exit code (0 to 255) nor a signal"))
}

/// The signals a fault can name; what a shell calls them.
const SIGNALS: [(&str, rustix::process::Signal); 14] = [
    ("HUP", rustix::process::Signal::HUP),
    ("INT", rustix::process::Signal::INT),
    ("QUIT", rustix::process::Signal::QUIT),
    ("ILL", rustix::process::Signal::ILL),
    ("TRAP", rustix::process::Signal::TRAP),
    ("ABRT", rustix::process::Signal::ABORT),
    ("BUS", rustix::process::Signal::BUS),
    ("FPE", rustix::process::Signal::FPE),
    ("KILL", rustix::process::Signal::KILL),
    ("SEGV", rustix::process::Signal::SEGV),
    ("USR1", rustix::process::Signal::USR1),
    ("USR2", rustix::process::Signal::USR2),
    ("ALRM", rustix::process::Signal::ALARM),
    ("TERM", rustix::process::Signal::TERM),
];

/// `KILL`, `SIGKILL` or `sigkill`.
///
/// # Errors
/// A sentence that names the signals.
pub fn signal(text: &str) -> Result<Signal, String> {
    let upper = text.to_ascii_uppercase();
    let name = upper.strip_prefix("SIG").unwrap_or(&upper);
    SIGNALS
        .iter()
        .find(|(known, _)| *known == name)
        .map(|(_, signal)| Signal(*signal))
        .ok_or_else(|| {
            let known: Vec<&str> = SIGNALS.iter().map(|(name, _)| *name).collect();
            format!("`{text}` is no signal of {}", known.join(", "))
        })
}

/// What to ask the client.
///
/// # Errors
/// Nothing a server may ask.
pub fn ask(text: &str) -> Result<Ask, String> {
    let known = [
        ("ping", Ask::Ping),
        ("roots", Ask::Roots),
        ("sampling", Ask::Sampling),
        ("elicitation", Ask::Elicitation),
    ];
    word(text, &known)
}

/// `NAME[,FORM]`.
///
/// # Errors
/// No name, or an unknown form.
pub fn echo_env(value: Option<&str>) -> Result<Kind, String> {
    let text = required(value)?;
    let (name, form) = text.split_once(',').unwrap_or((&text, "plain"));
    let known = [
        ("plain", EchoForm::Plain),
        ("split", EchoForm::Split),
        ("url", EchoForm::Url),
        ("base64", EchoForm::Base64),
        ("json", EchoForm::Json),
        ("result", EchoForm::Result),
    ];
    let form = word(form.trim(), &known)?;
    Ok(Kind::EchoEnv {
        name: name.trim().to_owned(),
        form,
    })
}

/// `PIDFILE[,setsid][,holds]`.
///
/// # Errors
/// No file, or an unknown manner.
pub fn grandchild(value: Option<&str>) -> Result<Kind, String> {
    let text = required(value)?;
    let mut parts = text.split(',').map(str::trim);
    let mut child = Grandchild {
        pid_file: parts.next().unwrap_or_default().to_owned(),
        setsid: false,
        holds: false,
    };
    if child.pid_file.is_empty() {
        return Err("needs the path of a file for its process id".to_owned());
    }
    for part in parts {
        match part {
            "setsid" => child.setsid = true,
            "holds" => child.holds = true,
            other => return Err(format!("`{other}` is none of setsid, holds")),
        }
    }
    Ok(Kind::Grandchild(child))
}

#[cfg(test)]
mod tests {
    use super::{end, signal};

    #[test]
    fn a_signal_has_three_spellings_and_an_unknown_one_lists_the_others() {
        assert_eq!(signal("KILL"), signal("SIGKILL"));
        assert_eq!(signal("sigkill"), signal("SIGKILL"));
        assert!(signal("SIGNOPE").unwrap_err().contains("SEGV"));
    }

    #[test]
    fn an_exit_code_has_eight_bits() {
        assert!(end("255").is_ok());
        assert!(end("256").is_err());
        assert!(end("-1").is_err());
    }
}
