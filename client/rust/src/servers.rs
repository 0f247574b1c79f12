//! The servers of a stream in the order in which they are tried, and when one that has refused for
//! load may be asked again.

use std::collections::HashMap;

use rand::seq::SliceRandom;
use rand::Rng;
use tokio::time::Instant;

use crate::Error;

/// An error with a time of the server's own, and when that is over.
#[derive(Debug, Clone)]
pub(crate) struct Refusal {
    pub(crate) error: Error,
    pub(crate) until: Instant,
}

#[derive(Debug)]
pub(crate) struct ServerList {
    all: Vec<String>,
    at: usize, // the one in use, or that is tried next
    refusals: HashMap<String, Refusal>,
}

impl ServerList {
    pub(crate) fn new(addresses: Vec<String>) -> Self {
        Self {
            all: addresses,
            at: 0,
            refusals: HashMap::new(),
        }
    }

    pub(crate) fn address(&self) -> &str {
        &self.all[self.at]
    }

    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }

    /// Makes a server the one in use.
    pub(crate) fn choose(&mut self, address: &str) {
        let at = self.all.iter().position(|server| server == address);
        self.at = at.unwrap_or(self.all.len());
        if at.is_none() {
            self.all.push(address.to_string());
        }
    }

    /// Leaves the server in use for the next one.
    pub(crate) fn go_on(&mut self) {
        self.at = (self.at + 1) % self.all.len();
    }

    pub(crate) fn shuffle(&mut self) {
        let here = self.address().to_string();
        self.all.shuffle(&mut rand::rng());
        self.choose(&here);
    }

    /// Takes the servers that there are now, in the order of before; new ones get a place by chance.
    pub(crate) fn replace(&mut self, now: Vec<String>) {
        if now.is_empty() {
            return;
        }
        let here = self.address().to_string();
        self.all
            .retain(|server| *server == here || now.contains(server));
        for server in now {
            if !self.all.contains(&server) {
                let at = rand::rng().random_range(0..=self.all.len());
                self.all.insert(at, server);
            }
        }
        self.choose(&here);
    }

    /// Keeps what a server has said of the time after which it may be asked again.
    pub(crate) fn note(&mut self, address: &str, error: Option<&Error>) {
        match error.and_then(|error| Some((error, error.retry_after?))) {
            Some((error, after)) => {
                let error = error.clone();
                let until = Instant::now() + after;
                let refusal = Refusal { error, until };
                self.refusals.insert(address.to_string(), refusal);
            }
            None => {
                self.refusals.remove(address);
            }
        }
    }

    /// Those that may be asked now, from the one that is tried next on.
    pub(crate) fn to_ask(&self) -> Vec<String> {
        let now = Instant::now();
        let (before, after) = self.all.split_at(self.at);
        let in_order = after.iter().chain(before);
        let may_be = |server: &&String| self.refusals.get(*server).is_none_or(|it| it.until <= now);
        in_order.filter(may_be).cloned().collect()
    }

    /// The refusal that is over first, where all servers have refused for load.
    pub(crate) fn first(&self) -> Option<&Refusal> {
        let refusals = self.all.iter().map(|server| self.refusals.get(server));
        let all: Vec<&Refusal> = refusals.collect::<Option<_>>()?;
        all.into_iter().min_by_key(|refusal| refusal.until)
    }
}
