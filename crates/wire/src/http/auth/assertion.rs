//! A signed assertion of who a client is: `private_key_jwt`.
//!
//! Main type: [`SigningKey`]. By RFC 7523, sections 2.2 and 3, with the issuer
//! as the audience. What is signed is made by ring, which TLS needs anyway.

use super::error::{AuthError, Stage};
use super::metadata::ServerMetadata;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::rand::{SecureRandom, SystemRandom};
use ring::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, ECDSA_P384_SHA384_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair,
    RSA_PKCS1_SHA256, RSA_PKCS1_SHA384, RSA_PKCS1_SHA512, RSA_PSS_SHA256, RsaEncoding, RsaKeyPair,
};
use rustls::pki_types::PrivateKeyDer;
use rustls::pki_types::pem::PemObject;
use serde_json::json;
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// How long an assertion is good for; it is used at once.
const LIFETIME: Duration = Duration::from_secs(60);

/// How an assertion is signed (RFC 7518, section 3.1; RFC 8037).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Algorithm {
    Es256,
    Es384,
    Rs256,
    Rs384,
    Rs512,
    Ps256,
    EdDsa,
}

impl Algorithm {
    pub const ALL: [Self; 7] = [
        Self::Es256,
        Self::Es384,
        Self::Rs256,
        Self::Rs384,
        Self::Rs512,
        Self::Ps256,
        Self::EdDsa,
    ];

    /// As a JWT's header says it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Es256 => "ES256",
            Self::Es384 => "ES384",
            Self::Rs256 => "RS256",
            Self::Rs384 => "RS384",
            Self::Rs512 => "RS512",
            Self::Ps256 => "PS256",
            Self::EdDsa => "EdDSA",
        }
    }

    #[must_use]
    pub fn find(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.name() == name)
    }
}

/// A private key with what it signs by.
#[derive(Clone)]
pub struct SigningKey {
    pair: Arc<Pair>,
    algorithm: Algorithm,
    /// Which of a client's keys it is (`kid`), where it has several.
    id: Option<String>,
}

enum Pair {
    Ec(EcdsaKeyPair),
    Ed(Ed25519KeyPair),
    Rsa(RsaKeyPair),
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SigningKey({})", self.algorithm.name())
    }
}

/// What a workload's platform says of it, made out for an authorization server;
/// nothing of it is ever shown.
#[derive(Clone)]
pub struct WorkloadToken(pub String);

impl fmt::Debug for WorkloadToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WorkloadToken")
    }
}

impl SigningKey {
    /// From PEM: PKCS#8 of any kind, or PKCS#1 of RSA.
    ///
    /// # Errors
    /// The key can't be read, or does not sign by this algorithm. Nothing of it
    /// is quoted.
    pub fn from_pem(
        pem: &str,
        algorithm: Option<Algorithm>,
        id: Option<String>,
    ) -> Result<Self, AuthError> {
        let refuse = |text: &str| AuthError::new(Stage::Client, text);
        // Variables of CI services often hold a key in one line.
        let pem = match pem.contains('\n') {
            true => Cow::Borrowed(pem),
            false => Cow::Owned(pem.replace("\\n", "\n")),
        };
        let der = PrivateKeyDer::from_pem_slice(pem.as_bytes())
            .map_err(|_| refuse("the private key is not written as PEM"))?;
        let candidates = match algorithm {
            Some(one) => vec![one],
            // The commonest of each kind of key.
            None => vec![
                Algorithm::Es256,
                Algorithm::Es384,
                Algorithm::EdDsa,
                Algorithm::Rs256,
            ],
        };
        if let PrivateKeyDer::Sec1(_) = der {
            return Err(refuse(
                "the private key is written in the form of SEC 1 (`EC PRIVATE KEY`); write it \
                 as PKCS#8: `openssl pkcs8 -topk8 -nodes -in KEY.pem`",
            ));
        }
        let found = candidates
            .into_iter()
            .find_map(|algorithm| Some((Pair::read(&der, algorithm)?, algorithm)));
        let Some((pair, algorithm)) = found else {
            return Err(refuse(&match algorithm {
                Some(algorithm) => {
                    format!("the private key can't be used for {}", algorithm.name())
                }
                None => "the private key is of no kind that jelly signs with (P-256, P-384, \
                         Ed25519, or RSA of at least 2048 bits)"
                    .to_owned(),
            }));
        };
        Ok(Self {
            pair: Arc::new(pair),
            algorithm,
            id,
        })
    }

