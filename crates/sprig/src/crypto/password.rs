//! Password hashes and derived passwords.
//!
//! Upstream: sprig's `crypto.go`, golang.org/x/crypto `bcrypt` and `scrypt`.
//! The surprising thing: what goes wrong is the result, not an error.

use go_value::Value;
use sha2::{Digest, Sha256};

use crate::args::{Outcome, int, text, utf8};
use crate::host::Host;

/// `bcrypt.DefaultCost`
const COST: u32 = 10;
/// Go refuses longer passwords, where others cut them off.
const LONGEST_PASSWORD: usize = 72;

fn hashed(host: &dyn Host, password: &[u8]) -> String {
    if password.len() > LONGEST_PASSWORD {
        return "failed to encrypt string with bcrypt: bcrypt: password length exceeds 72 bytes".to_owned();
    }
    let mut salt = [0; 16];
    host.fill(&mut salt);
    match ::bcrypt::hash_with_salt(password, COST, salt) {
        Ok(parts) => parts.format_for_version(::bcrypt::Version::TwoA),
        Err(e) => format!("failed to encrypt string with bcrypt: {e}"),
    }
}

pub(crate) fn bcrypt(host: &dyn Host, a: &[Value]) -> Outcome {
    Ok(hashed(host, text(a, 0)).into())
}

pub(crate) fn htpasswd(host: &dyn Host, a: &[Value]) -> Outcome {
    let user = text(a, 0);
    if user.contains(&b':') {
        return Ok(Value::string([&b"invalid username: "[..], user].concat()));
    }
    Ok(Value::string([user, &b":"[..], hashed(host, text(a, 1)).as_bytes()].concat()))
}

const SEED: &[u8] = b"com.lyndir.masterpassword";

fn templates(kind: &str) -> &'static [&'static str] {
    match kind {
        "maximum" => &["anoxxxxxxxxxxxxxxxxx", "axxxxxxxxxxxxxxxxxno"],
        "long" => &[
            "CvcvnoCvcvCvcv",
            "CvcvCvcvnoCvcv",
            "CvcvCvcvCvcvno",
            "CvccnoCvcvCvcv",
            "CvccCvcvnoCvcv",
            "CvccCvcvCvcvno",
            "CvcvnoCvccCvcv",
            "CvcvCvccnoCvcv",
            "CvcvCvccCvcvno",
            "CvcvnoCvcvCvcc",
            "CvcvCvcvnoCvcc",
            "CvcvCvcvCvccno",
            "CvccnoCvccCvcv",
            "CvccCvccnoCvcv",
            "CvccCvccCvcvno",
            "CvcvnoCvccCvcc",
            "CvcvCvccnoCvcc",
            "CvcvCvccCvccno",
            "CvccnoCvcvCvcc",
            "CvccCvcvnoCvcc",
            "CvccCvcvCvccno",
        ],
        "medium" => &["CvcnoCvc", "CvcCvcno"],
        "short" => &["Cvcn"],
        "basic" => &["aaanaaan", "aannaaan", "aaannaaa"],
        "pin" => &["nnnn"],
        _ => &[],
    }
}

fn characters(class: u8) -> &'static [u8] {
    match class {
        b'V' => b"AEIOU",
        b'C' => b"BCDFGHJKLMNPQRSTVWXYZ",
        b'v' => b"aeiou",
        b'c' => b"bcdfghjklmnpqrstvwxyz",
        b'A' => b"AEIOUBCDFGHJKLMNPQRSTVWXYZ",
        b'a' => b"AEIOUaeiouBCDFGHJKLMNPQRSTVWXYZbcdfghjklmnpqrstvwxyz",
        b'n' => b"0123456789",
        b'o' => b"@&%?,=[]_:-+*$#!'^~;()/.",
        _ => b"AEIOUaeiouBCDFGHJKLMNPQRSTVWXYZbcdfghjklmnpqrstvwxyz0123456789!@#$%^&*()",
    }
}

/// HMAC-SHA-256.
fn hmac(key: &[u8], message: &[u8]) -> [u8; 32] {
    let mut block = [0u8; 64];
    if key.len() > 64 {
        block[..32].copy_from_slice(&Sha256::digest(key));
    } else {
        block[..key.len()].copy_from_slice(key);
    }
    let pad = |with: u8| block.map(|b| b ^ with);
    let inner = Sha256::new().chain_update(pad(0x36)).chain_update(message).finalize();
    Sha256::new().chain_update(pad(0x5c)).chain_update(inner).finalize().into()
}

/// The Master Password algorithm.
pub(crate) fn derive_password(a: &[Value]) -> Outcome {
    let (counter, kind) = (int(a, 0) as u32, utf8(a, 1));
    let (password, user, site) = (text(a, 2), text(a, 3), text(a, 4));
    let templates = templates(&kind);
    if templates.is_empty() {
        return Ok(Value::string([&b"cannot find password template "[..], text(a, 1)].concat()));
    }
    let salt = [SEED, &(user.len() as u32).to_be_bytes(), user].concat();
    let mut key = [0; 64];
    let failed = |what: String| Ok(format!("failed to derive password: {what}").into());
    match scrypt::Params::new(15, 8, 2) {
        Ok(params) => {
            if let Err(e) = scrypt::scrypt(password, &salt, &params, &mut key) {
                return failed(e.to_string());
            }
        }
        Err(e) => return failed(e.to_string()),
    }
    let message = [SEED, &(site.len() as u32).to_be_bytes(), site, &counter.to_be_bytes()].concat();
    let seed = hmac(&key, &message);
    let template = templates[usize::from(seed[0]) % templates.len()];
    let chars = template.bytes().zip(&seed[1..]).map(|(class, byte)| {
        let set = characters(class);
        char::from(set[usize::from(*byte) % set.len()])
    });
    Ok(chars.collect::<String>().into())
}
