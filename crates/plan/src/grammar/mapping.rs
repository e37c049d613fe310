//! What the tables are made of.

use super::operators::Target;
use jelly_base::text::WordList;

/// What a mapping of the document may hold.
pub(crate) struct Mapping {
    /// In the schema.
    pub name: &'static str,
    /// In a message, as in "a step".
    pub what: &'static str,
    pub about: &'static str,
    pub keys: &'static [Key],
    /// Keys that it has in common with others, behind its own.
    pub shared: Option<&'static Mapping>,
    pub rule: Rule,
    /// Keys that other tools or a hasty hand would write, and what to write
    /// instead.
    pub hints: &'static [(&'static str, &'static str)],
}

/// What holds of the keys of a mapping together.
pub(crate) enum Rule {
    Free,
    NotEmpty,
    /// At least one of these.
    AnyOf(&'static [&'static str]),
    /// Exactly one of these, as groups of keys that belong together.
    OneOf(&'static [&'static [&'static str]]),
    /// Exactly one of these; and unless it is the one named last, `args` is a
    /// mapping.
    OneRequest(&'static [&'static [&'static str]], &'static str),
    /// `list` has an item, unless `beside` stands there too or an entry of `by_name`
    /// has the key `with`.
    SomeUnless {
        list: &'static str,
        beside: &'static str,
        by_name: &'static str,
        with: &'static str,
    },
}

/// A key of a mapping.
pub(crate) struct Key {
    pub name: &'static str,
    pub about: &'static str,
    pub kind: Kind,
    /// What is said where it is missing and must not be, and the hint.
    pub missing: Option<(&'static str, &'static str)>,
    /// Where this key stands, it may be missing all the same.
    pub unless: Option<&'static str>,
    /// May be written in camel case too.
    pub has_camel: bool,
    /// Other words for it, with blanks between them.
    pub also: &'static str,
}

/// What the value of a key must be.
pub(crate) enum Kind {
    Anything,
    /// Any values by name.
    AnyMap,
    /// A template, or a scalar as it is written.
    Word,
    /// A command with its arguments.
    Argv,
    Time,
    /// Text without variables, of which messages speak by this name.
    Name(&'static str),
    /// A name that a server chose.
    ForeignName(&'static str),
    Secret,
    /// RFC 9535.
    JsonPath,
    Text,
    /// A text with something in it.
    Filled,
    Url,
    Base64,
    Flag,
    /// `true`, or left out.
    True,
    Integer,
    /// A whole number of at least so much.
    Count(u32),
    /// 1.
    Version,
    /// One of a few words.
    Choice(&'static Words),
    /// A list of at least so many.
    List(&'static Kind, usize),
    /// A list of at least two, each of them once.
    Axis(&'static Kind),
    /// Free keys, at least so many.
    ByName(&'static Kind, usize),
    Mapping(&'static Mapping),
    /// What has a name of its own in the schema.
    Named(&'static str, &'static str, &'static Kind),
    /// One of several kinds, each with what it means.
    Either(&'static [(&'static str, Kind)]),
    /// Operators on a target, or a list of such maps.
    Operators(Target),
    /// A map of operators on a target.
    OperatorMap(Target),
    /// A path and operators.
    PathOperators,
    /// What is replaced before a snapshot is compared.
    Redactions,
}

/// A closed set of words.
pub(crate) struct Words {
    /// In the schema; empty where it is written out there.
    pub name: &'static str,
    /// In a message, as in "unknown list".
    pub what: &'static str,
    pub about: &'static str,
    pub words: fn() -> Vec<&'static str>,
    /// What each of them means, where that is to be said.
    pub meanings: &'static [&'static str],
}

impl Mapping {
    pub(crate) fn all_keys(&self) -> impl Iterator<Item = &Key> {
        let shared = self.shared.map_or(&[][..], |shared| shared.keys);
        self.keys.iter().chain(shared)
    }

    pub(crate) fn key(&self, name: &str) -> Option<&Key> {
        self.all_keys().find(|key| key.name == name)
    }

    /// What would help a person who wrote a key that is none.
    pub(crate) fn hint(&self, wrong: &str) -> Option<String> {
        if let Some(key) = self.keys.iter().find(|key| WordList(key.also).has(wrong)) {
            return Some(format!("did you mean `{}`?", key.name));
        }
        let hint = self
            .hints
            .iter()
            .find(|(words, _)| WordList(words).has(wrong));
        hint.map(|(_, hint)| (*hint).to_owned())
    }

    /// The keys of which exactly one must stand there.
    pub(crate) fn alternatives(&self) -> impl Iterator<Item = &'static str> {
        let groups = match self.rule {
            Rule::OneOf(groups) | Rule::OneRequest(groups, _) => groups,
            Rule::Free | Rule::NotEmpty | Rule::AnyOf(_) | Rule::SomeUnless { .. } => &[],
        };
        groups.iter().copied().flatten().copied()
    }
}

impl Key {
    pub(crate) const fn new(name: &'static str, about: &'static str, kind: Kind) -> Self {
        Self {
            name,
            about,
            kind,
            missing: None,
            unless: None,
            has_camel: false,
            also: "",
        }
    }

    pub(crate) const fn required(mut self, message: &'static str, hint: &'static str) -> Self {
        self.missing = Some((message, hint));
        self
    }

    pub(crate) const fn unless(mut self, key: &'static str) -> Self {
        self.unless = Some(key);
        self
    }

    pub(crate) const fn camel(mut self) -> Self {
        self.has_camel = true;
        self
    }

    pub(crate) const fn also(mut self, words: &'static str) -> Self {
        self.also = words;
        self
    }
}

/// Writes a [`Mapping`] as a table: what it is, then a row for each key with
/// what that is, `key: kind, mark …;`, where a mark is one of [`Key`]'s methods.
macro_rules! mapping {
    (
        $(#[doc = $about:literal])*
        $constant:ident = $name:literal, $what:literal {
            $($(#[doc = $key_about:literal])*
            $key:ident: $kind:expr $(, $mark:ident $($said:literal)*)*;)*
        }
        $(shared $shared:ident;)?
        $(rule $rule:expr;)?
        $(hints { $($wrong:literal => $hint:expr,)* })?
    ) => {
        pub(crate) static $constant: Mapping = Mapping {
            name: $name,
            what: $what,
            about: concat!($($about),*),
            keys: &[$(
                Key::new(stringify!($key), concat!($($key_about),*), $kind)
                    $(.$mark($($said),*))*
            ),*],
            shared: mapping!(@or None; $(Some(&$shared))?),
            rule: mapping!(@or Rule::Free; $($rule)?),
            hints: mapping!(@or &[]; $(&[$(($wrong, $hint)),*])?),
        };
    };
    (@or $default:expr;) => { $default };
    (@or $default:expr; $given:expr) => { $given };
}
pub(crate) use mapping;
