//! A server is looked for that takes the rows of a stream.
//!
//! All that is known of a search is kept in the stream, so the next call goes on with one whose
//! future was dropped. No await stands between two changes that belong together.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use tokio::time::Instant;
use tonic::Status;

use crate::client::jittered;
use crate::failover::FailoverStream;
use crate::race::Race;
use crate::{v1, Code, Error, FailoverOptions, Stream};

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

type Opened = Pin<Box<dyn Future<Output = Result<Stream, Error>> + Send>>;
type Open = Box<dyn Fn(String) -> Opened + Send + Sync>;

/// A search that is going on.
pub(crate) struct Search {
    give_up_at: Instant,
    wake: Instant, // when its next round begins
    delay: Duration,
    patience: Duration,               // of a server's welcome
    race: Option<Race<Stream, Open>>, // of the round; none between two
    first: String,                    // of the round's servers
    last: Option<Error>,              // of the last server
    differs: Option<Error>,           // of the last one that means other masks
    differing: usize,                 // such servers in this round
}

impl fmt::Debug for Search {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Search").finish_non_exhaustive()
    }
}

impl Search {
    fn new(options: &FailoverOptions) -> Self {
        let now = Instant::now();
        Self {
            give_up_at: now + options.give_up_after,
            wake: now,
            delay: options.retry.first_delay,
            patience: options.step_timeout,
            race: None,
            first: String::new(),
            last: None,
            differs: None,
            differing: 0,
        }
    }

    /// Why no server has taken the rows.
    fn error(&mut self) -> Error {
        let error = self.differs.take().or_else(|| self.last.take());
        error.unwrap_or_else(|| Error::internal("no server was asked"))
    }
}

/// A server that is to open the rows, and to have the unanswered steps.
#[derive(Debug)]
pub(crate) struct Opening {
    pub(crate) address: String,
    pub(crate) stream: Stream,
    replay: Option<v1::Step>, // that opens the rows; none: it is sent
    oldest: Option<v1::Step>, // the oldest unanswered step, as this server is to have it
    until: Instant,
    is_open: bool, // the rows are
    sent: usize,   // unanswered steps
}

impl FailoverStream {
    /// Looks for a server from the one that is tried next on, or goes on with that. Of each round's
    /// servers several are asked at once. One that has refused for load is asked again when it
    /// said, not before. `give_up_after` bounds all of it.
    pub(crate) async fn find_server(&mut self) -> Result<(), Error> {
        loop {
            if let Some(found) = self.ask_servers().await {
                self.search = None;
                return found;
            }
            if let Some(error) = self.end_round() {
                self.search = None;
                return Err(error);
            }
        }
    }

    /// The race of the round, which begins when it is due.
    async fn race(&mut self) -> &mut Race<Stream, Open> {
        let options = &self.options;
        let search = self.search.get_or_insert_with(|| Search::new(options));
        if search.race.is_none() {
            tokio::time::sleep_until(search.wake).await;
        }
        search.race.get_or_insert_with(|| {
            let left = search.give_up_at.saturating_duration_since(Instant::now());
            let connect = options.connect.clone();
            let mut options = options.stream.clone();
            options.first_step = self.next_step - self.unanswered.live() as u64 - 1;
            options.open_timeout = options.open_timeout.min(search.patience).min(left);
            search.first = self.servers.address().to_string();
            search.differing = 0;
            let open = move |address: String| -> Opened {
                let (connect, options) = (connect.clone(), options.clone());
                Box::pin(async move { Stream::open(&address, &connect, options).await })
            };
            Race::new(self.servers.to_ask(), Box::new(open))
        })
    }

