//! Which package of PyPI brings a module of Python. Anybody can register a
//! package under the name of a module, so a module that is not known here has
//! none.

use super::WordList;
use regex::Regex;

/// Modules whose packages have other names on PyPI; of namespaces that many
/// packages share, with the part that belongs to one: `MODULE=PACKAGE`.
const OTHERWISE: WordList = WordList(
    "Bio=biopython Crypto=pycryptodome Cryptodome=pycryptodomex Levenshtein=levenshtein \
     MySQLdb=mysqlclient OpenSSL=pyOpenSSL PIL=pillow PyPDF2=PyPDF2 attr=attrs \
     azure.core=azure-core azure.cosmos=azure-cosmos azure.identity=azure-identity \
     azure.keyvault.secrets=azure-keyvault-secrets azure.servicebus=azure-servicebus \
     azure.storage.blob=azure-storage-blob azure.storage.queue=azure-storage-queue \
     bs4=beautifulsoup4 cairosvg=CairoSVG cv2=opencv-python-headless dateutil=python-dateutil \
     discord=discord.py dns=dnspython docx=python-docx dotenv=python-dotenv faiss=faiss-cpu \
     fitz=pymupdf git=GitPython github=PyGithub gitlab=python-gitlab google.adk=google-adk \
     google.api_core=google-api-core google.auth=google-auth \
     google.cloud.aiplatform=google-cloud-aiplatform google.cloud.bigquery=google-cloud-bigquery \
     google.cloud.firestore=google-cloud-firestore google.cloud.logging=google-cloud-logging \
     google.cloud.pubsub=google-cloud-pubsub google.cloud.pubsub_v1=google-cloud-pubsub \
     google.cloud.secretmanager=google-cloud-secret-manager \
     google.cloud.spanner=google-cloud-spanner google.cloud.speech=google-cloud-speech \
     google.cloud.storage=google-cloud-storage google.cloud.translate=google-cloud-translate \
     google.cloud.vision=google-cloud-vision google.genai=google-genai \
     google.generativeai=google-generativeai google.oauth2=google-auth google.protobuf=protobuf \
     googleapiclient=google-api-python-client grpc=grpcio jose=python-jose jwt=PyJWT \
     kafka=kafka-python ldap=python-ldap magic=python-magic markdown=Markdown \
     mpl_toolkits=matplotlib multipart=python-multipart mysql.connector=mysql-connector-python \
     nacl=PyNaCl pkg_resources=setuptools<81 pptx=python-pptx psycopg2=psycopg2-binary \
     pymysql=PyMySQL pythoncom=pywin32 ruamel.yaml=ruamel.yaml serial=pyserial \
     skimage=scikit-image sklearn=scikit-learn slugify=python-slugify socketio=python-socketio \
     telegram=python-telegram-bot usb=pyusb websocket=websocket-client win32api=pywin32 \
     wx=wxPython yaml=pyyaml zmq=pyzmq",
);

/// Modules that Python brought with it, up to 3.12.
const OF_PYTHON: WordList = WordList(
    "abc aifc argparse array ast asynchat asyncio asyncore atexit audioop base64 bdb \
     binascii bisect builtins bz2 cProfile calendar cgi cgitb chunk cmath cmd code codecs \
     codeop collections colorsys compileall concurrent configparser contextlib \
     contextvars copy copyreg crypt csv ctypes curses dataclasses datetime dbm decimal \
     difflib dis distutils doctest email encodings ensurepip enum errno faulthandler \
     fcntl filecmp fileinput fnmatch fractions ftplib functools gc genericpath getopt \
     getpass gettext glob graphlib grp gzip hashlib heapq hmac html http imaplib imghdr \
     imp importlib inspect io ipaddress itertools json keyword linecache locale logging \
     lzma mailbox mailcap marshal math mimetypes mmap modulefinder msilib msvcrt \
     multiprocessing netrc nis nntplib nt ntpath nturl2path numbers opcode operator \
     optparse os ossaudiodev pathlib pdb pickle pickletools pipes pkgutil platform \
     plistlib poplib posix posixpath pprint profile pstats pty pwd py_compile pyclbr \
     pydoc pydoc_data pyexpat queue quopri random re readline reprlib resource \
     rlcompleter runpy sched secrets select selectors shelve shlex shutil signal site \
     smtpd smtplib sndhdr socket socketserver spwd sqlite3 sre_compile sre_constants \
     sre_parse ssl stat statistics string stringprep struct subprocess sunau symtable sys \
     sysconfig syslog tabnanny tarfile telnetlib tempfile termios textwrap threading time \
     timeit tkinter token tokenize tomllib trace traceback tracemalloc tty turtle types \
     typing unicodedata unittest urllib uu uuid venv warnings wave weakref webbrowser \
     winreg winsound wsgiref xdrlib xml xmlrpc zipapp zipfile zipimport zlib zoneinfo",
);

/// Whether a module is one of Python's own, or of a package that is known here: a file of
/// this name in a program stands before it.
#[must_use]
pub fn is_known_module(name: &str) -> bool {
    OF_PYTHON.has(name) || pypi_package(name, "").is_some()
}

fn otherwise() -> impl Iterator<Item = (&'static str, &'static str)> {
    OTHERWISE.words().filter_map(|pair| pair.split_once('='))
}

