package maskd

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"time"

	"google.golang.org/grpc/codes"
)

// serverList are the servers of a stream in the order in which they are tried, and when one that has refused for
// load may be asked again.
type serverList struct {
	all     []string
	at      int // the one in use, or that is tried next
	refused map[string]refusal
}

// refusal is an error with a time of the server's own, and when that is over.
type refusal struct {
	err   error
	until time.Time
}

func newServerList(addresses []string) serverList {
	return serverList{all: addresses, refused: map[string]refusal{}}
}

func (l *serverList) address() string { return l.all[l.at] }

// use makes a server the one in use.
func (l *serverList) use(address string) {
	l.at = slices.Index(l.all, address)
	if l.at < 0 {
		l.at = len(l.all)
		l.all = append(l.all, address)
	}
}

// goOn leaves the server in use for the next one.
func (l *serverList) goOn() { l.at = (l.at + 1) % len(l.all) }

func (l *serverList) shuffle() {
	here := l.address()
	rand.Shuffle(len(l.all), func(i, j int) { l.all[i], l.all[j] = l.all[j], l.all[i] })
	l.use(here)
}

// replace takes the servers that there are now, in the order of before; new ones get a place by chance.
func (l *serverList) replace(now []string) {
	if len(now) == 0 {
		return
	}
	here := l.address()
	l.all = slices.DeleteFunc(l.all, func(server string) bool {
		return server != here && !slices.Contains(now, server)
	})
	for _, server := range now {
		if !slices.Contains(l.all, server) {
			l.all = slices.Insert(l.all, rand.IntN(len(l.all)+1), server)
		}
	}
	l.use(here)
}

// note keeps what a server has said of the time after which it may be asked again.
func (l *serverList) note(address string, err error) {
	var own *Error
	if errors.As(err, &own) && own.RetryAfter > 0 {
		l.refused[address] = refusal{err, time.Now().Add(own.RetryAfter)}
	} else {
		delete(l.refused, address)
	}
}

// toAsk are the servers that may be asked now, from the one that is tried next on.
func (l *serverList) toAsk() []string {
	now := time.Now()
	inOrder := slices.Concat(l.all[l.at:], l.all[:l.at])
	return slices.DeleteFunc(inOrder, func(server string) bool { return now.Before(l.refused[server].until) })
}

// earliest is when the first of all servers may be asked, `soon` or later, and what it has refused with; nil
// where it may be asked at once.
func (l *serverList) earliest(soon time.Time) (time.Time, error) {
	first := l.refused[l.all[0]]
	for _, server := range l.all[1:] {
		if other := l.refused[server]; other.until.Before(first.until) {
			first = other
		}
	}
	if first.until.After(soon) {
		return first.until, first.err
	}
	return soon, first.err
}

// mayMove is whether another server may do better: this one is gone, silent, full, or broken.
func mayMove(err error) bool {
	switch CodeOf(err) {
	case codes.Unavailable, codes.Canceled, codes.Aborted, codes.DeadlineExceeded, codes.ResourceExhausted,
		codes.Internal, codes.Unknown:
		return true
	default:
		return false
	}
}

// findServer looks for a server that takes the rows, from the one that is tried next on. Of each round's servers
// several are asked at once (race). One that has refused for load is asked again when it said, not before.
// GiveUpAfter bounds all of it.
func (f *FailoverStream) findServer(ctx context.Context) error {
	giveUpAt := time.Now().Add(f.options.GiveUpAfter)
	delay := f.options.Retry.FirstDelay
	// Twice as much in each round: a server that is slow is found too.
	patience := f.options.StepTimeout
	var last, differs error // differs: what the last server said that means other masks
	for {
		said := f.askServers(ctx, min(patience, time.Until(giveUpAt)))
		if said.isOver {
			return said.err
		}
		if said.err != nil {
			last = said.err
		}
		if said.differs != nil {
			differs = said.differs
		}
		wake, refused := f.servers.earliest(time.Now().Add(jittered(delay)))
		if last == nil {
			last = refused
		}
		if said.differing == len(f.servers.all) || wake.After(giveUpAt) {
			return either(differs, last)
		}
		if sleep(ctx, time.Until(wake)) != nil {
			return outOfTime(ctx, last)
		}
		delay, patience = min(2*delay, f.options.Retry.MaxDelay), 2*patience
	}
}

// round is what came of asking the servers once.
type round struct {
	isOver    bool  // the stream has a server, or no other can do better
	err       error // of the last server
	differs   error // of the last one that means other masks
	differing int   // such servers
}

func (f *FailoverStream) askServers(ctx context.Context, patience time.Duration) (said round) {
	options := f.options.Stream
	options.FirstStep = f.nextStep - uint64(len(f.live())) - 1
	options.OpenTimeout = min(options.OpenTimeout, patience)
	first := f.servers.at
	race := newRace(ctx, f.servers.toAsk(), func(ctx context.Context, address string) (*Stream, error) {
		return openStream(ctx, address, f.options.Connect, options)
	})
	defer race.close()
	for tried := race.next(); tried != nil; tried = race.next() {
		said.err = f.goOnAt(ctx, tried)
		if ctx.Err() != nil && said.err != nil {
			return round{isOver: true, err: outOfTime(ctx, said.err)}
		}
		isOther := CodeOf(said.err) == codes.FailedPrecondition
		if said.isOver = said.err == nil || !isOther && !mayMove(said.err); said.isOver {
			return said
		}
		f.servers.note(tried.address, said.err)
		if isOther {
			said.differs = said.err
			said.differing++
		}
	}
	f.servers.at = first
	return said
}

// goOnAt brings the rows and the unanswered steps to a server, if it has let the stream in.
func (f *FailoverStream) goOnAt(ctx context.Context, tried *attempt) error {
	if tried.err != nil {
		return tried.err
	}
	f.servers.use(tried.address)
	if err := f.settle(ctx, tried.stream); err != nil {
		tried.stream.abandon()
		return err
	}
	f.servers.note(tried.address, nil)
	f.stream, f.welcome = tried.stream, tried.stream.Welcome()
	if f.spreader != nil {
		f.spreader.use(tried.address, f.welcome)
	}
	return nil
}

func either(first, second error) error {
	if first != nil {
		return first
	}
	return second
}

// outOfTime is what a caller is told whose own time ends while a server is looked for.
func outOfTime(ctx context.Context, last error) error {
	ended := &Error{Code: CodeOf(fromCall(ctx.Err()))}
	ended.Message = "no server has taken the rows in time"
	if last != nil {
		ended.Message += ": " + last.Error()
	}
	return ended
}
