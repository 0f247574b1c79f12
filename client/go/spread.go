package maskd

import (
	"context"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"

	pb "maskd.io/maskd/maskdv1"
)

const (
	// How long a server may take to say how many streams it has, and to welcome.
	loadAnswer  = 500 * time.Millisecond
	longestMove = 500 * time.Millisecond
	// To open the rows it has half of a step's time, at least this and at most longestMove.
	shortestMove = 40 * time.Millisecond
	// How long an offer, and a wish for grammars, wait for the next step.
	takenWithin = time.Second
	// How long a server that could not be gone to is left alone.
	leftAlone = 30 * time.Second
	// How many servers are asked at most.
	mostAsked = 8
	// How many looks in a row come sooner.
	mostSoon = 4
)

// placeToGo is where the stream of a rank, 1 the oldest, of server own goes: an index of streams, which has how
// many each server has; -1: it stays. The goal is the mean, rounded up where there are most now, else down. Of a
// server that has more the youngest go, each to another of the places that are free: no chance is in it, and a
// herd does not swing.
func placeToGo(streams []int, own, rank int) int {
	total := 0
	mostFirst := make([]int, len(streams))
	for i, count := range streams {
		total += count
		mostFirst[i] = i
	}
	slices.SortStableFunc(mostFirst, func(a, b int) int { return streams[b] - streams[a] })
	goals := make([]int, len(streams))
	for n, i := range mostFirst {
		goals[i] = total / len(streams)
		if n < total%len(streams) {
			goals[i]++
		}
	}
	if rank <= goals[own] {
		return -1
	}
	number := rank - goals[own] - 1 // among those that go: first all of the fullest server
	for _, i := range mostFirst {
		if i == own {
			break
		}
		number += max(0, streams[i]-goals[i])
	}
	last := -1
	for _, i := range slices.Backward(mostFirst) {
		free := goals[i] - streams[i]
		if free <= 0 {
			continue
		}
		last = i
		if number < free {
			break
		}
		number -= free
	}
	return last
}

// lookPace says when a stream looks at the servers: every `every` or sooner, half of it at least, so that
// streams that began together part; an eighth of that a few times in a row, where it has just come to a server
// or saw that streams were uneven and others had to go.
type lookPace struct {
	every time.Duration
	soon  int
}

func (p *lookPace) next() time.Duration {
	wait := float64(p.every) * (0.5 + rand.Float64()/2)
	if p.soon > 0 {
		wait /= 8
	}
	return time.Duration(wait)
}

func (p *lookPace) came() { p.soon = mostSoon }

func (p *lookPace) looked(isUneven bool) {
	if p.soon > 0 {
		p.soon--
	} else if isUneven {
		p.soon = mostSoon
	}
}

// isName is whether DNS may know more servers by an address than one.
func isName(address string) bool {
	host, _, ok := nameOf(address)
	return ok && host != ""
}

func nameOf(address string) (host, port string, ok bool) {
	rest, isDNS := strings.CutPrefix(address, "dns:")
	if isDNS {
		rest = strings.TrimPrefix(rest, "///")
	}
	if strings.ContainsAny(rest, "/@") {
		return "", "", false
	}
	host, port, err := net.SplitHostPort(rest)
	if err != nil || host == "" || port == "" || net.ParseIP(host) != nil || host == "unix" {
		return "", "", false
	}
	return host, port, true
}

// resolveByDNS gives the servers behind an address, each with the name that it was found by, to which TLS holds
// it: "10.0.0.7:7411@maskd".
func resolveByDNS(ctx context.Context, address string) ([]string, error) {
	host, port, ok := nameOf(address)
	if !ok {
		return []string{address}, nil
	}
	found, err := net.DefaultResolver.LookupHost(ctx, host)
	if err != nil {
		return nil, err
	}
	for i := range found {
		found[i] = net.JoinHostPort(found[i], port) + "@" + host
	}
	return found, nil
}

