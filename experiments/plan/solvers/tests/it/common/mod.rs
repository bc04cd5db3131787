//! What the tests share: the measured latencies of Kairos's data, and pools by their counts.
#![allow(dead_code)]

pub mod search;

use orrery_sim::time::Span;
use orrery_solvers::{
    Catalogue, InstanceType, Latency, Pool, Price, Profile, Role, Sizes, Space, released,
};

const SUMS: &str = include_str!("../../data/kairos_latency_sums_us.csv");
const QUERIES: &str = include_str!("../../data/kairos_query_sizes.csv");

/// The paper's Table 3.
pub fn qos(model: &str) -> Span {
    let ms = match model {
        "ncf" => 5,
        "rm2" => 350,
        "wnd" | "mtwnd" => 25,
        "dien" => 35,
        other => panic!("no model {other}"),
    };
    Span::from_ms(ms)
}

pub fn pool<const N: usize>(counts: [u32; N]) -> Pool {
    Pool(counts.to_vec())
}

pub fn usd(value: f64) -> Price {
    Price::usd_per_hour("price", value).unwrap()
}

/// The 331 pools of the released code.
pub fn authors_space() -> Space {
    Space::within(&released::catalogue(), released::BUDGET).unwrap()
}

/// A catalogue of made-up types; the first is the base.
pub fn catalogue(types: &[(f64, u32)]) -> Catalogue {
    let one = |(i, &(price, max_count)): (usize, &(f64, u32))| InstanceType {
        name: format!("type{i}.large"),
        price: usd(price),
        max_count,
        role: if i == 0 { Role::Base } else { Role::Auxiliary },
    };
    Catalogue::new(types.iter().enumerate().map(one).collect()).unwrap()
}

/// The profiles of a model in the order of the authors' catalogue.
pub fn profiles(model: &str) -> Vec<Profile> {
    let of_type = |name: &str| {
        let begin = format!("{model},{name},");
        let line =
            SUMS.lines().find_map(|line| line.strip_prefix(&begin)).expect("it was measured");
        let (sums, medians) = line.split_once(',').unwrap();
        let us = |text: &str| Span::from_us(text.parse().unwrap());
        let pairs = sums.split(' ').zip(medians.split(' '));
        // 99 samples with this sum and this median.
        let latencies = pairs.map(|(sum, median)| {
            let (sum, median) = (us(sum), us(median));
            let mut samples = [[Span::ZERO; 49], [median; 49]].concat();
            samples.push(sum.minus(median * 49));
            Latency::of_samples(&samples)
        });
        Profile::new(name, (1..).map(|k| 10 * k).zip(latencies)).unwrap()
    };
    released::catalogue().types().iter().map(|t| of_type(&t.name)).collect()
}

/// The authors' mixture of query sizes.
pub fn query_sizes() -> Sizes {
    let pair = |line: &str| {
        let (size, weight) = line.split_once(',').unwrap();
        (size.parse().unwrap(), weight.parse().unwrap())
    };
    Sizes::weighted(QUERIES.lines().skip(1).map(pair)).unwrap()
}
