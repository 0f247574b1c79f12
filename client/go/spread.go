package maskd

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"

	pb "maskd.io/maskd/maskdv1"
)

const (
	longestMove = 500 * time.Millisecond
	// To open the rows it has half of a step's time, at least this and at most longestMove.
	shortestMove = 40 * time.Millisecond
	// How long an offer, and a wish for grammars, wait for the next step.
	takenWithin = time.Second
	// How long a server that could not be gone to is left alone.
	leftAlone = 30 * time.Second
)

// offer is a stream to go to, on which nothing was sent.
type offer struct {
	address string
	stream  *Stream
}

// spreader looks at the servers of a stream now and then, and prepares its move to another where its own has too
// many: it asks for the grammars of its rows, has them compiled there, opens a stream there and offers it. So a
// step of a stream that moves waits for no connection and no compile. A goroutine of its own does that.
type spreader struct {
	options FailoverOptions
	asker   asker
	pace    lookPace
	cancel  context.CancelFunc
	done    chan struct{}
	came    chan struct{} // of one: the stream has come to a server
	steps   atomic.Uint64
	news    atomic.Bool // whether the stream is wanted: give or take

	mutex    sync.Mutex
	servers  []string
	own      *ownStream
	grammars chan []*pb.CompileRequest // nil: not wanted
	offered  chan offer                // nil: nothing is
	alone    map[string]time.Time
}

func newSpreader(ctx context.Context, options FailoverOptions) *spreader {
	life, cancel := context.WithCancel(context.WithoutCancel(ctx))
	s := &spreader{options: options, pace: lookPace{every: options.LookEvery}, cancel: cancel,
		asker: asker{connect: options.Connect, connections: map[string]*grpc.ClientConn{}},
		done:  make(chan struct{}), came: make(chan struct{}, 1), alone: map[string]time.Time{}}
	go s.run(life)
	return s
}

func (s *spreader) close() {
	s.cancel()
	<-s.done
}

// use says that the stream is now the one of this welcome.
func (s *spreader) use(address string, welcome *pb.Welcome) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.own = nil
	if welcome.StreamNumber != nil {
		s.own = &ownStream{address, welcome.GetStreamNumber()}
	}
	select {
	case s.came <- struct{}{}:
	default:
	}
}

func (s *spreader) known() []string {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.servers
}

func (s *spreader) leaveAlone(address string) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.alone[address] = time.Now().Add(leftAlone)
}

// give hands over the grammars, if they are wanted.
func (s *spreader) give(grammars func() []*pb.CompileRequest) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.grammars != nil {
		s.grammars <- grammars()
		s.grammars = nil
		s.news.Store(false)
	}
}

// take is the stream that is offered, or nil.
func (s *spreader) take() *offer {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.offered == nil {
		return nil
	}
	taken := <-s.offered
	s.offered = nil
	s.news.Store(false)
	return &taken
}

func (s *spreader) run(ctx context.Context) {
	defer close(s.done)
	defer s.asker.close()
	var seen uint64
	for {
		timer := time.NewTimer(s.pace.next())
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-s.came:
			timer.Stop()
			s.pace.came()
			continue
		case <-timer.C:
		}
		steps := s.steps.Load()
		s.look(ctx, steps == seen)
		seen = steps
	}
}

func (s *spreader) look(ctx context.Context, isIdle bool) {
	limited, cancel := context.WithTimeout(ctx, 2*time.Second)
	servers := serversOf(limited, &s.options)
	cancel()
	s.mutex.Lock()
	s.servers = servers
	own := s.own
	s.mutex.Unlock()
	if own == nil || len(servers) < 2 || isIdle {
		s.pace.looked(false)
		return
	}
	said := s.askAll(ctx, own)
	s.pace.looked(said.isUneven())
	if place := said.placeFor(own.address); place != "" {
		s.prepare(ctx, place, own, said.servers)
	}
}

func (s *spreader) askAll(ctx context.Context, own *ownStream) loads {
	s.mutex.Lock()
	servers := slices.DeleteFunc(slices.Clone(s.servers), func(server string) bool {
		return server != own.address && time.Now().Before(s.alone[server])
	})
	s.mutex.Unlock()
	return s.asker.ask(ctx, servers, own)
}

// prepare makes the move to place, which follows from what the servers asked said.
func (s *spreader) prepare(ctx context.Context, place string, own *ownStream, asked []string) {
	grammars, ok := s.awaitGrammars(ctx)
	if !ok {
		return
	}
	if !s.compile(ctx, place, grammars) {
		s.leaveAlone(place)
		return
	}
	// That may have taken long. The same servers: of many, others would have another place for it.
	again := s.asker.ask(ctx, asked, own)
	if again.placeFor(own.address) != place {
		return
	}
	options := s.options.Stream
	options.OpenTimeout = min(options.OpenTimeout, takenWithin)
	stream, err := openStream(ctx, place, s.options.Connect, options)
	if err != nil {
		s.leaveAlone(place)
		return
	}
	offered := make(chan offer, 1)
	offered <- offer{place, stream}
	s.mutex.Lock()
	if s.own != own {
		s.mutex.Unlock()
		stream.abandon()
		return
	}
	s.offered = offered
	s.news.Store(true)
	s.mutex.Unlock()
	_ = sleep(ctx, takenWithin/20)
	for waited := 1; waited < 20 && len(offered) > 0 && ctx.Err() == nil; waited++ {
		_ = sleep(ctx, takenWithin/20)
	}
	if late := s.take(); late != nil {
		late.stream.abandon()
	}
}

// awaitGrammars asks the stream for its rows' grammars, which it gives with its next step.
func (s *spreader) awaitGrammars(ctx context.Context) ([]*pb.CompileRequest, bool) {
	wanted := make(chan []*pb.CompileRequest, 1)
	s.mutex.Lock()
	s.grammars = wanted
	s.news.Store(true)
	s.mutex.Unlock()
	limited, cancel := context.WithTimeout(ctx, takenWithin)
	defer cancel()
	select {
	case grammars := <-wanted:
		return grammars, true
	case <-limited.Done():
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.grammars = nil
	s.news.Store(false)
	return nil, false
}

func (s *spreader) compile(ctx context.Context, place string, grammars []*pb.CompileRequest) bool {
	if len(grammars) == 0 {
		return true
	}
	connection, err := s.options.Connect.dial(place)
	if err != nil {
		return false
	}
	defer func() { _ = connection.Close() }()
	limited, cancel := context.WithTimeout(ctx, s.options.CompileTimeout)
	defer cancel()
	for _, grammar := range grammars {
		if _, err := pb.NewCompileServiceClient(connection).Compile(limited, grammar); err != nil {
			return false
		}
	}
	return true
}
