//! Members that an object has twice, which the reader of a message no longer
//! sees: it keeps the last one, and others keep the first.
//!
//! Main function: [`first_duplicate`].

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use std::collections::HashSet;
use std::fmt;

/// The pointer of the first member of a JSON text that stands in its object a
/// second time.
pub(super) fn first_duplicate(text: &str) -> Option<String> {
    let mut path = Vec::new();
    let mut reader = serde_json::Deserializer::from_str(text);
    let search = Search { path: &mut path };
    let found = search.deserialize(&mut reader).ok()?;
    found.then(|| {
        let escaped = path
            .iter()
            .rev()
            .map(|name| name.replace('~', "~0").replace('/', "~1"));
        escaped.map(|name| format!("/{name}")).collect()
    })
}

/// Says whether a value holds one, with its path from the inside.
struct Search<'p> {
    path: &'p mut Vec<String>,
}

impl<'de> DeserializeSeed<'de> for Search<'_> {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<bool, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Search<'_> {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<bool, M::Error> {
        let mut names = HashSet::new();
        let mut found = false;
        while let Some(name) = map.next_key::<String>()? {
            if found {
                map.next_value::<serde::de::IgnoredAny>()?;
                continue;
            }
            found = map.next_value_seed(Search { path: self.path })?;
            if names.contains(&name) {
                self.path.clear();
                found = true;
            }
            if found {
                self.path.push(name);
            } else {
                names.insert(name);
            }
        }
        Ok(found)
    }

    fn visit_seq<S: SeqAccess<'de>>(self, mut items: S) -> Result<bool, S::Error> {
        let mut index = 0;
        while let Some(found) = items.next_element_seed(Search { path: self.path })? {
            if found {
                self.path.push(index.to_string());
                while items.next_element::<serde::de::IgnoredAny>()?.is_some() {}
                return Ok(true);
            }
            index += 1;
        }
        Ok(false)
    }

    fn visit_bool<E>(self, _: bool) -> Result<bool, E> {
        Ok(false)
    }

    fn visit_i64<E>(self, _: i64) -> Result<bool, E> {
        Ok(false)
    }

    fn visit_u64<E>(self, _: u64) -> Result<bool, E> {
        Ok(false)
    }

    fn visit_f64<E>(self, _: f64) -> Result<bool, E> {
        Ok(false)
    }

    fn visit_str<E>(self, _: &str) -> Result<bool, E> {
        Ok(false)
    }

    fn visit_unit<E>(self) -> Result<bool, E> {
        Ok(false)
    }
}

#[cfg(test)]
mod tests {
    use super::first_duplicate;

    #[test]
    fn the_first_member_that_stands_twice_is_found_wherever_it_is() {
        for (text, wanted) in [
            (r#"{"a": 1, "a": 1}"#, Some("/a")),
            (r#"{"a": 1, "\u0061": 2}"#, Some("/a")),
            (
                r#"{"a": [{"b": 1}, {"b": 1, "c": {"x/y": 1, "x/y": 2}}], "z": 1}"#,
                Some("/a/1/c/x~1y"),
            ),
            (
                r#"[1, {"a": null, "b": true, "a": 1.5}, {"b": 1, "b": 1}]"#,
                Some("/1/a"),
            ),
            (r#"{"a": {"b": 1}, "b": {"a": 1}, "c": ["a", "a"]}"#, None),
            (r#"{"a": 1, "a": "#, None),
            ("1", None),
        ] {
            assert_eq!(first_duplicate(text).as_deref(), wanted, "{text}");
        }
    }
}
