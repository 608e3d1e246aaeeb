//! X.509 certificates.
//!
//! Owns: making and checking them, the object that templates see.
//! Upstream: sprig's `crypto.go`, `x509.CreateCertificate`.
//! The surprising thing: the subject is only a common name, and only authorities get a subject key identifier.

use std::sync::Arc;

use go_template::FuncError;
use go_value::{Kind, Map, Object, Value, format};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use sha2::{Digest, Sha256};

use super::der::{self, Reader};
use super::key::Key;
use super::pem;
use crate::args::{Outcome, elements, int, text, utf8};
use crate::encoding::from_base64;
use crate::host::Host;

const RSA_BITS: usize = 2048;

const OID_COMMON_NAME: &[u8] = &[0x06, 0x03, 0x55, 0x04, 0x03];
const OID_SUBJECT_KEY: &[u8] = &[0x55, 0x1d, 0x0e];
const OID_KEY_USAGE: &[u8] = &[0x55, 0x1d, 0x0f];
const OID_ALTERNATIVE_NAMES: &[u8] = &[0x55, 0x1d, 0x11];
const OID_BASIC_CONSTRAINTS: &[u8] = &[0x55, 0x1d, 0x13];
const OID_AUTHORITY_KEY: &[u8] = &[0x55, 0x1d, 0x23];
const OID_EXTENDED_KEY_USAGE: &[u8] = &[0x55, 0x1d, 0x25];
const OID_SERVER_AUTH: &[u8] = &[0x06, 0x08, 0x2b, 0x06, 0x01, 0x05, 0x05, 0x07, 0x03, 0x01];
const OID_CLIENT_AUTH: &[u8] = &[0x06, 0x08, 0x2b, 0x06, 0x01, 0x05, 0x05, 0x07, 0x03, 0x02];

/// sprig's `certificate`: the PEM texts of a certificate and its key.
pub(crate) struct Certificate {
    cert: String,
    key: String,
}

impl Object for Certificate {
    fn type_name(&self) -> &'static str {
        "sprig.certificate"
    }

    fn kind(&self) -> Kind {
        Kind::Struct
    }

    fn field(&self, name: &str) -> Option<Value> {
        match name {
            "Cert" => Some(self.cert.as_str().into()),
            "Key" => Some(self.key.as_str().into()),
            _ => None,
        }
    }

    fn display(&self) -> Vec<u8> {
        format!("{{{} {}}}", self.cert, self.key).into_bytes()
    }

    fn struct_fields(&self) -> Option<Vec<(&'static str, Value)>> {
        Some(vec![("Cert", self.cert.as_str().into()), ("Key", self.key.as_str().into())])
    }

    fn data(&self) -> Option<Value> {
        Some(Value::Map(Map::from_iter([("Cert", self.cert.as_str()), ("Key", self.key.as_str())])))
    }
}

/// Not the key.
impl std::fmt::Debug for Certificate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Certificate").field("cert", &self.cert).finish_non_exhaustive()
    }
}

fn object(cert: String, key: String) -> Outcome {
    Ok(Value::Object(Arc::new(Certificate { cert, key })))
}

/// What a certificate is to say.
struct Request {
    name: Vec<u8>,
    addresses: Vec<Vec<u8>>,
    names: Vec<String>,
    days: i64,
    is_authority: bool,
}

/// Who signs.
struct Signer<'a> {
    /// Its subject, as it stands in its certificate.
    subject: Vec<u8>,
    key_id: Option<Vec<u8>>,
    key: &'a Key,
}

impl Request {
    fn new(name: &[u8], addresses: &Value, names: &Value, days: i64) -> Result<Self, FuncError> {
        let list = |value: &Value| elements(value).map(|l| l.to_vec()).unwrap_or_default();
        let addresses = list(addresses)
            .iter()
            .map(|address| match address.as_str() {
                None => Err(format!("error parsing ip: {} is not a string", format::to_text(address))),
                Some(text) => {
                    let text = text.to_text();
                    match text.parse() {
                        Ok(std::net::IpAddr::V4(ip)) => Ok(ip.octets().to_vec()),
                        Ok(std::net::IpAddr::V6(ip)) => {
                            Ok(ip.to_ipv4_mapped().map_or_else(|| ip.octets().to_vec(), |v4| v4.octets().to_vec()))
                        }
                        Err(_) => Err(format!("error parsing ip: {text}")),
                    }
                }
            })
            .collect::<Result<_, _>>()?;
        let names = list(names)
            .iter()
            .map(|name| match name.as_str() {
                None => Err(format!("error processing alternate dns name: {} is not a string", format::to_text(name))),
                Some(text) => Ok(text.to_string()),
            })
            .collect::<Result<_, _>>()?;
        Ok(Self { name: name.to_vec(), addresses, names, days, is_authority: false })
    }

