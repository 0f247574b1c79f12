//! How the streams of many clients spread over many servers, each deciding for its own alone.

use std::cmp::Reverse;
use std::time::Duration;

use rand::seq::SliceRandom;

use crate::client::jittered;

/// How many looks in a row come sooner.
const MOST_SOON: u32 = 4;

/// Where the stream of `rank`, 1 the oldest, of server `own` goes: an index of `streams`, which has
/// how many each server has. None: it stays.
///
/// The goal is the mean, rounded up where there are most now, else down. Of a server that has more
/// the youngest go, each to another of the places that are free: no chance is in it, and a herd
/// does not swing.
pub(crate) fn place_to_go(streams: &[u64], own: usize, rank: u64) -> Option<usize> {
    let mut most_first: Vec<usize> = (0..streams.len()).collect();
    most_first.sort_by_key(|server| Reverse(streams[*server]));
    let (total, count) = (streams.iter().sum::<u64>(), streams.len() as u64);
    let mut goals = vec![total / count; streams.len()];
    for server in most_first.iter().take((total % count) as usize) {
        goals[*server] += 1;
    }
    // Those that go, numbered: first all of the fullest server.
    let fuller = most_first.iter().take_while(|server| **server != own);
    let before: u64 = fuller
        .map(|server| streams[*server].saturating_sub(goals[*server]))
        .sum();
    let mut number = rank.checked_sub(goals[own] + 1)? + before;
    let mut last = None;
    for server in most_first.into_iter().rev() {
        let free = goals[server].saturating_sub(streams[server]);
        if free == 0 {
            continue;
        }
        last = Some(server);
        if number < free {
            break;
        }
        number -= free;
    }
    last
}

/// When a stream looks at the servers: every `every` or sooner, half of it at least, so that
/// streams that began together part; an eighth of that a few times in a row, where it has just come
/// to a server or saw that streams were uneven and others had to go.
#[derive(Debug)]
pub(crate) struct LookPace {
    every: Duration,
    soon: u32,
}

impl LookPace {
    pub(crate) fn new(every: Duration) -> Self {
        Self { every, soon: 0 }
    }

    /// How long until the next look.
    pub(crate) fn next(&self) -> Duration {
        jittered(self.every) / if self.soon > 0 { 8 } else { 1 }
    }

    pub(crate) fn came(&mut self) {
        self.soon = MOST_SOON;
    }

    pub(crate) fn looked(&mut self, is_uneven: bool) {
        self.soon = match self.soon {
            0 if is_uneven => MOST_SOON,
            soon => soon.saturating_sub(1),
        };
    }
}

/// What servers said of their streams.
#[derive(Debug, Default)]
pub(crate) struct Loads {
    /// Those that answered, ascending.
    pub(crate) servers: Vec<String>,
    pub(crate) streams: Vec<u64>,
    /// Of the own stream at its server.
    pub(crate) rank: Option<u64>,
}

impl Loads {
    fn index_of(&self, server: &str) -> Option<usize> {
        self.servers.iter().position(|each| each == server)
    }

    pub(crate) fn is_uneven(&self) -> bool {
        let (least, most) = (self.streams.iter().min(), self.streams.iter().max());
        least
            .zip(most)
            .is_some_and(|(least, most)| *most > least + 1)
    }

    /// Where the own stream goes, which is at `address`. None: it stays.
    pub(crate) fn place_for(&self, address: &str) -> Option<&str> {
        let place = place_to_go(&self.streams, self.index_of(address)?, self.rank?)?;
        Some(&self.servers[place])
    }

    /// The servers by what they said, the least first, in a random order where they have the same;
    /// those of which nothing is known come last.
    pub(crate) fn least_first(&self, servers: &[String]) -> Vec<String> {
        let mut ordered = servers.to_vec();
        ordered.shuffle(&mut rand::rng());
        let streams = |server: &String| self.index_of(server).map(|at| self.streams[at]);
        ordered.sort_by_key(|server| streams(server).unwrap_or(u64::MAX));
        ordered
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;
    use crate::resolve::is_name;
    use crate::support::load;

    /// What all clients that spread agree on: `tests/interop/spread.json`.
    #[derive(Deserialize)]
    struct Spread {
        places: Vec<Places>,
        old_figures: Vec<OldFigures>,
        pace: Vec<Pace>,
        names: Vec<String>,
        servers: Vec<String>,
    }

    #[derive(Deserialize)]
    struct Places {
        streams: Vec<u64>,
        moves: Vec<(usize, u64, usize)>,
    }

    #[derive(Deserialize)]
    struct OldFigures {
        streams: Vec<u64>,
        own: usize,
        rank: u64,
        place: Option<usize>,
    }

    #[derive(Deserialize)]
    struct Pace {
        event: String,
        soon: bool,
    }

    fn spread() -> Spread {
        load("spread.json")
    }

    #[test]
    fn streams_go_where_all_clients_say() {
        for Places { streams, moves } in spread().places {
            let mut said = Vec::new();
            for (own, count) in streams.iter().enumerate() {
                for rank in 1..=*count {
                    let place = place_to_go(&streams, own, rank);
                    said.extend(place.map(|place| (own, rank, place)));
                }
            }
            assert_eq!(said, moves, "{streams:?}");
        }
        for old in spread().old_figures {
            let place = place_to_go(&old.streams, old.own, old.rank);
            assert_eq!(place, old.place, "{:?}", old.streams);
        }
    }

    #[test]
    fn looks_come_sooner_where_something_has_happened() {
        let every = Duration::from_secs(4);
        let mut pace = LookPace::new(every);
        for (number, Pace { event, soon }) in spread().pace.into_iter().enumerate() {
            match event.as_str() {
                "start" => {}
                "came" => pace.came(),
                "even" | "uneven" => pace.looked(event == "uneven"),
                other => panic!("no event {other}"),
            }
            let most = if soon { every / 8 } else { every };
            let next = pace.next();
            assert!(next >= most / 2 && next <= most, "{number}: {next:?}");
        }
    }

    #[test]
    fn names_are_told_from_servers() {
        for name in spread().names {
            assert!(is_name(&name), "{name}");
        }
        for server in spread().servers {
            assert!(!is_name(&server), "{server}");
        }
    }

    #[test]
    fn a_server_that_says_nothing_comes_last() {
        let loads = Loads {
            servers: vec!["a".into(), "c".into()],
            streams: vec![3, 1],
            rank: Some(3),
        };
        let all: Vec<String> = ["a", "b", "c"].map(Into::into).to_vec();
        assert_eq!(loads.least_first(&all), ["c", "a", "b"]);
        assert!(loads.is_uneven());
        assert_eq!(loads.place_for("a"), Some("c"));
        assert_eq!(loads.place_for("b"), None);
    }
}
