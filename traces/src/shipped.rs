//! The data that travel inside the program, found by name from any working directory.
//!
//! It is not a download: every byte is in `traces/data`, whose `ATTRIBUTION.md` says whose it is.

use crate::error::{TraceError, parameter};
use crate::open::Input;

/// One embedded file.
#[derive(Clone, Copy, Debug)]
pub struct Shipped {
    /// The name it is asked for by.
    pub name: &'static str,
    /// The file in `traces/data`.
    pub file: &'static str,
    /// What it holds.
    pub what: &'static str,
    /// The SHA-256 of the file as stored.
    pub sha256: &'static str,
    bytes: &'static [u8],
}

macro_rules! embedded {
    ($name:literal, $file:literal, $what:literal, $sha256:literal) => {
        Shipped {
            name: $name,
            file: $file,
            what: $what,
            sha256: $sha256,
            bytes: include_bytes!(concat!("../data/", $file)),
        }
    };
}

/// Every embedded file. A constant would be in the program once for each crate that names it.
pub static SHIPPED: &[Shipped] = &[
    embedded!(
        "azure2019-f500",
        "azure2019_f500_m480-959_invocations.csv.gz",
        "Azure Functions 2019: 500 functions, minutes 480 to 959 (about 08:00 to 16:00)",
        "ed8a86f8e42ac739ab1dfbf0b097d6e5b1c74b5c047e0f0f812902e6f63f4669"
    ),
    embedded!(
        "azure2021-head199",
        "azure2021_head199.csv",
        "Azure Functions 2021: the first 199 records; an example of the format, not a load",
        "d51e9c9ca79872313d94a26b8c52e82fc55855903c92c1f006cfd1a37700673b"
    ),
    embedded!(
        "azure-llm2023-code",
        "azure_llm2023_code.csv.gz",
        "Azure LLM inference 2023, code completion: complete, 8819 prompts",
        "b99df47b5e34740244c5231814f8c3b8172f171a5a4bd7b2aeb16fe4501a874e"
    ),
    embedded!(
        "azure-llm2023-conv",
        "azure_llm2023_conv.csv.gz",
        "Azure LLM inference 2023, conversation: complete, 19366 prompts",
        "ff242f3e188a47560ece64f1f9583cfed080118422e6307e0d5384eedd6dbbe7"
    ),
    embedded!(
        "len-translation-ende",
        "len_translation_ende_opennmt.csv.gz",
        "Tokens of 9999 English-German sentence pairs: columns src_tokens, tgt_tokens",
        "534d13b8b6c24a240def7ecf41afe137648741c2c630446dbb89cdc7c5bc4522"
    ),
    embedded!(
        "len-classification-sst2",
        "len_classification_sst2_hist.csv",
        "Tokens of 9613 film reviews as a histogram: columns tokens, count",
        "3195076a161f338b8032c98351d31e75fae6965479bd9e15b6a51f5b79f431b0"
    ),
    embedded!(
        "alpaserve-v100",
        "alpaserve_v100_arrivals.csv.gz",
        "AlpaServe's measurement on 16 V100s: 8129 requests of 24 models in 200 s, as a workload",
        "df991dababc4bae5b8264d321681a97d6d625b449e442c6d5b5f17094e11eff1"
    ),
    embedded!(
        "symphony-fig-5",
        "symphony_fig_5_arrivals.csv",
        "Symphony's example of three missing requests, as a workload: of Fig. 5b from 0 s, of Fig. 5a from 100 s",
        "a2027c410870d1083c761edc4e877970bb1a4dd55ecce6da9acad12bac246a0b"
    ),
    embedded!(
        "step-rtx4090-llama-3.1-8b",
        "step_rtx4090_llama-3.1-8b.csv.gz",
        "Kernels of a step: Llama 3.1 8B on an RTX 4090",
        "dcb6b50a5de53599096706a85c5e2874ca79d50ab875a13d158930bdfec7712f"
    ),
    embedded!(
        "step-rtxpro6000-llama-3.1-8b",
        "step_rtxpro6000_llama-3.1-8b.csv.gz",
        "Kernels of a step: Llama 3.1 8B on an RTX PRO 6000",
        "afa873be82b95a1385780c8607dff1869a2409114787e94864c4299ba192a893"
    ),
    embedded!(
        "step-rtxpro6000x2-qwen3-32b",
        "step_rtxpro6000x2_qwen3-32b.csv.gz",
        "Kernels of a step: Qwen3 32B on two RTX PRO 6000, without their all-reduce",
        "006e60eb2569e6cb916ad3e15b467e6d367cd49c0c474bf79c12ebd8d75b3c7d"
    ),
    embedded!(
        "step-rtxpro6000-qwen3-30b-a3b",
        "step_rtxpro6000_qwen3-30b-a3b.csv.gz",
        "Kernels of a step: Qwen3 30B A3B on an RTX PRO 6000, without its experts",
        "b6fe770c956ce5144fadf86f02a4821a4fe83391c0d8863348d08d51f4510de8"
    ),
    embedded!(
        "vllm-rtx4090-llama-3.1-8b",
        "vllm_rtx4090_llama-3.1-8b.csv.gz",
        "300 requests that vLLM answered: Llama 3.1 8B on an RTX 4090",
        "007d0ff12c9b6dd56b0b97462a56738ed31654123676192920b042a82d81a9a3"
    ),
    embedded!(
        "vllm-rtxpro6000-llama-3.1-8b",
        "vllm_rtxpro6000_llama-3.1-8b.csv.gz",
        "300 requests that vLLM answered: Llama 3.1 8B on an RTX PRO 6000",
        "45f742bea848cebc98aeafc91d46734012d361f1ed140b651c4c7b48c75ae455"
    ),
    embedded!(
        "vllm-rtxpro6000x2-qwen3-32b",
        "vllm_rtxpro6000x2_qwen3-32b.csv.gz",
        "300 requests that vLLM answered: Qwen3 32B on two RTX PRO 6000",
        "b68b3c2a788c4b0ae55ae0508a03f87af9d24a9c4b268f26b78aa3abab7c0666"
    ),
];

/// Opens an embedded file by its name.
///
/// # Errors
/// When there is no such name; the message lists those there are.
pub fn shipped(name: &str) -> Result<Input, TraceError> {
    let Some(found) = SHIPPED.iter().find(|s| s.name == name) else {
        let names: Vec<&str> = shipped_names().collect();
        return Err(parameter("shipped", name, names.join(", "), "choose one of these"));
    };
    Input::from_bytes(found.file, found.bytes)
}

/// The names of the embedded files.
pub fn shipped_names() -> impl Iterator<Item = &'static str> {
    SHIPPED.iter().map(|s| s.name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sha2::{Digest, Sha256};

    #[test]
    fn every_file_is_the_one_attributed() {
        let attribution = include_str!("../data/ATTRIBUTION.md");
        for file in SHIPPED {
            let sum: String =
                Sha256::digest(file.bytes).iter().map(|b| format!("{b:02x}")).collect();
            assert_eq!(sum, file.sha256, "{}", file.name);
            assert!(attribution.contains(&sum) && attribution.contains(file.file), "{}", file.name);
            assert!(shipped(file.name).is_ok());
        }
    }

    #[test]
    fn an_unknown_name_lists_those_there_are() {
        let text = shipped("azure2020").unwrap_err().to_string();
        assert!(text.contains("azure2020") && text.contains("azure2019-f500"), "{text}");
    }
}
