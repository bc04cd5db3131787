//! Open-loop workloads: an arrival process, the applications that send, and what each request costs.
//!
//! They do not react to replies: [`crate::closed_loop`] does. The application of an arrival comes
//! from the stream `"apps"`, its execution time from `"exec"`, so that neither moves the arrivals.

use crate::arrivals::{ArrivalLaw, ArrivalProcess, BoxedProcess};
use crate::azure2019::{FunctionRow, Invocations};
use crate::error::{TraceError, parameter, within};
use crate::exec_time::{ExecLaw, FLOOR};
use crate::phases::Phase;
use crate::query_sizes::largest;
use crate::rate::{Minutes, Shape};
use orrery_sim::request::{AppId, Arrival, ModelId, Source};
use orrery_sim::rng::Stream;
use orrery_sim::time::{Span, Time};
use std::cmp::Reverse;
use std::collections::binary_heap::PeekMut;
use std::collections::{BTreeSet, BinaryHeap};

/// Who sends requests, for which model, and what they cost.
#[derive(Clone, Debug, PartialEq)]
pub struct Application {
    /// Its number.
    pub app: AppId,
    /// The model it asks for.
    pub model: ModelId,
    /// Its share of the arrivals, relative to the other applications'.
    pub weight: f64,
    /// Its execution times alone.
    pub law: ExecLaw,
    /// Time allowed from arrival to reply; [`Span::MAX`] for none.
    pub slo: Span,
    /// How many items a request carries: from 1 to [`orrery_sim::request::SIZE_MAX`].
    pub size: u32,
}

impl Application {
    /// Each mode of `law` as an application of its own, weighted by the mode's share and numbered
    /// from `first`: Orloj's multi-modal workloads.
    pub fn per_mode(
        law: &ExecLaw,
        first: AppId,
        model: ModelId,
        slo: Span,
        size: u32,
    ) -> Vec<Application> {
        let numbered = law.modes().into_iter().zip(first.0..);
        numbered
            .map(|((weight, law), app)| Application {
                app: AppId(app),
                model,
                weight,
                law,
                slo,
                size,
            })
            .collect()
    }

    pub(crate) fn arrival(&self, at: Time, exec: &mut Stream) -> Arrival {
        let (app, model, size, slo) = (self.app, self.model, self.size, self.slo);
        Arrival { at, app, model, size, slo, alone: self.law.sample(exec) }
    }
}

/// Applications to choose among by weight.
#[derive(Clone, Debug)]
pub(crate) struct Mix {
    apps: Vec<Application>,
    weight_up_to: Vec<f64>,
}

impl Mix {
    pub(crate) fn new(apps: Vec<Application>) -> Result<Mix, TraceError> {
        if apps.is_empty() {
            return Err(parameter("applications", "none", "at least one", "add an application"));
        }
        let (mut weight_up_to, mut sum, mut ids) = (Vec::new(), 0.0, BTreeSet::new());
        for a in &apps {
            sum += within("weight", a.weight, 1e-12, 1e12)?;
            weight_up_to.push(sum);
            largest(a.size)?;
            if !ids.insert(a.app) {
                let remedy = "number the applications of a source differently";
                return Err(parameter("app", a.app, "each number once", remedy));
            }
        }
        Ok(Mix { apps, weight_up_to })
    }

    /// The index of an application drawn by weight.
    fn choose(&self, stream: &mut Stream) -> usize {
        let sum = self.weight_up_to[self.weight_up_to.len() - 1];
        let u = stream.uniform() * sum;
        self.weight_up_to.partition_point(|&up_to| up_to <= u).min(self.apps.len() - 1)
    }

    /// An arrival whose application and execution time both come from one stream.
    pub(crate) fn arrival_from_one(&self, at: Time, stream: &mut Stream) -> Arrival {
        let app = self.choose(stream);
        self.apps[app].arrival(at, stream)
    }

    /// The number that tells this source's streams from another's.
    pub(crate) fn first_app(&self) -> AppId {
        self.apps[0].app
    }
}

/// The applications of a source, as they are at a time.
struct Phased {
    mix: Mix,
    times: Vec<f64>,
    /// The last comes first.
    to_come: Vec<(Time, Mix, Vec<f64>)>,
}

