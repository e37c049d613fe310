//! Codes by which services, clouds and databases say why they refuse: who meets the same one
//! fails of the same.

use super::wanted::without_wanted;
use jelly_base::text::{LazyPattern, WordList};

/// The codes by which services say why they refuse, with the host where one is told:
/// `TOKEN_EXPIRED`. The names of fields and classes only look so.
pub(super) fn codes(text: &str) -> Vec<String> {
    static CODE: LazyPattern = LazyPattern::new(
        r#"(?i)['"=]([a-z]+(?:_[a-z]+)*_(?:expired|revoked|exceeded|suspended|locked|exhausted|unverified))\b(['"]?\s*:)?"#,
    );
    static HOST: LazyPattern = LazyPattern::new(r"https?://([A-Za-z][\w.-]*)");
    let came = without_wanted(text);
    let host = HOST.captures(text).and_then(|found| found.get(1));
    let host = host
        .map(|host| host.as_str())
        .filter(|host| *host != "localhost");
    let found = CODE.captures_iter(&came);
    let found = found.filter(|found| found.get(2).is_none());
    let codes = found.filter_map(|found| Some(found.get(1)?.as_str().to_ascii_lowercase()));
    let codes = codes.filter(|code| !code.starts_with("is_") && !code.starts_with("has_"));
    codes
        .map(|code| format!("{code} {}", host.unwrap_or_default()))
        .collect()
}

/// The variant of an error type of a Rust program, which tests meet as what they unwrap and as
/// what they compare. Those of the standard library come of anything.
pub(super) fn variant(text: &str) -> Option<&str> {
    static VARIANT: LazyPattern = LazyPattern::ascii(
        r"(?:on an `Err` value: |\bErr\(|\bpanicked at [^\n]{1,400}:\n[^\n:]{1,80}: )(?P<name>[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]+)+)(?:[({ ]|$)",
    );
    const OF_ANYTHING: [&str; 5] = ["Error", "Elapsed", "Timeout", "Exception", "Refused"];
    // std::io::ErrorKind
    const OF_STD: WordList = WordList(
        "NotFound PermissionDenied ConnectionReset ConnectionAborted NotConnected AddrInUse \
         AddrNotAvailable BrokenPipe AlreadyExists WouldBlock NotADirectory IsADirectory \
         DirectoryNotEmpty InvalidInput InvalidData TimedOut WriteZero StorageFull UnexpectedEof \
         OutOfMemory",
    );
    // Names of products and formats are written so, too.
    const NAMES: WordList = WordList(
        "GitHub GitLab MacBook JavaScript TypeScript PostgreSQL MongoDB YouTube LinkedIn PayPal \
         OpenSSL WebSocket OAuth MacOs GraphQl BitBucket CloudFlare DynamoDb RabbitMq CircleCi",
    );
    if !["`Err`", "Err(", "panicked at "]
        .iter()
        .any(|sign| text.contains(sign))
    {
        return None;
    }
    let name = VARIANT.captures(text)?.name("name")?.as_str();
    let is_of_program =
        !NAMES.has(name) && !OF_ANYTHING.iter().any(|end| name.ends_with(end)) && !OF_STD.has(name);
    is_of_program.then_some(name)
}

/// The codes by which clouds say that who asks is known no more, with whom that is about.
pub(super) fn cloud_code(text: &str) -> Option<String> {
    static CODE: LazyPattern = LazyPattern::new(
        r"\bAn error occurred \((Expired\w*|RequestExpired|InvalidClientTokenId|InvalidAccessKeyId|UnrecognizedClient\w*)\)|\b(AADSTS7\d+): [^\n]{0,60}?\b(?:app|application) '([0-9a-f-]{36})'",
    );
    if !text.contains("An error occurred (") && !text.contains("AADSTS") {
        return None;
    }
    let found = CODE.captures(text)?;
    let parts = found.iter().skip(1).flatten().map(|part| part.as_str());
    Some(parts.collect::<Vec<_>>().join(" "))
}

/// The code by which PostgreSQL refuses a session, with its name: all that ask then are
/// refused for it.
pub(super) fn fatal_code(text: &str) -> Option<&str> {
    static CODE: LazyPattern =
        LazyPattern::new(r"\bFATAL:? ((?:08|28|3D|53|57)[0-9A-Z]{3} \(\w+\))");
    if !text.contains("FATAL") {
        return None;
    }
    Some(CODE.captures(text)?.get(1)?.as_str())
}

#[cfg(test)]
mod tests {
    use super::variant;

    #[test]
    fn only_a_variant_of_the_program_s_own_errors_is_one() {
        for (text, told) in [
            (
                "called `Result::unwrap()` on an `Err` value: MissingDecimals(\"2\")",
                Some("MissingDecimals"),
            ),
            (
                "left: Err(MissingDecimals(\"12\")) right: Ok(Cents(1200))",
                Some("MissingDecimals"),
            ),
            (
                "thread 'prices' panicked at src/a.rs:3:4:\nvalid prices: MissingDecimals(\"10\")",
                Some("MissingDecimals"),
            ),
            ("left: Err(InvalidInput(\"bad date\"))", None),
            ("EnvironmentError: PayPal needs PAYPAL_KEY", None),
            ("RuntimeError: OrderService has no depot", None),
            ("Error: expect(received): GitHub (x)", None),
        ] {
            assert_eq!(variant(text), told, "{text}");
        }
    }
}
