//! Addresses, taken apart.

/// The pairs of a query, decoded.
pub fn pairs(query: &str) -> Vec<(String, String)> {
    let pair = |part: &str| {
        let (key, value) = part.split_once('=').unwrap_or((part, ""));
        (decoded(key), decoded(value))
    };
    query.split('&').filter(|part| !part.is_empty()).map(pair).collect()
}

/// `%41` is `A`, `+` a space; what is no such code stays.
fn decoded(text: &str) -> String {
    let (mut bytes, mut rest) = (Vec::new(), text.as_bytes());
    while let Some((&first, after)) = rest.split_first() {
        let code = (first == b'%').then(|| after.get(..2)).flatten();
        let code = code.and_then(|c| u8::from_str_radix(std::str::from_utf8(c).ok()?, 16).ok());
        match code {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            None => {
                bytes.push(if first == b'+' { b' ' } else { first });
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_decoded_and_what_is_no_code_stays() {
        let found = pairs("policy=clockwork%5Bmax_batch%3D4%5D&a+b=%zz&&c&d=%E4%B8%96");
        let expected =
            [("policy", "clockwork[max_batch=4]"), ("a b", "%zz"), ("c", ""), ("d", "世")];
        let expected: Vec<(String, String)> =
            expected.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
        assert_eq!(found, expected);
        assert_eq!(decoded("%"), "%");
        assert_eq!(decoded("%4"), "%4");
    }
}
