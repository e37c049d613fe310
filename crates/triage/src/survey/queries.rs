//! The query that a client of a database quotes behind what went wrong.

use jelly_base::text::LazyPattern;

/// The text up to the query: what was asked is no cause of what a database
/// lacks.
pub(super) fn without_query(text: &str) -> &str {
    static QUERY: LazyPattern = LazyPattern::new(
        r"(?x) \s(?: LINE\ \d+:\s | \[SQL:\s | \((?:Connection:\ [^,()]+,\ [^()]{0,120}?)?SQL:\s | query:\s
              | SELECT\ [^\n]+\ FROM\s | INSERT\ INTO\s | UPDATE\ \S+\ SET\s | DELETE\ FROM\s
              | Position:\s\d | POSITION:\s\d | \[(?i:select|insert|update|delete|with|merge)\s )",
    );
    let found = QUERY.find(text);
    found.map_or(text, |found| {
        text[..found.start()].trim_end_matches([':', ' ', '\n'])
    })
}

#[cfg(test)]
mod tests {
    use super::without_query;

    #[test]
    fn what_was_asked_is_left_out() {
        let lacks = "no such table: orders";
        for query in [
            "LINE 1: SELECT id FROM orders",
            "[SQL: SELECT id FROM orders] [parameters: ()]",
            "(Connection: mysql, SQL: select * from `orders` limit 1)",
            "(SQL: select * from `orders` limit 1)",
            "query: SELECT o0.id FROM orders AS o0",
            ": SELECT SUM(orders.vat) FROM orders",
            "Position: 27",
            "[select o1_0.id from orders o1_0]",
        ] {
            assert_eq!(without_query(&format!("{lacks} {query}")), lacks);
            assert_eq!(without_query(&format!("{lacks}\n{query}")), lacks);
        }
        for whole in ["no such table: orders", "select a table", "at LINE 4 of it"] {
            assert_eq!(without_query(whole), whole);
        }
    }
}