    fn subject(&self) -> Vec<u8> {
        if self.name.is_empty() {
            return der::sequence(&[]);
        }
        let printable = |b: u8| b.is_ascii_alphanumeric() || b" '()+,-./:=?".contains(&b);
        let tag = if self.name.iter().copied().all(printable) { der::PRINTABLE_STRING } else { der::UTF8_STRING };
        let name = der::sequence(&[OID_COMMON_NAME, &der::tagged(tag, &[&self.name])]);
        der::sequence(&[&der::tagged(der::SET, &[&name])])
    }

    fn extensions(&self, key: &Key, signer: &Signer<'_>, subject: &[u8]) -> Result<Vec<u8>, String> {
        let mut all = Vec::new();
        let mut add = |oid: &[u8], critical: bool, value: &[u8]| {
            let oid = der::tagged(der::OID, &[oid]);
            let critical: &[u8] = if critical { der::TRUE } else { &[] };
            all.extend(der::sequence(&[&oid, critical, &der::tagged(der::OCTET_STRING, &[value])]));
        };
        // Digital signature and key encipherment; an authority also signs certificates.
        let usage: &[u8] = if self.is_authority { &[2, 0xa4] } else { &[5, 0xa0] };
        add(OID_KEY_USAGE, true, &der::tagged(der::BIT_STRING, &[usage]));
        add(OID_EXTENDED_KEY_USAGE, false, &der::sequence(&[OID_SERVER_AUTH, OID_CLIENT_AUTH]));
        let authority: &[u8] = if self.is_authority { der::TRUE } else { &[] };
        add(OID_BASIC_CONSTRAINTS, true, &der::sequence(&[authority]));
        if self.is_authority {
            let id = &Sha256::digest(key.public_bytes()?)[..20];
            add(OID_SUBJECT_KEY, false, &der::tagged(der::OCTET_STRING, &[id]));
        }
        if let Some(id) = signer.key_id.as_ref().filter(|_| signer.subject != subject) {
            add(OID_AUTHORITY_KEY, false, &der::sequence(&[&der::tagged(0x80, &[id])]));
        }
        if !self.names.is_empty() || !self.addresses.is_empty() {
            let mut names = Vec::new();
            for name in &self.names {
                if !name.is_ascii() {
                    let quoted = go_value::quote::quote(name.as_bytes());
                    return Err(format!("x509: {quoted} cannot be encoded as an IA5String"));
                }
                names.extend(der::tagged(0x82, &[name.as_bytes()]));
            }
            self.addresses.iter().for_each(|ip| names.extend(der::tagged(0x87, &[ip])));
            add(OID_ALTERNATIVE_NAMES, self.name.is_empty(), &der::sequence(&[&names]));
        }
        Ok(all)
    }

    fn sign(&self, host: &dyn Host, key: &Key, signer: &Signer<'_>) -> Outcome {
        let failed = |e: String| FuncError::Text(format!("error creating certificate: {e}"));
        if std::str::from_utf8(&self.name).is_err() {
            return Err(failed("asn1: string not valid UTF-8".to_owned()));
        }
        let mut serial = [0; 16];
        host.fill(&mut serial);
        let now = host.now().timestamp();
        let end = now.saturating_add(hours(self.days.wrapping_mul(24))).unwrap_or(Timestamp::MAX);
        let subject = self.subject();
        let algorithm = signer.key.signature_algorithm();
        let public = key.public_info().map_err(failed)?;
        let extensions = self.extensions(key, signer, &subject).map_err(failed)?;
        let body = der::sequence(&[
            &der::tagged(0xa0, &[&der::integer(&[2])]),
            &der::integer(&serial),
            &algorithm,
            &signer.subject,
            &der::sequence(&[&time(now), &time(end)]),
            &subject,
            &public,
            &der::tagged(0xa3, &[&der::sequence(&[&extensions])]),
        ]);
        let signature = signer.key.sign(host, &body).map_err(failed)?;
        let cert = der::sequence(&[&body, &algorithm, &der::bit_string(&signature)]);
        let key = key.to_pem().map_err(|e| format!("error pem-encoding key: {e}"))?;
        object(pem::encode("CERTIFICATE", &cert), key)
    }

    fn self_sign(&self, host: &dyn Host, key: &Key) -> Outcome {
        self.sign(host, key, &Signer { subject: self.subject(), key_id: None, key })
    }
}

fn time(at: Timestamp) -> Vec<u8> {
    let at = at.to_zoned(TimeZone::UTC);
    if (1950..2050).contains(&at.year()) {
        der::tagged(der::UTC_TIME, &[at.strftime("%y%m%d%H%M%SZ").to_string().as_bytes()])
    } else {
        der::tagged(der::GENERALIZED_TIME, &[at.strftime("%Y%m%d%H%M%SZ").to_string().as_bytes()])
    }
}

/// What a signer's certificate says.
struct Parsed {
    subject: Vec<u8>,
    public_info: Vec<u8>,
    key_id: Option<Vec<u8>>,
}

