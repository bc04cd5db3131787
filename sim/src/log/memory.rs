//! A log in memory, and what makes an observer of whatever takes records.

use super::Record;

/// Makes an observer of a type with a method `record(&mut self, Record)` and a function that says
/// whether it asks for reasons.
macro_rules! observe_as_records {
    ($type:ty, $reasons:expr) => {
        impl $crate::observer::Observer for $type {
            fn arrived(&mut self, time: $crate::time::Time, request: &$crate::request::Request) {
                self.record($crate::log::Record::Arrive { time, request: *request });
            }
            fn issued(&mut self, now: $crate::time::Time, batch: &$crate::observer::Batch<'_>) {
                self.record($crate::log::Record::issue(now, batch));
            }
            fn began(&mut self, time: $crate::time::Time, batch: &$crate::observer::Batch<'_>) {
                self.record($crate::log::Record::Begin { time, action: batch.action });
            }
            fn closed(
                &mut self,
                time: $crate::time::Time,
                batch: &$crate::observer::Batch<'_>,
                _start: Option<$crate::time::Time>,
                outcome: $crate::policy::Outcome,
            ) {
                let (action, outcome) = (batch.action, outcome.into());
                self.record($crate::log::Record::Close { time, action, outcome });
            }
            fn load_issued(&mut self, time: $crate::time::Time, load: &$crate::observer::Load) {
                self.record($crate::log::Record::Load { time, load: load.into() });
            }
            fn load_began(&mut self, time: $crate::time::Time, load: &$crate::observer::Load) {
                self.record($crate::log::Record::Begin { time, action: load.action });
            }
            fn load_closed(
                &mut self,
                time: $crate::time::Time,
                load: &$crate::observer::Load,
                _start: Option<$crate::time::Time>,
                outcome: $crate::policy::Outcome,
            ) {
                let (action, outcome) = (load.action, outcome.into());
                self.record($crate::log::Record::Close { time, action, outcome });
            }
            fn unloaded(
                &mut self,
                time: $crate::time::Time,
                device: $crate::request::DeviceId,
                model: $crate::request::ModelId,
            ) {
                self.record($crate::log::Record::Unload { time, device, model });
            }
            fn ended(
                &mut self,
                time: $crate::time::Time,
                request: &$crate::request::Request,
                end: $crate::request::End,
                _start: Option<$crate::time::Time>,
            ) {
                self.record($crate::log::Record::End { time, request: request.id, end });
            }
            fn device(
                &mut self,
                time: $crate::time::Time,
                device: $crate::request::DeviceId,
                change: $crate::cluster::Change,
            ) {
                self.record($crate::log::Record::Device { time, device, change });
            }
            fn wants_reasons(&self) -> bool {
                $reasons(self)
            }
            fn why(
                &mut self,
                time: $crate::time::Time,
                request: $crate::request::RequestId,
                text: &str,
            ) {
                if $reasons(self) {
                    let text = text.to_owned();
                    self.record($crate::log::Record::Why { time, request, text });
                }
            }
            fn finished(&mut self, time: $crate::time::Time) {
                self.record($crate::log::Record::Finish { time });
            }
        }
    };
}
pub(crate) use observe_as_records;

/// An observer that keeps every record in memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MemoryLog {
    /// The records, in order.
    pub records: Vec<Record>,
    /// Whether to ask the policy for its reasons.
    pub reasons: bool,
}

impl MemoryLog {
    fn record(&mut self, record: Record) {
        self.records.push(record);
    }
}

observe_as_records!(MemoryLog, |log: &MemoryLog| log.reasons);
