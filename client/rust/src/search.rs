//! A server is looked for that takes the rows of a stream.

use std::time::Duration;

use tokio::time::Instant;

use crate::client::jittered;
use crate::failover::FailoverStream;
use crate::race::Race;
use crate::{Code, Error, Stream};

/// Whether another server may do better: this one is gone, silent, full, or broken.
pub(crate) fn may_move(error: &Error) -> bool {
    matches!(
        error.code,
        Code::Unavailable
            | Code::Cancelled
            | Code::Aborted
            | Code::DeadlineExceeded
            | Code::ResourceExhausted
            | Code::Internal
            | Code::Unknown
    )
}

/// What the servers have said so far.
#[derive(Debug, Default)]
struct Said {
    last: Option<Error>,
    differs: Option<Error>, // of the last one that means other masks
    differing: usize,       // such servers in this round
}

impl FailoverStream {
    /// Looks for a server from the one that is tried next on. Of each round's servers several are
    /// asked at once. One that has refused for load is asked again when it said, not before.
    /// `give_up_after` bounds all of it.
    pub(crate) async fn find_server(&mut self) -> Result<(), Error> {
        let give_up_at = Instant::now() + self.options.give_up_after;
        let mut delay = self.options.retry.first_delay;
        // Twice as much in each round: a server that is slow is found too.
        let mut patience = self.options.step_timeout;
        let mut said = Said::default();
        loop {
            let left = give_up_at.saturating_duration_since(Instant::now());
            if self.ask_servers(patience.min(left), &mut said).await? {
                return Ok(());
            }
            let mut wake = Instant::now() + jittered(delay);
            if let Some(refusal) = self.servers.first() {
                wake = wake.max(refusal.until);
                said.last.get_or_insert_with(|| refusal.error.clone());
            }
            if said.differing == self.servers.len() || wake > give_up_at {
                let error = said.differs.or(said.last);
                return Err(error.unwrap_or_else(|| Error::internal("no server was asked")));
            }
            tokio::time::sleep_until(wake).await;
            delay = (2 * delay).min(self.options.retry.max_delay);
            patience *= 2;
        }
    }

    /// Asks the servers once: whether one has taken the rows. Errors: what another would say too.
    async fn ask_servers(&mut self, patience: Duration, said: &mut Said) -> Result<bool, Error> {
        let first = self.servers.address().to_string();
        let connect = self.options.connect.clone();
        let mut options = self.options.stream.clone();
        options.first_step = self.next_step - self.unanswered.live() as u64 - 1;
        options.open_timeout = options.open_timeout.min(patience);
        let mut race = Race::new(self.servers.to_ask(), |address| {
            let (connect, options) = (connect.clone(), options.clone());
            async move { Stream::open(&address, &connect, options).await }
        });
        said.differing = 0;
        while let Some((address, opened)) = race.next().await {
            let Err(error) = self.go_on_at(&address, opened).await else {
                return Ok(true);
            };
            self.servers.note(&address, Some(&error));
            if error.code == Code::FailedPrecondition {
                said.differs = Some(error.clone());
                said.differing += 1;
            } else if !may_move(&error) {
                return Err(error);
            }
            said.last = Some(error);
        }
        self.servers.choose(&first);
        Ok(false)
    }

    /// Brings the rows and the unanswered steps to a server, if it has let the stream in.
    async fn go_on_at(
        &mut self,
        address: &str,
        opened: Result<Stream, Error>,
    ) -> Result<(), Error> {
        let mut stream = opened?;
        self.servers.choose(address);
        self.settle(&mut stream, address).await?;
        self.servers.note(address, None);
        self.welcome = stream.welcome().clone();
        self.stream = Some(stream);
        if let Some(spreader) = &self.spreader {
            spreader.come(address, &self.welcome);
        }
        Ok(())
    }
}
