//! Azure LLM inference traces: when a prompt came and how many tokens went in and out
//! (Patel et al., ISCA 2024).
//!
//! It has no execution times: [`LlmSource`] computes them from the tokens by an affine law.

use crate::ahead::{Ahead, Reads};
use crate::error::TraceError;
use crate::open::Input;
use crate::quirks::Met;
use crate::table::Table;
use crate::timestamp::parse_timestamp_ns;
use orrery_sim::request::{AppId, Arrival, ModelId};
use orrery_sim::time::{Span, Time};

/// The shortest execution time that any workload gives a request.
pub(crate) const ALONE_MIN: Span = Span::from_us(1);
/// What it has.
const COLUMNS: [&str; 3] = ["TIMESTAMP", "ContextTokens", "GeneratedTokens"];
/// The most tokens a record may have.
const TOKENS_MAX: u64 = 1_000_000_000;

/// One prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LlmRecord {
    /// When it came, from the first record of the file.
    pub at: Time,
    /// Tokens in.
    pub context_tokens: u32,
    /// Tokens out.
    pub generated_tokens: u32,
}

/// Reads a trace one record at a time.
#[derive(Debug)]
pub struct LlmReader {
    table: Table,
    timestamp: usize,
    context: usize,
    generated: usize,
    first_ns: Option<i128>,
    last: Time,
}

impl LlmReader {
    /// Reads the header: `TIMESTAMP`, `ContextTokens`, `GeneratedTokens`.
    ///
    /// # Errors
    /// When a column is missing.
    pub fn open(input: Input) -> Result<LlmReader, TraceError> {
        Self::from_table(Table::with(input, &COLUMNS)?)
    }

    pub(crate) fn from_table(table: Table) -> Result<LlmReader, TraceError> {
        Ok(LlmReader {
            timestamp: table.column("TIMESTAMP")?,
            context: table.column("ContextTokens")?,
            generated: table.column("GeneratedTokens")?,
            table,
            first_ns: None,
            last: Time::ZERO,
        })
    }

    /// The columns of the file that are not read.
    pub fn unused(&self) -> Vec<String> {
        self.table.others(&COLUMNS)
    }

    /// What was odd about the file so far.
    pub fn met(&self) -> Met {
        self.table.met()
    }

    /// The next record; `None` at the end.
    ///
    /// # Errors
    /// When the line is damaged, is earlier than the line before, or the file has no record.
    pub fn next_record(&mut self) -> Result<Option<LlmRecord>, TraceError> {
        if !self.table.advance()? {
            return match self.first_ns {
                Some(_) => Ok(None),
                None => Err(self.table.ended("a record", "check that the file is whole")),
            };
        }
        let at = self.time()?;
        let context_tokens = self.table.whole(self.context, TOKENS_MAX)? as u32;
        let generated_tokens = self.table.whole(self.generated, TOKENS_MAX)? as u32;
        Ok(Some(LlmRecord { at, context_tokens, generated_tokens }))
    }

    fn time(&mut self) -> Result<Time, TraceError> {
        let bad = |allowed: &str| self.table.bad_field(self.timestamp, allowed);
        let stamp_ns = parse_timestamp_ns(self.table.text(self.timestamp).trim())
            .ok_or_else(|| bad("a time such as 2023-11-16 18:17:03.9799600"))?;
        let first_ns = *self.first_ns.get_or_insert(stamp_ns);
        let at = u64::try_from(stamp_ns - first_ns).ok().map(Time::from_ns);
        let at = at.filter(|&at| at >= self.last && at < Time::NEVER);
        self.last = at.ok_or_else(|| bad("a time not before that of the line above"))?;
        Ok(self.last)
    }
}

/// Execution time alone from tokens: `base + per_context * in + per_generated * out`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TokenCost {
    /// For each prompt.
    pub base: Span,
    /// For each token in.
    pub per_context: Span,
    /// For each token out.
    pub per_generated: Span,
}

/// Where prompts come from.
#[derive(Debug)]
enum Prompts {
    File(Box<LlmReader>),
    List(std::vec::IntoIter<LlmRecord>),
}

/// What makes arrivals of prompts.
#[derive(Debug)]
pub struct Costed {
    prompts: Prompts,
    cost: TokenCost,
    app: AppId,
    model: ModelId,
    slo: Span,
}

/// A trace as a source of arrivals of size 1, read as it is consumed.
pub type LlmSource = Ahead<Costed>;

