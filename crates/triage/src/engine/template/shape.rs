//! Whether a name is made up by chance, told by its shape.

use super::words::{WordKinds, is_wordlike, kinds, odd_pairs};

pub(super) fn has_digit(text: &str) -> bool {
    text.bytes().any(|b| b.is_ascii_digit())
}

pub(super) fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

/// What a part of a name is, between its hyphens, dots and underscores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PartShape {
    Word,
    Number,
    /// A word and a number behind it, which begins there.
    Numbered(usize),
    /// Made up by chance.
    Random,
}

/// The shape of letters, digits and nothing else.
pub(super) fn shape(part: &str) -> PartShape {
    let bytes = part.as_bytes();
    let n = bytes.len();
    let digits = bytes.iter().filter(|b| b.is_ascii_digit()).count();
    if digits == n {
        return PartShape::Number;
    }
    if kinds(part).is(WordKinds::NAME) {
        return PartShape::Word;
    }
    if digits == 0 {
        return if is_random_word(bytes) {
            PartShape::Random
        } else {
            PartShape::Word
        };
    }
    let has = |is: fn(&u8) -> bool| bytes.iter().any(is);
    let mixed = has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase);
    // So long a name with letters of both cases and digits between them.
    if n >= 20 && digits > 1 && mixed && 3 * changes_of_class(bytes) >= n {
        return PartShape::Random;
    }
    let changes = turns(bytes);
    let word = bytes.iter().take_while(|b| !b.is_ascii_digit()).count();
    let capitals = bytes[..word].iter().all(u8::is_ascii_uppercase);
    // `E11000` is a code, and none in base sixteen.
    let coded = changes == 1 && capitals && (1..4).contains(&word) && digits < 6;
    if coded {
        return PartShape::Numbered(word);
    }
    let six = n == 6 && (digits > 1 || !is_wordlike(&bytes[..word]));
    if is_hex(bytes) && (n >= 7 || six || n >= 4 && changes > 1) {
        return PartShape::Random;
    }
    if changes > 1 {
        let few = match n {
            10.. if changes_of_class(bytes) * 2 >= n => 75,
            12.. => 60,
            _ => 45,
        };
        let random = n >= 6 && 100 * in_words(bytes) < few * n;
        return if random {
            PartShape::Random
        } else {
            PartShape::Word
        };
    }
    // A word, then a number; or a number, then a word.
    let letters = if word == 0 {
        &bytes[digits..]
    } else {
        &bytes[..word]
    };
    let capitals = letters.iter().all(u8::is_ascii_uppercase);
    let small = !bytes.iter().any(u8::is_ascii_uppercase);
    // `ttyUSB0`
    let chosen = digits > 1 || small && n >= 8;
    let odd = !capitals && n >= 7 && chosen && letters.len() > 3 && !is_wordlike(letters);
    match word {
        0 if odd || digits >= 4 => PartShape::Random,
        0 => PartShape::Word,
        _ if odd || digits >= 6 && !capitals && letters.len() < 3 => PartShape::Random,
        _ => PartShape::Numbered(word),
    }
}

/// Whether a name of several parts is one id whose alphabet has hyphens and
/// underscores. In the number of a `document`, as of an order, fewer of its letters need to
/// change case.
pub(super) fn is_random_whole(name: &str, document: bool) -> bool {
    let bytes = name.as_bytes();
    let n = bytes.len();
    let has = |is: fn(&u8) -> bool| bytes.iter().any(is);
    // Capitals that are a word of their own say nothing of the rest: `JID-0c1d`.
    let mixes = |part: &[u8]| {
        let pairs = part.windows(2);
        let mut pairs = pairs.map(|pair| (pair[0], pair[1]));
        pairs.any(|(a, b)| b.is_ascii_uppercase() && !a.is_ascii_uppercase())
            && part.iter().any(u8::is_ascii_lowercase)
    };
    let parts = || bytes.split(|b| matches!(b, b'-' | b'_' | b'.'));
    // `ShopTests_0642bde5`: a name, and chance behind it.
    let is_name = |part: &[u8]| part.len() >= 8 && in_words(part) == part.len();
    if n < 8 || !has(u8::is_ascii_lowercase) || !parts().any(mixes) || parts().any(is_name) {
        return false;
    }
    let few = if has(u8::is_ascii_digit) { 40 } else { 25 };
    let turns = match n >= 12 && has(u8::is_ascii_digit) {
        true => 30,
        false if document => 36,
        false => 40,
    };
    // Of three letters by chance, one in three is like a word.
    let longer = |part: &[u8]| {
        if n < NANOID {
            in_words(part)
        } else {
            in_words_of(part, 4)
        }
    };
    100 * changes_of_class(bytes) >= turns * n && 100 * longer(bytes) < few * n
}

