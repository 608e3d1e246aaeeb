//! AES-256-CBC with the initialization vector in front.
//!
//! Upstream: sprig's `crypto.go`.
//! The surprising thing: the key is the password itself, cut or filled with zeros to 32 bytes.

use aes::Aes256;
use aes::cipher::{Array, BlockCipherDecrypt, BlockCipherEncrypt, KeyInit};
use go_template::FuncError;
use go_value::Value;

use crate::args::{Outcome, text};
use crate::encoding::{from_base64, to_base64};
use crate::host::Host;

const BLOCK: usize = 16;

fn cipher(password: &[u8]) -> Aes256 {
    let mut key = [0; 32];
    let n = password.len().min(32);
    key[..n].copy_from_slice(&password[..n]);
    Aes256::new(&Array::from(key))
}

fn xor(block: &mut [u8], with: &[u8]) {
    block.iter_mut().zip(with).for_each(|(b, w)| *b ^= w);
}

pub(crate) fn encrypt_aes(host: &dyn Host, a: &[Value]) -> Outcome {
    let plain = text(a, 1);
    if plain.is_empty() {
        return Ok("".into());
    }
    let cipher = cipher(text(a, 0));
    let padding = BLOCK - plain.len() % BLOCK;
    let mut content = plain.to_vec();
    content.resize(plain.len() + padding, padding as u8);
    let mut previous = [0; BLOCK];
    host.fill(&mut previous);
    let mut out = previous.to_vec();
    for chunk in content.chunks(BLOCK) {
        let mut block = [0; BLOCK];
        block.copy_from_slice(chunk);
        xor(&mut block, &previous);
        let mut block = Array::from(block);
        cipher.encrypt_block(&mut block);
        previous = block.into();
        out.extend_from_slice(&previous);
    }
    Ok(to_base64(&out).into())
}

pub(crate) fn decrypt_aes(a: &[Value]) -> Outcome {
    let encoded = text(a, 1);
    if encoded.is_empty() {
        return Ok("".into());
    }
    let bytes = from_base64(encoded).map_err(|at| format!("illegal base64 data at input byte {at}"))?;
    let Some((vector, content)) = bytes.split_at_checked(BLOCK) else {
        let capacity = encoded.len() / 4 * 3;
        return Err(format!("runtime error: slice bounds out of range [:16] with capacity {capacity}").into());
    };
    if !content.len().is_multiple_of(BLOCK) {
        return Err("crypto/cipher: input not full blocks".into());
    }
    let cipher = cipher(text(a, 0));
    let mut previous = vector;
    let mut plain = Vec::with_capacity(content.len());
    for chunk in content.chunks(BLOCK) {
        let mut block = [0; BLOCK];
        block.copy_from_slice(chunk);
        let mut block = Array::from(block);
        cipher.decrypt_block(&mut block);
        let mut block: [u8; BLOCK] = block.into();
        xor(&mut block, previous);
        previous = chunk;
        plain.extend_from_slice(&block);
    }
    let Some(padding) = plain.last() else {
        return Err("runtime error: index out of range [-1]".into());
    };
    let end = plain.len() as i64 - i64::from(*padding);
    let end = usize::try_from(end)
        .map_err(|_| FuncError::Text(format!("runtime error: slice bounds out of range [:{end}]")))?;
    plain.truncate(end);
    Ok(Value::string(plain))
}
