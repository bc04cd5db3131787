use orrery::*;
fn main() {
    let id = std::env::args().nth(1).unwrap();
    let t0 = std::time::Instant::now();
    let table = table_file::TableFile::load(&id).unwrap_or_else(|e| panic!("{e}"));
    let only: Vec<String> = std::env::args().skip(2).collect();
    let mut table = table;
    if !only.is_empty() {
        table.system.retain(|s| only.iter().any(|o| s.preset == *o || s.name == *o));
    }
    let r = runs::run(&table, &()).unwrap_or_else(|e| panic!("{e}"));
    let paper = paper::orloj_finish_rates().unwrap();
    let ns = table.system.len();
    print!("{:20} {:4}", "case", "slo");
    for s in &table.system {
        print!(" {:>16}", format!("{}.{}", &s.name[..4], &s.preset[..3]));
    }
    println!();
    let mut err = vec![(0.0, 0); ns];
    for row in r.cells.chunks(ns) {
        print!("{:20} {:4}", row[0].case, row[0].slo_x_p99);
        let p = paper.iter().find(|p| {
            p.table == table.paper_table && p.case == row[0].case && p.slo_x_p99 == row[0].slo_x_p99
        });
        for c in row {
            let m = c.finish_rates.iter().sum::<f64>() / c.finish_rates.len() as f64;
            let pv = p.and_then(|p| p.of(&table.system[c.system].name));
            match pv {
                Some(v) => {
                    err[c.system].0 += (m - v).abs();
                    err[c.system].1 += 1;
                    print!(" {:.2}/{:.2}/{:+.2}", m, v, m - v)
                }
                None => print!(" {:>16.2}", m),
            }
            print!("  ");
        }
        println!();
    }
    print!("MAE ");
    for (s, e) in table.system.iter().zip(&err) {
        print!(" {}.{} {:.3}", s.name, s.preset, e.0 / e.1 as f64);
    }
    println!("\n{} requests, {:.1} s", r.requests, t0.elapsed().as_secs_f64());
}
