//! What is secret by its name, or by its own form.

use super::references::{is_substitution, without_drive};
use crate::text::{WordList, WordSet, is_placeholder};

/// A name with such a word holds a secret, wherever in it the word stands; one
/// that is written without a border, as in `PGPASSWORD`, too.
const WORDS: &[&str] = &[
    "token",
    "secret",
    "password",
    "passwd",
    "passphrase",
    "passcode",
    "apikey",
    "accesskey",
    "secretkey",
    "privatekey",
    "authkey",
    "credential",
];
/// The same of words that say it only at the end: `X-Auth`, but no `auth-mode`.
const LAST_WORDS: WordList = WordList("auth authorization bearer cookie jwt pat pwd sig signature");
/// Before `key` or `keys`: then the two say it anywhere.
const KINDS_OF_KEY: &[&str] = &["api", "access", "private", "auth", "secret"];
/// With these words a key is nothing to hide.
const OPEN_KEYS: WordList =
    WordList("public primary foreign sort partition cache object group shard routing idempotency");
/// With these words before it a token says where one is, and opens nothing.
const PLACE_TOKENS: &[&str] = &[
    "page",
    "pagination",
    "next",
    "continuation",
    "progress",
    "sync",
    "unexpected",
];
/// Words that end with `pass` and have nothing to do with it.
const NO_PASS: &[&str] = &["bypass", "compass", "encompass", "surpass", "trespass"];
/// Such a word is one letter away from one of the above, and another word.
const NO_SLIPS: WordList = WordList("taken passed autokey");
/// At the end of a name: it is about a secret, and holds none.
static ABOUT: WordSet = WordSet::new(
    "age alg algorithm arn at audience budget command cost count dir directory enabled endpoint \
     env expires expiration expiry file folder format header helper host hint issuer kind len \
     length limit manager max method min mode name path policy port prefix provider scheme scope \
     size source store suffix timeout ttl type uri url usage var variable version window",
);
/// At the beginning: a switch or a number.
const SWITCHES: &[&str] = &[
    "allow", "count", "disable", "enable", "has", "hide", "is", "max", "min", "no", "num", "print",
    "require", "show", "skip", "total", "use", "with", "without",
];

/// Values that are no secret under whatever name.
static OPEN_VALUES: WordSet = WordSet::new(
    "true false yes no on off enabled disabled none null nil undefined auto default always never \
     required optional anonymous basic bearer digest oauth oauth2 jwt api-key api_key env file \
     stdin prompt keyring keychain",
);
/// Values that may be secrets, and are words of anybody all the same.
const COMMON_VALUES: &[&str] = &[
    "admin", "apikey", "cookie", "example", "guest", "header", "password", "postgres", "root",
    "secret", "server", "test", "token", "user",
];
/// A relative path with such an end is one.
const FILE_ENDS: &[&str] = &[
    "asc", "cer", "cfg", "conf", "crt", "db", "der", "env", "gpg", "ini", "jks", "js", "json",
    "key", "p12", "pem", "pfx", "pub", "py", "sh", "sqlite", "toml", "ts", "txt", "yaml", "yml",
];
/// Shorter numbers are counts, ports and limits more often than secrets.
const MIN_DIGITS: usize = 8;

/// How the tokens of well-known services begin.
const PREFIXES: &[&str] = &[
    "sk-ant-",
    "sk-proj-",
    "sk_live_",
    "sk_test_",
    "rk_live_",
    "ghp_",
    "gho_",
    "ghs_",
    "ghu_",
    "ghr_",
    "github_pat_",
    "glpat-",
    "xoxb-",
    "xoxp-",
    "xoxa-",
    "xoxe.",
    "xoxe-",
    "xoxs-",
    "xapp-",
    "AKIA",
    "ASIA",
    "AIza",
    "lin_api_",
    "dop_v1_",
    "eyJhbGciOi",
    "eyJ0eXAiOi",
    "eyJraWQiOi",
    "ya29.",
    "GOCSPX-",
    "whsec_",
    "hvs.",
    "shpat_",
    "dckr_pat_",
];
/// The same where names of packages, folders and tools begin so as well.
const COMMON_PREFIXES: &[&str] = &[
    "sk-",
    "npm_",
    "hf_",
    "pypi-",
    "r8_",
    "SG.",
    "gsk_",
    "xai-",
    "rubygems_",
    "tskey-",
    "ntn_",
    "figd_",
];
/// Bytes of a token behind its prefix, at least.
const MIN_BEHIND: usize = 12;
/// Of a part of it in which digits stand between letters, and of one without, which is
/// longer than words are.
const MIXED_PART: usize = 8;
const LONG_PART: usize = 18;

