//! TLS by rustls, with the modes of libpq.

use crate::error::DatabaseError;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{WebPkiServerVerifier, verify_server_name};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme,
};
use std::future::Future;
use std::io::{self, Read};
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream};
use tokio_rustls::TlsConnector;

/// A larger file of certificates is not read.
const ROOTS_MAX: u64 = 16 * 1024 * 1024;

/// Whom certificates are believed of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Roots {
    System,
    File(PathBuf),
}

/// What of a server's certificate is looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Verification {
    /// Nothing: the traffic is encrypted, for whomever.
    None,
    /// Who signed it.
    Chain(Roots),
    /// That, and the name in it.
    Full(Roots),
}

/// How a connection is to be protected.
#[derive(Debug, Clone)]
pub(crate) struct TlsTerms {
    /// None for no TLS at all.
    pub(crate) verification: Option<Verification>,
    /// Without it there is no connection.
    pub(crate) required: bool,
}

/// Makes the TLS sessions of one database.
#[derive(Clone)]
pub(crate) struct Rustls {
    config: Arc<ClientConfig>,
}

impl Rustls {
    /// # Errors
    /// The roots can't be read.
    pub(crate) fn new(terms: &TlsTerms) -> Result<Self, DatabaseError> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let failed = |why: String| DatabaseError::Unreachable(why);
        let builder = ClientConfig::builder_with_provider(provider.clone())
            .with_safe_default_protocol_versions()
            .map_err(|error| failed(format!("no TLS: {error}")))?;
        let verifier = match &terms.verification {
            None | Some(Verification::None) => Lenient {
                provider,
                chain: None,
                named: Vec::new(),
                checks_name: false,
            },
            Some(Verification::Chain(roots)) => {
                Lenient::of_chain(roots, provider, false).map_err(failed)?
            }
            Some(Verification::Full(roots)) => {
                Lenient::of_chain(roots, provider, true).map_err(failed)?
            }
        };
        let config = builder
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(verifier));
        Ok(Self {
            config: Arc::new(config.with_no_client_auth()),
        })
    }
}

/// The roots, and of a file all its certificates as they stand there.
fn read_roots(roots: &Roots) -> Result<(RootCertStore, Vec<CertificateDer<'static>>), String> {
    let mut store = RootCertStore::empty();
    let mut named = Vec::new();
    match roots {
        Roots::System => {
            let found = rustls_native_certs::load_native_certs();
            store.add_parsable_certificates(found.certs);
            if store.is_empty() {
                return Err("the system has no root certificates; name a file with \
                            sslrootcert"
                    .to_owned());
            }
        }
        Roots::File(file) => {
            let shown = file.display();
            let mut bytes = Vec::new();
            std::fs::File::open(file)
                .and_then(|file| file.take(ROOTS_MAX).read_to_end(&mut bytes))
                .map_err(|error| format!("sslrootcert {shown}: {error}"))?;
            for certificate in CertificateDer::pem_slice_iter(&bytes) {
                let certificate =
                    certificate.map_err(|error| format!("sslrootcert {shown}: {error}"))?;
                named.push(certificate.clone());
                store
                    .add(certificate)
                    .map_err(|error| format!("sslrootcert {shown}: {error}"))?;
            }
            if store.is_empty() {
                return Err(format!("sslrootcert {shown}: it holds no certificate"));
            }
        }
    }
    Ok((store, named))
}

/// Looks at what libpq looks at, which may be less than the whole certificate.
#[derive(Debug)]
struct Lenient {
    provider: Arc<CryptoProvider>,
    /// Who has to have signed it; None for anybody.
    chain: Option<Arc<WebPkiServerVerifier>>,
    /// Certificates that were named themselves: as in libpq, a server may show
    /// one of them, although it is that of an authority, as self-signed ones are.
    named: Vec<CertificateDer<'static>>,
    checks_name: bool,
}

impl Lenient {
    fn of_chain(
        roots: &Roots,
        provider: Arc<CryptoProvider>,
        checks_name: bool,
    ) -> Result<Self, String> {
        let (roots, named) = read_roots(roots)?;
        let chain = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider.clone())
            .build()
            .map_err(|error| format!("no TLS: {error}"))?;
        Ok(Self {
            provider,
            chain: Some(chain),
            named,
            checks_name,
        })
    }
}

impl ServerCertVerifier for Lenient {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let Some(chain) = &self.chain else {
            return Ok(ServerCertVerified::assertion());
        };
        let checked =
            chain.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now);
        match checked {
            // It comes last, when the chain has been found good.
            Err(Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) if !self.checks_name => Ok(ServerCertVerified::assertion()),
            // That it is over is found out before that it is an authority's.
            Err(Error::InvalidCertificate(CertificateError::Other(_)))
                if self.named.iter().any(|named| named == end_entity) =>
            {
                if self.checks_name {
                    verify_server_name(&ParsedCertificate::try_from(end_entity)?, server_name)?;
                }
                Ok(ServerCertVerified::assertion())
            }
            other => other,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signature, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider
            .signature_verification_algorithms
            .supported_schemes()
    }
}

