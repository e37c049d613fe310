//! What functions refuse and objects lack, however many arguments or methods it was asked with.

use jelly_base::text::{LazyPattern, WordList};

/// What of JavaScript has none of the methods that tests of one suite call, whichever these are.
pub(super) fn lacks_methods(said: &str) -> Option<String> {
    static LACKS: LazyPattern =
        LazyPattern::ascii(r"\b([A-Za-z_$][\w$]{2,})\.[A-Za-z_$][\w$]* is not a function\b");
    const OF_ANY: WordList =
        WordList("app data e err exports item obj res result self this util utils value");
    let owner = LACKS.captures(said)?.get(1)?.as_str();
    (!OF_ANY.has(owner)).then(|| format!("{owner} lacks methods"))
}

/// The function that takes other arguments than it is given, however many these are.
pub(super) fn arguments_refused(said: &str) -> Option<String> {
    // A wrapper within a function is a wrapper of any.
    static REFUSED: LazyPattern = LazyPattern::ascii(
        r"(?x)(?:\A|[\s'\x22])([A-Za-z_][\w.]*)\(\)\ (?:takes\ (?:from\ )?\d+\ (?:to\ \d+\ )?positional\ arguments?\ but
                | missing\ \d+\ required | got\ an\ unexpected\ keyword\ argument)
              | \bToo\ (?:few|many)\ arguments\ to\ function\ ([\w\\:]+)\(\),",
    );
    let found = REFUSED.captures(said)?;
    let name = found.get(1).or_else(|| found.get(2))?.as_str();
    // Many classes have an `__init__`, and many modules a `save`.
    let is_telling = name.contains(['.', '\\', ':']);
    is_telling.then(|| format!("arguments of {name}"))
}

#[cfg(test)]
mod tests {
    use super::{arguments_refused, lacks_methods};

    #[test]
    fn who_refuses_is_one_whatever_it_is_given() {
        for said in [
            "TypeError: Feed.add() takes 2 positional arguments but 4 were given",
            "TypeError: Feed.add() missing 1 required positional argument: 'tags'",
        ] {
            let told = arguments_refused(said);
            assert_eq!(told.as_deref(), Some("arguments of Feed.add"), "{said}");
        }
        let php = "ArgumentCountError: Too few arguments to function Shop\\Bid::of(), 3 passed in";
        assert_eq!(
            arguments_refused(php).as_deref(),
            Some("arguments of Shop\\Bid::of")
        );
        for said in [
            "TypeError: __init__() got an unexpected keyword argument 'tags'",
            "TypeError: cached.<locals>.wrapper() missing 1 required positional argument: 'a'",
        ] {
            assert_eq!(arguments_refused(said), None, "{said}");
        }
        let put = lacks_methods("TypeError: week.put is not a function");
        assert_eq!(put.as_deref(), Some("week lacks methods"));
        assert_eq!(
            put,
            lacks_methods("Received message: \"week.free is not a function\"")
        );
        assert_eq!(lacks_methods("TypeError: res.put is not a function"), None);
    }
}