/// How often letters and digits take turns.
pub(super) fn turns(bytes: &[u8]) -> usize {
    count_pairs(bytes, |a, b| a.is_ascii_digit() != b.is_ascii_digit())
}

/// How often capitals, small letters and digits take turns.
fn changes_of_class(bytes: &[u8]) -> usize {
    let class = |b: u8| (b.is_ascii_digit(), b.is_ascii_uppercase());
    count_pairs(bytes, |a, b| class(a) != class(b))
}

/// Letters and no digit.
fn is_random_word(bytes: &[u8]) -> bool {
    let n = bytes.len();
    // No word of eight letters does with the first six.
    if n >= 8 && is_hex(bytes) {
        return true;
    }
    let capitals = bytes.iter().filter(|b| b.is_ascii_uppercase()).count();
    let is_vowel = |b: &u8| b"aeiouyAEIOUY".contains(b) || !b.is_ascii();
    if !bytes.iter().any(is_vowel) {
        return n >= 8 && capitals < n || n >= 10;
    }
    if capitals == 0 {
        // Of chance, half of all pairs are odd; of words and what is glued of words,
        // hardly one in twelve.
        let odd = odd_pairs(bytes);
        let most = if n < 16 { 2 * n } else { 5 * n / 3 };
        return n >= 8 && odd >= 4 && (5 * odd >= most || n >= 32 && 6 * odd >= n);
    }
    capitals < n && n >= 8 && 100 * changes_of_class(bytes) >= 40 * n && 4 * in_words(bytes) < n
}

fn count_pairs(bytes: &[u8], differs: impl Fn(u8, u8) -> bool) -> usize {
    let pairs = bytes.windows(2);
    pairs.filter(|pair| differs(pair[0], pair[1])).count()
}

pub(super) fn is_hex(bytes: &[u8]) -> bool {
    let lower = |b: &u8| b.is_ascii_digit() || (b'a'..=b'f').contains(b);
    let upper = |b: &u8| b.is_ascii_digit() || (b'A'..=b'F').contains(b);
    bytes.iter().all(lower) || bytes.iter().all(upper)
}

/// So long is an id of `nanoid`, and few names.
const NANOID: usize = 20;

/// Bytes that belong to words of at least three letters, as `Http` in
/// `toHttp2`.
pub(super) fn in_words(bytes: &[u8]) -> usize {
    in_words_of(bytes, 3)
}

fn in_words_of(bytes: &[u8], letters: usize) -> usize {
    let mut found = 0;
    let mut from = 0;
    let mixed = bytes.iter().any(u8::is_ascii_lowercase);
    let mut end = |from: usize, to: usize| {
        let group = &bytes[from..to];
        // Two capitals in three may be anything.
        let short = mixed && group.len() < 5 && group.iter().all(u8::is_ascii_uppercase);
        if !short && group.len() >= letters && is_wordlike(group) {
            found += to - from;
        }
    };
    for at in 0..bytes.len() {
        let b = bytes[at];
        let is_letter = b.is_ascii_alphabetic() || !b.is_ascii();
        let begins = b.is_ascii_uppercase()
            && at > from
            && (!bytes[at - 1].is_ascii_uppercase()
                || bytes.get(at + 1).is_some_and(u8::is_ascii_lowercase));
        if !is_letter {
            end(from, at);
            from = at + 1;
        } else if begins {
            end(from, at);
            from = at;
        }
    }
    end(from, bytes.len());
    found
}

/// Whether the last part of a name is one that Kubernetes put there: five
/// letters and digits of an alphabet without vowels.
pub(super) fn is_pod_suffix(part: &str) -> bool {
    const ALPHABET: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";
    part.len() == 5
        && part.bytes().all(|b| ALPHABET.contains(&b))
        && !kinds(part).is(WordKinds::NAME)
}

/// Whether a text begins with a UUID, and whether that is made by chance: one
/// that a person wrote has few different digits.
pub(super) fn uuid(text: &[u8]) -> Option<bool> {
    let uuid = text.get(..36)?;
    // systemd writes it with underscores.
    let joint = uuid[8];
    if !matches!(joint, b'-' | b'_') {
        return None;
    }
    let mut seen = 0u32;
    for (at, b) in uuid.iter().enumerate() {
        let hyphen = matches!(at, 8 | 13 | 18 | 23);
        if hyphen != (*b == joint) || !hyphen && !b.is_ascii_hexdigit() {
            return None;
        }
        if !hyphen {
            seen |= 1 << (b.to_ascii_lowercase() % 32);
        }
    }
    let ends = !text.get(36).is_some_and(u8::is_ascii_alphanumeric);
    ends.then_some(seen.count_ones() > 4)
}