impl Phased {
    /// Applications that stay as they are until the first phase; `phases` are in the order of time.
    fn new(apps: Vec<Application>, phases: &[Phase]) -> Result<Phased, TraceError> {
        let phase = |phase: &Phase| {
            let factors = || apps.iter().zip(&phase.apps);
            let weighed =
                factors().map(|(a, f)| Application { weight: a.weight * f.weight, ..a.clone() });
            let times = factors().map(|(_, f)| f.time).collect();
            Ok((phase.from, Mix::new(weighed.collect())?, times))
        };
        let to_come = phases.iter().rev().map(phase).collect::<Result<_, TraceError>>()?;
        Ok(Phased { times: vec![1.0; apps.len()], mix: Mix::new(apps)?, to_come })
    }

    /// The applications at an instant that is no earlier than the last one asked for.
    fn at(&mut self, now: Time) -> &Mix {
        while let Some((_, mix, times)) = self.to_come.pop_if(|next| next.0 <= now) {
            (self.mix, self.times) = (mix, times);
        }
        &self.mix
    }

    /// An arrival of the application in that place, with its time of that instant.
    fn scaled(&self, app: usize, arrival: Arrival) -> Arrival {
        match self.times[app] {
            1.0 => arrival,
            factor => Arrival { alone: arrival.alone.scale(factor).max(FLOOR), ..arrival },
        }
    }
}

/// One arrival process shared by applications.
pub struct OpenWorkload {
    process: BoxedProcess,
    apps: Phased,
    choose: Stream,
    exec: Vec<Stream>,
    next: Option<Time>,
}

impl OpenWorkload {
    /// For each arrival the application is drawn by weight. Execution times come from the streams
    /// `("exec", app)`, so sources of one run should number their applications differently.
    ///
    /// # Errors
    /// When there is no application, two have one number, or a weight or size is out of range.
    pub fn new(
        process: BoxedProcess,
        apps: Vec<Application>,
        seed: u64,
    ) -> Result<OpenWorkload, TraceError> {
        OpenWorkload::in_phases(process, apps, &[], seed)
    }

    /// The same with applications that change: from the beginning of a phase on they have the weights and
    /// execution times that it says. Phases are in the order of time. The streams of random numbers run
    /// on, so neither the arrivals nor what comes before a change move.
    ///
    /// # Errors
    /// As [`OpenWorkload::new`], of any phase.
    pub fn in_phases(
        mut process: BoxedProcess,
        apps: Vec<Application>,
        phases: &[Phase],
        seed: u64,
    ) -> Result<OpenWorkload, TraceError> {
        let exec = |a: &Application| Stream::named(seed, "exec", u64::from(a.app.0));
        let exec = apps.iter().map(exec).collect();
        let mut apps = Phased::new(apps, phases)?;
        let first = apps.at(Time::ZERO).first_app();
        let choose = Stream::named(seed, "apps", u64::from(first.0));
        let next = process.next();
        Ok(OpenWorkload { process, apps, choose, exec, next })
    }
}

impl Source for OpenWorkload {
    fn peek(&mut self) -> Option<Time> {
        self.next
    }

    fn pop(&mut self) -> Option<Arrival> {
        let at = self.next?;
        self.next = self.process.next();
        let mix = self.apps.at(at);
        // Of one application there is nothing to choose, and nobody else draws from this stream.
        let app = if mix.apps.len() == 1 { 0 } else { mix.choose(&mut self.choose) };
        let arrival = mix.apps[app].arrival(at, &mut self.exec[app]);
        Some(self.apps.scaled(app, arrival))
    }
}

/// One function (or group of functions) of a [`MergedFunctions`].
pub struct Part {
    /// When it is called.
    pub process: BoxedProcess,
    /// What a call costs; its weight is not used.
    pub application: Application,
    /// The index of its stream of execution times.
    pub index: u64,
}

/// Many functions, each with its own arrival process and application, merged in order of time;
/// equal times in the order of the functions.
pub struct MergedFunctions {
    parts: Vec<(BoxedProcess, Application, Stream)>,
    next: BinaryHeap<Reverse<(Time, usize)>>,
}

impl MergedFunctions {
    /// Merges the parts. Several may share one application.
    ///
    /// # Errors
    /// When there is no part or a size is out of range.
    pub fn new(parts: Vec<Part>, seed: u64) -> Result<MergedFunctions, TraceError> {
        if parts.is_empty() {
            return Err(parameter("functions", "none", "at least one", "select other functions"));
        }
        let mut merged =
            MergedFunctions { parts: Vec::with_capacity(parts.len()), next: BinaryHeap::new() };
        for (i, mut part) in parts.into_iter().enumerate() {
            largest(part.application.size)?;
            let first = part.process.next();
            merged.next.extend(first.map(|at| Reverse((at, i))));
            let exec = Stream::named(seed, "exec", part.index);
            merged.parts.push((part.process, part.application, exec));
        }
        Ok(merged)
    }

