package maskd

import (
	"context"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	pb "maskd.io/maskd/maskdv1"
)

// search is a search for a server that takes the rows. The next call goes on with one that took longer than the
// caller had time for.
type search struct {
	giveUpAt  time.Time
	wake      time.Time // when its next round begins
	delay     time.Duration
	patience  time.Duration // of a server's welcome
	race      *race         // of the round; nil between two
	first     string        // of the round's servers
	last      error         // of the last server
	differs   error         // of the last one that means other masks
	differing int           // such servers in this round
}

// opening is a server that has the rows to be opened, and is still to say that they are.
type opening struct {
	address string
	stream  *Stream
	oldest  *pb.Step // the oldest unanswered step, as this server is to have it; nil: there is none
	until   time.Time
}

// findServer looks for a server that takes the rows, from the one that is tried next on, or goes on with that. Of
// each round's servers several are asked at once (race). One that has refused for load is asked again when it said,
// not before. GiveUpAfter bounds all of it, and the context what this call does of it.
func (f *FailoverStream) findServer(ctx context.Context) error {
	if f.search == nil {
		now := time.Now()
		f.search = &search{giveUpAt: now.Add(f.options.GiveUpAfter), wake: now, delay: f.options.Retry.FirstDelay,
			patience: f.options.StepTimeout}
	}
	for {
		isOver, err := f.askServers(ctx)
		if !isOver && ctx.Err() != nil {
			return outOfTime(ctx, f.search.last)
		}
		if !isOver {
			isOver, err = f.endRound()
		}
		if isOver {
			f.endSearch()
			return err
		}
	}
}

// endSearch lets go of what is on its way to other servers.
func (f *FailoverStream) endSearch() {
	if f.opening != nil {
		f.opening.stream.abandon()
		f.opening = nil
	}
	if f.search != nil && f.search.race != nil {
		f.search.race.close()
	}
	f.search = nil
}

func (f *FailoverStream) beginRound(ctx context.Context) {
	s := f.search
	options := f.options.Stream
	options.FirstStep = f.nextStep - uint64(len(f.live())) - 1
	options.OpenTimeout = min(options.OpenTimeout, s.patience, time.Until(s.giveUpAt))
	s.first, s.differing = f.Address(), 0
	open := func(ctx context.Context, address string) (*Stream, error) {
		return openStream(ctx, address, f.options.Connect, options)
	}
	s.race = newRace(context.WithoutCancel(ctx), f.servers.toAsk(), open)
}

// askServers goes on with a round. It is over when the stream has a server, or no other can do better; else the
// round is, or the context.
func (f *FailoverStream) askServers(ctx context.Context) (isOver bool, err error) {
	s := f.search
	if s.race == nil {
		if sleep(ctx, time.Until(s.wake)) != nil {
			return false, nil
		}
		f.beginRound(ctx)
	}
	for f.opening != nil || !s.race.isOver() {
		err := f.goOn(ctx)
		if ctx.Err() != nil && err != nil {
			return false, nil
		}
		isOther := CodeOf(err) == codes.FailedPrecondition
		if err == nil || !isOther && !mayMove(err) {
			return true, err
		}
		s.last = err
		if isOther {
			s.differs = err
			s.differing++
		}
	}
	return false, nil
}

// goOn brings the rows and the unanswered steps to the next server that lets the stream in, or goes on with that.
// When the context ends the opening stays, or the race.
func (f *FailoverStream) goOn(ctx context.Context) error {
	if f.opening == nil {
		tried, err := f.search.race.next(ctx)
		if err != nil {
			return err
		}
		f.servers.use(tried.address)
		err = tried.err
		if err == nil {
			err = f.sendOpens(tried.address, tried.stream)
		}
		if err != nil {
			f.servers.note(tried.address, err)
			return err
		}
	}
	address := f.opening.address
	err := f.takeRows(ctx)
	if f.opening == nil {
		f.servers.note(address, err)
	}
	return err
}

// endRound is over where another round can do no better.
func (f *FailoverStream) endRound() (isOver bool, err error) {
	s := f.search
	s.race.close()
	s.race = nil
	f.servers.use(s.first)
	wake, refused := f.servers.earliest(time.Now().Add(jittered(s.delay)))
	s.wake = wake
	s.last = either(s.last, refused)
	if s.differing == len(f.servers.all) || wake.After(s.giveUpAt) {
		return true, either(s.differs, s.last)
	}
	// Twice as much in each round: a server that is slow is found too.
	s.delay, s.patience = min(2*s.delay, f.options.Retry.MaxDelay), 2*s.patience
	return false, nil
}

// sendOpens sends what opens the rows on a new stream: f.opening. What the server says of them is waited for by
// takeRows.
func (f *FailoverStream) sendOpens(address string, stream *Stream) error {
	err := f.checkVocabulary(stream.Welcome())
	if err == nil {
		f.ledger.format = stream.Welcome().GetGrammarFormat()
		replay, oldest := f.replay()
		_, err = stream.Submit(replay)
		until := time.Now().Add(f.options.CompileTimeout + f.options.StepTimeout)
		f.opening = &opening{address, stream, oldest, until}
	}
	if err != nil {
		f.opening = nil
		stream.abandon()
	}
	return err
}

// replay is a step that opens the rows, and the oldest unanswered step behind it, if there is one.
func (f *FailoverStream) replay() (*Step, *pb.Step) {
	var oldest *pb.Step
	for i, sent := range f.live() {
		f.ledger.writeTexts(sent.step)
		f.ledger.dropCloses(sent.step)
		if i == 0 {
			oldest = proto.CloneOf(sent.step) // another server may have to open other rows in it
		}
	}
	replay := NewStep().WaitForCompile(f.options.CompileTimeout)
	first := oldest
	if first == nil {
		first = &pb.Step{}
	}
	f.ledger.writeOpens(&replay.message, first)
	return replay, oldest
}

// takeRows waits for the rows of f.opening, brings the unanswered steps there and makes it the server in use. The
// opening stays when the context ends before it has said anything.
func (f *FailoverStream) takeRows(ctx context.Context) error {
	o := f.opening
	limited, cancel := context.WithDeadline(ctx, o.until)
	defer cancel()
	// The reply is dropped: what it says has been said of each row.
	replayed, err := o.stream.Collect(limited)
	if err != nil && ctx.Err() != nil && time.Now().Before(o.until) {
		return err
	}
	f.opening = nil
	if err == nil {
		// A row that cannot go on here speaks against this server.
		err = at(o.address, f.ledger.applyReplay(replayed.Rows))
	}
	if err == nil {
		err = f.sendUnanswered(o)
	}
	if err != nil {
		o.stream.abandon()
		return err
	}
	f.stream, f.welcome = o.stream, o.stream.Welcome()
	if f.spreader != nil {
		f.spreader.use(o.address, f.welcome)
	}
	return nil
}

func (f *FailoverStream) sendUnanswered(to *opening) error {
	for i, sent := range f.live() {
		step := sent.step
		if i == 0 && to.oldest != nil {
			step = to.oldest
		}
		if _, err := to.stream.submit(step); err != nil {
			return err
		}
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
