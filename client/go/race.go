package maskd

import (
	"context"
	"time"
)

// attemptDelay is how long one attempt to open a stream is alone before the next begins beside it: the "Connection
// Attempt Delay" of RFC 8305, section 5.
const attemptDelay = 250 * time.Millisecond

// attempt is what has come of opening a stream.
type attempt struct {
	address string
	stream  *Stream
	err     error
}

// race opens streams on several servers at once, so that those that are silent are not waited for in turn: the next
// attempt begins attemptDelay after the one before, or as soon as one has failed ("Happy Eyeballs", RFC 8305).
type race struct {
	ctx     context.Context
	cancel  context.CancelFunc
	open    func(ctx context.Context, address string) (*Stream, error)
	left    []string // not begun
	running int
	ended   chan *attempt
	due     time.Time // when the next begins
}

func newRace(ctx context.Context, addresses []string,
	open func(ctx context.Context, address string) (*Stream, error)) *race {
	own, cancel := context.WithCancel(ctx)
	return &race{ctx: own, cancel: cancel, open: open, left: addresses, ended: make(chan *attempt, len(addresses))}
}

// isOver is whether all attempts have ended.
func (r *race) isOver() bool { return r.running == 0 && len(r.left) == 0 }

// next waits for the next attempt that ends. The context is the caller's: what runs goes on without it.
func (r *race) next(ctx context.Context) (*attempt, error) {
	for {
		var due <-chan time.Time
		if len(r.left) > 0 {
			due = time.After(time.Until(r.due))
		}
		select {
		case ended := <-r.ended:
			r.running--
			if ended.err != nil {
				r.due = time.Time{}
			}
			return ended, nil
		case <-due:
			r.begin()
		case <-ctx.Done():
			return nil, fromCall(ctx.Err())
		}
	}
}

func (r *race) begin() {
	address := r.left[0]
	r.left = r.left[1:]
	r.running++
	r.due = time.Now().Add(attemptDelay)
	go func() {
		stream, err := r.open(r.ctx, address)
		r.ended <- &attempt{address, stream, err}
	}()
}

// close ends the attempts that run.
func (r *race) close() {
	r.cancel()
	go func() {
		for range r.running {
			if late := <-r.ended; late.stream != nil {
				late.stream.abandon()
			}
		}
	}()
}