impl LlmSource {
    /// Opens a trace for one application and model; `slo` of [`Span::MAX`] is none.
    ///
    /// # Errors
    /// When the header or the first record is damaged.
    pub fn open(
        input: Input,
        cost: TokenCost,
        app: AppId,
        model: ModelId,
        slo: Span,
    ) -> Result<LlmSource, TraceError> {
        let prompts = Prompts::File(Box::new(LlmReader::open(input)?));
        Ahead::new(Costed { prompts, cost, app, model, slo })
    }

    /// The same of prompts in order of time.
    ///
    /// # Errors
    /// As [`LlmSource::open`].
    pub fn of(
        records: Vec<LlmRecord>,
        cost: TokenCost,
        app: AppId,
        model: ModelId,
        slo: Span,
    ) -> Result<LlmSource, TraceError> {
        let prompts = Prompts::List(records.into_iter());
        Ahead::new(Costed { prompts, cost, app, model, slo })
    }
}

impl Costed {
    fn arrival(&self, record: LlmRecord) -> Arrival {
        let tokens = self.cost.per_context * u64::from(record.context_tokens)
            + self.cost.per_generated * u64::from(record.generated_tokens);
        let alone = (self.cost.base + tokens).max(ALONE_MIN);
        let (app, model, slo) = (self.app, self.model, self.slo);
        Arrival { at: record.at, app, model, size: 1, slo, alone }
    }
}

impl Reads for Costed {
    fn read(&mut self) -> Result<Option<Arrival>, TraceError> {
        let record = match &mut self.prompts {
            Prompts::File(reader) => reader.next_record()?,
            Prompts::List(records) => records.next(),
        };
        Ok(record.map(|r| self.arrival(r)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use orrery_sim::request::Source;

    const HEAD: &str = "TIMESTAMP,ContextTokens,GeneratedTokens\r\n";

    fn input(text: &str) -> Input {
        Input::from_bytes("llm.csv", text.as_bytes().to_vec()).unwrap()
    }

    fn read(text: &str) -> Result<Vec<LlmRecord>, TraceError> {
        let mut reader = LlmReader::open(input(text))?;
        let mut records = vec![];
        while let Some(record) = reader.next_record()? {
            records.push(record);
        }
        Ok(records)
    }

    #[test]
    fn times_are_relative_to_the_first_record_over_midnight() {
        let text =
            format!("{HEAD}2023-12-31 23:59:59.9999999,5,6\r\n2024-01-01 00:00:00.0000001,7,8");
        let records = read(&text).unwrap();
        assert_eq!(
            records[0],
            LlmRecord { at: Time::ZERO, context_tokens: 5, generated_tokens: 6 }
        );
        assert_eq!(records[1].at, Time::from_ns(200));
    }

    #[test]
    fn a_record_earlier_than_the_one_above_is_an_error_naming_its_line() {
        let text = format!(
            "{HEAD}2023-11-16 00:00:02,1,1\r\n2023-11-16 00:00:03,1,1\r\n2023-11-16 00:00:02.5,1,1"
        );
        let text = read(&text).unwrap_err().to_string();
        assert!(text.starts_with("llm.csv: line 4: column `TIMESTAMP`"), "{text}");
        assert!(read(&format!("{HEAD}yesterday,1,1\n")).is_err());
        assert!(read(&format!("{HEAD}2023-11-16 00:00:02,-1,1\n")).is_err());
        assert!(read(HEAD).unwrap_err().to_string().contains("line 2"));
    }

    #[test]
    fn the_shipped_traces_are_complete() {
        for (name, rows, context, generated) in
            [("azure-llm2023-code", 8819, 4808, 10), ("azure-llm2023-conv", 19_366, 374, 44)]
        {
            let mut reader = LlmReader::open(crate::shipped::shipped(name).unwrap()).unwrap();
            let first = reader.next_record().unwrap().unwrap();
            assert_eq!((first.context_tokens, first.generated_tokens), (context, generated));
            let mut count = 1;
            while reader.next_record().unwrap().is_some() {
                count += 1;
            }
            assert_eq!(count, rows);
        }
    }

    #[test]
    fn a_source_gives_affine_times_and_reports_the_damaged_line() {
        let text = format!("{HEAD}2023-11-16 00:00:02,10,3\r\n2023-11-16 00:00:01,1,1\r\n");
        let us = Span::from_us;
        let cost = TokenCost { base: us(100), per_context: us(2), per_generated: us(30) };
        let mut source =
            LlmSource::open(input(&text), cost, AppId(1), ModelId(2), Span::MAX).unwrap();
        assert_eq!(source.peek(), Some(Time::ZERO));
        let arrival = source.pop().unwrap();
        assert_eq!((arrival.alone, arrival.app, arrival.model), (us(210), AppId(1), ModelId(2)));
        assert_eq!(source.pop(), None);
        assert!(source.failure().unwrap().contains("llm.csv: line 3"));
    }
}
