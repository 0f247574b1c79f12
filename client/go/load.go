package maskd

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"google.golang.org/grpc"

	pb "maskd.io/maskd/maskdv1"
)

const (
	// How long a server may take to say how many streams it has.
	loadAnswer = 500 * time.Millisecond
	// How many servers are asked at most.
	mostAsked = 8
)

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
