//! A step's kernels, as a profiler timed them one by one, and the law of a step that is fitted to them.
//!
//! Nothing that was measured of a whole run has a part in it. The columns, with a unit in a name where there is
//! one; those that mean nothing for a kernel are empty:
//!
//! | column | what |
//! |---|---|
//! | `kernel` | `attention`, or any other name |
//! | `count` | how often a step runs it: the layers, or 1 |
//! | `tokens` | of a kernel that does something for each token: so many were computed |
//! | `sequences` | of one that does something for each request, such as the head: so many |
//! | `prompt`, `before` | attention: tokens of a prompt, after so many that are in KV; 0 for none |
//! | `decodes`, `kv` | attention: requests that compute one token, each after so many in KV; 0 for none |
//! | `time_us` | how long that took, once |
//!
//! `kv` and `time_us` may have several values with spaces between, as many in both.
//!
//! # The fit
//! The tables over `tokens` and `sequences` are taken as they are. Attention is a line of what it reads, for
//! only decodes, only prompts, and both: three least squares, in which a row weighs as 1 / time. Rows that
//! are too short to tell the line from the cost of a launch are left out; no attention takes less than
//! `FLOOR_US`.

use crate::error::TraceError;
use crate::open::Input;
use crate::table::Table;
use orrery_sim::tokens::law::{Attention, Curve, StepLaw};
use std::collections::BTreeMap;

/// Attention of a layer takes no less, in microseconds.
const FLOOR_US: f64 = 5.0;
/// Rows of attention with decodes, and of prompts alone, that are no longer are not fitted.
const DECODE_US: f64 = 20.0;
const PROMPT_US: f64 = 10.0;
/// The most tokens or requests, and the longest time of a kernel in microseconds.
const COUNT_MAX: u64 = 1 << 24;
const TIME_US_MAX: f64 = 1e7;
/// The most times that a step runs a kernel.
const RUNS_MAX: u64 = 10_000;
/// The kernel with a law of its own.
const ATTENTION: &str = "attention";

/// A row of attention.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Row {
    prompt: f64,
    before: f64,
    decodes: f64,
    kv: f64,
    time_us: f64,
}

impl Row {
    /// Pairs of a prompt's token with one before it.
    fn pairs(&self) -> f64 {
        self.prompt * (self.before + self.prompt / 2.0)
    }
}

/// All kernels of a step.
#[derive(Clone, Debug, Default)]
pub struct StepProfile {
    /// By kernel and count of tokens, and by kernel and count of sequences: microseconds of a step.
    tokens: BTreeMap<String, BTreeMap<u32, f64>>,
    sequences: BTreeMap<String, BTreeMap<u32, f64>>,
    attention: Vec<Row>,
    layers: u64,
}

/// A law, and how far it is from the rows that it was fitted to.
#[derive(Clone, Debug, PartialEq)]
pub struct Fitted {
    /// The law of a step.
    pub law: StepLaw,
    /// The mean of the relative errors: only decodes, only prompts, both.
    pub errors: [f64; 3],
}

impl StepProfile {
    /// Reads a profile to its end.
    ///
    /// # Errors
    /// When a column is missing, or a field is not what its column allows.
    pub fn read(input: Input) -> Result<StepProfile, TraceError> {
        let mut table = Table::open(input)?.alone();
        let columns = ["kernel", "count", "tokens", "sequences", "time_us"];
        let [kernel, count, tokens, sequences, time] = columns.map(|c| table.column(c));
        let (kernel, count, time) = (kernel?, count?, time?);
        let (tokens, sequences) = (tokens?, sequences?);
        let of_attention = ["prompt", "before", "decodes", "kv"].map(|c| table.column(c));
        let [prompt, before, decodes, kv] = of_attention;
        let of_attention = [prompt?, before?, decodes?, kv?];
        let mut all = StepProfile::default();
        while table.advance()? {
            let runs = table.whole(count, RUNS_MAX)?;
            let name = table.text(kernel).trim().to_string();
            if name == ATTENTION {
                if all.layers != 0 && all.layers != runs {
                    let allowed = format!("{}, as in the rows before", all.layers);
                    return Err(table.bad_field(count, allowed));
                }
                all.layers = runs;
                all.attend(&table, of_attention, time)?;
                continue;
            }
            let of_tokens = !table.text(tokens).trim().is_empty();
            let (column, kernels) = match of_tokens {
                true => (tokens, &mut all.tokens),
                false => (sequences, &mut all.sequences),
            };
            let at = table.whole(column, COUNT_MAX)? as u32;
            let time_us = table.number(time, TIME_US_MAX)? * runs as f64;
            if kernels.entry(name).or_default().insert(at, time_us).is_some() {
                return Err(table.bad_field(column, "a count that the kernel has not yet had"));
            }
        }
        let is_whole = !all.tokens.is_empty() && !all.attention.is_empty();
        if is_whole { Ok(all) } else { Err(table.ended(NEEDS, "write the profile again")) }
    }