    /// The functions of an Azure 2019 file. `application` gives each function (by its place in the
    /// list) its application. Functions without a call are left out. A function's streams depend on
    /// its name alone, so its arrivals are the same whatever else is selected.
    ///
    /// # Errors
    /// When no function is called, or the shape or a size is out of range.
    pub fn from_invocations(
        invocations: &Invocations,
        shape: Shape,
        seed: u64,
        application: impl Fn(usize, &FunctionRow) -> Application,
    ) -> Result<MergedFunctions, TraceError> {
        let mut parts = Vec::new();
        for (i, row) in invocations.functions.iter().enumerate().filter(|(_, f)| f.total > 0) {
            let law = ArrivalLaw::Minutes(Minutes { counts: row.counts.clone(), shape });
            let index = row.stream_index();
            let process = law.start(seed, index)?;
            parts.push(Part { process, application: application(i, row), index });
        }
        MergedFunctions::new(parts, seed)
    }
}

impl Source for MergedFunctions {
    fn peek(&mut self) -> Option<Time> {
        self.next.peek().map(|Reverse((at, _))| *at)
    }

    fn pop(&mut self) -> Option<Arrival> {
        let mut first = self.next.peek_mut()?;
        let Reverse((at, i)) = *first;
        let (process, application, exec) = &mut self.parts[i];
        match process.next() {
            // In its place: one way down the heap, not down and up.
            Some(next) => *first = Reverse((next, i)),
            None => drop(PeekMut::pop(first)),
        }
        Some(application.arrival(at, exec))
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::arrivals::Limited;
    use crate::azure2019::Selection;
    use crate::shipped::shipped;

    pub(crate) fn app(number: u32, weight: f64, ms: f64) -> Application {
        let law = ExecLaw::normal(ms, ms / 10.0).unwrap();
        let (app, model, slo) = (AppId(number), ModelId(number / 2), Span::from_ms(100));
        Application { app, model, weight, law, slo, size: 1 }
    }

    pub(crate) fn all(source: &mut dyn Source) -> Vec<Arrival> {
        let mut arrivals = vec![];
        while let Some(at) = source.peek() {
            let arrival = source.pop().unwrap();
            assert_eq!(arrival.at, at);
            arrivals.push(arrival);
        }
        assert!(source.pop().is_none() && arrivals.is_sorted_by_key(|a| a.at));
        arrivals
    }

    pub(crate) fn open(seed: u64, apps: Vec<Application>, n: u64) -> OpenWorkload {
        let process = ArrivalLaw::Poisson { rate_per_s: 100.0 }.start(seed, 0).unwrap();
        let limited = Limited::new(process, Time::NEVER, n);
        OpenWorkload::new(Box::new(limited), apps, seed).unwrap()
    }

    #[test]
    fn applications_have_their_share_and_their_law() {
        let arrivals = all(&mut open(1, vec![app(0, 1.0, 10.0), app(1, 3.0, 50.0)], 40_000));
        let of_one: Vec<_> = arrivals.iter().filter(|a| a.app == AppId(1)).collect();
        assert!((29_600..30_400).contains(&of_one.len()), "{}", of_one.len());
        let mean = of_one.iter().map(|a| a.alone.as_ms_f64()).sum::<f64>() / of_one.len() as f64;
        assert!((mean - 50.0).abs() < 0.2, "{mean}");
    }

    #[test]
    fn another_application_moves_neither_arrivals_nor_execution_times() {
        let two = all(&mut open(1, vec![app(0, 1.0, 10.0), app(1, 1.0, 50.0)], 1000));
        let one = all(&mut open(1, vec![app(0, 1.0, 10.0)], 1000));
        let times = |arrivals: &[Arrival]| arrivals.iter().map(|a| a.at).collect::<Vec<_>>();
        assert_eq!(times(&one), times(&two));
        let mut same = two.iter().filter(|a| a.app == AppId(0)).map(|a| a.alone).zip(&one);
        assert!(same.all(|(alone, a)| alone == a.alone));
    }

    #[test]
    fn applications_change_from_a_phase_on_and_nothing_before_it_moves() {
        use crate::phases::{Factors, Phase};
        let apps = vec![app(0, 1.0, 10.0), app(1, 3.0, 50.0)];
        let from = |s| Time::ZERO + Span::from_secs(s);
        let (same, half) = (Factors::default(), Factors { time: 0.5, ..Factors::default() });
        let phases = [
            Phase { from: from(100), apps: vec![half, same] },
            Phase { from: from(200), apps: vec![Factors { weight: 3.0, time: 2.0 }, same] },
        ];
        let process = || ArrivalLaw::Poisson { rate_per_s: 100.0 }.start(1, 0).unwrap();
        let limited = Box::new(Limited::new(process(), from(300), u64::MAX));
        let changing = OpenWorkload::in_phases(limited, apps.clone(), &phases, 1);
        let changing = all(&mut changing.unwrap());
        let steady = all(&mut open(1, apps, changing.len() as u64));
        for (a, b) in changing.iter().zip(&steady).take_while(|(a, _)| a.at < from(200)) {
            assert_eq!((a.at, a.app), (b.at, b.app));
            let factor = if a.app == AppId(0) && a.at >= from(100) { 0.5 } else { 1.0 };
            assert_eq!(a.alone, b.alone.scale(factor));
        }
        let last: Vec<_> = changing.iter().filter(|a| a.at >= from(200)).collect();
        let of_zero: Vec<_> = last.iter().filter(|a| a.app == AppId(0)).collect();
        let share = of_zero.len() as f64 / last.len() as f64;
        assert!((share - 0.5).abs() < 0.02, "3 to 3, not 1 to 3: {share}");
        let mean = of_zero.iter().map(|a| a.alone.as_ms_f64()).sum::<f64>() / of_zero.len() as f64;
        assert!((mean - 20.0).abs() < 0.2, "{mean}");
    }

    #[test]
    fn each_mode_can_be_an_application() {
        let law = ExecLaw::two_group(200.0, 300.0, 0.97, Default::default()).unwrap();
        let apps = Application::per_mode(&law, AppId(4), ModelId(0), Span::MAX, 1);
        assert_eq!((apps.len(), apps[1].app, apps[0].weight), (2, AppId(5), 0.97));
    }

    #[test]
    fn merged_functions_come_in_order_and_do_not_depend_on_each_other() {
        let file = crate::azure2019::Invocations::read(shipped("azure2019-f500").unwrap(), None);
        let file = file.unwrap();
        let shape = Shape { compress: 60.0, ..Shape::default() };
        let arrivals = |selection| {
            let kept = file.clone().select(&selection).unwrap();
            let first = kept.functions[0].function.clone();
            let each = |i: usize, _: &FunctionRow| app(i as u32, 1.0, 10.0);
            let merged = MergedFunctions::from_invocations(&kept, shape, 3, each);
            (first, all(&mut merged.unwrap()))
        };
        let (first, some) = arrivals(Selection::Ranks { first: 100, last: 120 });
        let expected: u64 = {
            let kept = file.clone().select(&Selection::Ranks { first: 100, last: 120 }).unwrap();
            kept.functions.iter().map(|f| f.total).sum()
        };
        assert!((some.len() as f64 / expected as f64 - 1.0).abs() < 0.1);
        let (_, alone) = arrivals(Selection::Named(vec![first]));
        let of_first: Vec<_> = some.into_iter().filter(|a| a.app == AppId(0)).collect();
        assert!(!alone.is_empty());
        assert_eq!(of_first, alone);
    }

    #[test]
    fn wrong_applications_are_errors() {
        let start = |apps| {
            let process = ArrivalLaw::Poisson { rate_per_s: 1.0 }.start(1, 0).unwrap();
            OpenWorkload::new(process, apps, 1).err().map(|e| e.to_string()).unwrap_or_default()
        };
        assert!(start(vec![]).contains("at least one"));
        assert!(start(vec![app(1, 1.0, 1.0), app(1, 1.0, 1.0)]).contains("app1"));
        assert!(start(vec![app(1, 0.0, 1.0)]).contains("weight"));
        assert!(start(vec![Application { size: 0, ..app(1, 1.0, 1.0) }]).contains("size"));
        assert!(start(vec![Application { size: 4097, ..app(1, 1.0, 1.0) }]).contains("size"));
        assert!(MergedFunctions::new(vec![], 1).is_err());
    }
}