/// Whether the name of a flag, a variable, a header or a member says that its
/// value is a secret. Words are told apart by any sign, and by case, as in
/// `accessToken`.
#[must_use]
pub fn looks_secret(name: &str) -> bool {
    // Shells keep the folder they are in there.
    if matches!(name, "PWD" | "OLDPWD") {
        return false;
    }
    let words = words_of(name);
    let (Some(first), Some(last)) = (words.first(), words.last()) else {
        return false;
    };
    if words.len() > 1 && (SWITCHES.contains(&first.as_str()) || ABOUT.has(singular(last))) {
        return false;
    }
    if let [.., place, "token"] = words.iter().map(String::as_str).collect::<Vec<_>>()[..]
        && PLACE_TOKENS.contains(&place)
    {
        return false;
    }
    let is_word = |word: &String| {
        let one = singular(word);
        WORDS
            .iter()
            .any(|known| one.ends_with(known) || is_slip(one, known) || is_slip(word, known))
    };
    let is_key = |pair: &[String]| {
        let key = singular(&pair[1]);
        KINDS_OF_KEY.contains(&pair[0].as_str()) && (key == "key" || is_slip(key, "key"))
    };
    if words.iter().any(is_word) || words.windows(2).any(is_key) {
        return true;
    }
    match last.as_str() {
        "key" => !words.iter().any(|word| OPEN_KEYS.has(word)),
        last if last.ends_with("pass") => !NO_PASS.contains(&last),
        last => LAST_WORDS.has(singular(last)),
    }
}

/// Whether a word is meant to be another one, but for a letter that is missing, too many,
/// another one, or in the wrong place. The value of `GITHUB_TOKN` is as secret as if its
/// name were right, and shown to whoever looks for the mistake. People rarely get the
/// first letter wrong, and many words differ in that one alone.
fn is_slip(word: &str, meant: &str) -> bool {
    if word.len().abs_diff(meant.len()) > 1
        || word.as_bytes().first() != meant.as_bytes().first()
        || NO_SLIPS.has(word)
    {
        return false;
    }
    let same = |(one, other): &(u8, u8)| one == other;
    let begin = word.bytes().zip(meant.bytes()).take_while(same).count();
    let (word, meant) = (&word.as_bytes()[begin..], &meant.as_bytes()[begin..]);
    let from_behind = word.iter().rev().zip(meant.iter().rev());
    let end = from_behind.take_while(|(one, other)| one == other).count();
    let (word, meant) = (&word[..word.len() - end], &meant[..meant.len() - end]);
    match (word, meant) {
        ([a, b], [c, d]) => (a, b) == (d, c),
        (word, meant) => word.len() <= 1 && meant.len() <= 1,
    }
}

/// Whether this value under this name is a secret: the name says so, and it is
/// no path, no switch, no short number, and nothing that stands for a value.
#[must_use]
pub fn holds_secret(name: &str, value: &str) -> bool {
    looks_secret(name) && may_be_secret(name, value)
}

/// Whether a value can be a secret under a name that says so.
#[must_use]
pub fn may_be_secret(name: &str, value: &str) -> bool {
    let value = value.trim().trim_matches(['"', '\'']);
    let counts = is_short_number(value) && !is_password(name);
    let folded = value.to_ascii_lowercase();
    !(value.is_empty()
        || counts
        || OPEN_VALUES.has(&folded)
        || is_path(value)
        || is_reference(value)
        || is_placeholder(value))
}

/// Whether a value is too common to be looked for in other texts.
pub(super) fn is_common(value: &str) -> bool {
    is_short_number(value) || COMMON_VALUES.contains(&value.to_ascii_lowercase().as_str())
}

fn is_short_number(value: &str) -> bool {
    value.len() < MIN_DIGITS && value.parse::<f64>().is_ok()
}

/// Whether a text is a secret by its form.
#[must_use]
pub fn has_secret_form(text: &str) -> bool {
    let behind = |prefixes: &[&str]| {
        let mut rests = prefixes
            .iter()
            .filter_map(|prefix| text.strip_prefix(prefix));
        rests.find(|rest| {
            rest.len() >= MIN_BEHIND
                && rest.bytes().any(|byte| byte.is_ascii_digit())
                && rest
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || b"_-.=+/".contains(&byte))
        })
    };
    behind(PREFIXES).is_some()
        || behind(COMMON_PREFIXES).is_some_and(|rest| {
            let mut parts = rest.split(|c: char| !c.is_ascii_alphanumeric());
            parts.any(is_no_word)
        })
}