fn parse(bytes: &[u8]) -> Result<Parsed, &'static str> {
    let parsed = (|| {
        let mut body = Reader::new(Reader::new(Reader::new(bytes).take(der::SEQUENCE)?).take(der::SEQUENCE)?);
        body.take(0xa0);
        body.integer()?;
        body.take(der::SEQUENCE)?;
        body.take(der::SEQUENCE)?;
        body.take(der::SEQUENCE)?;
        let (_, _, subject) = body.next()?;
        let (_, _, public_info) = body.next()?;
        let mut key_id = None;
        while !body.is_empty() {
            let (tag, content, _) = body.next()?;
            if tag != 0xa3 {
                continue;
            }
            let mut extensions = Reader::new(Reader::new(content).take(der::SEQUENCE)?);
            while let Some(extension) = extensions.take(der::SEQUENCE) {
                let mut extension = Reader::new(extension);
                let oid = extension.take(der::OID)?;
                extension.take(0x01);
                let value = extension.take(der::OCTET_STRING)?;
                if oid == OID_SUBJECT_KEY {
                    key_id = Reader::new(value).take(der::OCTET_STRING).map(<[u8]>::to_vec);
                }
            }
        }
        Some(Parsed { subject: subject.to_vec(), public_info: public_info.to_vec(), key_id })
    })();
    parsed.ok_or("x509: malformed certificate")
}

fn new_key(host: &dyn Host) -> Result<Key, FuncError> {
    Key::new_rsa(host, RSA_BITS).map_err(|e| format!("error generating rsa key: {e}").into())
}

fn given_key(a: &[Value], i: usize) -> Result<Key, FuncError> {
    Key::from_pem(&utf8(a, i)).map_err(|e| format!("parsing private key: {e}").into())
}

fn authority(host: &dyn Host, a: &[Value], key: &Key) -> Outcome {
    let mut request = Request::new(text(a, 0), &Value::Nil, &Value::Nil, int(a, 1))?;
    request.is_authority = true;
    request.self_sign(host, key)
}

pub(crate) fn gen_ca(host: &dyn Host, a: &[Value]) -> Outcome {
    authority(host, a, &new_key(host)?)
}

pub(crate) fn gen_ca_with_key(host: &dyn Host, a: &[Value]) -> Outcome {
    authority(host, a, &given_key(a, 2)?)
}

fn request(a: &[Value]) -> Result<Request, FuncError> {
    Request::new(text(a, 0), crate::args::any(a, 1), crate::args::any(a, 2), int(a, 3))
}

pub(crate) fn gen_self_signed(host: &dyn Host, a: &[Value]) -> Outcome {
    // The names are looked at first: a key takes long.
    let request = request(a)?;
    request.self_sign(host, &new_key(host)?)
}

pub(crate) fn gen_self_signed_with_key(host: &dyn Host, a: &[Value]) -> Outcome {
    let key = given_key(a, 4)?;
    request(a)?.self_sign(host, &key)
}

fn signed(host: &dyn Host, a: &[Value], key: Option<Key>) -> Outcome {
    let field = |name: &str| match a.get(4) {
        Some(Value::Object(o)) => o.field(name).and_then(|v| v.as_str().map(ToString::to_string)).unwrap_or_default(),
        _ => String::new(),
    };
    let block = pem::decode(&field("Cert")).ok_or("unable to decode certificate")?;
    let parent = parse(&block.bytes).map_err(|e| format!("error parsing certificate: decodedSignerCert.Bytes: {e}"))?;
    let signing = Key::from_pem(&field("Key")).map_err(|e| format!("error parsing private key: {e}"))?;
    let request = request(a)?;
    let key = match key {
        Some(key) => key,
        None => new_key(host)?,
    };
    let public = signing.public_info().map_err(|e| format!("error creating certificate: {e}"))?;
    if public != parent.public_info {
        return Err("error creating certificate: x509: provided PrivateKey doesn't match parent's PublicKey".into());
    }
    request.sign(host, &key, &Signer { subject: parent.subject, key_id: parent.key_id, key: &signing })
}

pub(crate) fn gen_signed(host: &dyn Host, a: &[Value]) -> Outcome {
    signed(host, a, None)
}

pub(crate) fn gen_signed_with_key(host: &dyn Host, a: &[Value]) -> Outcome {
    let key = given_key(a, 5)?;
    signed(host, a, Some(key))
}

pub(crate) fn build_custom_cert(a: &[Value]) -> Outcome {
    let decode = |i: usize, what: &str| {
        from_base64(crate::args::text(a, i)).map_err(|_| format!("unable to decode base64 {what}"))
    };
    let cert = String::from_utf8_lossy(&decode(0, "certificate")?).into_owned();
    let key = String::from_utf8_lossy(&decode(1, "private key")?).into_owned();
    let block = pem::decode(&cert).ok_or("unable to decode certificate")?;
    parse(&block.bytes).map_err(|e| format!("error parsing certificate: decodedCert.Bytes: {e}"))?;
    Key::from_pem(&key).map_err(|e| format!("error parsing private key: {e}"))?;
    object(cert, key)
}

/// As many hours, or as many as a duration can have.
fn hours(n: i64) -> SignedDuration {
    SignedDuration::try_from_hours(n).unwrap_or(if n < 0 { SignedDuration::MIN } else { SignedDuration::MAX })
}