    /// A fresh assertion that this client is who it says.
    ///
    /// # Errors
    /// The server takes other algorithms only, or nothing can be signed here.
    pub(super) fn assert(
        &self,
        client: &str,
        server: &ServerMetadata,
    ) -> Result<String, AuthError> {
        let refuse = |text: String| AuthError::new(Stage::Client, text);
        let name = self.algorithm.name();
        if let Some(taken) = &server.signing_algorithms
            && !taken.iter().any(|one| one == name)
        {
            return Err(refuse(format!(
                "{} takes assertions signed by {}, and the key signs by {name}",
                server.issuer,
                taken.join(", ")
            )));
        }
        let now = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        let id = random().ok_or_else(|| refuse(NO_RANDOM.to_owned()))?;
        let mut header = json!({"alg": name, "typ": "JWT"});
        if let Some(id) = &self.id {
            header["kid"] = json!(id);
        }
        let claims = json!({
            "iss": client,
            "sub": client,
            "aud": server.issuer,
            "iat": now.as_secs(),
            "exp": (now + LIFETIME).as_secs(),
            "jti": id,
        });
        let part = |value: serde_json::Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let signed = format!("{}.{}", part(header), part(claims));
        let signature = self
            .sign(signed.as_bytes())
            .ok_or_else(|| refuse("the private key could not sign".to_owned()))?;
        Ok(format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature)))
    }

    fn sign(&self, message: &[u8]) -> Option<Vec<u8>> {
        let random = SystemRandom::new();
        match &*self.pair {
            Pair::Ec(pair) => {
                let signature = pair.sign(&random, message).ok()?;
                Some(signature.as_ref().to_vec())
            }
            Pair::Ed(pair) => Some(pair.sign(message).as_ref().to_vec()),
            Pair::Rsa(pair) => {
                let padding: &'static dyn RsaEncoding = match self.algorithm {
                    Algorithm::Rs384 => &RSA_PKCS1_SHA384,
                    Algorithm::Rs512 => &RSA_PKCS1_SHA512,
                    Algorithm::Ps256 => &RSA_PSS_SHA256,
                    Algorithm::Rs256 | Algorithm::Es256 | Algorithm::Es384 | Algorithm::EdDsa => {
                        &RSA_PKCS1_SHA256
                    }
                };
                let mut signature = vec![0; pair.public().modulus_len()];
                pair.sign(padding, &random, message, &mut signature).ok()?;
                Some(signature)
            }
        }
    }
}

impl Pair {
    fn read(der: &PrivateKeyDer<'_>, algorithm: Algorithm) -> Option<Self> {
        let bytes = der.secret_der();
        match algorithm {
            Algorithm::Es256 => {
                let curve = &ECDSA_P256_SHA256_FIXED_SIGNING;
                EcdsaKeyPair::from_pkcs8(curve, bytes, &SystemRandom::new())
                    .ok()
                    .map(Self::Ec)
            }
            Algorithm::Es384 => {
                let curve = &ECDSA_P384_SHA384_FIXED_SIGNING;
                EcdsaKeyPair::from_pkcs8(curve, bytes, &SystemRandom::new())
                    .ok()
                    .map(Self::Ec)
            }
            Algorithm::EdDsa => Ed25519KeyPair::from_pkcs8_maybe_unchecked(bytes)
                .ok()
                .map(Self::Ed),
            Algorithm::Rs256 | Algorithm::Rs384 | Algorithm::Rs512 | Algorithm::Ps256 => {
                let pair = match der {
                    PrivateKeyDer::Pkcs1(_) => RsaKeyPair::from_der(bytes),
                    _ => RsaKeyPair::from_pkcs8(bytes),
                };
                pair.ok().map(Self::Rsa)
            }
        }
    }
}

pub(super) const NO_RANDOM: &str = "the system gives no random numbers";