/// Names are made of words, with numbers behind them, as `npm_search_registry2` is; of
/// the parts of a token one has digits among its letters, or is long, or of both cases.
fn is_no_word(part: &str) -> bool {
    let stem = part.trim_end_matches(|c: char| c.is_ascii_digit());
    let has = |is: fn(&u8) -> bool| stem.bytes().any(|byte| is(&byte));
    let cases = has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase);
    let counted = stem.len() < part.len();
    has(u8::is_ascii_digit) && part.len() >= MIXED_PART
        || cases && counted && part.len() >= MIN_BEHIND
        || (cases || counted) && part.len() >= LONG_PART
}

/// Whether a name is one of a password: the only secrets that people make of a few digits.
#[must_use]
pub fn is_password(name: &str) -> bool {
    words_of(name)
        .iter()
        .any(|word| word.contains("pass") || word == "pwd")
}

/// `accessToken`, `ACCESS_TOKEN` and `access-token` are the same two words,
/// `APIKey` and `api.key` too.
fn words_of(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut word = String::new();
    let mut before = ' ';
    let mut letters = name.chars().peekable();
    while let Some(letter) = letters.next() {
        let next_is_lower = letters.peek().is_some_and(|next| next.is_lowercase());
        let begins = letter.is_uppercase()
            && (before.is_lowercase()
                || before.is_numeric()
                || before.is_uppercase() && next_is_lower);
        if (begins || !letter.is_alphanumeric()) && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if letter.is_alphanumeric() {
            word.extend(letter.to_lowercase());
        }
        before = letter;
    }
    if !word.is_empty() {
        words.push(word);
    }
    // `API_KEY_2`, `TOKEN_V2`: one of several.
    let counts = |word: &String| {
        let digits = word.strip_prefix('v').unwrap_or(word);
        !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
    };
    while words.len() > 1 && words.last().is_some_and(counts) {
        words.pop();
    }
    words
}

fn singular(word: &str) -> &str {
    match word.strip_suffix('s') {
        Some(one) if !word.ends_with("ss") => one,
        Some(_) | None => word,
    }
}

/// Where something is, and not what it holds. Secrets in Base64 may begin with
/// a slash as well, but have no folders and no ends.
fn is_path(value: &str) -> bool {
    const BEGINNINGS: &[&str] = &["./", "../", ".\\", "..\\", "\\\\", "file:"];
    let drive = |rest: &str| rest.starts_with(":\\") || rest.starts_with(":/");
    let is_encoded = || {
        value.len() >= 20
            && !value[1..].contains('.')
            && (!value[1..].contains('/') || value.contains(['+', '=']))
            && value.bytes().any(|byte| byte.is_ascii_digit())
            && value.bytes().any(|byte| byte.is_ascii_uppercase())
            && value.bytes().any(|byte| byte.is_ascii_lowercase())
    };
    let has_end = || {
        let (_, end) = value.rsplit_once('.')?;
        let is_one_word = !value.contains(char::is_whitespace) && !value.contains("://");
        Some(is_one_word && FILE_ENDS.contains(&end.to_ascii_lowercase().as_str()))
    };
    // `~/`, and `~user/`.
    let is_home = || {
        let user = value.strip_prefix('~')?.split(['/', '\\']).next()?;
        let is_named = user
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b"_-.".contains(&b));
        Some(is_named && (value == "~" || value.len() > user.len() + 1))
    };
    BEGINNINGS.iter().any(|begin| value.starts_with(begin))
        || is_home().unwrap_or(false)
        || value.starts_with(|c: char| c.is_ascii_alphabetic()) && value.get(1..).is_some_and(drive)
        || value.starts_with('/') && !is_encoded()
        || has_end().unwrap_or(false)
}

/// Something that says where the value is to be taken from, or jelly's own
/// mark of one that is known already.
fn is_reference(value: &str) -> bool {
    let is_name = |name: &str| {
        !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
    };
    let in_signs = |sign: char| value.strip_prefix(sign)?.strip_suffix(sign);
    value.contains("${")
        || value
            .strip_prefix('$')
            .is_some_and(|name| is_name(without_drive(name)))
        || in_signs('%').is_some_and(is_name)
        || is_substitution(value)
        || value.starts_with("[secret") && value.find(']').is_none_or(|end| end + 1 == value.len())
}

#[cfg(test)]
mod tests {
    use super::{has_secret_form, holds_secret, looks_secret};

