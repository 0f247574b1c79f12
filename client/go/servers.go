package maskd

import (
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
