//! TLS by rustls, with the modes of libpq.

use crate::common_name::verify_name;
use crate::error::DatabaseError;
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
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

/// Whether only this is wrong: it is the certificate of an authority.
fn is_of_authority(error: &Error) -> bool {
    let Error::InvalidCertificate(CertificateError::Other(other)) = error else {
        return false;
    };
    let error = other.0.downcast_ref::<webpki::Error>();
    error == Some(&webpki::Error::CaUsedAsEndEntity)
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
        let is_named = || self.named.iter().any(|named| named == end_entity);
        match &checked {
            // It comes last, when the chain has been found good.
            Err(Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) => {}
            // That it is over is found out before that it is an authority's.
            Err(error) if is_of_authority(error) && is_named() => {}
            _ => return checked,
        }
        if self.checks_name {
            verify_name(end_entity, server_name)?;
        }
        Ok(ServerCertVerified::assertion())
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
    use rcgen::{
        BasicConstraints, Certificate, CertificateParams, DnType, IsCa, Issuer, KeyPair,
        date_time_ymd,
    };
    use rustls::client::danger::ServerCertVerifier as _;
    use rustls::pki_types::{ServerName, UnixTime};
    use std::sync::Arc;
    use std::time::Duration;

    const HOST: &str = "db.example.com";

    fn params(names: &[&str]) -> CertificateParams {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let mut params = CertificateParams::new(names).unwrap();
        params.distinguished_name.push(DnType::CommonName, HOST);
        params.not_after = date_time_ymd(2100, 1, 1);
        params
    }

    /// As `openssl req -x509` makes it, and PostgreSQL's manual says to.
    fn self_signed(names: &[&str]) -> Certificate {
        let mut params = params(names);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.self_signed(&KeyPair::generate().unwrap()).unwrap()
    }

    /// Whether each of these servers is believed to be who it says, where `root` is
    /// the file that is named.
    fn believed(
        (root, shown): (&Certificate, &Certificate),
        cases: &[(bool, &'static str, u64)],
    ) -> Vec<bool> {
        let folder = tempfile::TempDir::new().unwrap();
        let file = folder.path().join("root.crt");
        std::fs::write(&file, root.pem()).unwrap();
        let verified = |(checks_name, name, year): &(bool, &'static str, u64)| {
            let provider = Arc::new(rustls::crypto::ring::default_provider());
            let roots = Roots::File(file.clone());
            let verifier = Lenient::of_chain(&roots, provider, *checks_name).unwrap();
            let now = Duration::from_secs((year - 1970) * 31_557_600);
            let name = ServerName::try_from(*name).unwrap();
            let now = UnixTime::since_unix_epoch(now);
            let verified = verifier.verify_server_cert(shown.der(), &[], &name, &[], now);
            verified.is_ok()
        };
        cases.iter().map(verified).collect()
    }

    const CASES: [(bool, &str, u64); 4] = [
        (true, HOST, 2030),
        (false, "other.example.com", 2030),
        (true, "other.example.com", 2030),
        (true, HOST, 2200),
    ];

    #[test]
    fn a_self_signed_certificate_that_is_named_is_believed() {
        // By its names, and by its subject where it has none.
        for names in [&[HOST][..], &[]] {
            let certificate = self_signed(names);
            let told = believed((&certificate, &certificate), &CASES);
            assert_eq!(told, [true, true, false, false], "{names:?}");
        }
        let named = self_signed(&[HOST]);
        assert_eq!(
            believed((&named, &self_signed(&[HOST])), &CASES[..2]),
            [false; 2]
        );
    }

    #[test]
    fn a_common_name_counts_where_there_is_no_other() {
        let mut authority = params(&[]);
        authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let root = authority.self_signed(&key).unwrap();
        let issuer = Issuer::new(authority, key);
        let signed = |names: &[&str]| {
            let key = KeyPair::generate().unwrap();
            params(names).signed_by(&key, &issuer).unwrap()
        };
        let told = believed((&root, &signed(&[])), &CASES);
        assert_eq!(told, [true, true, false, false]);
        let told = believed((&root, &signed(&["db.example.net"])), &CASES);
        assert_eq!(told, [false, true, false, false]);
    }
}