    /// As real servers, bridges and clients have them.
    #[test]
    fn names_of_secrets_are_known() {
        let names = "
            --token --access-token --accessToken --clientSecret --authToken --api_key --apiKey
            --apikey --api-keys --key --pat --password --db-pass --passphrase --bearer --cookie
            --auth -DapiKey GITHUB_PERSONAL_ACCESS_TOKEN OPENAI_API_KEY OPENAI_API_KEY_2
            API_KEY_PROD AWS_SECRET_ACCESS_KEY AWS_ACCESS_KEY_ID AWS_SESSION_TOKEN PGPASSWORD
            MYSQL_PWD DB_PASS SSHPASS GITLAB_PAT SLACK_BOT_TOKEN NOTION_TOKEN TWILIO_AUTH_TOKEN
            CLIENT_SECRET CREDENTIALS JWT_SECRET HTTP_AUTH Authorization Proxy-Authorization
            Cookie X-API-Key X-Auth X-Functions-Key Ocp-Apim-Subscription-Key PRIVATE-TOKEN
            X-Amz-Security-Token X-Amz-Signature sig key api_key appid_token
            spring.datasource.password APIKey SharedAccessKey AccountKey
        ";
        for name in names.split_whitespace() {
            assert!(looks_secret(name), "{name}");
        }
    }

    #[test]
    fn names_of_other_things_are_left_alone() {
        let names = "
            --max-tokens --maxTokens --no-password --use-token --token-file --api-key-env
            --token-url TOKEN_ENDPOINT TOKEN_TYPE SECRET_NAME PASSWORD_MIN_LENGTH SSL_KEY_FILE
            KEY_PATH PUBLIC_KEY CACHE_KEY PRIMARY_KEY keyboard --keys monkey --path PATH PWD
            OLDPWD HOME --author AUTH_MODE --auth-type AUTHORIZATION_URL --pass-through PASS_ENV
            nextPageToken NextToken progressToken sync_token continuation_token
            bypass compass --tokenizer secretary BROKEN design COOKIE_DOMAIN --passive patch
            Accept Content-Type X-Trace x -- =
        ";
        for name in names.split_whitespace().chain([""]) {
            assert!(!looks_secret(name), "{name}");
        }
    }

    #[test]
    fn a_misspelt_name_of_a_secret_is_one() {
        let names = "
            GITHUB_TOKN DB_PASWORD DB_PASSWROD ACCESS_TOKENN ACESS_TOEKN CLIENT_SECERT
            CLIENT_SERCET CLIENT_SECRTE githubTokne API_KYE API_KY apiky OPENAI_APKEY
            AWS_CREDENTALS AWS_CREDENTAIL db-passwort PGSQL_PASWD MY_PASSPHRAS DB_PASWORDS
        ";
        for name in names.split_whitespace() {
            assert!(looks_secret(name), "{name}");
        }
        let others = "
            TOKENIZER MAX_TOKENS PASSIVE SECTION KEYWORD PASSPORT TOKIO_WORKERS TESTS_PASSED
            TIME_TAKEN PASSING BROKEN PASSAGE SECRETARY SECTOR SECURE CREDIT APPLE AUTO_KEYS
            AUTOKEY BOOKED WOKEN SOCKET ACCESSED ACCESSORY STOKED API_KEEP PASS_THROUGH TOTEM
            KEY_WORDS TOKENIZERS_PARALLELISM TOKÉN_É
        ";
        for name in others.split_whitespace() {
            assert!(!looks_secret(name), "{name}");
        }
    }

    #[test]
    fn what_can_be_no_secret_is_none_under_any_name() {
        for value in [
            "",
            "true",
            "FALSE",
            "no",
            "5",
            "-1",
            "0.5",
            "4096",
            "/etc/key",
            "/tmp",
            "~/.key",
            "./token",
            "../x",
            "C:\\keys\\a",
            "c:/keys",
            "file:///x",
            "cred.json",
            "certs/a.pem",
            "$TOKEN",
            "${TOKEN}",
            "${env:X}",
            "Bearer ${X}",
            "%TOKEN%",
            "<YOUR_TOKEN>",
            "your-api-key",
            "[secret TOKEN]",
            "none",
            "oauth2",
            "/home/Me/Documents1/abcdefgh",
        ] {
            assert!(!holds_secret("TOKEN", value), "{value}");
        }
        for value in [
            "abc",
            "hunter2",
            "83712345",
            "a.b.c",
            "x y",
            "/9jXk3l2abcQWEd9x0Zq",
            "sk-1",
            "postgres://u:p@h/db",
            "-abc",
            "[secret A]rest",
            "é",
        ] {
            assert!(holds_secret("TOKEN", value), "{value}");
        }
        assert!(holds_secret("--password", "1234"));
        assert!(!holds_secret("--password", "true"));
    }

    #[test]
    fn tokens_of_well_known_services_are_known_by_their_form() {
        for text in [
            "ghp_0123456789abcdef",
            "sk-ant-api03-abcdefghijk",
            "eyJhbGciOiJIUzI1NiJ9.e30.abc",
        ] {
            assert!(has_secret_form(text), "{text}");
        }
        for text in [
            "ghp_short1",
            "sk-learn-something",
            "npm_config_cache x1",
            "hf_é0123456789ab",
        ] {
            assert!(!has_secret_form(text), "{text}");
        }
    }
}
