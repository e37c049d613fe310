//! What clients speak with a server: by their names and words, and by its port.

use jelly_base::model::FailureView;
use std::collections::BTreeSet;

/// Services, with words of their clients in small letters, and their ports.
const SERVICES: [(&str, &[&str], &[&str]); 13] = [
    // Before what its containers hold.
    ("docker", &["docker", "testcontainers"], &["2375", "2376"]),
    (
        "postgres",
        &[
            "postgres",
            "postgresql",
            "psycopg",
            "asyncpg",
            "pgsql",
            "npgsql",
            "pq:",
        ],
        &["5432"],
    ),
    (
        "mysql",
        &["mysql", "mysqlclient", "pymysql", "mariadb"],
        &["3306"],
    ),
    (
        "mssql",
        &["sqlclient", "sqlserver", "sql server", "pymssql"],
        &["1433"],
    ),
    (
        "mongo",
        &["mongo", "mongodb", "mongoose", "pymongo"],
        &["27017"],
    ),
    ("redis", &["redis", "jedis", "lettuce", "valkey"], &["6379"]),
    ("memcached", &["memcache", "memcached"], &["11211"]),
    (
        "amqp",
        &["amqp", "amqps", "rabbit", "rabbitmq", "pika."],
        &["5672"],
    ),
    ("kafka", &["kafka", "nobrokersavailable"], &["9092"]),
    (
        "elasticsearch",
        &["elastic", "elasticsearch", "opensearch"],
        &["9200"],
    ),
    ("ldap", &["ldap"], &["389", "636"]),
    (
        "smtp",
        &["smtp", "smtplib", "javax.mail", "jakarta.mail"],
        &["25", "465", "587", "2525", "1025"],
    ),
    ("grpc", &["grpc"], &["50051"]),
];

/// What the failure's client speaks, as its words or the port of its server tell.
pub(super) fn service_of(
    failure: &FailureView<'_>,
    servers: &BTreeSet<String>,
) -> Option<&'static str> {
    let texts = [failure.evidence.map(|(_, text)| text), failure.message];
    let said = texts.into_iter().flatten().collect::<Vec<_>>().join("\n");
    let said = said.to_ascii_lowercase();
    let by_words = |words: &&[&str]| words.iter().any(|word| is_word_of(&said, word));
    let by_port = |ports: &&[&str]| {
        let port = |server: &String| {
            let port = server.rsplit_once(':').map(|(_, port)| port);
            port.is_some_and(|port| ports.contains(&port))
        };
        servers.iter().any(port)
    };
    let told = SERVICES.iter().find(|(_, words, _)| by_words(words));
    told.or_else(|| SERVICES.iter().find(|(_, _, ports)| by_port(ports)))
        .map(|(name, _, _)| *name)
}

/// Whether a text holds a word, alone or before a sign, a digit or a capital's place.
fn is_word_of(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(at, _)| {
        let after = &text[at + word.len()..];
        !text[..at].ends_with(|c: char| c.is_alphanumeric())
            && (word.ends_with(['.', ':']) || !after.starts_with(|c: char| c.is_alphabetic()))
    })
}
