package maskd

import (
	"context"
	"time"

	"google.golang.org/grpc"

	pb "maskd.io/maskd/maskdv1"
)

// openSpread opens where there are the fewest streams, and looks once more behind its own opening: of many that
// open together the last sees all.
func (f *FailoverStream) openSpread(ctx context.Context) error {
	asker := asker{connect: f.options.Connect, connections: map[string]*grpc.ClientConn{}}
	defer asker.close()
	all := serversOf(ctx, &f.options)
	first := asker.ask(ctx, all, nil)
	f.servers = newServerList(first.leastFirst(all))
	if err := f.findServer(ctx); err != nil {
		return err
	}
	for range 3 {
		if f.welcome.StreamNumber == nil {
			break
		}
		said := asker.ask(ctx, all, &ownStream{f.Address(), f.welcome.GetStreamNumber()})
		place := said.placeFor(f.Address())
		if place == "" {
			break
		}
		stream, err := openStream(ctx, place, f.options.Connect, f.options.Stream)
		if err != nil || !f.goTo(ctx, &offer{place, stream}) {
			break
		}
	}
	// All begin with the server that had least: they must not all go on to the same one.
	f.servers.shuffle()
	f.moves = 0
	f.spreader = newSpreader(ctx, f.options)
	f.spreader.use(f.Address(), f.welcome)
	return nil
}

// goTo brings the rows to a server that has fewer streams; false: they stay. Half of the caller's time is the old
// server's, so the step is answered in time whatever the new one does.
func (f *FailoverStream) goTo(ctx context.Context, to *offer) bool {
	before, from := f.stream, f.Address()
	atMost := min(f.options.StepTimeout/2, longestMove)
	if deadline, is := ctx.Deadline(); is {
		atMost = min(atMost, time.Until(deadline)/2)
	}
	limited, cancel := context.WithTimeout(ctx, max(atMost, shortestMove))
	defer cancel()
	f.servers.use(to.address)
	to.stream.next = f.nextStep - 1
	err := f.sendOpens(to.address, to.stream)
	if err == nil {
		err = f.takeRows(limited)
	}
	if err != nil {
		f.endSearch()
		f.servers.use(from)
		f.ledger.format = f.welcome.GetGrammarFormat()
		return false
	}
	f.moves++
	before.abandon()
	return true
}

// followSpreader does what the spreader waits for.
func (f *FailoverStream) followSpreader(ctx context.Context) {
	s := f.spreader
	if s == nil || f.stream == nil {
		return
	}
	s.steps.Add(1)
	if !s.news.Load() || len(f.unanswered) > 0 || !f.ledger.isSettled() {
		return
	}
	s.give(func() []*pb.CompileRequest { return f.ledger.compileRequests(f.options.Stream.Tokenizer) })
	to := s.take()
	if to == nil {
		return
	}
	f.takeServers()
	if !f.goTo(ctx, to) {
		s.leaveAlone(to.address)
	}
}
