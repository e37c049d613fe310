//! The key of a document in whose place another stands: a field that has another name now is
//! missed by every test that reads the document, whatever else this holds.

use jelly_base::text::LazyPattern;
use std::collections::BTreeMap;

/// Lines of a difference that are read, and keys of it.
const LINES: usize = 200;
const KEYS: usize = 400;

/// The key that is wanted and the one that came, where these are all that differs between the
/// keys of two documents.
pub(super) fn renamed(text: &str) -> Option<String> {
    let (wanted, came) = documents(text)?;
    let (wanted, came) = (keys(&wanted), keys(&came));
    let own = |one: &Keys, other: &Keys| -> Vec<(String, Vec<String>)> {
        let own = one.iter().filter(|(key, _)| !other.contains_key(*key));
        own.map(|(key, values)| (key.clone(), values.clone()))
            .collect()
    };
    let (lost, got) = (own(&wanted, &came), own(&came, &wanted));
    let ([(lost, had)], [(got, has)]) = (&*lost, &*got) else {
        return None;
    };
    // Under another name stands the same; `error` in place of `ok` is no other name.
    (had == has).then(|| format!("-{lost}: +{got}:"))
}

/// The keys of a document with the values of each, in their order.
type Keys = BTreeMap<String, Vec<String>>;

/// What was wanted and what came: the lines of a difference, or two documents of one line.
fn documents(text: &str) -> Option<(String, String)> {
    static BESIDE: LazyPattern = LazyPattern::ascii(
        r#"(?:=|got:?) (?P<came>[\{\[][^\n]+[\}\]])[,;] want(?:ed)?:? (?P<wanted>[\{\[][^\n]+[\}\]])|\bleft: "?(?P<left>[\{\[][^\n]+[\}\]])"?(?:; |\n\s*)right: "?(?P<right>[\{\[][^\n]+[\}\]])"?"#,
    );
    if let Some(found) = BESIDE.captures(text) {
        // In a text of Rust, quotes are escaped.
        let part = |one, other| {
            let part = found.name(one).or_else(|| found.name(other))?;
            Some(part.as_str().replace("\\\"", "\""))
        };
        return Some((part("wanted", "right")?, part("came", "left")?));
    }
    let of = |mark: char| {
        let lines = text.lines().take(LINES).map(str::trim_start);
        let lines = lines.filter(|line| line.starts_with(mark) && !is_head(line));
        lines.map(|line| &line[1..]).collect::<Vec<_>>().join("\n")
    };
    let (wanted, came) = (of('-'), of('+'));
    (!wanted.is_empty() && !came.is_empty()).then_some((wanted, came))
}

/// How the head of a difference begins, which is none of its lines.
fn is_head(line: &str) -> bool {
    const HEADS: [&str; 7] = [
        "---",
        "+++",
        "- Expected",
        "+ Received",
        "- Snapshot",
        "+ actual",
        "+ expected",
    ];
    HEADS.iter().any(|head| line.starts_with(head))
}

/// The keys of a document, in JSON or as languages write their own.
fn keys(document: &str) -> Keys {
    static KEY: LazyPattern = LazyPattern::ascii(
        r#"(?m)(?:^|[{,\[(])\s*(?:['"](?P<quoted>[A-Za-z_][\w-]*)\\?['"]|:?(?P<bare>[A-Za-z_]\w*))\s*(?::|=>)\s*(?P<value>['"][^'"\n]*['"]|[^'"\s,{}\[\]/][^\s,{}\[\]]*|[{\[])"#,
    );
    let mut keys = Keys::new();
    for found in KEY.captures_iter(document).take(KEYS) {
        let key = found.name("quoted").or_else(|| found.name("bare"));
        if let (Some(key), Some(value)) = (key, found.name("value")) {
            let values = keys.entry(key.as_str().to_owned()).or_default();
            values.push(value.as_str().to_owned());
        }
    }
    keys
}

#[cfg(test)]
mod tests {
    use super::renamed;

    #[test]
    fn a_key_in_place_of_another_is_told_from_every_form() {
        for text in [
            "+ actual - expected\n\n  {\n    lines: [\n+     articleNo: 'A1',\n+     name: 'Bolt'\n-     name: 'Bolt',\n-     sku: 'A1'\n  }",
            "+ '{\"articleNo\":\"A1\",\"qty\":3}'\n- '{\"sku\":\"A1\",\"qty\":3}'",
            "json = {\"id\":1,\"articleNo\":450}, want {\"id\":1,\"sku\":450}",
            "- Expected\n+ Received\n\n  Object {\n-   \"sku\": \"A1\",\n+   \"articleNo\": \"A1\",",
            "left: \"{\\\"articleNo\\\":\\\"R-17\\\",\\\"net\\\":1}\"; right: \"{\\\"sku\\\":\\\"R-17\\\",\\\"net\\\":1}\"",
            "-{:sku=>\"A1\", :name=>\"x\"}\n+{:articleNo=>\"A1\", :name=>\"x\"}",
        ] {
            assert_eq!(
                renamed(text).as_deref(),
                Some("-sku: +articleNo:"),
                "{text}"
            );
        }
    }

    #[test]
    fn other_differences_are_none_of_a_name() {
        for text in [
            "- a: 1\n+ a: 2",
            "-   \"ok\": true,\n+   \"error\": \"card declined\",",
            "- total: 5\n+ net: 9",
            "- a: 1\n- b: 2\n+ c: 2",
            "- a: 1\n+ c: 2\n+ c: 3",
            "- http://a.test\n+ https://b.test",
            "- Expected\n+ Received",
            "got {}, want {}",
            "",
        ] {
            assert_eq!(renamed(text), None, "{text}");
        }
    }
}