/// Packages whose modules have their names, with `_` where these have `-`.
const AS_THE_MODULE: WordList = WordList(
    "aiofiles aiohttp aiosqlite alembic anthropic anyio arxiv asyncpg authlib bcrypt boto3 \
     botocore cachetools celery certifi chardet chromadb click colorama cryptography django \
     docker duckdb duckduckgo-search elasticsearch fastapi fastmcp feedparser flask google-auth-oauthlib greenlet gunicorn h11 \
     html2text httpcore httpx httpx-sse huggingface-hub hypercorn idna jinja2 jira jsonschema \
     kubernetes langchain langchain-core langgraph litellm loguru lxml markdownify markitdown \
     matplotlib mcp msgpack mypy neo4j networkx notion-client numpy oauthlib ollama openai \
     openpyxl orjson packaging pandas paramiko pdfplumber pendulum pexpect platformdirs \
     playwright polars prometheus-client psutil psycopg pyarrow pydantic pydantic-core \
     pydantic-settings pygments pymongo pymupdf pypdf pyperclip pytest pytz qdrant-client \
     redis regex requests requests-oauthlib rich scipy seaborn selenium \
     sentence-transformers setuptools simplejson six slack-sdk sniffio sqlalchemy sqlmodel \
     sse-starlette starlette stripe supabase sympy tabulate tenacity tiktoken toml tomlkit torch \
     tornado tqdm transformers trafilatura trio tweepy typer typing-extensions tzlocal ujson \
     urllib3 uvicorn uvloop watchdog watchfiles websockets werkzeug wikipedia xlsxwriter \
     xmltodict yarl yfinance",
);

/// The package that brings a module, where that is known. What was `said` may
/// show the line that imports it, which tells more of a namespace than the
/// error, which names its first part alone.
#[must_use]
pub fn pypi_package(module: &str, said: &str) -> Option<&'static str> {
    let imported = imported(module, said);
    let mut whole = imported.as_deref().unwrap_or(module);
    loop {
        if let Some((_, package)) = otherwise().find(|(known, _)| *known == whole) {
            return Some(package);
        }
        let Some((outer, _)) = whole.rsplit_once('.') else {
            let name = whole.replace('_', "-");
            return AS_THE_MODULE.words().find(|known| *known == name);
        };
        whole = outer;
    }
}

/// What the last line that imports a module, or a part of it, imports.
fn imported(module: &str, said: &str) -> Option<String> {
    let is_of_it = |name: &String| {
        let rest = name.strip_prefix(module);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    said.lines().rev().find_map(|line| {
        let line = line.trim();
        if let Some(names) = line.strip_prefix("import ") {
            let names = names
                .split(',')
                .filter_map(|one| one.split_whitespace().next());
            return names.map(str::to_owned).find(is_of_it);
        }
        let (from, names) = line.strip_prefix("from ")?.split_once(" import ")?;
        let names = names.trim_start_matches(['(', ' ']);
        let first = names.split([',', ' ', ')']).next()?;
        Some(format!("{}.{first}", from.trim())).filter(is_of_it)
    })
}

/// The package that a text says is to be installed by pip.
#[must_use]
pub fn package_to_install(said: &str) -> Option<String> {
    // In a sentence that goes on, the next word need be no package.
    let pattern = r"(?im)\b(?:pip3?|pipx|uv pip) install (?:-U |--upgrade )?[`'\x22]?([A-Za-z][\w.-]*(?:\[[\w,-]+\])?)(?:[`'\x22]|[.,;:)]*\s*$|[,;)])";
    let found = Regex::new(pattern).ok()?.captures(said)?;
    Some(found[1].trim_end_matches(['.', '-']).to_owned())
}

#[cfg(test)]
mod tests {
    use super::{AS_THE_MODULE, OTHERWISE, otherwise, package_to_install, pypi_package};

    #[test]
    fn a_module_has_the_package_that_brings_it() {
        for (module, said, package) in [
            ("jwt", "", Some("PyJWT")),
            ("yaml", "import yaml", Some("pyyaml")),
            ("fitz", "", Some("pymupdf")),
            ("requests", "", Some("requests")),
            ("pydantic_settings", "", Some("pydantic-settings")),
            ("PIL.Image", "", Some("pillow")),
            ("google", "", None),
            (
                "google",
                "  File \"a.py\", line 1, in <module>\n    import google.cloud.storage as x\nModuleNotFoundError",
                Some("google-cloud-storage"),
            ),
            (
                "google",
                "    from google.cloud import (storage, bigquery)",
                Some("google-cloud-storage"),
            ),
            (
                "google.cloud",
                "from google.cloud import pubsub_v1",
                Some("google-cloud-pubsub"),
            ),
            (
                "azure",
                "import os, azure.identity.aio",
                Some("azure-identity"),
            ),
            ("requests_nope_x", "import requests_nope_x", None),
            // A name that begins alike is another module.
            ("google", "import googleapiclient.discovery", None),
        ] {
            assert_eq!(pypi_package(module, said), package, "{module}: {said}");
        }
    }

    #[test]
    fn what_is_to_be_installed_is_read_without_the_end_of_its_sentence() {
        for (said, package) in [
            ("Install with 'pip install mcp[cli]'", Some("mcp[cli]")),
            ("run pip install -U typer.", Some("typer")),
            ("pip install -r requirements.txt", None),
        ] {
            assert_eq!(package_to_install(said).as_deref(), package, "{said}");
        }
    }

    #[test]
    fn a_module_stands_in_one_table_once() {
        assert_eq!(otherwise().count(), OTHERWISE.words().count());
        assert!(otherwise().is_sorted_by(|one, other| one.0 < other.0));
        assert!(!otherwise().any(|(module, _)| AS_THE_MODULE.has(module)));
    }
}
