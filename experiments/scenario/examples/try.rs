use orrery_scenario::Scenario;
fn main() {
    for f in std::env::args().skip(1) {
        match Scenario::load(&f).and_then(|s| {
            let setup = s.setup(s.seed)?;
            for p in s.policies()? {
                let t = std::time::Instant::now();
                let m = setup.run(&p, s.seed)?;
                let t0 = m.total();
                println!(
                    "{f} {p}: {} finish {:.4} queue {} util {:?} {:?} {:.2}s end {}",
                    t0.offered,
                    t0.finish_rate(),
                    t0.queueing.mean(),
                    m.devices()
                        .iter()
                        .map(|d| (d.utilisation() * 1000.0) as u32)
                        .collect::<Vec<_>>(),
                    t0.ends,
                    t.elapsed().as_secs_f64(),
                    m.end()
                );
            }
            Ok(())
        }) {
            Ok(()) => {}
            Err(e) => println!("{e}"),
        }
    }
}
