//! What clients speak with a server: by their names and words, and by its port; and what
//! it is called for that.

use jelly_base::model::FailureView;
use std::collections::BTreeSet;

/// A service that tests use, by what they speak with it.
struct Service {
    name: &'static str,
    /// What it is, for a sentence.
    noun: &'static str,
    /// Words of its clients, in small letters.
    words: &'static [&'static str],
    /// Where it usually listens.
    ports: &'static [&'static str],
}

const fn service(
    name: &'static str,
    noun: &'static str,
    words: &'static [&'static str],
    ports: &'static [&'static str],
) -> Service {
    Service {
        name,
        noun,
        words,
        ports,
    }
}

const DATABASE: &str = "database";
const CACHE: &str = "cache";
const BROKER: &str = "message broker";

/// The first that fits counts: what drives containers stands before what they hold.
const SERVICES: &[Service] = &[
    service(
        "docker",
        "container engine",
        &["docker", "testcontainers"],
        &["2375", "2376"],
    ),
    service(
        "postgres",
        DATABASE,
        &[
            "postgres",
            "postgresql",
            "psycopg",
            "asyncpg",
            "pgsql",
            "npgsql",
            "pq:",
            "sqlstate[08006]",
        ],
        &["5432"],
    ),
    service(
        "mysql",
        DATABASE,
        // PDO's numbers of its client, who says no more.
        &[
            "mysql",
            "mysqlclient",
            "pymysql",
            "mariadb",
            "sqlstate[hy000] [2002]",
            "sqlstate[hy000] [2006]",
        ],
        &["3306"],
    ),
    service(
        "mssql",
        DATABASE,
        &["sqlclient", "sqlserver", "sql server", "pymssql"],
        &["1433"],
    ),
    service(
        "oracle",
        DATABASE,
        &["oracle", "oracledb", "ora-", "tns:"],
        &["1521"],
    ),
    service(
        "mongo",
        DATABASE,
        &[
            "mongo",
            "mongodb",
            "mongoose",
            "mongooseerror",
            "mongoservererror",
            "mongoserverselectionerror",
            "mongonetworkerror",
            "pymongo",
        ],
        &["27017"],
    ),
    service("cassandra", DATABASE, &["cassandra"], &["9042"]),
    service(
        "redis",
        CACHE,
        &["redis", "jedis", "lettuce", "valkey"],
        &["6379"],
    ),
    service("memcached", CACHE, &["memcache", "memcached"], &["11211"]),
    service(
        "amqp",
        BROKER,
        &["amqp", "amqps", "rabbit", "rabbitmq", "pika."],
        &["5672"],
    ),
    service("kafka", BROKER, &["kafka", "nobrokersavailable"], &["9092"]),
    service("mqtt", BROKER, &["mqtt"], &["1883"]),
    service(
        "activemq",
        BROKER,
        &["activemq", "activemqnotconnectedexception", "artemis"],
        &["61616"],
    ),
    service("nats", BROKER, &["nats:"], &["4222"]),
    service(
        "elasticsearch",
        "search engine",
        &["elastic", "elasticsearch", "opensearch"],
        &["9200", "9300"],
    ),
    service(
        "webdriver",
        "browser driver",
        &["chromedriver", "geckodriver"],
        &["4444", "9515"],
    ),
    service(
        "azure-storage",
        "server",
        &["azurite", "azure.storage", "devstoreaccount1"],
        &["10000", "10001", "10002"],
    ),
    service(
        "s3",
        "server",
        &["minio", "s3", "amazons3", "s3client", "boto3"],
        &[],
    ),
    service("ldap", "server", &["ldap"], &["389", "636"]),
    service(
        "smtp",
        "server",
        &["smtp", "smtplib", "javax.mail", "jakarta.mail"],
        &["25", "465", "587", "2525", "1025"],
    ),
    service("grpc", "server", &["grpc"], &["50051"]),
];

fn at_port(address: &str) -> Option<&'static Service> {
    let (_, port) = address.rsplit_once(':')?;
    SERVICES
        .iter()
        .find(|service| service.ports.contains(&port))
}

/// What most likely listens at an address, by its port.
pub(super) fn noun_of(address: &str) -> &'static str {
    at_port(address).map_or("server", |service| service.noun)
}

/// What listens at an address, by its port.
pub(super) fn service_at(address: &str) -> Option<&'static str> {
    at_port(address).map(|service| service.name)
}

/// The service of which a line has words, in small letters; nothing where it has those of
/// several.
pub(super) fn service_in(line: &str) -> Option<&'static str> {
    let speaks = |service: &&Service| service.words.iter().any(|word| is_word_of(line, word));
    let mut told = SERVICES.iter().filter(speaks);
    let first = told.next()?;
    told.next().is_none().then_some(first.name)
}

/// What the failure's client speaks, as its words or the port of its server tell.
pub(super) fn service_of(
    failure: &FailureView<'_>,
    servers: &BTreeSet<String>,
) -> Option<&'static str> {
    let texts = [failure.evidence.map(|(_, text)| text), failure.message];
    let said = texts.into_iter().flatten().collect::<Vec<_>>().join("\n");
    let said = said.to_ascii_lowercase();
    let speaks = |service: &&Service| service.words.iter().any(|word| is_word_of(&said, word));
    let told = SERVICES.iter().find(speaks);
    let told = told.or_else(|| servers.iter().find_map(|server| at_port(server)));
    told.map(|service| service.name)
}

/// Whether a text holds a word, behind which stands no further letter.
fn is_word_of(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(at, _)| {
        let after = &text[at + word.len()..];
        !text[..at].ends_with(|c: char| c.is_alphanumeric())
            && (word.ends_with(['.', ':']) || !after.starts_with(|c: char| c.is_alphabetic()))
    })
}