    /// The rows of attention in a line.
    fn attend(
        &mut self,
        table: &Table,
        columns: [usize; 4],
        time: usize,
    ) -> Result<(), TraceError> {
        let [prompt, before, decodes, kv] = columns;
        let whole = |column: usize| Ok(table.whole(column, COUNT_MAX)? as f64);
        let list = |column: usize, most: f64| -> Result<Vec<f64>, TraceError> {
            let number = |word: &str| word.parse().ok().filter(|x| (0.0..=most).contains(x));
            let numbers: Option<Vec<f64>> =
                table.text(column).split_whitespace().map(number).collect();
            let allowed = format!("numbers from 0 to {most:e}, with spaces between");
            numbers.ok_or_else(|| table.bad_field(column, allowed))
        };
        let (all_kv, times) = (list(kv, COUNT_MAX as f64)?, list(time, TIME_US_MAX)?);
        if all_kv.len() != times.len() || times.is_empty() {
            let allowed = format!("as many as in `kv`: {}", all_kv.len());
            return Err(table.bad_field(time, allowed));
        }
        if let Some(zero) = times.iter().find(|t| **t == 0.0) {
            return Err(table.bad_field(time, format!("times above 0, not {zero}")));
        }
        let (prompt, before, decodes) = (whole(prompt)?, whole(before)?, whole(decodes)?);
        let rows = all_kv.iter().zip(&times);
        self.attention.extend(rows.map(|(kv, time_us)| Row {
            prompt,
            before,
            decodes,
            kv: *kv,
            time_us: *time_us,
        }));
        Ok(())
    }

    /// The law; `None` if the rows do not determine it.
    pub fn fit(&self) -> Option<Fitted> {
        let rows = |is: &dyn Fn(&Row) -> bool| -> Vec<Row> {
            self.attention.iter().filter(|r| is(r)).copied().collect()
        };
        let only_decodes = rows(&|r| r.prompt == 0.0 && r.decodes > 0.0 && r.time_us > DECODE_US);
        let only_prompts = rows(&|r| r.decodes == 0.0 && r.prompt > 0.0 && r.time_us > PROMPT_US);
        let both = rows(&|r| r.prompt > 0.0 && r.decodes > 0.0 && r.time_us > DECODE_US);
        let (decode, decode_error) = line(&only_decodes, |r| [1.0, r.decodes, r.decodes * r.kv])?;
        let (prompt, prompt_error) = line(&only_prompts, |r| [1.0, r.prompt, r.pairs()])?;
        let (mixed, mixed_error) =
            line(&both, |r| [1.0, r.decodes, r.decodes * r.kv, r.prompt, r.pairs()])?;
        let attention = Attention {
            floor: self.ps(FLOOR_US),
            decode: decode.map(|c| self.ps(c)),
            prompt: prompt.map(|c| self.ps(c)),
            mixed: mixed.map(|c| self.ps(c)),
        };
        let (dense, head) = (curve(&self.tokens)?, curve(&self.sequences).unwrap_or_default());
        let law = StepLaw { dense, head, attention, all_reduce: [0, 0] };
        Some(Fitted { law, errors: [decode_error, prompt_error, mixed_error] })
    }