/// 256 bits that nobody can guess, as text that any place takes.
pub(super) fn random() -> Option<String> {
    let mut bytes = [0; 32];
    SystemRandom::new().fill(&mut bytes).ok()?;
    Some(URL_SAFE_NO_PAD.encode(bytes))
}

#[cfg(test)]
mod tests {
    use super::{Algorithm, SigningKey};
    use crate::http::auth::metadata::ServerMetadata;
    use base64::Engine;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;
    use rcgen::{KeyPair, PKCS_ECDSA_P256_SHA256, PKCS_ED25519};
    use reqwest::Url;
    use ring::signature::{ECDSA_P256_SHA256_FIXED, UnparsedPublicKey};
    use serde_json::Value;

    fn server() -> ServerMetadata {
        ServerMetadata::by_default(&Url::parse("https://a/").unwrap())
    }

    #[test]
    fn an_assertion_names_the_client_and_the_issuer_and_is_signed() {
        let pair = KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256).unwrap();
        let key = SigningKey::from_pem(&pair.serialize_pem(), None, Some("k1".into())).unwrap();
        let jwt = key.assert("me", &server()).unwrap();
        let parts: Vec<&str> = jwt.split('.').collect();
        let decoded = |part: &str| URL_SAFE_NO_PAD.decode(part).unwrap();
        let header: Value = serde_json::from_slice(&decoded(parts[0])).unwrap();
        assert_eq!(header["alg"], "ES256");
        assert_eq!(header["kid"], "k1");
        let claims: Value = serde_json::from_slice(&decoded(parts[1])).unwrap();
        assert_eq!(claims["iss"], "me");
        assert_eq!(claims["sub"], "me");
        assert_eq!(claims["aud"], "https://a");
        let lifetime = claims["exp"].as_u64().unwrap() - claims["iat"].as_u64().unwrap();
        assert_eq!(lifetime, 60);
        let signed = format!("{}.{}", parts[0], parts[1]);
        UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, pair.public_key_raw())
            .verify(signed.as_bytes(), &decoded(parts[2]))
            .unwrap();
        assert_ne!(jwt, key.assert("me", &server()).unwrap());
    }

    #[test]
    fn the_kind_of_the_key_decides_where_nothing_is_said() {
        let pair = KeyPair::generate_for(&PKCS_ED25519).unwrap();
        let key = SigningKey::from_pem(&pair.serialize_pem(), None, None).unwrap();
        assert_eq!(format!("{key:?}"), "SigningKey(EdDSA)");
        let in_one_line = pair.serialize_pem().trim().replace('\n', "\\n");
        assert!(SigningKey::from_pem(&in_one_line, None, None).is_ok());
        let wrong = SigningKey::from_pem(&pair.serialize_pem(), Some(Algorithm::Es256), None);
        assert_eq!(
            wrong.unwrap_err().text,
            "the private key can't be used for ES256"
        );
    }

    #[test]
    fn a_key_that_cannot_be_used_is_said_without_a_word_of_it() {
        let body = "c3dvcmRmaXNo";
        for (pem, word) in [
            ("swordfish".to_owned(), "PEM"),
            (
                format!("-----BEGIN EC PRIVATE KEY-----\n{body}\n-----END EC PRIVATE KEY-----\n"),
                "pkcs8",
            ),
            (
                format!("-----BEGIN PRIVATE KEY-----\n{body}\n-----END PRIVATE KEY-----\n"),
                "no kind",
            ),
        ] {
            let text = SigningKey::from_pem(&pem, None, None).unwrap_err().text;
            assert!(text.contains(word), "{text}");
            assert!(
                !text.contains(body) && !text.contains("swordfish"),
                "{text}"
            );
        }
    }

    #[test]
    fn a_server_that_takes_other_algorithms_is_not_shown_the_assertion() {
        let pair = KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256).unwrap();
        let key = SigningKey::from_pem(&pair.serialize_pem(), None, None).unwrap();
        let mut server = server();
        server.signing_algorithms = Some(vec!["RS256".into()]);
        let text = key.assert("me", &server).unwrap_err().text;
        assert_eq!(
            text,
            "https://a takes assertions signed by RS256, and the key signs by ES256"
        );
    }
}