impl<S> MakeTlsConnect<S> for Rustls
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    type Stream = RustlsStream<S>;
    type TlsConnect = RustlsConnect;
    type Error = io::Error;

    fn make_tls_connect(&mut self, domain: &str) -> io::Result<RustlsConnect> {
        Ok(RustlsConnect {
            name: domain.to_owned(),
            connector: TlsConnector::from(self.config.clone()),
        })
    }
}

pub(crate) struct RustlsConnect {
    name: String,
    connector: TlsConnector,
}

impl<S> TlsConnect<S> for RustlsConnect
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    type Stream = RustlsStream<S>;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<RustlsStream<S>>> + Send>>;

    fn connect(self, stream: S) -> Self::Future {
        Box::pin(async move {
            let name = ServerName::try_from(self.name)
                .map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?;
            let stream = self.connector.connect(name, stream).await?;
            Ok(RustlsStream(stream))
        })
    }
}

pub(crate) struct RustlsStream<S>(tokio_rustls::client::TlsStream<S>);

impl<S: AsyncRead + AsyncWrite + Unpin> TlsStream for RustlsStream<S> {
    /// libpq binds the password to the certificate where the server offers that,
    /// and goes without where it does not; so nothing is lost against whoever
    /// stands between and does not offer it.
    fn channel_binding(&self) -> ChannelBinding {
        ChannelBinding::none()
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for RustlsStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(context, buffer)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for RustlsStream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::{Lenient, Roots};
    use rustls::client::danger::ServerCertVerifier as _;
    use rustls::pki_types::pem::PemObject as _;
    use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
    use std::sync::Arc;
    use std::time::Duration;

    /// Made by `openssl req -x509` for db.example.com, as PostgreSQL's manual does;
    /// it holds until 2125.
    const SELF_SIGNED: &str = "\
-----BEGIN CERTIFICATE-----\n\
MIIBpDCCAUqgAwIBAgIUQDnKlh80D96d6Hx3SJjTXY6u5sAwCgYIKoZIzj0EAwIw\n\
GTEXMBUGA1UEAwwOZGIuZXhhbXBsZS5jb20wIBcNMjYxMTI2MDYyMDMxWhgPMjEy\n\
NTA2MjAwNjIwMzFaMBkxFzAVBgNVBAMMDmRiLmV4YW1wbGUuY29tMFkwEwYHKoZI\n\
zj0CAQYIKoZIzj0DAQcDQgAEGZHSbMMN2FctprbPKkW2pmtRdFrQMzAyf9RgVY9T\n\
2GMy7/uqX1/1iV2Grjcb/NslpCKOS16AZpBL8sD20+dm/aNuMGwwHQYDVR0OBBYE\n\
FHLAzjimFJzsBrsI2e+lefuUMfKRMB8GA1UdIwQYMBaAFHLAzjimFJzsBrsI2e+l\n\
efuUMfKRMA8GA1UdEwEB/wQFMAMBAf8wGQYDVR0RBBIwEIIOZGIuZXhhbXBsZS5j\n\
b20wCgYIKoZIzj0EAwIDSAAwRQIgTcbYzjaPzxwfe5mD0oeMQc1vgXR3FBeR+fVY\n\
+xy+dUoCIQCctZGJIKJIbFlMifE/uuDm0JRlyinEtOoa1AqeYDO1zA==\n\
-----END CERTIFICATE-----\n\
";

    #[test]
    fn a_self_signed_certificate_that_is_named_is_believed() {
        let folder = tempfile::TempDir::new().unwrap();
        let file = folder.path().join("server.crt");
        std::fs::write(&file, SELF_SIGNED).unwrap();
        let certificate = CertificateDer::from_pem_slice(SELF_SIGNED.as_bytes()).unwrap();
        let verified = |checks_name, name: &'static str, year: u64| {
            let provider = Arc::new(rustls::crypto::ring::default_provider());
            let roots = Roots::File(file.clone());
            let verifier = Lenient::of_chain(&roots, provider, checks_name).unwrap();
            let now = Duration::from_secs((year - 1970) * 31_557_600);
            let name = ServerName::try_from(name).unwrap();
            let now = UnixTime::since_unix_epoch(now);
            verifier.verify_server_cert(&certificate, &[], &name, &[], now)
        };
        assert!(verified(true, "db.example.com", 2030).is_ok());
        assert!(verified(false, "other.example.com", 2030).is_ok());
        assert!(verified(true, "other.example.com", 2030).is_err());
        assert!(verified(true, "db.example.com", 2200).is_err());
    }
}