    /// Microseconds of a layer as picoseconds of a step.
    fn ps(&self, us: f64) -> i64 {
        let ps = us * 1e6 * self.layers as f64;
        (if ps < 0.0 { ps - 0.5 } else { ps + 0.5 }) as i64
    }
}

/// What a profile has to have.
const NEEDS: &str = "rows of `attention`, and of a kernel with `tokens`";

/// The sum of all kernels at the counts that all of them have.
fn curve(kernels: &BTreeMap<String, BTreeMap<u32, f64>>) -> Option<Curve> {
    let first = kernels.values().next()?;
    let at = |count: &u32| -> Option<(u32, u64)> {
        let times: Option<Vec<f64>> = kernels.values().map(|k| k.get(count).copied()).collect();
        Some((*count, (times?.iter().sum::<f64>() * 1e6 + 0.5) as u64))
    };
    Curve::new(first.keys().filter_map(at).collect())
}

/// The coefficients of terms by least squares with weights of 1 / time, and the mean relative error.
fn line<const N: usize>(rows: &[Row], terms: impl Fn(&Row) -> [f64; N]) -> Option<([f64; N], f64)> {
    // Each term is divided by its size, so that no pivot is small for its unit's sake.
    let mut size = [0.0_f64; N];
    for row in rows {
        let x = terms(row);
        (0..N).for_each(|i| size[i] += x[i] * x[i] / row.time_us);
    }
    if size.iter().any(|s| *s <= 0.0) {
        return None;
    }
    let size = size.map(f64::sqrt);
    let mut normal = [[0.0_f64; N]; N];
    let mut right = [0.0_f64; N];
    for row in rows {
        let x = terms(row);
        for i in 0..N {
            let scaled = x[i] / size[i];
            (0..N).for_each(|j| normal[i][j] += scaled * (x[j] / size[j]) / row.time_us);
            right[i] += scaled;
        }
    }
    let scaled = solved(normal, right)?;
    let mut found = [0.0; N];
    (0..N).for_each(|i| found[i] = scaled[i] / size[i]);
    let error = |row: &Row| {
        let says: f64 = terms(row).iter().zip(&found).map(|(x, c)| x * c).sum();
        (says.max(FLOOR_US) / row.time_us - 1.0).abs()
    };
    Some((found, rows.iter().map(error).sum::<f64>() / rows.len() as f64))
}

