//! Who is away, by a name in words: where no address is told, two names are two services.

use jelly_base::text::{LazyPattern, WordList};

/// Who did not answer, or answered with an error, by the name that a sentence begins with.
pub(super) fn party(said: &str) -> Option<String> {
    static PARTY: LazyPattern = LazyPattern::ascii(
        r"(?x)\A(?:E\ +)?(?:[\w.:\\]*(?:Error|Exception):\ )?(?:
              (?P<who>[A-Za-z][\w-]{2,}(?:\ [a-z][\w-]*){0,2}?)
              (?::\ (?:\d{3}\b|rate\ limit|invalid\ cred|too\ many|unauthori)|\ (?:answered|returned|responded|replied|did\ not\ (?:answer|respond)|is\ (?:down|unavailable|unreachable))\b)
            | (?:GET|POST|PUT|PATCH|DELETE)\ (?P<path>/)[A-Za-z]
            | (?:timed\ out\ )?waiting\ for\ (?P<thing>(?:bucket|service|stream|topic)\ [\w.-]+)
            )",
    );
    const OF_ANY: WordList = WordList(
        "api backend call client connection error exception failed failure fetch http https network \
         operation peer remote request response server service socket status test the timeout upstream",
    );
    let found = PARTY.captures(said.trim())?;
    let named = ["who", "path", "thing"]
        .iter()
        .find_map(|name| found.name(name));
    // Of one interface, all paths are away together.
    let named = named?.as_str().to_ascii_lowercase();
    let named = named.strip_prefix("the ").unwrap_or(&named);
    let ends = [" service", " gateway", " api", " server"];
    let end = ends.iter().find_map(|end| named.strip_suffix(end));
    let named = end.unwrap_or(named).to_owned();
    let is_word = |word: &str| OF_ANY.has(word);
    (!named.split(' ').all(is_word) && !named.ends_with("error")).then_some(named)
}

#[cfg(test)]
mod tests {
    use super::party;

    #[test]
    fn a_party_is_told_by_its_name_or_by_nothing() {
        for (said, told) in [
            (
                "RuntimeError: geocoder: rate limit 100/min hit",
                Some("geocoder"),
            ),
            (
                "RuntimeError: payments answered 503 Service Unavailable",
                Some("payments"),
            ),
            ("mail gateway answered 502 Bad Gateway", Some("mail")),
            ("POST /api/users failed with 500", Some("/")),
            ("github: 401 Bad credentials", Some("github")),
            (
                "timed out waiting for topic orders to exist",
                Some("topic orders"),
            ),
            (
                "no feed plan for Pip: SQLSTATE[HY000] [2002] Connection refused",
                None,
            ),
            ("HTTP Error: 503", None),
            ("server returned 503", None),
            ("Connection refused", None),
        ] {
            assert_eq!(party(said).as_deref(), told, "{said}");
        }
    }
}