// serversOf are the servers of all addresses, ascending; one that cannot be resolved stands for itself.
func serversOf(ctx context.Context, options *FailoverOptions) []string {
	var servers []string
	for _, address := range options.Addresses {
		found, err := options.Resolve(ctx, address)
		if err != nil {
			found = []string{address}
		}
		servers = append(servers, found...)
	}
	slices.Sort(servers)
	return slices.Compact(servers)
}

// ownStream is a stream as its server knows it.
type ownStream struct {
	address string
	number  uint64
}

// loads are what servers said.
type loads struct {
	servers []string // that answered, ascending
	streams []int
	rank    int // of the own stream; 0: not told
}

func (l *loads) isUneven() bool {
	return len(l.streams) > 0 && slices.Max(l.streams) > slices.Min(l.streams)+1
}

// placeFor is where the own stream goes; empty: it stays.
func (l *loads) placeFor(address string) string {
	own := slices.Index(l.servers, address)
	if own < 0 || l.rank == 0 {
		return ""
	}
	if place := placeToGo(l.streams, own, l.rank); place >= 0 {
		return l.servers[place]
	}
	return ""
}

// asker asks servers how many streams they have, over connections that it keeps. For one goroutine at a time.
type asker struct {
	connect     Options
	connections map[string]*grpc.ClientConn
}

func (a *asker) close() {
	for server, connection := range a.connections {
		_ = connection.Close()
		delete(a.connections, server)
	}
}

// sample are the servers to ask, the own one among them; others' connections are closed.
func (a *asker) sample(servers []string, own *ownStream) []string {
	asked := slices.Clone(servers)
	if len(asked) > mostAsked {
		rand.Shuffle(len(asked), func(i, j int) { asked[i], asked[j] = asked[j], asked[i] })
		if own != nil {
			if here := slices.Index(asked, own.address); here >= 0 {
				asked[0], asked[here] = asked[here], asked[0]
			}
		}
		asked = asked[:mostAsked]
	}
	slices.Sort(asked)
	for server, connection := range a.connections {
		if !slices.Contains(asked, server) {
			_ = connection.Close()
			delete(a.connections, server)
		}
	}
	return asked
}

func (a *asker) ask(ctx context.Context, servers []string, own *ownStream) loads {
	asked := a.sample(servers, own)
	limited, cancel := context.WithTimeout(ctx, loadAnswer)
	defer cancel()
	answers := make([]*pb.GetLoadResponse, len(asked))
	var all sync.WaitGroup
	for i, server := range asked {
		connection := a.connections[server]
		if connection == nil {
			var err error
			if connection, err = a.connect.dial(server); err != nil {
				continue
			}
			a.connections[server] = connection
		}
		request := &pb.GetLoadRequest{}
		if own != nil && own.address == server {
			request.StreamNumber = &own.number
		}
		all.Go(func() {
			if answer, err := pb.NewMaskServiceClient(connection).GetLoad(limited, request); err == nil {
				answers[i] = answer
			}
		})
	}
	all.Wait()
	var said loads
	for i, answer := range answers {
		if answer == nil {
			// Its connection may wait for minutes before it tries again.
			if connection := a.connections[asked[i]]; connection != nil {
				_ = connection.Close()
				delete(a.connections, asked[i])
			}
			continue
		}
		said.servers = append(said.servers, asked[i])
		said.streams = append(said.streams, int(answer.GetOpenStreams()))
		if answer.Rank != nil {
			said.rank = int(answer.GetRank())
		}
	}
	return said
}

// leastFirst orders servers by what they said, in a random order where they have the same; those of which
// nothing is known come last.
func (l *loads) leastFirst(servers []string) []string {
	ordered := slices.Clone(servers)
	rand.Shuffle(len(ordered), func(i, j int) { ordered[i], ordered[j] = ordered[j], ordered[i] })
	streams := func(server string) int {
		if at := slices.Index(l.servers, server); at >= 0 {
			return l.streams[at]
		}
		return int(^uint(0) >> 1)
	}
	slices.SortStableFunc(ordered, func(a, b string) int {
		if x, y := streams(a), streams(b); x != y {
			return map[bool]int{true: -1, false: 1}[x < y]
		}
		return 0
	})
	return ordered
}

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
