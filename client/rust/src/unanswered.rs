//! The steps without a reply, the oldest first, and which of them are given up.

use std::collections::VecDeque;

use crate::ledger::RowLedger;
use crate::{v1, Error, Row, RowId, StepResult};

/// How many servers may end under a step.
const MOST_ENDS: usize = 2;

#[derive(Debug, Default)]
pub(crate) struct UnansweredSteps {
    all: VecDeque<Sent>,
    given_up: usize, // the oldest
}

/// A step without a reply.
#[derive(Debug)]
struct Sent {
    step: v1::Step,
    ended: Vec<String>, // the servers that ended under it
    failed: Vec<RowId>, // its rows, once it is given up
}

impl UnansweredSteps {
    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    pub(crate) fn push(&mut self, step: v1::Step) {
        self.all.push_back(Sent {
            step,
            ended: Vec::new(),
            failed: Vec::new(),
        });
    }

    /// Takes away the oldest one, whose reply is here.
    pub(crate) fn pop_first(&mut self) {
        self.all.pop_front();
    }

    pub(crate) fn oldest(&self) -> &v1::Step {
        &self.all[0].step
    }

    /// How many a server is still to answer.
    pub(crate) fn live(&self) -> usize {
        self.all.len() - self.given_up
    }

    pub(crate) fn live_steps(&self) -> impl Iterator<Item = &v1::Step> {
        self.all.iter().skip(self.given_up).map(|sent| &sent.step)
    }

    pub(crate) fn live_steps_mut(&mut self) -> impl Iterator<Item = &mut v1::Step> {
        let live = self.all.iter_mut().skip(self.given_up);
        live.map(|sent| &mut sent.step)
    }

    /// Whether the oldest one is given up.
    pub(crate) fn is_given_up(&self) -> bool {
        self.given_up > 0
    }

    /// Notes that a server ended under those that it was to answer.
    pub(crate) fn note_end(&mut self, address: &str, ledger: &mut RowLedger) {
        for sent in self.all.iter_mut().skip(self.given_up) {
            sent.ended.push(address.to_string());
            if sent.ended.len() >= MOST_ENDS {
                sent.failed = ledger.give_up(&sent.step);
                self.given_up += 1; // an older step saw no fewer ends, so these are the oldest
            }
        }
    }

    /// Answers the oldest one, which is given up.
    pub(crate) fn answer_given_up(&mut self) -> Option<StepResult> {
        let sent = self.all.pop_front()?;
        self.given_up -= 1;
        let text = format!(
            "the servers {} ended under a step of this row: it is not sent to another",
            sent.ended.join(" and ")
        );
        let error = Error {
            reason: "SERVERS_ENDED".to_string(),
            ..Error::internal(text)
        };
        let failed = sent.failed.iter();
        Some(StepResult {
            step: sent.step.step,
            rows: failed.map(|id| Row::failed(*id, error.clone())).collect(),
            snapshots: Vec::new(),
        })
    }
}
