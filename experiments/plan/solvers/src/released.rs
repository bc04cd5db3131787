//! The ingredients, prices and limits that were released with Kairos, as tables of this crate.
//!
//! See `data/ATTRIBUTION.md`.

use crate::ingredients::Auxiliary;
use crate::{Catalogue, Ingredients, InstanceType, PlannerError, Price, Role};
use csv::StringRecord;
use std::collections::BTreeMap;
use std::str::FromStr;

const INSTANCES: &str = include_str!("../data/kairos_instances.csv");
const PROFILE: &str = include_str!("../data/kairos_allocator_profile.csv");

/// The models of the paper's Table 3, in its order.
pub const MODELS: [&str; 5] = ["ncf", "rm2", "wnd", "mtwnd", "dien"];

/// The budget of the paper's evaluation (§7): 2.5 $/h.
pub const BUDGET: Price = Price::micro_usd_per_hour(2_500_000);

/// The four instance types of the paper's Table 4, with the largest counts of the released code.
pub fn catalogue() -> Catalogue {
    read_catalogue(INSTANCES, "kairos_instances.csv").expect("the table of this crate is right")
}

/// The measured ingredients of one of [`MODELS`]; none for any other.
pub fn ingredients(model: &str) -> Option<Ingredients> {
    if !MODELS.contains(&model) {
        return None;
    }
    let read = read_ingredients(PROFILE, "kairos_allocator_profile.csv", model, &catalogue());
    Some(read.expect("the table of this crate is right"))
}

/// Reads a catalogue from a table with the columns `instance`, `price_usd_per_hour`, `is_base` (0
/// or 1) and `max_num_in_authors_search`. `file` names the table in errors.
///
/// # Errors
/// When the table or the catalogue is wrong.
pub fn read_catalogue(text: &str, file: &str) -> Result<Catalogue, PlannerError> {
    let keys = ["instance", "price_usd_per_hour", "is_base", "max_num_in_authors_search"];
    let mut types = Vec::new();
    for row in &rows(text, file, &keys)? {
        let name = row.text(0).to_owned();
        let price = Price::usd_per_hour(&format!("price:{name}"), row.number(1, "a number")?)?;
        let role = match row.text(2) {
            "1" => Role::Base,
            "0" => Role::Auxiliary,
            _ => return Err(row.wrong(2, "0 or 1")),
        };
        let max_count = row.number(3, "a whole number, at least 0")?;
        types.push(InstanceType { name, price, max_count, role });
    }
    Catalogue::new(types)
}

/// Reads the ingredients of a model from a table such as `data/kairos_allocator_profile.csv`.
///
/// # Errors
/// When the table is wrong, has no row for a type, or the ingredients are wrong.
pub fn read_ingredients(
    text: &str,
    file: &str,
    model: &str,
    catalogue: &Catalogue,
) -> Result<Ingredients, PlannerError> {
    let keys = [
        "model",
        "instance",
        "qps_all_or_own_region",
        "vio_batch",
        "small_ratio",
        "time_ratio",
        "qps_at_batch_limit_json",
    ];
    let rows = rows(text, file, &keys)?;
    let mut base_per_s = f64::NAN;
    let mut auxiliaries = Vec::new();
    for (i, t) in catalogue.types().iter().enumerate() {
        let Some(row) = rows.iter().find(|row| row.text(0) == model && row.text(1) == t.name)
        else {
            let found = format!("no row for `{model}` on `{}`", t.name);
            let allowed = "one for each type of the catalogue".into();
            return Err(PlannerError::Table { file: file.into(), found, allowed });
        };
        if i == catalogue.base() {
            base_per_s = row.number(2, "a number")?;
            auxiliaries.push(None);
            continue;
        }
        auxiliaries.push(Some(Auxiliary {
            size_limit: row.number(3, "a whole number")?,
            fraction: row.number(4, "a number")?,
            time_fraction: row.number(5, "a number")?,
            rate_per_s: row.rates(6)?,
        }));
    }
    Ingredients::new(catalogue, base_per_s, auxiliaries)
}

/// The asked-for cells of a row, and where they come from.
struct Row<'a> {
    file: &'a str,
    line: u64,
    keys: &'a [&'a str],
    cells: Vec<String>,
}

impl Row<'_> {
    fn text(&self, key: usize) -> &str {
        &self.cells[key]
    }

    fn number<T: FromStr>(&self, key: usize, allowed: &str) -> Result<T, PlannerError> {
        self.text(key).parse().map_err(|_| self.wrong(key, allowed))
    }

    /// `880:317.16 740:335.46`: queries/s by size limit.
    fn rates(&self, key: usize) -> Result<BTreeMap<u32, f64>, PlannerError> {
        let pair = |text: &str| {
            let (limit, rate) = text.split_once(':')?;
            Some((limit.parse().ok()?, rate.parse().ok()?))
        };
        let rates: Option<BTreeMap<u32, f64>> =
            self.text(key).split_whitespace().map(pair).collect();
        rates.ok_or_else(|| self.wrong(key, "pairs `size:queries/s` with spaces between them"))
    }

    fn wrong(&self, key: usize, allowed: &str) -> PlannerError {
        PlannerError::Cell {
            file: self.file.into(),
            line: self.line,
            key: self.keys[key].into(),
            found: self.text(key).into(),
            allowed: allowed.into(),
        }
    }
}

fn rows<'a>(text: &str, file: &'a str, keys: &'a [&'a str]) -> Result<Vec<Row<'a>>, PlannerError> {
    let table = |found: String, allowed: &str| {
        let (file, allowed) = (file.to_owned(), allowed.to_owned());
        PlannerError::Table { file, found, allowed }
    };
    let broken = |e: csv::Error| table(e.to_string(), "as many cells in each row as in the first");
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let header = reader.headers().map_err(broken)?.clone();
    let mut columns = Vec::new();
    for key in keys {
        let column = header.iter().position(|name| name == *key);
        let missing =
            || table(format!("no column `{key}`"), &format!("the columns {}", keys.join(", ")));
        columns.push(column.ok_or_else(missing)?);
    }
    let mut rows = Vec::new();
    for record in reader.records() {
        let record: StringRecord = record.map_err(broken)?;
        let line = record.position().map_or(0, csv::Position::line);
        let cells = columns.iter().map(|column| record[*column].trim().to_owned()).collect();
        rows.push(Row { file, line, keys, cells });
    }
    Ok(rows)
}