    /// Goes on with a round: that a server has taken the rows, or what another would say too. None:
    /// the round is over.
    async fn ask_servers(&mut self) -> Option<Result<(), Error>> {
        loop {
            if self.opening.is_none() {
                let (address, opened) = self.race().await.next().await?;
                self.servers.choose(&address);
                let limit = self.options.compile_timeout + self.options.step_timeout;
                let sent = opened.and_then(|stream| self.begin_opening(&address, stream, limit));
                if let Err(error) = sent {
                    if let Some(end) = self.note_failure(&address, error) {
                        return Some(Err(end));
                    }
                    continue;
                }
            }
            let address = self.opening.as_ref()?.address.clone();
            match self.take_rows().await {
                Ok(()) => {
                    self.servers.note(&address, None);
                    return Some(Ok(()));
                }
                Err(error) => {
                    if let Some(end) = self.note_failure(&address, error) {
                        return Some(Err(end));
                    }
                }
            }
        }
    }

    /// Keeps what a server has said; gives it back where another would say it too.
    fn note_failure(&mut self, address: &str, error: Error) -> Option<Error> {
        self.servers.note(address, Some(&error));
        let is_other = error.code == Code::FailedPrecondition;
        let search = self.search.as_mut()?;
        if is_other {
            search.differs = Some(error.clone());
            search.differing += 1;
        } else if !may_move(&error) {
            return Some(error);
        }
        search.last = Some(error);
        None
    }

    /// An error where another round can do no better.
    fn end_round(&mut self) -> Option<Error> {
        let search = self.search.as_mut()?;
        search.race = None;
        self.servers.choose(&search.first);
        search.wake = Instant::now() + jittered(search.delay);
        if let Some(refusal) = self.servers.first() {
            search.wake = search.wake.max(refusal.until);
            search.last.get_or_insert_with(|| refusal.error.clone());
        }
        if search.differing == self.servers.len() || search.wake > search.give_up_at {
            return Some(search.error());
        }
        search.delay = (2 * search.delay).min(self.options.retry.max_delay);
        search.patience *= 2; // a server that is slow is found too
        None
    }

    /// Has a stream that has just been opened be the one that is to take the rows, within a limit.
    pub(crate) fn begin_opening(
        &mut self,
        address: &str,
        stream: Stream,
        limit: Duration,
    ) -> Result<(), Error> {
        self.check_vocabulary(stream.welcome(), address)?;
        let format = &stream.welcome().grammar_format;
        self.ledger.format.clone_from(format);
        let (replay, oldest) = self.replay();
        self.opening = Some(Opening {
            address: address.to_string(),
            stream,
            replay: Some(replay),
            oldest,
            until: Instant::now() + limit,
            is_open: false,
            sent: 0,
        });
        Ok(())
    }

    /// Waits until the rows are open, sends the unanswered steps and uses that server.
    pub(crate) async fn take_rows(&mut self) -> Result<(), Error> {
        let opened = self.open_rows().await;
        let Some(opening) = self.opening.take() else {
            return opened;
        };
        opened.map_err(|error| error.at(&opening.address))?;
        self.welcome = opening.stream.welcome().clone();
        self.stream = Some(opening.stream);
        if let Some(spreader) = &self.spreader {
            spreader.come(&opening.address, &self.welcome);
        }
        Ok(())
    }

    /// The replay's reply is dropped: what it says has been said of each row. A row that cannot go
    /// on here speaks against this server.
    async fn open_rows(&mut self) -> Result<(), Error> {
        let Some(opening) = &mut self.opening else {
            return Err(Error::internal("no server is to open the rows"));
        };
        let stream = &mut opening.stream;
        if let Some(replay) = &opening.replay {
            let sent = stream.send(replay.clone()).await;
            sent.map_err(|(error, _)| error)?;
            opening.replay = None;
        }
        if !opening.is_open {
            let replayed = tokio::time::timeout_at(opening.until, stream.collect()).await;
            let late = |_| Status::deadline_exceeded("the server has not answered in time");
            self.ledger.apply_replay(&replayed.map_err(late)??.rows)?;
            opening.is_open = true;
        }
        while opening.sent < self.unanswered.live() {
            let step = self.unanswered.live_steps().nth(opening.sent);
            let step = opening
                .oldest
                .as_ref()
                .filter(|_| opening.sent == 0)
                .or(step);
            let sent = stream.send(step.cloned().unwrap_or_default()).await;
            sent.map_err(|(error, _)| error)?;
            opening.sent += 1;
        }
        Ok(())
    }
}