/// Gauss's elimination with the largest pivot; none of a singular system.
fn solved<const N: usize>(mut a: [[f64; N]; N], mut b: [f64; N]) -> Option<[f64; N]> {
    for i in 0..N {
        let pivot = (i..N).max_by(|x, y| a[*x][i].abs().total_cmp(&a[*y][i].abs()))?;
        a.swap(i, pivot);
        b.swap(i, pivot);
        if a[i][i].abs() < 1e-12 {
            return None;
        }
        let (row, right) = (a[i], b[i]);
        for j in (0..N).filter(|j| *j != i) {
            let factor = a[j][i] / row[i];
            (0..N).for_each(|k| a[j][k] -= factor * row[k]);
            b[j] -= factor * right;
        }
    }
    let mut x = [0.0; N];
    (0..N).for_each(|i| x[i] = b[i] / a[i][i]);
    Some(x)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shipped::shipped;

    const HEAD: &str = "kernel,count,tokens,sequences,prompt,before,decodes,kv,time_us\n";

    fn read(rows: &str) -> Result<StepProfile, TraceError> {
        let text = format!("{HEAD}{rows}");
        StepProfile::read(Input::from_bytes("p.csv", text.into_bytes())?)
    }

    /// Rows of attention of a known law, some of them in one line.
    fn known() -> String {
        let mut rows = String::from("mlp,2,1,,,,,,10\nmlp,2,100,,,,,,110\nhead,1,,1,,,,,7\n");
        for (prompt, before) in [(0.0, 0.0), (64.0, 0.0), (64.0, 512.0), (900.0, 100.0)] {
            for decodes in [0.0, 1.0, 20.0, 60.0] {
                let kvs: &[f64] = if decodes == 0.0 { &[0.0] } else { &[100.0, 700.0, 3000.0] };
                let pairs = prompt * (before + prompt / 2.0);
                let time = |kv: f64| match (prompt > 0.0, decodes > 0.0) {
                    (false, _) => 30.0 + 0.5 * decodes + 0.004 * decodes * kv,
                    (true, false) => 25.0 + 0.1 * prompt + 0.0002 * pairs,
                    _ => {
                        40.0 + 0.6 * decodes + 0.005 * decodes * kv + 0.2 * prompt + 0.0003 * pairs
                    }
                };
                if prompt + decodes == 0.0 {
                    continue;
                }
                let kv: Vec<String> = kvs.iter().map(f64::to_string).collect();
                let times: Vec<String> = kvs.iter().map(|kv| time(*kv).to_string()).collect();
                let (kv, times) = (kv.join(" "), times.join(" "));
                rows += &format!("attention,3,,,{prompt},{before},{decodes},{kv},{times}\n");
            }
        }
        rows
    }

    #[test]
    fn a_known_law_is_found_again() {
        let fitted = read(&known()).unwrap().fit().unwrap();
        assert!(fitted.errors.iter().all(|e| *e < 1e-9), "{:?}", fitted.errors);
        let ps = |us: f64| (us * 3e6 + 0.5) as i64;
        let a = fitted.law.attention;
        assert_eq!(a.decode, [30.0, 0.5, 0.004].map(ps));
        assert_eq!(a.prompt, [25.0, 0.1, 0.0002].map(ps));
        assert_eq!(a.mixed, [40.0, 0.6, 0.005, 0.2, 0.0003].map(ps));
        assert_eq!(a.floor, 15_000_000);
        assert_eq!(fitted.law.dense.points(), [(1, 20_000_000), (100, 220_000_000)]);
        assert_eq!(fitted.law.head.points(), [(1, 7_000_000)]);
    }

    /// The coefficients that numpy finds in the tables before times were cut to four digits.
    #[test]
    fn the_shipped_profiles_give_the_laws_that_another_program_found() {
        let near = |ours: &[i64], theirs: &[f64]| {
            ours.iter().zip(theirs).all(|(c, us)| (*c as f64 / 32e6 / us - 1.0).abs() < 2e-3)
        };
        let fit = |name| StepProfile::read(shipped(name).unwrap()).unwrap().fit().unwrap();
        let pro = fit("step-rtxpro6000-llama-3.1-8b");
        let a = pro.law.attention;
        assert!(near(&a.decode, &[1.567_239_33e1, 1.067_158_24e-1, 2.702_134_96e-3]), "{a:?}");
        let mixed =
            [1.755_308_68e1, 1.097_065_02e-1, 6.694_759_6e-3, 5.753_286_68e-3, 6.261_584_59e-5];
        assert!(near(&a.mixed, &mixed), "{a:?}");
        assert!((pro.errors[0] - 0.041).abs() < 5e-4 && (pro.errors[2] - 0.282).abs() < 5e-3);
        let a = fit("step-rtx4090-llama-3.1-8b").law.attention;
        assert!(near(&a.decode, &[1.521_934_8e1, 1.704_400_01e-1, 4.313_826_21e-3]), "{a:?}");
    }

    #[test]
    fn what_is_wrong_is_named() {
        let error = |rows: &str| read(rows).unwrap_err().to_string();
        assert!(error("mlp,2,1,,,,,,10\n").contains("attention"));
        assert!(error("attention,2,,,0,0,1,10 20,3\n").contains("as many as in `kv`: 2"));
        assert!(error("attention,2,,,0,0,1,10,x\n").contains("time_us"));
        assert!(error("attention,2,,,0,0,1,10,0\n").contains("above 0"));
        assert!(error("mlp,2,,,,,,,10\n").contains("sequences"));
        assert!(error("mlp,2,1,,,,,,10\nmlp,2,1,,,,,,10\n").contains("not yet had"));
        let layers = "attention,2,,,0,0,1,10,3\nattention,4,,,0,0,1,10,3\n";
        assert!(error(layers).contains("2, as in the rows before"));
        // Too few rows for three lines.
        assert!(read("mlp,2,1,,,,,,10\nattention,2,,,0,0,1,10,30\n").unwrap().fit().is_none());
    }
}
